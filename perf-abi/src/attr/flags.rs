//! The switches of an attr: its word of bit-fields, and `aux_action`.

use crate::endian::{Endian, Endianness, U32, U64, bitfields_from_be, bitfields_to_be};

flags! {
    /// The 64-bit word of switches of an attr, in its little-endian layout.
    ///
    /// Kernel: the bit-fields of `struct perf_event_attr` from `disabled` on. Bits 40 to 63 are reserved as of 7.3.
    pub struct AttrFlags(u64) {
        /// Off by default. Since Linux 2.6.31.
        DISABLED = 1 << 0, "disabled";
        /// Children inherit it. Since Linux 2.6.31.
        INHERIT = 1 << 1, "inherit";
        /// Must always be on the PMU. Since Linux 2.6.31.
        PINNED = 1 << 2, "pinned";
        /// Only group on the PMU. Since Linux 2.6.31.
        EXCLUSIVE = 1 << 3, "exclusive";
        /// Do not count user space. Since Linux 2.6.31.
        EXCLUDE_USER = 1 << 4, "exclude_user";
        /// Do not count the kernel. Since Linux 2.6.31.
        EXCLUDE_KERNEL = 1 << 5, "exclude_kernel";
        /// Do not count the hypervisor. Since Linux 2.6.31.
        EXCLUDE_HV = 1 << 6, "exclude_hv";
        /// Do not count when idle. Since Linux 2.6.31.
        EXCLUDE_IDLE = 1 << 7, "exclude_idle";
        /// MMAP records of executable mappings. Since Linux 2.6.31.
        MMAP = 1 << 8, "mmap";
        /// COMM records. Since Linux 2.6.31.
        COMM = 1 << 9, "comm";
        /// `sample_period` is a frequency. Since Linux 2.6.31.
        FREQ = 1 << 10, "freq";
        /// Counts per task are saved at context switch; READ records at exit. Since Linux 2.6.31.
        INHERIT_STAT = 1 << 11, "inherit_stat";
        /// The next exec enables it. Since Linux 2.6.31.
        ENABLE_ON_EXEC = 1 << 12, "enable_on_exec";
        /// FORK and EXIT records. Since Linux 2.6.31.
        TASK = 1 << 13, "task";
        /// `wakeup_events` is a number of bytes. Since Linux 2.6.32.
        WATERMARK = 1 << 14, "watermark";
        /// MMAP records of mappings that are not executable. Since Linux 2.6.36.
        MMAP_DATA = 1 << 17, "mmap_data";
        /// Records other than samples end with the `sample_id` fields. Since Linux 2.6.38.
        SAMPLE_ID_ALL = 1 << 18, "sample_id_all";
        /// Do not count in the host. Since Linux 3.2.
        EXCLUDE_HOST = 1 << 19, "exclude_host";
        /// Do not count in guests. Since Linux 3.2.
        EXCLUDE_GUEST = 1 << 20, "exclude_guest";
        /// No kernel part in call chains. Since Linux 3.7.
        EXCLUDE_CALLCHAIN_KERNEL = 1 << 21, "exclude_callchain_kernel";
        /// No user part in call chains. Since Linux 3.7.
        EXCLUDE_CALLCHAIN_USER = 1 << 22, "exclude_callchain_user";
        /// MMAP2 records in place of MMAP. Since Linux 3.16; in 3.12 headers, but refused.
        MMAP2 = 1 << 23, "mmap2";
        /// COMM records say whether an exec changed the name. Since Linux 3.16.
        COMM_EXEC = 1 << 24, "comm_exec";
        /// `clockid` names the clock of `time`. Since Linux 4.1.
        USE_CLOCKID = 1 << 25, "use_clockid";
        /// SWITCH records. Since Linux 4.3.
        CONTEXT_SWITCH = 1 << 26, "context_switch";
        /// The ring is written from its end to its start. Since Linux 4.7.
        WRITE_BACKWARD = 1 << 27, "write_backward";
        /// NAMESPACES records. Since Linux 4.12.
        NAMESPACES = 1 << 28, "namespaces";
        /// KSYMBOL records. Since Linux 5.1.
        KSYMBOL = 1 << 29, "ksymbol";
        /// BPF_EVENT records. Since Linux 5.1.
        BPF_EVENT = 1 << 30, "bpf_event";
        /// Records go to the AUX area in place of the ring. Since Linux 5.4.
        AUX_OUTPUT = 1 << 31, "aux_output";
        /// CGROUP records. Since Linux 5.7.
        CGROUP = 1 << 32, "cgroup";
        /// TEXT_POKE records. Since Linux 5.9.
        TEXT_POKE = 1 << 33, "text_poke";
        /// Build ids in MMAP2 records. Since Linux 5.12.
        BUILD_ID = 1 << 34, "build_id";
        /// Only threads inherit it. Since Linux 5.13.
        INHERIT_THREAD = 1 << 35, "inherit_thread";
        /// Removed from the task at exec. Since Linux 5.13.
        REMOVE_ON_EXEC = 1 << 36, "remove_on_exec";
        /// Sends a synchronous SIGTRAP. Since Linux 5.13.
        SIGTRAP = 1 << 37, "sigtrap";
        /// User call chains may come later, in CALLCHAIN_DEFERRED records. Since Linux 6.19.
        DEFER_CALLCHAIN = 1 << 38, "defer_callchain";
        /// This event's ring gets the CALLCHAIN_DEFERRED records. Since Linux 6.19.
        DEFER_OUTPUT = 1 << 39, "defer_output";
    }
    fields {
        /// Skid allowed between event and sample: 0 any, 1 constant, 2 requested zero, 3 must be zero. Since Linux 2.6.35.
        precise_ip / with_precise_ip: u8(u8) = 15, 2;
    }
}

impl AttrFlags {
    /// The flags from the word as it stands in an attr of byte order `O`.
    ///
    /// A big-endian compiler fills bit-fields from the top: `disabled` is the highest bit there, and `precise_ip`
    /// straddles two bytes. The reserved bits are taken as the one-bit switches that newer kernels make of them.
    #[must_use]
    pub fn from_word<O: Endian>(word: U64<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(bitfields_from_be(word.get(), Self::FIELDS)),
        }
    }

    /// The word as it stands in an attr of byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U64<O> {
        match O::ENDIANNESS {
            Endianness::Little => U64::new(self.0),
            Endianness::Big => U64::new(bitfields_to_be(self.0, Self::FIELDS)),
        }
    }
}

flags! {
    /// What an event does to the AUX tracing of its group's leader, in its little-endian layout.
    ///
    /// Kernel: `perf_event_attr.aux_action`.
    pub struct AuxAction(u32) {
        /// Tracing starts paused. Since Linux 6.13.
        START_PAUSED = 1 << 0, "aux_start_paused";
        /// Overflow pauses tracing. Since Linux 6.13.
        PAUSE = 1 << 1, "aux_pause";
        /// Overflow resumes tracing. Since Linux 6.13.
        RESUME = 1 << 2, "aux_resume";
    }
}

impl AuxAction {
    /// The flags from the word as it stands in an attr of byte order `O`.
    #[must_use]
    pub fn from_word<O: Endian>(word: U32<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(word.get().reverse_bits()),
        }
    }

    /// The word as it stands in an attr of byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U32<O> {
        match O::ENDIANNESS {
            Endianness::Little => U32::new(self.0),
            Endianness::Big => U32::new(self.0.reverse_bits()),
        }
    }
}
