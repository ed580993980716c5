//! The flags of an attr: its word of bit-fields, and `aux_action`.

use crate::endian::{Endian, Endianness, U32, U64, bitfields_from_be, bitfields_to_be};

flags! {
    /// The 64-bit word of bit-fields of an attr, in its little-endian layout.
    ///
    /// Kernel: the bit-fields of `struct perf_event_attr` from `disabled` on. Bits 40 to 63 are
    /// reserved as of 7.3.
    pub struct AttrFlags(u64) {
        /// The event starts disabled. Since Linux 2.6.31.
        DISABLED = 1 << 0, "disabled";
        /// Child tasks inherit the event. Since Linux 2.6.31.
        INHERIT = 1 << 1, "inherit";
        /// The event must always be on the PMU. Since Linux 2.6.31.
        PINNED = 1 << 2, "pinned";
        /// The event's group must be the only one on the PMU. Since Linux 2.6.31.
        EXCLUSIVE = 1 << 3, "exclusive";
        /// Does not count user space. Since Linux 2.6.31.
        EXCLUDE_USER = 1 << 4, "exclude_user";
        /// Does not count the kernel. Since Linux 2.6.31.
        EXCLUDE_KERNEL = 1 << 5, "exclude_kernel";
        /// Does not count the hypervisor. Since Linux 2.6.31.
        EXCLUDE_HV = 1 << 6, "exclude_hv";
        /// Does not count when the CPU is idle. Since Linux 2.6.31.
        EXCLUDE_IDLE = 1 << 7, "exclude_idle";
        /// Writes MMAP records for executable mappings. Since Linux 2.6.31.
        MMAP = 1 << 8, "mmap";
        /// Writes COMM records. Since Linux 2.6.31.
        COMM = 1 << 9, "comm";
        /// `sample_period` is a frequency, in samples per second. Since Linux 2.6.31.
        FREQ = 1 << 10, "freq";
        /// Saves the counts of each task at context switch and writes READ records at exit.
        /// Since Linux 2.6.31.
        INHERIT_STAT = 1 << 11, "inherit_stat";
        /// The next exec enables the event. Since Linux 2.6.31.
        ENABLE_ON_EXEC = 1 << 12, "enable_on_exec";
        /// Writes FORK and EXIT records. Since Linux 2.6.31.
        TASK = 1 << 13, "task";
        /// `wakeup_events` is a number of bytes. Since Linux 2.6.32.
        WATERMARK = 1 << 14, "watermark";
        /// Writes MMAP records for mappings that are not executable. Since Linux 2.6.36.
        MMAP_DATA = 1 << 17, "mmap_data";
        /// Ends records other than samples with the `sample_id` fields. Since Linux 2.6.38.
        SAMPLE_ID_ALL = 1 << 18, "sample_id_all";
        /// Does not count in the host. Since Linux 3.2.
        EXCLUDE_HOST = 1 << 19, "exclude_host";
        /// Does not count in guests. Since Linux 3.2.
        EXCLUDE_GUEST = 1 << 20, "exclude_guest";
        /// Leaves the kernel part out of call chains. Since Linux 3.7.
        EXCLUDE_CALLCHAIN_KERNEL = 1 << 21, "exclude_callchain_kernel";
        /// Leaves the user part out of call chains. Since Linux 3.7.
        EXCLUDE_CALLCHAIN_USER = 1 << 22, "exclude_callchain_user";
        /// Writes MMAP2 records instead of MMAP. Since Linux 3.16; headers have it from 3.12, but those
        /// kernels refuse it.
        MMAP2 = 1 << 23, "mmap2";
        /// COMM records report whether an exec changed the name. Since Linux 3.16.
        COMM_EXEC = 1 << 24, "comm_exec";
        /// `clockid` names the clock of `time`. Since Linux 4.1.
        USE_CLOCKID = 1 << 25, "use_clockid";
        /// Writes SWITCH records. Since Linux 4.3.
        CONTEXT_SWITCH = 1 << 26, "context_switch";
        /// Writes the ring from its end to its start. Since Linux 4.7.
        WRITE_BACKWARD = 1 << 27, "write_backward";
        /// Writes NAMESPACES records. Since Linux 4.12.
        NAMESPACES = 1 << 28, "namespaces";
        /// Writes KSYMBOL records. Since Linux 5.1.
        KSYMBOL = 1 << 29, "ksymbol";
        /// Writes BPF_EVENT records. Since Linux 5.1.
        BPF_EVENT = 1 << 30, "bpf_event";
        /// The event's records go to the AUX area instead of the ring. Since Linux 5.4.
        AUX_OUTPUT = 1 << 31, "aux_output";
        /// Writes CGROUP records. Since Linux 5.7.
        CGROUP = 1 << 32, "cgroup";
        /// Writes TEXT_POKE records. Since Linux 5.9.
        TEXT_POKE = 1 << 33, "text_poke";
        /// Writes build ids into MMAP2 records. Since Linux 5.12.
        BUILD_ID = 1 << 34, "build_id";
        /// Only threads inherit the event, not child processes. Since Linux 5.13.
        INHERIT_THREAD = 1 << 35, "inherit_thread";
        /// An exec removes the event from the task. Since Linux 5.13.
        REMOVE_ON_EXEC = 1 << 36, "remove_on_exec";
        /// Sends a synchronous SIGTRAP at each overflow. Since Linux 5.13.
        SIGTRAP = 1 << 37, "sigtrap";
        /// The user part of a call chain may follow later, in a CALLCHAIN_DEFERRED record. Since Linux 6.19.
        DEFER_CALLCHAIN = 1 << 38, "defer_callchain";
        /// Writes CALLCHAIN_DEFERRED records to this event's ring. Since Linux 6.19.
        DEFER_OUTPUT = 1 << 39, "defer_output";
    }
    fields {
        /// Skid between event and sample: 0 arbitrary, 1 constant, 2 zero requested, 3 zero required.
        /// Since Linux 2.6.35.
        precise_ip / with_precise_ip: u8(u8) = 15, 2;
    }
}

impl AttrFlags {
    /// Returns the flags of the word that an attr in byte order `O` contains.
    ///
    /// A big-endian compiler allocates bit-fields from the highest bit: `disabled` is the highest bit, and
    /// `precise_ip` spans two bytes. The reserved bits are treated as one-bit flags, which is what newer
    /// kernels use them for.
    #[must_use]
    pub fn from_word<O: Endian>(word: U64<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(bitfields_from_be(word.get(), Self::FIELDS)),
        }
    }

    /// Returns the word for an attr in byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U64<O> {
        match O::ENDIANNESS {
            Endianness::Little => U64::new(self.0),
            Endianness::Big => U64::new(bitfields_to_be(self.0, Self::FIELDS)),
        }
    }
}

flags! {
    /// The effect of an event on the AUX tracing of its group leader, in its little-endian layout.
    ///
    /// Kernel: `perf_event_attr.aux_action`.
    pub struct AuxAction(u32) {
        /// Tracing starts paused. Since Linux 6.13.
        START_PAUSED = 1 << 0, "aux_start_paused";
        /// An overflow of the event pauses tracing. Since Linux 6.13.
        PAUSE = 1 << 1, "aux_pause";
        /// An overflow of the event resumes tracing. Since Linux 6.13.
        RESUME = 1 << 2, "aux_resume";
    }
}

impl AuxAction {
    /// Returns the flags of the word that an attr in byte order `O` contains.
    #[must_use]
    pub fn from_word<O: Endian>(word: U32<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(word.get().reverse_bits()),
        }
    }

    /// Returns the word for an attr in byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U32<O> {
        match O::ENDIANNESS {
            Endianness::Little => U32::new(self.0),
            Endianness::Big => U32::new(self.0.reverse_bits()),
        }
    }
}
