//! A32 and T32: the 32-bit instructions of Arm, and those of 16 and 32 bits.

mod a32;
mod t32;
mod text;

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv7::{DecodeError, InstDecoder, Instruction as Decoded};

use super::Instruction;
use super::branch::Branch;

/// A disassembler of one of the two instruction sets.
pub(super) struct Arm {
    decoder: InstDecoder,
    is_thumb: bool,
}

impl Arm {
    pub(super) fn a32() -> Self {
        Self { decoder: InstDecoder::default(), is_thumb: false }
    }

    pub(super) fn t32() -> Self {
        Self { decoder: InstDecoder::default_thumb(), is_thumb: true }
    }

    /// Returns the size of the first instruction, or of what is none.
    pub(super) fn unit(&self, code: &[u8]) -> u8 {
        if self.is_thumb { t32::size(code) } else { 4 }
    }

    /// Returns the size of the first instruction; `None` if there is none.
    pub(super) fn length(&self, code: &[u8]) -> Option<u8> {
        self.decode(code.get(..self.unit(code).into())?).map(|_| self.unit(code))
    }

    /// Returns the first instruction; `None` if there is none.
    pub(super) fn instruction(&self, code: &[u8], address: u64) -> Option<Instruction> {
        let size = self.unit(code);
        let code = code.get(..size.into())?;
        let decoded = self.decode(code)?;
        let branch = self.branch(code, address)?;
        let text = match decoded {
            Word::Decoded(decoded) => text::of(&decoded, branch),
            Word::Undecoded => self.undecoded(code),
        };
        let Branch { flow, target, data } = branch;
        Some(Instruction { address, size, text: text.into(), flow, target, data })
    }

    fn branch(&self, code: &[u8], address: u64) -> Option<Branch> {
        let branch = if self.is_thumb {
            t32::of(code, address)?
        } else {
            a32::of(u32::from_le_bytes(*code.first_chunk()?), address)
        };
        // Addresses have 32 bits and wrap.
        let within = |it: u64| it & u64::from(u32::MAX);
        Some(Branch { target: branch.target.map(within), data: branch.data.map(within), ..branch })
    }

    fn decode(&self, code: &[u8]) -> Option<Word> {
        if !self.is_thumb && a32::is_unpredictable_pair(u32::from_le_bytes(*code.first_chunk()?)) {
            return None;
        }
        match self.decoder.decode(&mut U8Reader::new(code)) {
            Ok(decoded) => Some(Word::Decoded(decoded)),
            Err(DecodeError::Incomplete) => Some(Word::Undecoded),
            Err(_) => None,
        }
    }

    fn undecoded(&self, code: &[u8]) -> String {
        // T32 has the halfword with the higher bits first.
        let word = match *code {
            [a, b, c, d] if self.is_thumb => u32::from_le_bytes([c, d, a, b]),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            _ => 0,
        };
        if code.len() > 2 { format!(".inst  0x{word:08x}") } else { format!(".inst  0x{word:04x}") }
    }
}

/// An instruction.
enum Word {
    Decoded(Decoded),
    /// Of an extension that the decoder lacks, such as VFP and NEON.
    Undecoded,
}
