//! Where the bytes of code are from.

/// Where the bytes of a function are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CodeOrigin {
    /// The file that was mapped, or one of the same build id; a module of the kernel; the vDSO; vmlinux.
    #[default]
    File,
    /// The memory of the kernel: `/proc/kcore`, or the copy of it that a capture has in its `kcore_dir`.
    Kcore,
    /// The jitdump of the process.
    Jitdump,
    /// The description of a BPF program that the capture has (`BPF_PROG_INFO`).
    BpfProgram,
    /// Records of code that the kernel wrote (`TEXT_POKE`).
    TextPoke,
}

impl CodeOrigin {
    /// Returns its name in outputs of programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Kcore => "kcore",
            Self::Jitdump => "jitdump",
            Self::BpfProgram => "bpf_prog_info",
            Self::TextPoke => "text_poke",
        }
    }
}
