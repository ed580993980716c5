//! How the events are sampled: the attr of each, from the options and the terms of the event.

use perf_abi::attr::AttrFlags;
use perf_abi::event::{EventType, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_open::{Builder, EventGroup, EventSpec};

use crate::manner::Manner;
use crate::{Error, call_graph, terms};

/// The default number of samples per second, the same as perf's.
const DEFAULT_FREQ: u64 = 4000;

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
        sample_type = match event.terms.time.unwrap_or(!options.no_timestamps) {
            true => sample_type | SampleType::TIME,
            false => sample_type.without(SampleType::TIME),
        };
        let mut read_format = ReadFormat::ID | ReadFormat::LOST;
        if options.running_time {
            read_format |= ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
        }
        if reads_group {
            read_format |= ReadFormat::GROUP;
            sample_type |= SampleType::READ;
        }
        sample_type |= self.id;
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
        // perf: `evsel__config_leader_sampling`.
        if options.no_samples || reads_group && !is_leader && !event.terms.has_rate() {
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
        builder = call_graph::record(options, &event.terms, builder)?;
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
        let inherit = terms::inherits(event, options) && (!reads_group || self.inherit_read);
        builder = builder
            .inherit(inherit && !self.of_cpus)
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
    /// perf: `record__config_tracking_events`; `system-wide-dummy` in its tests.
    pub(crate) fn tracker(&self) -> Builder {
        let sample_type = self.id | SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU;
        let builder = Builder::new(EventSpec::software(SwId::DUMMY))
            .sample_period(1)
            .sample_type(sample_type)
            .read_format(ReadFormat::ID)
            .inherit(self.inherits && !self.of_cpus)
            // Nothing that starts while the records of tasks are synthesized may be missed.
            .disabled(!self.of_cpus)
            .enable_on_exec(self.on_exec)
            .sample_id_all(true)
            // It counts nothing, and so takes no privilege.
            .exclude_kernel(true)
            .exclude_hv(true)
            .exclude_guest(true);
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
            .ksymbol(options.bpf_events || options.text_poke)
            .bpf_event(options.bpf_events)
            .text_poke(options.text_poke)
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
            .or_drop(AttrFlags::TEXT_POKE)
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
}
