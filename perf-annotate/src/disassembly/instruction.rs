//! A disassembled instruction.

/// A disassembled instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// Its address.
    pub address: u64,
    /// Its size in bytes, 1 to 15.
    pub size: u8,
    /// Its mnemonic and operands; `(bad)` for bytes that are no instruction, `.inst` with the
    /// word for an instruction whose text is not known. The address that it branches to is bare hex, as in
    /// `call   401020`: the caller appends the name. An address that it loads from or computes comes as a comment, as in
    /// `lea    0x2fe2(%rip),%rax        # 404010`.
    pub text: Box<str>,
    /// What is executed after it.
    pub flow: Flow,
    /// The address that it branches to; `None` if it does not branch, or if a register or memory has the address.
    pub target: Option<u64>,
    /// The address that it loads from, stores to or computes relative to its own address; `None` for all other operands.
    pub data: Option<u64>,
}

/// What is executed after an instruction. On Arm, returns and indirect branches may have a condition too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flow {
    /// The next instruction.
    Next,
    /// The instruction at the target.
    Jump,
    /// The instruction at the target, or the next one.
    ConditionalJump,
    /// A function; the next instruction after it returns. Without a target, it is a far call of x86.
    Call,
    /// An instruction whose address is in a register or in memory.
    IndirectJump,
    /// A function whose address is in a register or in memory; the next instruction after it returns.
    IndirectCall,
    /// The caller of the function, or what an interrupt had stopped.
    Return,
    /// The kernel, a hypervisor or a debugger: a system call or a trap.
    Interrupt,
    /// Unknown: the bytes are no instruction.
    Invalid,
}
