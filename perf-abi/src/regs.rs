//! The registers in samples: the meaning of the bits of `sample_regs_user` and `sample_regs_intr`.
//!
//! The kernel writes one 64-bit word for each set bit, the lowest bit first. The meaning of a bit
//! depends on the architecture of the recording machine, [`Arch`]. The `arch` feature of a `perf.data`
//! names the machine.

pub mod arm;
pub mod arm64;
pub mod csky;
pub mod loongarch;
pub mod mips;
pub mod parisc;
pub mod powerpc;
pub mod riscv;
pub mod s390;
pub mod x86;

codes! {
    /// The ABI of the task whose registers a sample has: the word before the registers.
    ///
    /// Kernel: `enum perf_sample_regs_abi`.
    pub struct RegsAbi(u64) {
        /// No registers: no words follow. Since Linux 3.7.
        NONE = 0, "PERF_SAMPLE_REGS_ABI_NONE";
        /// A 32-bit task; each register still takes a 64-bit word. Since Linux 3.7.
        ABI_32 = 1, "PERF_SAMPLE_REGS_ABI_32";
        /// A 64-bit task. Since Linux 3.7.
        ABI_64 = 2, "PERF_SAMPLE_REGS_ABI_64";
    }
}

/// The index of a register in a sample: its bit in `sample_regs_user` and `sample_regs_intr`.
///
/// Made from a number, or from a register of any architecture, such as [`x86::Reg::IP`].
///
/// # Examples
///
/// ```
/// use perf_abi::regs::{RegIndex, arm64, x86};
/// assert_eq!(RegIndex::from(x86::Reg::IP), RegIndex(8));
/// assert_eq!(RegIndex::from(arm64::Reg::PC), RegIndex::from(32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegIndex(pub u32);

impl From<u32> for RegIndex {
    fn from(bit: u32) -> Self {
        Self(bit)
    }
}

/// Makes the registers of architectures indexes.
macro_rules! indexes {
    ($($arch:ident)+) => {$(
        impl From<$arch::Reg> for RegIndex {
            fn from(reg: $arch::Reg) -> Self {
                Self(reg.0.into())
            }
        }
    )+};
}

indexes! { arm arm64 csky loongarch mips parisc powerpc riscv s390 x86 }

/// An architecture whose kernel writes registers into samples.
///
/// # Examples
///
/// ```
/// use perf_abi::regs::Arch;
/// let arch = Arch::from_machine("x86_64").unwrap();
/// assert_eq!(arch.name(8), Some("IP"));
/// assert_eq!(arch.name(33), Some("XMM0")); // its upper half
/// assert_eq!(Arch::from_machine("sparc64"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Arch {
    /// [`x86::Reg`].
    X86,
    /// [`arm::Reg`].
    Arm,
    /// [`arm64::Reg`].
    Arm64,
    /// [`powerpc::Reg`].
    Powerpc,
    /// [`riscv::Reg`].
    Riscv,
    /// [`s390::Reg`].
    S390,
    /// [`mips::Reg`].
    Mips,
    /// [`loongarch::Reg`].
    Loongarch,
    /// [`parisc::Reg`].
    Parisc,
    /// [`csky::Reg`].
    Csky,
}

impl Arch {
    /// Every architecture.
    pub const ALL: &'static [Self] = &[
        Self::X86,
        Self::Arm,
        Self::Arm64,
        Self::Powerpc,
        Self::Riscv,
        Self::S390,
        Self::Mips,
        Self::Loongarch,
        Self::Parisc,
        Self::Csky,
    ];

    /// Returns the architecture of a machine name, as `uname -m` prints it and the `arch` feature of a
    /// `perf.data` contains it; `None` for a name that this crate does not know.
    #[must_use]
    pub fn from_machine(machine: &str) -> Option<Self> {
        Some(match machine {
            "x86" | "x86_64" | "i386" | "i486" | "i586" | "i686" => Self::X86,
            "csky" => Self::Csky,
            _ if machine.starts_with("aarch64") || machine.starts_with("arm64") => Self::Arm64,
            _ if machine.starts_with("arm") => Self::Arm,
            _ if machine.starts_with("ppc") || machine.starts_with("powerpc") => Self::Powerpc,
            _ if machine.starts_with("riscv") => Self::Riscv,
            _ if machine.starts_with("s390") => Self::S390,
            _ if machine.starts_with("mips") => Self::Mips,
            _ if machine.starts_with("loongarch") => Self::Loongarch,
            _ if machine.starts_with("parisc") => Self::Parisc,
            _ => return None,
        })
    }

    /// Returns the name of the register of a bit of the mask; `None` if the bit has no register.
    ///
    /// Both bits of an x86 vector register have the register's name.
    #[must_use]
    pub fn name(self, bit: u32) -> Option<&'static str> {
        let bit = u8::try_from(bit).ok()?;
        match self {
            Self::X86 => x86::Reg::of_bit(bit).name(),
            Self::Arm => arm::Reg(bit).name(),
            Self::Arm64 => arm64::Reg(bit).name(),
            Self::Powerpc => powerpc::Reg(bit).name(),
            Self::Riscv => riscv::Reg(bit).name(),
            Self::S390 => s390::Reg(bit).name(),
            Self::Mips => mips::Reg(bit).name(),
            Self::Loongarch => loongarch::Reg(bit).name(),
            Self::Parisc => parisc::Reg(bit).name(),
            Self::Csky => csky::Reg(bit).name(),
        }
    }
}
