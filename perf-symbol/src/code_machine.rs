//! The instruction sets of code.

use crate::elf_symbol::{EM_386, EM_AARCH64, EM_ARM, EM_X86_64};

/// The instruction set of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodeMachine {
    /// x86 in 16-bit mode.
    X86Bits16,
    /// x86 in 32-bit mode.
    X86,
    /// x86 in 64-bit mode.
    X86_64,
    /// A64.
    Aarch64,
    /// A32.
    Arm,
    /// T32.
    Thumb,
    /// Another one: `e_machine` of ELF.
    Other(u16),
}

impl CodeMachine {
    /// Returns the machine of an ELF file by its `e_machine`; of Arm, whether the code is T32.
    #[must_use]
    pub fn of_elf(machine: u16, is_thumb: bool) -> Self {
        match machine {
            EM_386 => Self::X86,
            EM_X86_64 => Self::X86_64,
            EM_AARCH64 => Self::Aarch64,
            EM_ARM if is_thumb => Self::Thumb,
            EM_ARM => Self::Arm,
            other => Self::Other(other),
        }
    }
}
