//! The setters of the fields that have a value.

use alloc::ffi::CString;

use perf_abi::attr::{AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use crate::builder::Builder;

/// Defines the setters that only store their value in a field of the attr.
macro_rules! fields {
    ($( $(#[$doc:meta])* $name:ident($field:ident: $Type:ty); )*) => {
        /// The fields that are set alone.
        impl Builder {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: $Type) -> Self {
                    self.attr.$field = value;
                    self
                }
            )*
        }
    };
}

fields! {
    /// Sets the type of the event, which determines the meaning of `config`. C: `type`. Since Linux 2.6.31.
    kind(kind: EventType);

    /// Sets the event's code, as defined for its type. Since Linux 2.6.31.
    config(config: u64);

    /// Sets the fields of a sample. Since Linux 2.6.31.
    sample_type(sample_type: SampleType);

    /// Sets what a read of the counter includes. Since Linux 2.6.31.
    ///
    /// Before 2.6.35 `GROUP` works only for the calling task.
    read_format(read_format: ReadFormat);

    /// Sets the accesses on which a breakpoint fires. Since Linux 2.6.33.
    bp_type(bp_type: BreakpointType);

    /// Sets the address that a breakpoint watches, in the address space of the task. The same field as
    /// [`config1`](Self::config1). Since Linux 2.6.33.
    bp_addr(config1: u64);

    /// Sets the number of bytes that a breakpoint watches, starting at `bp_addr`. Since Linux 2.6.33.
    ///
    /// [`BreakpointLen`](perf_abi::breakpoint::BreakpointLen) has the values. For execution it is the size of a `long`.
    /// The same field as [`config2`](Self::config2).
    bp_len(config2: u64);

    /// Sets `config2`, an extension of `config`. Since Linux 2.6.39.
    config2(config2: u64);

    /// Sets `config3`, an extension of `config`. Since Linux 6.3.
    config3(config3: u64);

    /// Sets `config4`, an extension of `config`. Since Linux 6.19.
    config4(config4: u64);

    /// Sets the address of a kprobe that has no [`kprobe_func`](Self::kprobe_func). The same field as
    /// [`config2`](Self::config2). Since Linux 4.17.
    kprobe_addr(config2: u64);

    /// Sets the offset of the probe in bytes: in the function of a kprobe, or in the file of a uprobe. The same field
    /// as [`config2`](Self::config2). Since Linux 4.17.
    probe_offset(config2: u64);

    /// Sets which branches a branch stack contains. Without a privilege level, the event's levels apply. Since Linux
    /// 3.4.
    branch_sample_type(branch_sample_type: BranchSampleType);

    /// Sets the user registers in a sample, one bit each: [`regs`](perf_abi::regs). Since Linux 3.7.
    sample_regs_user(sample_regs_user: u64);

    /// Sets the number of bytes of user stack in a sample: a multiple of 8, from 8 to 65 528. Since Linux 3.7.
    ///
    /// [`open`](Self::open) refuses 0 with `PERF_SAMPLE_STACK_USER`: every kernel up to 7.3 accepts it, but writes
    /// samples that lack a word.
    sample_stack_user(sample_stack_user: u32);

    /// Sets the registers at the interrupt in a sample, one bit each: [`regs`](perf_abi::regs). Since Linux 3.19.
    sample_regs_intr(sample_regs_intr: u64);

    /// Sets the number of bytes of AUX data between wakeups; 0 for half of the area. Since Linux 4.1.
    aux_watermark(aux_watermark: u32);

    /// Sets the maximum number of entries of a call chain, up to [`max_stack`](crate::limits::max_stack); 0 for that
    /// limit. Since Linux 4.8.
    sample_max_stack(sample_max_stack: u16);

    /// Sets the number of bytes of AUX data in a sample. Since Linux 5.5.
    aux_sample_size(aux_sample_size: u32);

    /// Sets the value of `si_perf_data` in a `SIGTRAP` of the event. Since Linux 5.13.
    sig_data(sig_data: u64);
}

/// The fields that are set together with others.
impl Builder {
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

    /// Sets the number of samples between wakeups. Since Linux 2.6.31.
    ///
    /// With 0 the kernel wakes the reader when half of the ring is new; before Linux 3.0 it never does. (The manual
    /// page says that 0 means 1; Linux 6.18 does not do that.) It has no effect on [signals](crate::signal), which the
    /// kernel sends for each overflow. Excludes [`wakeup_watermark`](Self::wakeup_watermark):
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

    /// Sets `config1`, an extension of `config`. Removes the string of a probe. Since Linux 2.6.39.
    #[must_use]
    pub fn config1(mut self, value: u64) -> Self {
        self.attr.config1 = value;
        self.string = None;
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

    /// Sets the file of a uprobe. The kernel copies the path when the event is opened. Since Linux 4.17.
    #[must_use]
    pub fn uprobe_path(mut self, path: CString) -> Self {
        self.string = Some(path);
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

    fn action(mut self, action: AuxAction, set: bool) -> Self {
        let actions = self.attr.aux_action;
        self.attr.aux_action = if set { actions | action } else { actions.without(action) };
        self
    }
}
