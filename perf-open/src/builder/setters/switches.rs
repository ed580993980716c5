//! The switches: one setter for each flag of the attr that has no value.

use perf_abi::attr::AttrFlags;

use crate::builder::Builder;

/// Defines the setter of each flag.
macro_rules! switches {
    ($( $(#[$doc:meta])* $name:ident: $FLAG:ident; )*) => {
        /// The switches.
        impl Builder {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, set: bool) -> Self {
                    let (flags, flag) = (self.attr.flags, AttrFlags::$FLAG);
                    self.attr.flags = if set { flags | flag } else { flags.without(flag) };
                    self
                }
            )*
        }
    };
}

switches! {
    /// Sets whether the event is off until [`Counter::enable`](crate::Counter::enable),
    /// [`enable_on_exec`](Self::enable_on_exec) or [`enable_task`](crate::enable_task) enables it.
    ///
    /// While a leader is off, its members do not count either. Since Linux 2.6.31.
    disabled: DISABLED;

    /// Sets whether children that the task starts from now on are counted. Children that already exist are not.
    ///
    /// A read of the event includes the counts of the children. Excludes some ways of reading groups. Linux 2.6.35 to
    /// 2.6.39 may crash if this is set and many threads are started. Since Linux 2.6.31.
    inherit: INHERIT;

    /// Sets whether the event must always be on the PMU. Only for hardware events that lead a group or are alone.
    ///
    /// If the kernel cannot keep the event on the PMU, the event is in error until it is enabled or disabled again, and
    /// [`Counter::read`](crate::Counter::read) returns an error. Since Linux 2.6.31.
    pinned: PINNED;

    /// Sets whether the group has the PMU to itself while it is scheduled. Since Linux 2.6.31.
    ///
    /// Such a group may never count if something else, such as the NMI watchdog, uses the PMU.
    exclusive: EXCLUSIVE;

    /// Sets whether user space is excluded. Since Linux 2.6.31.
    exclude_user: EXCLUDE_USER;

    /// Sets whether the kernel is excluded. Since Linux 2.6.31.
    ///
    /// Without privilege it must be excluded if `perf_event_paranoid` is 2, the default.
    exclude_kernel: EXCLUDE_KERNEL;

    /// Sets whether the hypervisor is excluded, if the PMU can distinguish it. Since Linux 2.6.31.
    exclude_hv: EXCLUDE_HV;

    /// Sets whether the idle task is excluded. Affects only software events. Since Linux 2.6.31.
    exclude_idle: EXCLUDE_IDLE;

    /// Sets whether executable mappings are recorded, as MMAP records. Since Linux 2.6.31.
    mmap: MMAP;

    /// Sets whether changes of a task's name are recorded, as COMM records. Since Linux 2.6.31.
    comm: COMM;

    /// Sets whether the counts of inherited events are kept per task and recorded at exit, as READ records. Needs
    /// [`inherit`](Self::inherit). Since Linux 2.6.31.
    inherit_stat: INHERIT_STAT;

    /// Sets whether the next exec enables the event. Since Linux 2.6.31.
    enable_on_exec: ENABLE_ON_EXEC;

    /// Sets whether starts and ends of tasks are recorded, as FORK and EXIT records. Since Linux 2.6.31.
    task: TASK;

    /// Sets whether mappings that are not executable are recorded too. Since Linux 2.6.36.
    mmap_data: MMAP_DATA;

    /// Sets whether records other than samples end with the task, time, id and cpu, as far as `sample_type` includes
    /// them. Since Linux 2.6.38.
    sample_id_all: SAMPLE_ID_ALL;

    /// Sets whether the host is excluded, so that only guests are counted. Since Linux 3.2.
    exclude_host: EXCLUDE_HOST;

    /// Sets whether guests are excluded. Since Linux 3.2.
    exclude_guest: EXCLUDE_GUEST;

    /// Sets whether call chains exclude the kernel. Since Linux 3.7.
    exclude_callchain_kernel: EXCLUDE_CALLCHAIN_KERNEL;

    /// Sets whether call chains exclude user space. Since Linux 3.7.
    exclude_callchain_user: EXCLUDE_CALLCHAIN_USER;

    /// Sets whether mappings are recorded as MMAP2 records, which contain the file's device and inode, or its build id.
    /// Needs [`mmap`](Self::mmap).
    ///
    /// Since Linux 3.16. The headers of 3.12 have the flag, but kernels up to 3.15 refuse it.
    mmap2: MMAP2;

    /// Sets whether COMM records distinguish an exec from other changes of the name. Since Linux 3.16.
    ///
    /// A kernel that accepts the flag distinguishes them in any case; the flag serves to find out whether it does.
    comm_exec: COMM_EXEC;

    /// Sets whether context switches are recorded, as SWITCH records, or SWITCH_CPU_WIDE records for an event of a cpu.
    /// Since Linux 4.3.
    context_switch: CONTEXT_SWITCH;

    /// Sets whether the ring is written from its end to its start, so that it can be overwritten and still be read.
    /// Needed for [`Overwrite`](crate::Overwrite). Since Linux 4.7.
    write_backward: WRITE_BACKWARD;

    /// Sets whether changes of a task's namespaces are recorded, as NAMESPACES records. Needs privilege. Since Linux
    /// 4.12.
    namespaces: NAMESPACES;

    /// Sets whether new and removed kernel symbols are recorded, as KSYMBOL records. Since Linux 5.1.
    ksymbol: KSYMBOL;

    /// Sets whether loaded and unloaded BPF programs are recorded, as BPF_EVENT records. Since Linux 5.1.
    bpf_event: BPF_EVENT;

    /// Sets whether the PMU writes samples to the AUX area of the group's leader. Since Linux 5.4.
    aux_output: AUX_OUTPUT;

    /// Sets whether new cgroups are recorded, as CGROUP records. Since Linux 5.7.
    cgroup: CGROUP;

    /// Sets whether changes of the kernel's code are recorded, as TEXT_POKE records. Since Linux 5.9.
    text_poke: TEXT_POKE;

    /// Sets whether MMAP2 records contain the file's build id instead of device and inode. Since Linux 5.12.
    build_id: BUILD_ID;

    /// Sets whether only new threads inherit the event, and new processes do not. Needs [`inherit`](Self::inherit).
    /// Since Linux 5.13.
    inherit_thread: INHERIT_THREAD;

    /// Sets whether an exec removes the event from the task. Excludes [`enable_on_exec`](Self::enable_on_exec). Since
    /// Linux 5.13.
    remove_on_exec: REMOVE_ON_EXEC;

    /// Sets whether an overflow sends the task a synchronous `SIGTRAP` with [`sig_data`](Self::sig_data). Needs
    /// [`remove_on_exec`](Self::remove_on_exec). Since Linux 5.13.
    sigtrap: SIGTRAP;

    /// Sets whether the user part of a call chain may be deferred until the task returns to user space; it is then a
    /// CALLCHAIN_DEFERRED record. Since Linux 6.19.
    defer_callchain: DEFER_CALLCHAIN;

    /// Sets whether this event's ring receives the CALLCHAIN_DEFERRED records. Since Linux 6.19.
    defer_output: DEFER_OUTPUT;
}
