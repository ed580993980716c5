//! The setters: one for each field of the attr, with the kernel's name.

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
    /// Sets whether the event is off until [`Counter::enable`](crate::Counter::enable),
    /// [`enable_on_exec`](Self::enable_on_exec) or [`enable_task`](crate::enable_task) enables it.
    ///
    /// While a leader is off, its members do not count either. Since Linux 2.6.31.
    #[must_use]
    pub fn disabled(self, set: bool) -> Self {
        self.flag(AttrFlags::DISABLED, set)
    }

    /// Sets whether children that the task starts from now on are counted. Children that already exist are not.
    ///
    /// A read of the event includes the counts of the children. Excludes some ways of reading groups. Linux 2.6.35 to
    /// 2.6.39 may crash if this is set and many threads are started. Since Linux 2.6.31.
    #[must_use]
    pub fn inherit(self, set: bool) -> Self {
        self.flag(AttrFlags::INHERIT, set)
    }

    /// Sets whether the event must always be on the PMU. Only for hardware events that lead a group or are alone.
    ///
    /// If the kernel cannot keep the event on the PMU, the event is in error until it is enabled or disabled again, and
    /// [`Counter::read`](crate::Counter::read) returns an error. Since Linux 2.6.31.
    #[must_use]
    pub fn pinned(self, set: bool) -> Self {
        self.flag(AttrFlags::PINNED, set)
    }

    /// Sets whether the group has the PMU to itself while it is scheduled. Since Linux 2.6.31.
    ///
    /// Such a group may never count if something else, such as the NMI watchdog, uses the PMU.
    #[must_use]
    pub fn exclusive(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUSIVE, set)
    }

    /// Sets whether user space is excluded. Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_user(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_USER, set)
    }

    /// Sets whether the kernel is excluded. Since Linux 2.6.31.
    ///
    /// Without privilege it must be excluded if `perf_event_paranoid` is 2, the default.
    #[must_use]
    pub fn exclude_kernel(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_KERNEL, set)
    }

    /// Sets whether the hypervisor is excluded, if the PMU can distinguish it. Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_hv(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_HV, set)
    }

    /// Sets whether the idle task is excluded. Affects only software events. Since Linux 2.6.31.
    #[must_use]
    pub fn exclude_idle(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_IDLE, set)
    }

    /// Sets whether executable mappings are recorded, as MMAP records. Since Linux 2.6.31.
    #[must_use]
    pub fn mmap(self, set: bool) -> Self {
        self.flag(AttrFlags::MMAP, set)
    }

    /// Sets whether changes of a task's name are recorded, as COMM records. Since Linux 2.6.31.
    #[must_use]
    pub fn comm(self, set: bool) -> Self {
        self.flag(AttrFlags::COMM, set)
    }

    /// Sets whether the counts of inherited events are kept per task and recorded at exit, as READ records. Needs
    /// [`inherit`](Self::inherit). Since Linux 2.6.31.
    #[must_use]
    pub fn inherit_stat(self, set: bool) -> Self {
        self.flag(AttrFlags::INHERIT_STAT, set)
    }

    /// Sets whether the next exec enables the event. Since Linux 2.6.31.
    #[must_use]
    pub fn enable_on_exec(self, set: bool) -> Self {
        self.flag(AttrFlags::ENABLE_ON_EXEC, set)
    }

    /// Sets whether starts and ends of tasks are recorded, as FORK and EXIT records. Since Linux 2.6.31.
    #[must_use]
    pub fn task(self, set: bool) -> Self {
        self.flag(AttrFlags::TASK, set)
    }

    /// Sets whether mappings that are not executable are recorded too. Since Linux 2.6.36.
    #[must_use]
    pub fn mmap_data(self, set: bool) -> Self {
        self.flag(AttrFlags::MMAP_DATA, set)
    }

    /// Sets whether records other than samples end with the task, time, id and cpu, as far as `sample_type` includes
    /// them. Since Linux 2.6.38.
    #[must_use]
    pub fn sample_id_all(self, set: bool) -> Self {
        self.flag(AttrFlags::SAMPLE_ID_ALL, set)
    }

    /// Sets whether the host is excluded, so that only guests are counted. Since Linux 3.2.
    #[must_use]
    pub fn exclude_host(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_HOST, set)
    }

    /// Sets whether guests are excluded. Since Linux 3.2.
    #[must_use]
    pub fn exclude_guest(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_GUEST, set)
    }

    /// Sets whether call chains exclude the kernel. Since Linux 3.7.
    #[must_use]
    pub fn exclude_callchain_kernel(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL, set)
    }

    /// Sets whether call chains exclude user space. Since Linux 3.7.
    #[must_use]
    pub fn exclude_callchain_user(self, set: bool) -> Self {
        self.flag(AttrFlags::EXCLUDE_CALLCHAIN_USER, set)
    }

    /// Sets whether mappings are recorded as MMAP2 records, which contain the file's device and inode, or its build id.
    /// Needs [`mmap`](Self::mmap).
    ///
    /// Since Linux 3.16. The headers of 3.12 have the flag, but kernels up to 3.15 refuse it.
    #[must_use]
    pub fn mmap2(self, set: bool) -> Self {
        self.flag(AttrFlags::MMAP2, set)
    }

    /// Sets whether COMM records distinguish an exec from other changes of the name. Since Linux 3.16.
    ///
    /// A kernel that accepts the flag distinguishes them in any case; the flag serves to find out whether it does.
    #[must_use]
    pub fn comm_exec(self, set: bool) -> Self {
        self.flag(AttrFlags::COMM_EXEC, set)
    }

    /// Sets whether context switches are recorded, as SWITCH records, or SWITCH_CPU_WIDE records for an event of a cpu.
    /// Since Linux 4.3.
    #[must_use]
    pub fn context_switch(self, set: bool) -> Self {
        self.flag(AttrFlags::CONTEXT_SWITCH, set)
    }

    /// Sets whether the ring is written from its end to its start, so that it can be overwritten and still be read.
    /// Needed for [`Overwrite`](crate::Overwrite). Since Linux 4.7.
    #[must_use]
    pub fn write_backward(self, set: bool) -> Self {
        self.flag(AttrFlags::WRITE_BACKWARD, set)
    }

    /// Sets whether changes of a task's namespaces are recorded, as NAMESPACES records. Needs privilege. Since Linux
    /// 4.12.
    #[must_use]
    pub fn namespaces(self, set: bool) -> Self {
        self.flag(AttrFlags::NAMESPACES, set)
    }

    /// Sets whether new and removed kernel symbols are recorded, as KSYMBOL records. Since Linux 5.1.
    #[must_use]
    pub fn ksymbol(self, set: bool) -> Self {
        self.flag(AttrFlags::KSYMBOL, set)
    }

    /// Sets whether loaded and unloaded BPF programs are recorded, as BPF_EVENT records. Since Linux 5.1.
    #[must_use]
    pub fn bpf_event(self, set: bool) -> Self {
        self.flag(AttrFlags::BPF_EVENT, set)
    }

    /// Sets whether the PMU writes samples to the AUX area of the group's leader. Since Linux 5.4.
    #[must_use]
    pub fn aux_output(self, set: bool) -> Self {
        self.flag(AttrFlags::AUX_OUTPUT, set)
    }

    /// Sets whether new cgroups are recorded, as CGROUP records. Since Linux 5.7.
    #[must_use]
    pub fn cgroup(self, set: bool) -> Self {
        self.flag(AttrFlags::CGROUP, set)
    }

    /// Sets whether changes of the kernel's code are recorded, as TEXT_POKE records. Since Linux 5.9.
    #[must_use]
    pub fn text_poke(self, set: bool) -> Self {
        self.flag(AttrFlags::TEXT_POKE, set)
    }

    /// Sets whether MMAP2 records contain the file's build id instead of device and inode. Since Linux 5.12.
    #[must_use]
    pub fn build_id(self, set: bool) -> Self {
        self.flag(AttrFlags::BUILD_ID, set)
    }

    /// Sets whether only new threads inherit the event, and new processes do not. Needs [`inherit`](Self::inherit).
    /// Since Linux 5.13.
    #[must_use]
    pub fn inherit_thread(self, set: bool) -> Self {
        self.flag(AttrFlags::INHERIT_THREAD, set)
    }

    /// Sets whether an exec removes the event from the task. Excludes [`enable_on_exec`](Self::enable_on_exec). Since
    /// Linux 5.13.
    #[must_use]
    pub fn remove_on_exec(self, set: bool) -> Self {
        self.flag(AttrFlags::REMOVE_ON_EXEC, set)
    }

    /// Sets whether an overflow sends the task a synchronous `SIGTRAP` with [`sig_data`](Self::sig_data). Needs
    /// [`remove_on_exec`](Self::remove_on_exec). Since Linux 5.13.
    #[must_use]
    pub fn sigtrap(self, set: bool) -> Self {
        self.flag(AttrFlags::SIGTRAP, set)
    }

    /// Sets whether the user part of a call chain may be deferred until the task returns to user space; it is then a
    /// CALLCHAIN_DEFERRED record. Since Linux 6.19.
    #[must_use]
    pub fn defer_callchain(self, set: bool) -> Self {
        self.flag(AttrFlags::DEFER_CALLCHAIN, set)
    }

    /// Sets whether this event's ring receives the CALLCHAIN_DEFERRED records. Since Linux 6.19.
    #[must_use]
    pub fn defer_output(self, set: bool) -> Self {
        self.flag(AttrFlags::DEFER_OUTPUT, set)
    }
}

/// The numbers.
impl Builder {
    /// Sets the type of the event, which determines the meaning of `config`. C: `type`. Since Linux 2.6.31.
    #[must_use]
    pub fn kind(mut self, value: EventType) -> Self {
        self.attr.kind = value;
        self
    }

    /// Sets the event's code, as defined for its type. Since Linux 2.6.31.
    #[must_use]
    pub fn config(mut self, value: u64) -> Self {
        self.attr.config = value;
        self
    }

    /// Sets the number of events between samples; 0 for no samples. Since Linux 2.6.31.
    ///
    /// Excludes [`sample_freq`](Self::sample_freq): the later call wins.
    #[must_use]
    pub fn sample_period(mut self, value: u64) -> Self {
        self.attr.flags = self.attr.flags.without(AttrFlags::FREQ);
        self.attr.sample_period = value;
        self
    }

    /// Sets the number of samples per second, and `freq`. Since Linux 2.6.31.
    ///
    /// The kernel adjusts the period at each tick to reach this rate. The maximum is
    /// [`max_sample_rate`](crate::limits::max_sample_rate). Excludes [`sample_period`](Self::sample_period): the later
    /// call wins.
    #[doc(alias = "freq")]
    #[must_use]
    pub fn sample_freq(mut self, value: u64) -> Self {
        self.attr.flags |= AttrFlags::FREQ;
        self.attr.sample_period = value;
        self
    }

    /// Sets the fields of a sample. Since Linux 2.6.31.
    #[must_use]
    pub fn sample_type(mut self, value: SampleType) -> Self {
        self.attr.sample_type = value;
        self
    }

    /// Sets what a read of the counter includes. Since Linux 2.6.31.
    ///
    /// Before 2.6.35 `GROUP` works only for the calling task.
    #[must_use]
    pub fn read_format(mut self, value: ReadFormat) -> Self {
        self.attr.read_format = value;
        self
    }

    /// Sets the number of samples between wakeups. Since Linux 2.6.31.
    ///
    /// With 0 the kernel wakes the reader when half of the ring is new; before Linux 3.0 it never does. (The manual
    /// page says that 0 means 1; Linux 6.18 does not do that.) Excludes [`wakeup_watermark`](Self::wakeup_watermark):
    /// the later call wins.
    #[must_use]
    pub fn wakeup_events(mut self, value: u32) -> Self {
        self.attr.flags = self.attr.flags.without(AttrFlags::WATERMARK);
        self.attr.wakeup_events = value;
        self
    }

    /// Sets the number of bytes in the ring between wakeups, counting every record, and `watermark`. Since Linux
    /// 2.6.32.
    ///
    /// 1 wakes the reader at every record. Linux 2.6.36 to 3.0 ignores `watermark` and treats the number as one of
    /// samples. Excludes [`wakeup_events`](Self::wakeup_events): the later call wins.
    #[doc(alias = "watermark")]
    #[must_use]
    pub fn wakeup_watermark(mut self, value: u32) -> Self {
        self.attr.flags |= AttrFlags::WATERMARK;
        self.attr.wakeup_events = value;
        self
    }

    /// Sets how exact the address of a sample must be: 0 for arbitrary skid, 1 for constant skid, 2 to request no skid,
    /// 3 to require no skid.
    ///
    /// Only the two lowest bits are used. Since Linux 2.6.35.
    #[must_use]
    pub fn precise_ip(mut self, value: u8) -> Self {
        self.attr.flags = self.attr.flags.with_precise_ip(value);
        self.precise_max = false;
        self
    }

    /// Sets the accesses on which a breakpoint fires. Since Linux 2.6.33.
    #[must_use]
    pub fn bp_type(mut self, value: BreakpointType) -> Self {
        self.attr.bp_type = value;
        self
    }

    /// Sets the address that a breakpoint watches, in the address space of the task. The same field as
    /// [`config1`](Self::config1). Since Linux 2.6.33.
    #[must_use]
    pub fn bp_addr(mut self, value: u64) -> Self {
        self.attr.config1 = value;
        self
    }

    /// Sets the number of bytes that a breakpoint watches, starting at `bp_addr`. Since Linux 2.6.33.
    ///
    /// [`BreakpointLen`](perf_abi::breakpoint::BreakpointLen) has the values. For execution it is the size of a `long`.
    /// The same field as [`config2`](Self::config2).
    #[must_use]
    pub fn bp_len(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// Sets `config1`, an extension of `config`. Removes the string of a probe. Since Linux 2.6.39.
    #[must_use]
    pub fn config1(mut self, value: u64) -> Self {
        self.attr.config1 = value;
        self.string = None;
        self
    }

    /// Sets `config2`, an extension of `config`. Since Linux 2.6.39.
    #[must_use]
    pub fn config2(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// Sets `config3`, an extension of `config`. Since Linux 6.3.
    #[must_use]
    pub fn config3(mut self, value: u64) -> Self {
        self.attr.config3 = value;
        self
    }

    /// Sets `config4`, an extension of `config`. Since Linux 6.19.
    #[must_use]
    pub fn config4(mut self, value: u64) -> Self {
        self.attr.config4 = value;
        self
    }

    /// Sets the function of a kprobe. For a kprobe at an address, leave it out and set
    /// [`kprobe_addr`](Self::kprobe_addr). Since Linux 4.17.
    ///
    /// The kernel copies the name when the event is opened.
    #[must_use]
    pub fn kprobe_func(mut self, name: CString) -> Self {
        self.string = Some(name);
        self
    }

    /// Sets the address of a kprobe that has no [`kprobe_func`](Self::kprobe_func). The same field as
    /// [`config2`](Self::config2). Since Linux 4.17.
    #[must_use]
    pub fn kprobe_addr(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// Sets the file of a uprobe. The kernel copies the path when the event is opened. Since Linux 4.17.
    #[must_use]
    pub fn uprobe_path(mut self, path: CString) -> Self {
        self.string = Some(path);
        self
    }

    /// Sets the offset of the probe in bytes: in the function of a kprobe, or in the file of a uprobe. The same field
    /// as [`config2`](Self::config2). Since Linux 4.17.
    #[must_use]
    pub fn probe_offset(mut self, value: u64) -> Self {
        self.attr.config2 = value;
        self
    }

    /// Sets which branches a branch stack contains. Without a privilege level, the event's levels apply. Since Linux
    /// 3.4.
    #[must_use]
    pub fn branch_sample_type(mut self, value: BranchSampleType) -> Self {
        self.attr.branch_sample_type = value;
        self
    }

    /// Sets the user registers in a sample, one bit each: [`regs`](perf_abi::regs). Since Linux 3.7.
    #[must_use]
    pub fn sample_regs_user(mut self, value: u64) -> Self {
        self.attr.sample_regs_user = value;
        self
    }

    /// Sets the number of bytes of user stack in a sample: a multiple of 8, from 8 to 65 528. Since Linux 3.7.
    ///
    /// [`open`](Self::open) refuses 0 with `PERF_SAMPLE_STACK_USER`: every kernel up to 7.3 accepts it, but writes
    /// samples that lack a word.
    #[must_use]
    pub fn sample_stack_user(mut self, value: u32) -> Self {
        self.attr.sample_stack_user = value;
        self
    }

    /// Sets the clock of the `time` field, and `use_clockid`. Since Linux 4.1.
    ///
    /// The values are the `CLOCK_*` of `clock_gettime`: MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME, TAI.
    #[doc(alias = "use_clockid")]
    #[must_use]
    pub fn clockid(mut self, value: i32) -> Self {
        self.attr.flags |= AttrFlags::USE_CLOCKID;
        self.attr.clockid = value;
        self
    }

    /// Sets the registers at the interrupt in a sample, one bit each: [`regs`](perf_abi::regs). Since Linux 3.19.
    #[must_use]
    pub fn sample_regs_intr(mut self, value: u64) -> Self {
        self.attr.sample_regs_intr = value;
        self
    }

    /// Sets the number of bytes of AUX data between wakeups; 0 for half of the area. Since Linux 4.1.
    #[must_use]
    pub fn aux_watermark(mut self, value: u32) -> Self {
        self.attr.aux_watermark = value;
        self
    }

    /// Sets the maximum number of entries of a call chain, up to [`max_stack`](crate::limits::max_stack); 0 for that
    /// limit. Since Linux 4.8.
    #[must_use]
    pub fn sample_max_stack(mut self, value: u16) -> Self {
        self.attr.sample_max_stack = value;
        self
    }

    /// Sets the number of bytes of AUX data in a sample. Since Linux 5.5.
    #[must_use]
    pub fn aux_sample_size(mut self, value: u32) -> Self {
        self.attr.aux_sample_size = value;
        self
    }

    /// Sets the value of `si_perf_data` in a `SIGTRAP` of the event. Since Linux 5.13.
    #[must_use]
    pub fn sig_data(mut self, value: u64) -> Self {
        self.attr.sig_data = value;
        self
    }

    /// Sets whether AUX tracing starts paused. Since Linux 6.13.
    #[must_use]
    pub fn aux_start_paused(self, set: bool) -> Self {
        self.action(AuxAction::START_PAUSED, set)
    }

    /// Sets whether an overflow pauses the AUX tracing of the group's leader. Excludes
    /// [`aux_resume`](Self::aux_resume). Since Linux 6.13.
    #[must_use]
    pub fn aux_pause(self, set: bool) -> Self {
        self.action(AuxAction::PAUSE, set)
    }

    /// Sets whether an overflow resumes the AUX tracing of the group's leader. Since Linux 6.13.
    #[must_use]
    pub fn aux_resume(self, set: bool) -> Self {
        self.action(AuxAction::RESUME, set)
    }
}

/// How the event is opened.
impl Builder {
    /// Sets whether an exec closes the file descriptor. The default is `true`. Since Linux 3.14.
    ///
    /// Set `false` on older kernels, and to pass the descriptor to another program.
    #[doc(alias = "PERF_FLAG_FD_CLOEXEC")]
    #[must_use]
    pub fn cloexec(mut self, set: bool) -> Self {
        let flag = OpenFlags::FD_CLOEXEC;
        self.flags = if set { self.flags | flag } else { self.flags.without(flag) };
        self
    }

    /// Adds flags of the system call. Both flags of the kernel are since Linux 2.6.32.
    ///
    /// `FD_NO_GROUP` opens the event outside the leader's group; with `FD_OUTPUT` it writes to the leader's ring.
    /// `FD_OUTPUT` is broken since 2.6.35; use [`Counter::set_output`](crate::Counter::set_output).
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

    /// Each switch sets its own bit, and clears it again.
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
        // The other three flags are set by `sample_freq`, `wakeup_watermark` and `clockid`.
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
