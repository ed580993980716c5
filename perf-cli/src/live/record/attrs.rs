//! How the events are sampled: the attr of each, from the command line.

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::{EventType, HwId, SwId};
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::event::{self, Terms};
use perf_open::{Builder, EventGroup, EventSpec};

use crate::Failure;
use crate::args::live::record::{CallGraph, RecordArgs, STACK_BYTES};
use crate::live::events::asked_for;

/// The default number of samples per second, the same as perf's.
const DEFAULT_FREQ: u64 = 4000;

/// The registers for unwinding a stack: all but the segment registers on x86-64, all on other architectures.
///
/// perf: `PERF_REGS_MASK`, `tools/perf/arch/*/include/perf_regs.h`.
const USER_REGS: Option<u64> = if cfg!(target_arch = "x86_64") {
    Some(0xff_0fff)
} else if cfg!(target_arch = "aarch64") {
    Some((1 << 33) - 1)
} else if cfg!(target_arch = "riscv64") {
    Some((1 << 32) - 1)
} else {
    None
};

/// Returns the events of the command line; cycles if it has none.
pub(super) fn events(args: &RecordArgs) -> Result<Vec<EventGroup>, Failure> {
    let mut groups = asked_for(&args.events, "for counting, not for samples")?;
    if args.events.is_empty() {
        let cycles = EventSpec::hardware(HwId::CPU_CYCLES).with_name("cycles");
        groups.push(cycles.into());
    }
    Ok(groups)
}

/// Returns the event that replaces cycles if nothing counts them.
pub(super) fn clock() -> EventSpec {
    EventSpec::software(SwId::CPU_CLOCK)
}

/// The settings that all events of a recording share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner<'a> {
    pub(super) args: &'a RecordArgs,
    /// Whether each record must contain the id of its event.
    pub(super) several: bool,
    /// Whether the targets are cpus rather than tasks.
    pub(super) of_cpus: bool,
    /// Whether the exec of the command starts the event.
    pub(super) on_exec: bool,
    /// Whether new records overwrite old ones.
    pub(super) overwrite: bool,
}

impl Manner<'_> {
    /// Returns the builder of the event of `group` at `place`. With `is_tracking`, for the first of all events, it also
    /// records mappings, names and tasks.
    pub(super) fn builder(
        &self,
        group: &EventGroup,
        place: usize,
        event: &EventSpec,
        is_tracking: bool,
    ) -> Result<Builder, Failure> {
        let is_leader = place == 0;
        let reads_group = group.sample_leader_only && group.events.len() > 1;
        let mut sample_type = SampleType::IP | SampleType::TID | SampleType::TIME;
        let mut read_format = ReadFormat::ID | ReadFormat::LOST;
        if reads_group {
            read_format = ReadFormat::ID | ReadFormat::GROUP | ReadFormat::LOST;
            sample_type |= SampleType::READ;
        }
        if self.several {
            sample_type |= SampleType::IDENTIFIER;
        }
        if self.of_cpus || self.args.sample_cpu {
            sample_type |= SampleType::CPU;
        }
        if self.args.data {
            sample_type |= SampleType::ADDR | SampleType::DATA_SRC;
        }
        if event.attr.kind == EventType::TRACEPOINT {
            sample_type |= SampleType::RAW | SampleType::CPU;
        }
        let mut builder = Builder::new(event.clone());
        let is_freq = self.rate(event, &mut builder);
        if is_freq || event.attr.kind == EventType::TRACEPOINT {
            sample_type |= SampleType::PERIOD;
        }
        if reads_group && !is_leader {
            builder.attr_mut().sample_period = 0;
            builder.attr_mut().flags = builder.attr().flags.without(AttrFlags::FREQ);
        }
        builder = builder.sample_type(sample_type).read_format(read_format).or_drop(ReadFormat::LOST);
        builder = self.call_graph(&event.terms, builder)?;
        let inherit = event.terms.inherit.unwrap_or(!self.args.no_inherit);
        builder = builder
            .inherit(inherit && !self.of_cpus)
            .disabled(is_leader)
            .enable_on_exec(is_leader && self.on_exec)
            .write_backward(self.overwrite)
            .sample_id_all(true);
        if let Some(clock) = self.args.clockid {
            builder = builder.clockid(clock.id());
        }
        Ok(if is_tracking { self.tracking(builder) } else { builder })
    }

    /// Returns the event that records mappings, names and tasks and takes no samples. A recording whose other events
    /// overwrite needs it.
    pub(super) fn tracker(&self) -> Builder {
        let sample_type =
            SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU;
        let builder = Builder::new(EventSpec::software(SwId::DUMMY))
            .sample_period(1)
            .sample_type(sample_type)
            .read_format(ReadFormat::ID)
            .inherit(!self.args.no_inherit && !self.of_cpus)
            .disabled(true)
            .enable_on_exec(self.on_exec)
            .sample_id_all(true)
            // It counts nothing, and so takes no privilege.
            .exclude_kernel(true);
        let builder = match self.args.clockid {
            Some(clock) => builder.clockid(clock.id()),
            None => builder,
        };
        self.tracking(builder)
    }

    fn tracking(&self, builder: Builder) -> Builder {
        builder
            .mmap(true)
            .mmap2(true)
            .comm(true)
            .comm_exec(true)
            .task(true)
            .ksymbol(true)
            .bpf_event(true)
            .mmap_data(self.args.data)
            .context_switch(self.args.switch_events)
            .namespaces(self.args.namespaces)
            .or_drop(AttrFlags::MMAP2)
            .or_drop(AttrFlags::COMM_EXEC)
            .or_drop(AttrFlags::KSYMBOL)
            .or_drop(AttrFlags::BPF_EVENT)
    }

    /// Sets how often the event samples. Returns whether it samples by frequency.
    fn rate(&self, event: &EventSpec, builder: &mut Builder) -> bool {
        let terms = &event.terms;
        let attr = builder.attr_mut();
        let every = match (terms.period, self.args.count) {
            (Some(period), _) => Some(period),
            (None, _) if terms.freq.is_some() => None,
            (None, Some(count)) => Some(count),
            // By default, a tracepoint records each hit.
            _ => (event.attr.kind == EventType::TRACEPOINT && self.args.freq.is_none()).then_some(1),
        };
        match every {
            Some(period) => attr.sample_period = period,
            None => {
                attr.flags |= AttrFlags::FREQ;
                attr.sample_period = terms.freq.or(self.args.freq).unwrap_or(DEFAULT_FREQ);
            }
        }
        every.is_none()
    }

    fn call_graph(&self, terms: &Terms, builder: Builder) -> Result<Builder, Failure> {
        let asked = self.args.call_graph.or(self.args.frame_pointers.then_some(CallGraph::Fp));
        let how = match terms.call_graph {
            None => asked,
            Some(event::CallGraph::No) => None,
            Some(event::CallGraph::Fp) => Some(CallGraph::Fp),
            Some(event::CallGraph::Dwarf) => Some(CallGraph::Dwarf(terms.stack_size.unwrap_or(STACK_BYTES))),
            Some(_) => {
                return Err(Failure("call-graph: fp, dwarf and no are supported".to_owned()));
            }
        };
        let sample_type = builder.attr().sample_type | SampleType::CALLCHAIN;
        match (how, USER_REGS) {
            (None, _) => Ok(builder),
            (Some(CallGraph::Fp), _) => Ok(builder.sample_type(sample_type)),
            (Some(CallGraph::Dwarf(bytes)), Some(regs)) => Ok(builder
                .sample_type(sample_type | SampleType::REGS_USER | SampleType::STACK_USER)
                .sample_regs_user(regs)
                .sample_stack_user(bytes)
                .exclude_callchain_user(true)),
            (Some(CallGraph::Dwarf(_)), None) => {
                Err(Failure("--call-graph dwarf: is not supported on this architecture".to_owned()))
            }
        }
    }
}
