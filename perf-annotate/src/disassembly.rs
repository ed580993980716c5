//! Instructions of code, with the text that objdump has.
//!
//! | machine | texts | missing |
//! |---|---|---|
//! | x86, 16, 32 and 64 bits | both syntaxes | |
//! | A64 | all but extensions | SVE and SME: `.inst` with the word |
//! | A32, T32 | integer instructions | VFP and NEON: `.inst` with the word; the conditions of an IT block |
//!
//! The branches of Arm are read from the bits of instructions, so that they are known without a text, too. A second has 2.1 million
//! instructions of x86, 1.3 million of A64 and 0.9 million of T32, and 5 to 20 times as many lengths.
//!
//! objdump has an `fwait` and the x87 instruction after it as one instruction. They are two here, as for the processor: a sample may
//! have the address of either. In data between instructions of x86, the sizes of what is no instruction may differ from objdump's.

mod a64;
mod arm;
mod branch;
mod instruction;
mod x86;

use core::fmt;

use perf_symbol::CodeMachine;

use self::arm::Arm;
use self::x86::X86;

pub use self::instruction::{Flow, Instruction};

/// The greatest size of an instruction in bytes.
pub(crate) const LONGEST_INSTRUCTION: u64 = MAX_SIZE as u64;

/// The text of bytes that are no instruction.
const BAD: &str = "(bad)";

/// The syntax of x86 instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Syntax {
    /// Of AT&T, which objdump and perf have by default: `mov    %rsp,%rbp`.
    #[default]
    Att,
    /// Of Intel, as by `-M intel`: `mov    rbp,rsp`.
    Intel,
}

/// A disassembler of the code of one machine, for any number of functions.
pub struct Disassembler {
    decoder: Decoder,
}

enum Decoder {
    X86(X86),
    A64,
    Arm(Arm),
}

impl Disassembler {
    /// The machines that there is a disassembler for.
    pub const MACHINES: [CodeMachine; 6] = [
        CodeMachine::X86Bits16,
        CodeMachine::X86,
        CodeMachine::X86_64,
        CodeMachine::Aarch64,
        CodeMachine::Arm,
        CodeMachine::Thumb,
    ];

    /// Creates a disassembler; `None` for machines without one: all but x86 and little-endian Arm, such as RISC-V, POWER, s390,
    /// LoongArch and MIPS.
    #[must_use]
    pub fn new(machine: CodeMachine) -> Option<Self> {
        let decoder = match machine {
            CodeMachine::X86Bits16 => Decoder::X86(X86::new(16)),
            CodeMachine::X86 => Decoder::X86(X86::new(32)),
            CodeMachine::X86_64 => Decoder::X86(X86::new(64)),
            CodeMachine::Aarch64 => Decoder::A64,
            CodeMachine::Arm => Decoder::Arm(Arm::a32()),
            CodeMachine::Thumb => Decoder::Arm(Arm::t32()),
            _ => return None,
        };
        Some(Self { decoder })
    }

    /// Selects the syntax. Only x86 has a choice.
    #[must_use]
    pub fn with_syntax(mut self, syntax: Syntax) -> Self {
        if let Decoder::X86(x86) = &mut self.decoder {
            x86.set_syntax(syntax);
        }
        self
    }

    /// Returns the instructions of code at an address, without gaps. Bytes that are no instruction come as `(bad)`: one byte on
    /// x86, the size of an instruction on Arm, or what is left of the code.
    ///
    /// Data between instructions is disassembled too. The mapping symbols of an Arm file separate them.
    pub fn instructions<'a>(&'a mut self, code: &'a [u8], address: u64) -> Instructions<'a> {
        Instructions { disassembler: self, code, address }
    }

    /// Returns the size of the first instruction of code at an address, in bytes; `None` if the bytes are no instruction. Costs
    /// less than the text.
    #[must_use]
    pub fn length(&self, code: &[u8], address: u64) -> Option<u8> {
        match &self.decoder {
            Decoder::X86(x86) => x86.length(code, address),
            Decoder::A64 => a64::length(code),
            Decoder::Arm(arm) => arm.length(code),
        }
    }

    fn instruction(&mut self, code: &[u8], address: u64) -> Option<Instruction> {
        match &mut self.decoder {
            Decoder::X86(x86) => x86.instruction(code, address),
            Decoder::A64 => a64::instruction(code, address),
            Decoder::Arm(arm) => arm.instruction(code, address),
        }
    }

    /// Returns the size of what is skipped if no instruction is found.
    fn unit(&self, code: &[u8]) -> u8 {
        match &self.decoder {
            Decoder::X86(_) => 1,
            Decoder::A64 => a64::SIZE,
            Decoder::Arm(arm) => arm.unit(code),
        }
    }
}

impl fmt::Debug for Disassembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = match &self.decoder {
            Decoder::X86(_) => "x86",
            Decoder::A64 => "A64",
            Decoder::Arm(_) => "Arm",
        };
        f.debug_struct("Disassembler").field("machine", &machine).finish_non_exhaustive()
    }
}

/// The width of a mnemonic, without the blank after it.
const MNEMONIC: usize = 6;

/// Returns a mnemonic with blanks up to the operands.
fn mnemonic(name: &str) -> String {
    let mut text = String::with_capacity(40);
    text += name;
    pad(&mut text);
    text
}

/// Adds the blanks between a mnemonic and its operands.
fn pad(text: &mut String) {
    let unused = MNEMONIC.saturating_sub(text.len());
    text.extend(core::iter::repeat_n(' ', unused + 1));
}

/// The greatest size of an instruction.
const MAX_SIZE: usize = 15;

/// The instructions of code, by [`Disassembler::instructions`].
#[derive(Debug)]
pub struct Instructions<'a> {
    disassembler: &'a mut Disassembler,
    code: &'a [u8],
    address: u64,
}

impl Instructions<'_> {
    /// Returns the next bytes as no instruction.
    fn bad(&self) -> Instruction {
        let left = u8::try_from(self.code.len()).unwrap_or(u8::MAX);
        Instruction {
            address: self.address,
            size: self.disassembler.unit(self.code).min(left),
            text: BAD.into(),
            flow: Flow::Invalid,
            target: None,
            data: None,
        }
    }
}

impl Iterator for Instructions<'_> {
    type Item = Instruction;

    fn next(&mut self) -> Option<Instruction> {
        if self.code.is_empty() {
            return None;
        }
        let found = self.disassembler.instruction(self.code, self.address);
        let it = found.unwrap_or_else(|| self.bad());
        self.code = self.code.get(usize::from(it.size).max(1)..).unwrap_or_default();
        self.address = self.address.wrapping_add(it.size.into());
        Some(it)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.code.len().div_ceil(MAX_SIZE), Some(self.code.len()))
    }
}
