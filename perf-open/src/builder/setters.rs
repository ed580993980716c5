//! The setters: one for each field of the attr, under the kernel's name.

use alloc::ffi::CString;

use perf_abi::attr::{AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;
use perf_abi::open::OpenFlags;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use super::Builder;

impl Builder {
    fn flag(mut self, flag: AttrFlags, set: bool) -> Self {
        self.attr.flags = if set { self.attr.flags | flag } else { self.attr.flags.without(flag) };
        self
    }

    fn action(mut self, action: AuxAction, set: bool) -> Self {
        self.attr.aux_action =
            if set { self.attr.aux_action | action } else { self.attr.aux_action.without(action) };
        self
    }
}

/// The switches.
impl Builder {
    /// Whether the event is off until it is enabled by [`Counter::enable`](crate::Counter::enable),
    /// [`enable_on_exec`](Self::enable_on_exec) or [`enable_task`](crate::enable_task). Of a group the leader's
    /// counts: while it is off, so are the members. Since Linux 2.6.31.
    #[must_use]
    pub fn disabled(self, set: bool) -> Self {
        self.flag(AttrFlags::DISABLED, set)
    }

    /// Whether the children are counted that the task starts from now on; those it has already are not. What they
    /// count is added when the event is read.
    ///
    /// Excludes some ways of reading groups. Linux 2.6.35 to 2.6.39 may crash where it is set and many threads are
    /// started. Since Linux 2.6.31.
    #[must_use]
    pub fn inherit(self, set: bool) -> Self {
        self.flag(AttrFlags::INHERIT, set)
    }

    /// Whether the event must always be on the PMU. Hardware events that lead a group, or are alone. Where it
    /// cannot be, the event is in error until it is enabled or disabled again, and
    /// [`Counter::read`](crate::Counter::read) says so. Since Linux 2.6.31.
    #[must_use]
    pub fn pinned(self, set: bool) -> Self {
        self.flag(AttrFlags::PINNED, set)
    }

    /// Whether the group wants the PMU for itself while it is on it. May never count, where the NMI watchdog or
    /// anyone else uses the PMU. Since Linux 2.6.31.
    #[must_use]
    pub fn exclusive(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUSIVE, set)
    }

    /// Whether user space is left out. Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_user(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_USER, set)
    }

    /// Whether the kernel is left out; without privilege it must be where `perf_event_paranoid` is 2, the default.
    /// Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_kernel(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_KERNEL, set)
    }

    /// Whether the hypervisor is left out, where the PMU can tell. Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_hv(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_HV, set)
    }

    /// Whether the idle task is left out. Of effect on software events alone. Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_idle(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_IDLE, set)
    }

    /// Whether executable mappings are recorded: MMAP. Since Linux 2.6.31.
    #[must_use]
    pub fn mmap(self, set: bool) -> Self {
        self.flag(AttrFlags::MMAP, set)
    }

    /// Whether changes of a task's name are recorded: COMM. Since Linux 2.6.31.
    #[must_use]
    pub fn comm(self, set: bool) -> Self {
        self.flag(AttrFlags::COMM, set)
    }

    /// Whether inherited counts are kept by task, and recorded at exit: READ. Of meaning with
    /// [`inherit`](Self::inherit). Since Linux 2.6.31.
    #[must_use]
    pub fn inherit_stat(self, set: bool) -> Self {
        self.flag(AttrFlags::INHERIT_STAT, set)
    }

    /// Whether the next exec enables the event. Since Linux 2.6.31.
    #[must_use]
    pub fn enable_on_exec(self, set: bool) -> Self {
        self.flag(AttrFlags::ENABLE_ON_EXEC, set)
    }

    /// Whether starts and ends of tasks are recorded: FORK and EXIT. Since Linux 2.6.31.
    #[must_use]
    pub fn task(self, set: bool) -> Self {
        self.flag(AttrFlags::TASK, set)
    }

    /// Whether mappings that are not executable are recorded as well. Since Linux 2.6.36.
    #[must_use]
    pub fn mmap_data(self, set: bool) -> Self {
        self.flag(AttrFlags::MMAP_DATA, set)
    }

    /// Whether records other than samples tell their task, time, id and cpu, as far as samples do. Since Linux
    /// 2.6.38.
    #[must_use]
    pub fn sample_id_all(self, set: bool) -> Self {
        self.flag(AttrFlags::SAMPLE_ID_ALL, set)
    }

    /// Whether the host is left out, and only guests are counted. Since Linux 3.2.
    #[must_use]
    pub fn exclude_host(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_HOST, set)
    }

    /// Whether guests are left out. Since Linux 3.2.
    #[must_use]
    pub fn exclude_guest(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_GUEST, set)
    }

    /// Whether call chains leave the kernel out. Since Linux 3.7.
    #[must_use]
    pub fn exclude_callchain_kernel(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL, set)
    }

    /// Whether call chains leave user space out. Since Linux 3.7.
    #[must_use]
    pub fn exclude_callchain_user(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_CALLCHAIN_USER, set)
    }

    /// Whether mappings tell their file's device and inode, or build id: MMAP2 in place of MMAP. Of effect with
    /// [`mmap`](Self::mmap). Since Linux 3.16; in 3.12 headers, but refused.
    #[must_use]
    pub fn mmap2(self, set: bool) -> Self {
        self.flag(AttrFlags::MMAP2, set)
    }

    /// Whether COMM records tell an exec from other changes of name. The kernel does so anyway; that it takes the
    /// flag is how to know. Since Linux 3.16.
    #[must_use]
    pub fn comm_exec(self, set: bool) -> Self {
        self.flag(AttrFlags::COMM_EXEC, set)
    }

    /// Whether switches of tasks are recorded: SWITCH, and of a cpu SWITCH_CPU_WIDE. Since Linux 4.3.
    #[must_use]
    pub fn context_switch(self, set: bool) -> Self {
        self.flag(AttrFlags::CONTEXT_SWITCH, set)
    }

    /// Whether the ring is written from its end to its start, so that it can be overwritten and still be read.
    /// Since Linux 4.7.
    #[must_use]
    pub fn write_backward(self, set: bool) -> Self {
        self.flag(AttrFlags::WRITE_BACKWARD, set)
    }

    /// Whether a task's namespaces are recorded: NAMESPACES. Takes privilege. Since Linux 4.12.
    #[must_use]
    pub fn namespaces(self, set: bool) -> Self {
        self.flag(AttrFlags::NAMESPACES, set)
    }

    /// Whether symbols that the kernel gains and loses are recorded: KSYMBOL. Since Linux 5.1.
    #[must_use]
    pub fn ksymbol(self, set: bool) -> Self {
        self.flag(AttrFlags::KSYMBOL, set)
    }

    /// Whether BPF programs that are loaded and unloaded are recorded: BPF_EVENT. Since Linux 5.1.
    #[must_use]
    pub fn bpf_event(self, set: bool) -> Self {
        self.flag(AttrFlags::BPF_EVENT, set)
    }

    /// Whether samples go into the AUX area of the group's leader as the PMU writes them. Since Linux 5.4.
    #[must_use]
    pub fn aux_output(self, set: bool) -> Self {
        self.flag(AttrFlags::AUX_OUTPUT, set)
    }

    /// Whether new cgroups are recorded: CGROUP. Since Linux 5.7.
    #[must_use]
    pub fn cgroup(self, set: bool) -> Self {
        self.flag(AttrFlags::CGROUP, set)
    }

    /// Whether changes of the kernel's code are recorded: TEXT_POKE. Since Linux 5.9.
    #[must_use]
    pub fn text_poke(self, set: bool) -> Self {
        self.flag(AttrFlags::TEXT_POKE, set)
    }

    /// Whether MMAP2 records tell the file's build id in place of device and inode. Since Linux 5.12.
    #[must_use]
    pub fn build_id(self, set: bool) -> Self {
        self.flag(AttrFlags::BUILD_ID, set)
    }

    /// Whether only threads inherit, not processes. Needs [`inherit`](Self::inherit). Since Linux 5.13.
    #[must_use]
    pub fn inherit_thread(self, set: bool) -> Self {
        self.flag(AttrFlags::INHERIT_THREAD, set)
    }

    /// Whether an exec takes the event off the task. Excludes [`enable_on_exec`](Self::enable_on_exec). Since Linux
    /// 5.13.
    #[must_use]
    pub fn remove_on_exec(self, set: bool) -> Self {
        self.flag(AttrFlags::REMOVE_ON_EXEC, set)
    }

    /// Whether an overflow sends the task a synchronous `SIGTRAP`, with [`sig_data`](Self::sig_data). Needs
    /// [`remove_on_exec`](Self::remove_on_exec). Since Linux 5.13.
    #[must_use]
    pub fn sigtrap(self, set: bool) -> Self {
        self.flag(AttrFlags::SIGTRAP, set)
    }

    /// Whether the user part of a call chain may come when the task returns to user space: CALLCHAIN_DEFERRED.
    /// Since Linux 6.19.
    #[must_use]
    pub fn defer_callchain(self, set: bool) -> Self {
        self.flag(AttrFlags::DEFER_CALLCHAIN, set)
    }

    /// Whether this event's ring gets the CALLCHAIN_DEFERRED records. Since Linux 6.19.
    #[must_use]
    pub fn defer_output(self, set: bool) -> Self {
        self.flag(AttrFlags::DEFER_OUTPUT, set)
    }
}

/// The numbers.
impl Builder {
    /// Who defines the event. C: `type`. Since Linux 2.6.31.
    #[must_use]
    pub fn kind(mut self, value: EventType) -> Self {
        self.attr.kind = value;
        self
    }

    /// Which event, as its kind defines it. Since Linux 2.6.31.
    #[must_use]
    pub fn config(mut self, value: u64) -> Self {
        self.attr.config = value;
        self
    }

    /// Events between samples; 0 for none. Excludes [`sample_freq`](Self::sample_freq): the later call holds. Since
    /// Linux 2.6.31.
    #[must_use]
    pub fn sample_period(mut self, value: u64) -> Self {
        self.attr.flags = self.attr.flags.without(AttrFlags::FREQ);
        self.attr.sample_period = value;
        self
    }

    /// Samples a second, which the kernel adjusts the period to at each tick; sets `freq`. At most
    /// [`max_sample_rate`](crate::limits::max_sample_rate). Excludes [`sample_period`](Self::sample_period): the
    /// later call holds. Since Linux 2.6.31.
    #[doc(alias = "freq")]
    #[must_use]
    pub fn sample_freq(mut self, value: u64) -> Self {
        self.attr.flags |= AttrFlags::FREQ;
        self.attr.sample_period = value;
        self
    }

    /// What a sample holds. Since Linux 2.6.31.
    #[must_use]
    pub fn sample_type(mut self, value: SampleType) -> Self {
        self.attr.sample_type = value;
        self
    }

    /// What a read of the counter gives. `GROUP` did not work with tasks other than the calling one before 2.6.35.
    /// Since Linux 2.6.31.
    #[must_use]
    pub fn read_format(mut self, value: ReadFormat) -> Self {
        self.attr.read_format = value;
        self
    }

    /// Samples between wakeups. Excludes [`wakeup_watermark`](Self::wakeup_watermark): the later call holds.
    ///
    /// 0 leaves it to the ring, which wakes when half of it is new; before Linux 3.0 it meant never. (The manual says
    /// that 0 is as 1, which Linux 6.18 does not do.) Since Linux 2.6.31.
    #[must_use]
    pub fn wakeup_events(mut self, value: u32) -> Self {
        self.attr.flags = self.attr.flags.without(AttrFlags::WATERMARK);
        self.attr.wakeup_events = value;
        self
    }

    /// Bytes in the ring between wakeups, of whatever records; sets `watermark`. 1 wakes at every record. Excludes
    /// [`wakeup_events`](Self::wakeup_events): the later call holds.
    ///
    /// Linux 2.6.36 to 3.0 ignores the switch and takes the number for one of samples. Since Linux 2.6.32.
    #[doc(alias = "watermark")]
    #[must_use]
    pub fn wakeup_watermark(mut self, value: u32) -> Self {
        self.attr.flags |= AttrFlags::WATERMARK;
        self.attr.wakeup_events = value;
        self
    }

    /// How exact the address of a sample must be: 0 anything, 1 constant skid, 2 no skid requested, 3 no skid. Only
    /// the two lowest bits count. Since Linux 2.6.35.
    #[must_use]
    pub fn precise_ip(mut self, value: u8) -> Self {
        self.attr.flags = self.attr.flags.with_precise_ip(value);
        self.precise_max = false;
        self
    }

    /// On which accesses a breakpoint fires. Since Linux 2.6.33.
    #[must_use]
    pub fn bp_type(mut self, value: BreakpointType) -> Self {
        self.attr.bp_type = value;
        self
    }

    /// What a breakpoint watches: an address of the task. The same field as [`config1`](Self::config1). Since Linux
    /// 2.6.33.
    #[must_use]
    pub fn bp_addr(mut self, value: u64) -> Self {
        self.attr.config1 = value;
        self
    }

    /// How many bytes a breakpoint watches, from `bp_addr` on: see
    /// [`BreakpointLen`](perf_abi::breakpoint::BreakpointLen). For execution, the size of a `long`. The same field
    /// as [`config2`](Self::config2). Since Linux 2.6.33.
    #[must_use]
    pub fn bp_len(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// More of `config`. Takes back a probe's string. Since Linux 2.6.39.
    #[must_use]
    pub fn config1(mut self, value: u64) -> Self {
        self.attr.config1 = value;
        self.string = None;
        self
    }

    /// More of `config`. Since Linux 2.6.39.
    #[must_use]
    pub fn config2(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// More of `config`. Since Linux 6.3.
    #[must_use]
    pub fn config3(mut self, value: u64) -> Self {
        self.attr.config3 = value;
        self
    }

    /// More of `config`. Since Linux 6.19.
    #[must_use]
    pub fn config4(mut self, value: u64) -> Self {
        self.attr.config4 = value;
        self
    }

    /// The function that a kprobe is in; for an address, leave it out and set [`kprobe_addr`](Self::kprobe_addr).
    /// Copied by the kernel when the event is opened. Since Linux 4.17.
    #[must_use]
    pub fn kprobe_func(mut self, name: CString) -> Self {
        self.string = Some(name);
        self
    }

    /// The address of a kprobe without [`kprobe_func`](Self::kprobe_func). The same field as
    /// [`config2`](Self::config2). Since Linux 4.17.
    #[must_use]
    pub fn kprobe_addr(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// The file that a uprobe is in. Copied by the kernel when the event is opened. Since Linux 4.17.
    #[must_use]
    pub fn uprobe_path(mut self, path: CString) -> Self {
        self.string = Some(path);
        self
    }

    /// Where in the function, or in the file, the probe is. The same field as [`config2`](Self::config2). Since
    /// Linux 4.17.
    #[must_use]
    pub fn probe_offset(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// Which branches a branch stack holds; without a privilege level, those of the event's. Since Linux 3.4.
    #[must_use]
    pub fn branch_sample_type(mut self, value: BranchSampleType) -> Self {
        self.attr.branch_sample_type = value;
        self
    }

    /// The user registers of a sample, a bit each: [`regs`](perf_abi::regs). Since Linux 3.7.
    #[must_use]
    pub fn sample_regs_user(mut self, value: u64) -> Self {
        self.attr.sample_regs_user = value;
        self
    }

    /// Bytes of user stack of a sample: a multiple of 8, from 8 to 65 528.
    ///
    /// 0 with `PERF_SAMPLE_STACK_USER` is refused by [`open`](Self::open): every kernel up to 7.3 takes it and
    /// writes samples that lack the word it should write. Since Linux 3.7.
    #[must_use]
    pub fn sample_stack_user(mut self, value: u32) -> Self {
        self.attr.sample_stack_user = value;
        self
    }

    /// The clock of `time`, a `CLOCK_*` of `clock_gettime`: MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME, TAI; sets
    /// `use_clockid`. Since Linux 4.1.
    #[doc(alias = "use_clockid")]
    #[must_use]
    pub fn clockid(mut self, value: i32) -> Self {
        self.attr.flags |= AttrFlags::USE_CLOCKID;
        self.attr.clockid = value;
        self
    }

    /// The registers at the interrupt, a bit each: [`regs`](perf_abi::regs). Since Linux 3.19.
    #[must_use]
    pub fn sample_regs_intr(mut self, value: u64) -> Self {
        self.attr.sample_regs_intr = value;
        self
    }

    /// Bytes of AUX data between wakeups; 0 for half of the area. Since Linux 4.1.
    #[must_use]
    pub fn aux_watermark(mut self, value: u32) -> Self {
        self.attr.aux_watermark = value;
        self
    }

    /// Entries of a call chain at most, at most [`max_stack`](crate::limits::max_stack); 0 for that. Since Linux
    /// 4.8.
    #[must_use]
    pub fn sample_max_stack(mut self, value: u16) -> Self {
        self.attr.sample_max_stack = value;
        self
    }

    /// Bytes of AUX data of a sample. Since Linux 5.5.
    #[must_use]
    pub fn aux_sample_size(mut self, value: u32) -> Self {
        self.attr.aux_sample_size = value;
        self
    }

    /// What `si_perf_data` of a `SIGTRAP` carries. Since Linux 5.13.
    #[must_use]
    pub fn sig_data(mut self, value: u64) -> Self {
        self.attr.sig_data = value;
        self
    }

    /// Whether AUX tracing starts paused. Since Linux 6.13.
    #[must_use]
    pub fn aux_start_paused(self, set: bool) -> Self {
        self.action(AuxAction::START_PAUSED, set)
    }

    /// Whether an overflow pauses the AUX tracing of the group's leader. Excludes [`aux_resume`](Self::aux_resume).
    /// Since Linux 6.13.
    #[must_use]
    pub fn aux_pause(self, set: bool) -> Self {
        self.action(AuxAction::PAUSE, set)
    }

    /// Whether an overflow resumes the AUX tracing of the group's leader. Since Linux 6.13.
    #[must_use]
    pub fn aux_resume(self, set: bool) -> Self {
        self.action(AuxAction::RESUME, set)
    }
}

/// How the event is opened.
impl Builder {
    /// Whether an exec closes the file descriptor: yes, unless told otherwise. A program that the descriptor is to
    /// be handed to takes `false`, and so do kernels before 3.14. Since Linux 3.14.
    #[doc(alias = "PERF_FLAG_FD_CLOEXEC")]
    #[must_use]
    pub fn cloexec(mut self, set: bool) -> Self {
        let flag = OpenFlags::FD_CLOEXEC;
        self.flags = if set { self.flags | flag } else { self.flags.without(flag) };
        self
    }

    /// More flags of the call. `FD_NO_GROUP` has the event opened apart from the leader, whose ring it uses with
    /// `FD_OUTPUT`; the latter is broken since 2.6.35, and [`Counter::set_output`](crate::Counter::set_output) does
    /// what it should. Both since Linux 2.6.32.
    #[doc(alias("PERF_FLAG_FD_NO_GROUP", "PERF_FLAG_FD_OUTPUT"))]
    #[must_use]
    pub fn open_flags(mut self, flags: OpenFlags) -> Self {
        self.flags |= flags;
        self
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::attr::Attr;

    use super::*;

    fn of(builder: Builder) -> Attr {
        *builder.attr()
    }

    /// Each switch sets its own bit and takes it back.
    #[test]
    fn switches() {
        type Setter = fn(Builder, bool) -> Builder;
        let switches: [(Setter, &str); 35] = [
            (Builder::disabled, "disabled"),
            (Builder::inherit, "inherit"),
            (Builder::pinned, "pinned"),
            (Builder::exclusive, "exclusive"),
            (Builder::exclude_user, "exclude_user"),
            (Builder::exclude_kernel, "exclude_kernel"),
            (Builder::exclude_hv, "exclude_hv"),
            (Builder::exclude_idle, "exclude_idle"),
            (Builder::mmap, "mmap"),
            (Builder::comm, "comm"),
            (Builder::inherit_stat, "inherit_stat"),
            (Builder::enable_on_exec, "enable_on_exec"),
            (Builder::task, "task"),
            (Builder::mmap_data, "mmap_data"),
            (Builder::sample_id_all, "sample_id_all"),
            (Builder::exclude_host, "exclude_host"),
            (Builder::exclude_guest, "exclude_guest"),
            (Builder::exclude_callchain_kernel, "exclude_callchain_kernel"),
            (Builder::exclude_callchain_user, "exclude_callchain_user"),
            (Builder::mmap2, "mmap2"),
            (Builder::comm_exec, "comm_exec"),
            (Builder::context_switch, "context_switch"),
            (Builder::write_backward, "write_backward"),
            (Builder::namespaces, "namespaces"),
            (Builder::ksymbol, "ksymbol"),
            (Builder::bpf_event, "bpf_event"),
            (Builder::aux_output, "aux_output"),
            (Builder::cgroup, "cgroup"),
            (Builder::text_poke, "text_poke"),
            (Builder::build_id, "build_id"),
            (Builder::inherit_thread, "inherit_thread"),
            (Builder::remove_on_exec, "remove_on_exec"),
            (Builder::sigtrap, "sigtrap"),
            (Builder::defer_callchain, "defer_callchain"),
            (Builder::defer_output, "defer_output"),
        ];
        for (set, name) in switches {
            let flag = AttrFlags::NAMES.iter().find(|flag| flag.c_name == name).unwrap();
            let on = set(Builder::from(Attr::default()), true);
            assert_eq!(of(on.clone()), Attr { flags: AttrFlags(flag.value), ..Attr::default() }, "{name}");
            assert_eq!(of(set(on, false)), Attr::default(), "{name}");
        }
        // The other three are set by the numbers they are about.
        assert_eq!(AttrFlags::NAMES.len(), switches.len() + 3);
    }

    #[test]
    fn numbers() {
        let new = || Builder::from(Attr::default());
        let zero = Attr::default();
        assert_eq!(of(new().kind(EventType(9))), Attr { kind: EventType(9), ..zero });
        assert_eq!(of(new().config(1)), Attr { config: 1, ..zero });
        assert_eq!(of(new().config1(1)), Attr { config1: 1, ..zero });
        assert_eq!(of(new().config2(1)), Attr { config2: 1, ..zero });
        assert_eq!(of(new().config3(1)), Attr { config3: 1, ..zero });
        assert_eq!(of(new().config4(1)), Attr { config4: 1, ..zero });
        assert_eq!(of(new().bp_type(BreakpointType::X)), Attr { bp_type: BreakpointType::X, ..zero });
        assert_eq!(of(new().bp_addr(1).bp_len(2)), Attr { config1: 1, config2: 2, ..zero });
        assert_eq!(of(new().kprobe_addr(1)), Attr { config2: 1, ..zero });
        assert_eq!(of(new().probe_offset(1)), Attr { config2: 1, ..zero });
        assert_eq!(of(new().sample_type(SampleType::IP)), Attr { sample_type: SampleType::IP, ..zero });
        assert_eq!(of(new().read_format(ReadFormat::ID)), Attr { read_format: ReadFormat::ID, ..zero });
        let branches = BranchSampleType::ANY;
        assert_eq!(of(new().branch_sample_type(branches)), Attr { branch_sample_type: branches, ..zero });
        assert_eq!(of(new().sample_regs_user(1)), Attr { sample_regs_user: 1, ..zero });
        assert_eq!(of(new().sample_regs_intr(1)), Attr { sample_regs_intr: 1, ..zero });
        assert_eq!(of(new().sample_stack_user(8)), Attr { sample_stack_user: 8, ..zero });
        assert_eq!(of(new().aux_watermark(1)), Attr { aux_watermark: 1, ..zero });
        assert_eq!(of(new().sample_max_stack(1)), Attr { sample_max_stack: 1, ..zero });
        assert_eq!(of(new().aux_sample_size(1)), Attr { aux_sample_size: 1, ..zero });
        assert_eq!(of(new().sig_data(1)), Attr { sig_data: 1, ..zero });
        let actions = AuxAction::START_PAUSED | AuxAction::PAUSE | AuxAction::RESUME;
        let all = new().aux_start_paused(true).aux_pause(true).aux_resume(true);
        assert_eq!(of(all.clone()), Attr { aux_action: actions, ..zero });
        assert_eq!(of(all.aux_start_paused(false).aux_pause(false).aux_resume(false)), zero);
        let skid = of(new().precise_ip(2)).flags;
        assert_eq!((skid.precise_ip(), skid.with_precise_ip(0)), (2, AttrFlags::NONE));
        let clock = Attr { clockid: 1, flags: AttrFlags::USE_CLOCKID, ..zero };
        assert_eq!(of(new().clockid(1)), clock);
    }

    #[test]
    fn of_two_that_exclude_each_other_the_later_holds() {
        let new = || Builder::from(Attr::default());
        let zero = Attr::default();
        let freq = Attr { sample_period: 99, flags: AttrFlags::FREQ, ..zero };
        assert_eq!(of(new().sample_period(7).sample_freq(99)), freq);
        assert_eq!(of(new().sample_freq(99).sample_period(7)), Attr { sample_period: 7, ..zero });
        let bytes = Attr { wakeup_events: 4096, flags: AttrFlags::WATERMARK, ..zero };
        assert_eq!(of(new().wakeup_events(3).wakeup_watermark(4096)), bytes);
        assert_eq!(of(new().wakeup_watermark(4096).wakeup_events(3)), Attr { wakeup_events: 3, ..zero });
    }

    #[test]
    fn how_it_is_opened() {
        let new = Builder::from(Attr::default());
        assert_eq!(new.flags, OpenFlags::FD_CLOEXEC);
        assert_eq!(new.clone().cloexec(false).flags, OpenFlags::NONE);
        let apart = OpenFlags::FD_NO_GROUP;
        assert_eq!(new.open_flags(apart).flags, OpenFlags::FD_CLOEXEC | apart);
    }
}
