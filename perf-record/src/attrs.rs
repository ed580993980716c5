//! How the events are sampled: the attr of each, from the options and the terms of the event.

use perf_abi::attr::AttrFlags;
use perf_abi::branch::BranchSampleType;
use perf_abi::event::{EventType, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_open::event::{self, Terms};
use perf_open::{Builder, EventGroup, EventSpec};

use crate::{CallGraph, Error, Options};

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

/// Returns the mask of all general registers that the kernel can record, for
/// [`regs_user`](Options::regs_user) and [`regs_intr`](Options::regs_intr): on x86-64 without the segment registers. 0 on
/// an architecture that this crate does not know.
///
/// perf: `PERF_REGS_MASK`.
#[must_use]
pub const fn all_registers() -> u64 {
    match USER_REGS {
        Some(all) => all,
        None => 0,
    }
}

/// The settings that all events of a recording share.
#[derive(Clone, Debug)]
pub(crate) struct Manner<'a> {
    pub(crate) options: &'a Options,
    /// Whether each record must contain the id of its event.
    pub(crate) several: bool,
    /// Whether the targets are cpus rather than tasks.
    pub(crate) of_cpus: bool,
    /// Whether the exec of the command starts the event.
    pub(crate) on_exec: bool,
    /// Whether new records overwrite old ones.
    pub(crate) overwrite: bool,
    /// Whether an event that takes no samples records mappings, names and tasks, in place of the first event.
    pub(crate) tracker: bool,
    /// Whether any event copies stacks, so that unwinders need the mappings of data.
    pub(crate) copies_stacks: bool,
    /// Whether a group that is read with its leader may be inherited, which Linux 6.12 began to allow.
    pub(crate) inherit_read: bool,
}

/// Returns the method that records the call chains of an event; `None` for no call chains.
fn call_graph(options: &Options, terms: &Terms) -> Option<CallGraph> {
    match terms.call_graph {
        None => options.call_graph,
        Some(event::CallGraph::Fp) => Some(CallGraph::Fp),
        Some(event::CallGraph::Dwarf) => {
            Some(CallGraph::Dwarf(terms.stack_size.unwrap_or(CallGraph::STACK_BYTES)))
        }
        Some(event::CallGraph::Lbr) => Some(CallGraph::Lbr),
        Some(_) => None,
    }
}

/// Returns whether an event copies stacks.
pub(crate) fn copies_stacks(options: &Options, event: &EventSpec) -> bool {
    matches!(call_graph(options, &event.terms), Some(CallGraph::Dwarf(_)))
}

impl Manner<'_> {
    /// Returns the builder of the event of `group` at `place`. With `is_tracking`, it also records mappings, names and
    /// tasks.
    pub(crate) fn builder(
        &self,
        group: &EventGroup,
        place: usize,
        event: &EventSpec,
        is_tracking: bool,
    ) -> Result<Builder, Error> {
        let options = self.options;
        let is_leader = place == 0;
        let reads_group = group.sample_leader_only && group.events.len() > 1;
        let is_tracepoint = event.attr.kind == EventType::TRACEPOINT;
        let is_bpf_output = event.attr.kind == EventType::SOFTWARE && event.attr.config == SwId::BPF_OUTPUT.0;
        let mut sample_type = options.sample_type | SampleType::IP | SampleType::TID;
        if event.terms.time.unwrap_or(!options.no_timestamps) {
            sample_type |= SampleType::TIME;
        }
        let mut read_format = ReadFormat::ID | ReadFormat::LOST;
        if options.running_time {
            read_format |= ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
        }
        if reads_group {
            read_format |= ReadFormat::GROUP;
            sample_type |= SampleType::READ;
        }
        if self.several || options.identifier {
            sample_type |= SampleType::IDENTIFIER;
        }
        if self.of_cpus {
            sample_type |= SampleType::CPU;
        }
        if options.data {
            sample_type |= SampleType::ADDR | SampleType::DATA_SRC;
        }
        if options.cgroups {
            sample_type |= SampleType::CGROUP;
        }
        if is_tracepoint || is_bpf_output {
            sample_type |= SampleType::RAW | SampleType::CPU;
        }
        let mut builder = Builder::new(event.clone());
        let is_freq = self.rate(event, &mut builder);
        if is_freq || is_tracepoint || options.period {
            sample_type |= SampleType::PERIOD;
        }
        if options.no_samples || reads_group && !is_leader {
            builder.attr_mut().sample_period = 0;
            builder.attr_mut().flags = builder.attr().flags.without(AttrFlags::FREQ);
        }
        if let Some(branches) = options.branches {
            sample_type |= SampleType::BRANCH_STACK;
            builder = builder.branch_sample_type(branches);
        }
        if options.regs_intr != 0 {
            sample_type |= SampleType::REGS_INTR;
            builder = builder.sample_regs_intr(options.regs_intr);
        }
        builder = builder.sample_type(sample_type).read_format(read_format).or_drop(ReadFormat::LOST);
        builder = self.with_call_graph(&event.terms, builder)?;
        if options.user_callchains {
            builder = builder.exclude_callchain_kernel(true);
        }
        if options.kernel_callchains {
            builder = builder.exclude_callchain_user(true);
        }
        let no_modifiers = !event.attr.flags.intersects(AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_KERNEL);
        if no_modifiers && options.all_user {
            builder = builder.exclude_kernel(true);
        }
        if no_modifiers && options.all_kernel {
            builder = builder.exclude_user(true);
        }
        if options.no_buffering {
            builder = builder.wakeup_events(1);
        }
        let inherit = event.terms.inherit.unwrap_or(options.inherit) && (!reads_group || self.inherit_read);
        builder = builder
            .inherit(inherit && !self.of_cpus && !options.per_thread)
            .disabled(is_leader)
            .enable_on_exec(is_leader && self.on_exec && !options.delayed)
            .write_backward(self.overwrite)
            .inherit_stat(options.inherit_stat)
            .sample_id_all(true);
        if let Some(clock) = options.clockid {
            builder = builder.clockid(clock);
        }
        Ok(if is_tracking { self.tracking(builder) } else { builder })
    }

    /// Returns the event that records mappings, names and tasks and takes no samples.
    ///
    /// perf: `record__config_tracking_events`.
    pub(crate) fn tracker(&self) -> Builder {
        let sample_type =
            SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU;
        let builder = Builder::new(EventSpec::software(SwId::DUMMY))
            .sample_period(1)
            .sample_type(sample_type)
            .read_format(ReadFormat::ID)
            .inherit(self.options.inherit && !self.of_cpus && !self.options.per_thread)
            .disabled(true)
            .enable_on_exec(self.on_exec)
            .sample_id_all(true)
            // It counts nothing, and so takes no privilege.
            .exclude_kernel(true);
        let builder = match self.options.clockid {
            Some(clock) => builder.clockid(clock),
            None => builder,
        };
        self.tracking(builder)
    }

    fn tracking(&self, builder: Builder) -> Builder {
        let options = self.options;
        let builder = builder
            .mmap(true)
            .mmap2(true)
            .comm(true)
            .comm_exec(true)
            .task(true)
            .ksymbol(options.bpf_events)
            .bpf_event(options.bpf_events)
            .mmap_data(options.data || self.copies_stacks)
            .context_switch(options.switch_events)
            .namespaces(options.namespaces)
            .build_id(options.buildid_mmap);
        let builder = if options.cgroups { builder.cgroup(true) } else { builder };
        builder
            .or_drop(AttrFlags::MMAP2)
            .or_drop(AttrFlags::COMM_EXEC)
            .or_drop(AttrFlags::KSYMBOL)
            .or_drop(AttrFlags::BPF_EVENT)
    }

    /// Sets how often the event samples. Returns whether it samples by frequency.
    fn rate(&self, event: &EventSpec, builder: &mut Builder) -> bool {
        let terms = &event.terms;
        let attr = builder.attr_mut();
        let is_software = |id: SwId| event.attr.kind == EventType::SOFTWARE && event.attr.config == id.0;
        let by_default = event.default_sampling().period;
        let by_default = by_default.or(is_software(SwId::CGROUP_SWITCHES).then_some(1));
        let every = match (terms.period, self.options.count) {
            (Some(period), _) => Some(period),
            (None, _) if terms.freq.is_some() => None,
            (None, Some(count)) => Some(count),
            _ => by_default.filter(|_| self.options.freq.is_none()),
        };
        match every {
            Some(period) => attr.sample_period = period,
            None => {
                attr.flags |= AttrFlags::FREQ;
                attr.sample_period = terms.freq.or(self.options.freq).unwrap_or(DEFAULT_FREQ);
            }
        }
        every.is_none()
    }

    fn with_call_graph(&self, terms: &Terms, builder: Builder) -> Result<Builder, Error> {
        let sample_type = builder.attr().sample_type;
        let asked = self.options.regs_user;
        let with_regs = |builder: Builder, regs: u64| match regs {
            0 => builder,
            regs => {
                let sample_type = builder.attr().sample_type | SampleType::REGS_USER;
                builder.sample_type(sample_type).sample_regs_user(regs)
            }
        };
        match (call_graph(self.options, terms), USER_REGS) {
            (None, _) => Ok(with_regs(builder, asked)),
            (Some(CallGraph::Fp), _) => {
                Ok(with_regs(builder.sample_type(sample_type | SampleType::CALLCHAIN), asked))
            }
            (Some(CallGraph::Lbr), _) => {
                // perf: `__evsel__config_callchain`.
                let branches = BranchSampleType::USER
                    | BranchSampleType::CALL_STACK
                    | BranchSampleType::NO_CYCLES
                    | BranchSampleType::NO_FLAGS
                    | BranchSampleType::HW_INDEX;
                let builder = builder
                    .sample_type(sample_type | SampleType::CALLCHAIN | SampleType::BRANCH_STACK)
                    .branch_sample_type(branches)
                    .exclude_callchain_user(true);
                Ok(with_regs(builder, asked))
            }
            (Some(CallGraph::Dwarf(bytes)), Some(regs)) => {
                let builder = builder
                    .sample_type(sample_type | SampleType::CALLCHAIN | SampleType::STACK_USER)
                    .sample_stack_user(bytes)
                    .exclude_callchain_user(true);
                Ok(with_regs(builder, regs | asked))
            }
            (Some(CallGraph::Dwarf(_)), None) => {
                Err(Error::Request("--call-graph dwarf: is not supported on this architecture".to_owned()))
            }
        }
    }
}
