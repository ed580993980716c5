//! Registration of kernel symbols and BPF programs: codes of KSYMBOL and BPF_EVENT records.

/// Maximum bytes of a kernel symbol's name, including its NUL.
#[doc(alias = "KSYM_NAME_LEN")]
pub const NAME_LEN: usize = 512;

codes! {
    /// The kind of a kernel symbol (`perf_record_ksymbol.ksym_type`).
    ///
    /// Kernel: `enum perf_record_ksymbol_type`.
    pub struct KsymbolType(u16) {
        /// Unknown. Since Linux 5.1.
        UNKNOWN = 0, "PERF_RECORD_KSYMBOL_TYPE_UNKNOWN";
        /// A BPF program. Since Linux 5.1.
        BPF = 1, "PERF_RECORD_KSYMBOL_TYPE_BPF";
        /// Out-of-line code: kprobe slots, ftrace trampolines. Since Linux 5.9.
        OOL = 2, "PERF_RECORD_KSYMBOL_TYPE_OOL";
    }
}

impl KsymbolType {
    /// One past the highest code.
    #[doc(alias = "PERF_RECORD_KSYMBOL_TYPE_MAX")]
    pub const MAX: u16 = 3;
}

flags! {
    /// Flags of a kernel symbol (`perf_record_ksymbol.flags`).
    pub struct KsymbolFlags(u16) {
        /// The symbol was unregistered; without the flag, it was registered. Since Linux 5.1.
        UNREGISTER = 1 << 0, "PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER";
    }
}

codes! {
    /// The kind of change to a BPF program (`perf_record_bpf_event.type`).
    ///
    /// Kernel: `enum perf_bpf_event_type`.
    pub struct BpfEventType(u16) {
        /// Unknown. Since Linux 5.1.
        UNKNOWN = 0, "PERF_BPF_EVENT_UNKNOWN";
        /// Loaded. Since Linux 5.1.
        PROG_LOAD = 1, "PERF_BPF_EVENT_PROG_LOAD";
        /// Unloaded. Since Linux 5.1.
        PROG_UNLOAD = 2, "PERF_BPF_EVENT_PROG_UNLOAD";
    }
}

impl BpfEventType {
    /// One past the highest code.
    #[doc(alias = "PERF_BPF_EVENT_MAX")]
    pub const MAX: u16 = 3;
}
