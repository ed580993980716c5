//! The instruction sets of code.

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
