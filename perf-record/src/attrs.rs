//! The attr of each event, from the options and the event's terms.

use alloc::borrow::Cow;

use perf_abi::attr::AttrFlags;
use perf_abi::event::{EventType, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_open::{Builder, EventGroup, EventSpec};

use crate::aux_area::{AuxPlan, SwitchTracking};
use crate::shared_settings::SharedSettings;
use crate::{CallGraphMode, Error, RecordOptions, call_graph, terms};

/// The default number of samples per second, the same as perf's.
const DEFAULT_FREQ: u64 = 4000;

impl SharedSettings<'_> {
    /// Returns the builder of the event of `group` at `place`. With `is_tracking`, it also records mappings, names and
    /// tasks.
    pub(crate) fn builder(
        &self,
        group: &EventGroup,
        place: usize,
        is_tracking: bool,
    ) -> Result<Builder, Error> {
        let mut builder = self.alone(group, place, is_tracking)?;
        let sampler = self.sampler(group);
        // perf: `evsel__config_leader_sampling` gives all events the fields of the leader and of the one that samples.
        if group.sample_leader_only && sampler > 0 && place != sampler {
            for at in [0, sampler] {
                let other = self.alone(group, at, false)?;
                builder.attr_mut().sample_type |= other.attr().sample_type;
            }
        }
        Ok(builder)
    }

    /// Returns the place of the event whose samples have the counts of the group: the leader, or the event after it if the
    /// leader writes to an AUX area and takes no samples.
    ///
    /// perf: `evsel__read_sampler`.
    fn sampler(&self, group: &EventGroup) -> usize {
        let is_traced = |aux: &AuxPlan| group.events.first().is_some_and(|leader| aux.is_traced(leader));
        usize::from(group.events.len() > 1 && self.aux.is_some_and(is_traced))
    }

    /// Returns the options for an event: without the fields of samples, if it takes none.
    fn options_of(&self, event: &EventSpec) -> Cow<'_, RecordOptions> {
        match self.aux {
            Some(aux) if aux.is_bare(event) => Cow::Owned(RecordOptions {
                sample_type: self.options.sample_type.without(SampleType::RAW),
                call_graph: None,
                branches: None,
                regs_intr: 0,
                regs_user: 0,
                ..self.options.clone()
            }),
            _ => Cow::Borrowed(self.options),
        }
    }

    /// Returns the builder of the event of `group` at `place`, before it gets the fields of others.
    fn alone(&self, group: &EventGroup, place: usize, is_tracking: bool) -> Result<Builder, Error> {
        let event = &group.events[place];
        let options = &*self.options_of(event);
        let is_leader = place == 0;
        let reads_group = group.sample_leader_only && group.events.len() > 1;
        let is_tracepoint = event.attr.kind == EventType::TRACEPOINT;
        let is_bpf_output = event.attr.kind == EventType::SOFTWARE && event.attr.config == SwId::BPF_OUTPUT.0;
        let mut sample_type = options.sample_type | SampleType::IP | SampleType::TID;
        if event.terms.aux_sample_size.is_some_and(|bytes| bytes > 0) {
            sample_type |= SampleType::AUX;
        }
        sample_type = match event.terms.time.unwrap_or(!options.no_timestamps && !self.is_timeless()) {
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
        if options.no_samples || reads_group && place != self.sampler(group) && !event.terms.has_rate() {
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
        if let Some(aux) = self.aux {
            aux.complete(event, builder.attr_mut());
        }
        Ok(if is_tracking { self.tracking(builder) } else { builder })
    }

    /// Returns the event that records mappings, names and tasks and takes no samples.
    ///
    /// perf: `record__config_tracking_events`; `system-wide-dummy` in its tests.
    pub(crate) fn tracker(&self) -> Builder {
        let place = if self.is_timeless() { SampleType::NONE } else { SampleType::TIME | SampleType::CPU };
        let builder = self
            .dummy(place)
            .inherit(self.inherits && !self.of_cpus)
            // Nothing that starts while the records of tasks are synthesized may be missed.
            .disabled(!self.of_cpus)
            .enable_on_exec(self.on_exec);
        let builder = match self.options.clockid {
            Some(clock) => builder.clockid(clock),
            None => builder,
        };
        self.tracking(builder)
    }

    /// Returns an event of all tasks on a cpu, which starts at once and takes no samples.
    pub(crate) fn of_all_tasks(&self) -> Builder {
        let cpu = if self.of_cpus { SampleType::CPU } else { SampleType::NONE };
        self.dummy(SampleType::TIME | cpu).inherit(self.inherits && !self.of_cpus)
    }

    /// Returns an event that takes no samples, whose records have these fields.
    fn dummy(&self, fields: SampleType) -> Builder {
        Builder::new(EventSpec::software(SwId::DUMMY))
            .sample_period(1)
            .sample_type(self.id | SampleType::IP | SampleType::TID | fields)
            .read_format(ReadFormat::ID)
            .sample_id_all(true)
            // It counts nothing, and so takes no privilege.
            .exclude_kernel(true)
            .exclude_hv(true)
            .exclude_guest(true)
    }

    /// Returns whether records have no times: those of the trace of a thread need none.
    ///
    /// perf: `evsel__config`, which records times only on cpus.
    fn is_timeless(&self) -> bool {
        self.aux.is_some_and(|aux| !aux.per_cpu)
    }

    fn tracking(&self, builder: Builder) -> Builder {
        let options = self.options;
        // perf: `evsel__config` leaves symbols to the event that records changes of the kernel's code.
        let pokes_elsewhere = self.aux.is_some_and(|aux| aux.text_poke);
        let switches = self.aux.map_or(SwitchTracking::None, |aux| aux.switches);
        let builder = builder
            .mmap(true)
            .mmap2(true)
            .comm(true)
            .comm_exec(true)
            .task(true)
            .ksymbol((options.bpf_events || options.text_poke) && !pokes_elsewhere)
            .bpf_event(options.bpf_events)
            .text_poke(options.text_poke && !pokes_elsewhere)
            .mmap_data(options.data || options.data_mmap || self.copies_stacks)
            .context_switch(match switches {
                SwitchTracking::None => options.switch_events,
                SwitchTracking::Tracker => true,
                SwitchTracking::AllTasks => false,
            })
            .namespaces(options.namespaces)
            .build_id(options.buildid_mmap);
        let builder = if options.cgroups { builder.cgroup(true) } else { builder };
        // perf: `record__config_tracking_events`, which has one event of the ring get these records.
        let is_deferred = options.call_graph == Some(CallGraphMode::FpDeferred);
        let builder = if is_deferred { builder.defer_output(true) } else { builder };
        builder
            .or_drop(AttrFlags::MMAP2)
            .or_drop(AttrFlags::COMM_EXEC)
            .or_drop(AttrFlags::KSYMBOL)
            .or_drop(AttrFlags::BPF_EVENT)
            .or_drop(AttrFlags::TEXT_POKE)
            .or_drop(AttrFlags::DEFER_OUTPUT)
    }

    /// Sets how often the event samples. Returns whether it samples by frequency.
    fn rate(&self, event: &EventSpec, builder: &mut Builder) -> bool {
        let terms = &event.terms;
        let attr = builder.attr_mut();
        let is_software = |id: SwId| event.attr.kind == EventType::SOFTWARE && event.attr.config == id.0;
        let by_default = event.default_sampling().period;
        let by_default = by_default.or(self.aux.and_then(|aux| aux.period(event)));
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
