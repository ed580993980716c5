//! A64: the 64-bit instructions of Arm.

mod branch;
mod system;
mod text;

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{DecodeError, InstDecoder, Instruction as Decoded};

use super::Instruction;
use super::branch::Branch;

/// The size of every instruction.
pub(super) const SIZE: u8 = 4;

/// Returns the size of the first instruction; `None` if there is none.
pub(super) fn length(code: &[u8]) -> Option<u8> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    decode(word).map(|_| SIZE)
}

/// Returns the first instruction; `None` if there is none.
pub(super) fn instruction(code: &[u8], address: u64) -> Option<Instruction> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let decoded = decode(word)?;
    let Branch { flow, target, data } = branch::of(word, address);
    let text = match decoded {
        Word::Decoded(decoded) => text::of(word, &decoded, target.or(data)),
        Word::Undecoded => format!(".inst  0x{word:08x}"),
    };
    Some(Instruction { address, size: SIZE, text: text.into(), flow, target, data })
}

/// A word that is an instruction.
enum Word {
    Decoded(Decoded),
    /// Of an extension that the decoder lacks, such as SVE.
    Undecoded,
}

fn decode(word: u32) -> Option<Word> {
    let bytes = word.to_le_bytes();
    match InstDecoder::default().decode(&mut U8Reader::new(&bytes)) {
        Ok(decoded) => Some(Word::Decoded(decoded)),
        Err(DecodeError::IncompleteDecoder) => Some(Word::Undecoded),
        Err(_) => None,
    }
}
