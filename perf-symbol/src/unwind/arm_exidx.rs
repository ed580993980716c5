//! The unwind tables of 32-bit Arm: `.ARM.exidx` and `.ARM.extab`.
//!
//! They describe a function as it is at its calls, and not in its prologue and epilogue.
//!
//! Arm: "Exception Handling ABI for the Arm Architecture", sections 6 (index table), 7 (generic and compact model), 10.3
//! (instructions).

use gimli::{Arm, Register};

use super::machine::UnwindMachine;
use super::memory::number;
use super::module::{ExidxTable, Module};
use super::row::NoRow;
use super::rule::{ReturnAddress, Rule};

/// Number of bytes of an entry of the index.
const ENTRY: usize = 8;

/// The second word of the entry of a function that cannot be unwound. Linkers write one for code without tables.
const CANT_UNWIND: u32 = 1;

/// An entry of the index.
struct ExidxEntry {
    /// Its address.
    place: u64,
    /// The first address of its function.
    first: u64,
    /// Its second word.
    content: u32,
}

impl Module {
    /// Returns the rule of the function at an address of the file, as it is at its calls.
    ///
    /// # Errors
    ///
    /// [`NoRow::Nothing`] if no table covers the address, or if its instructions need more than a rule can say;
    /// [`NoRow::Malformed`] if they cannot be read.
    pub(super) fn exidx_rule(&self, address: u64) -> Result<Rule, NoRow> {
        let table = self.exidx().ok_or(NoRow::Nothing)?;
        let entry = self.exidx_entry(table, address).ok_or(NoRow::Nothing)?;
        let ExidxEntry { place, first, content } = entry;
        if content == CANT_UNWIND {
            // The function at which the program starts has no caller.
            let is_start = first == UnwindMachine::Arm.instruction(self.entry());
            let root = Rule::new((Arm::R13, 0), ReturnAddress::Undefined, []).filter(|_| is_start);
            return root.ok_or(NoRow::Nothing);
        }
        let instructions = match content >> 31 {
            1 => Instructions::compact(self, content, &[]),
            _ => self.exidx_content(prel31(place.wrapping_add(4), content)),
        };
        let frame = VirtualFrame::of(instructions.ok_or(NoRow::Malformed)?)?;
        frame.rule().ok_or(NoRow::Nothing)
    }

    /// Returns the first address of the function at an address of the file; `None` if no table covers it.
    pub(super) fn exidx_function(&self, address: u64) -> Option<u64> {
        Some(self.exidx_entry(self.exidx()?, address)?.first)
    }

    /// Returns the last entry that is not after an address.
    fn exidx_entry(&self, table: ExidxTable, address: u64) -> Option<ExidxEntry> {
        let start = usize::try_from(table.offset).ok()?;
        let size = usize::try_from(table.size).ok()?;
        let bytes = self.data().get(start..start.checked_add(size)?)?;
        let (entries, _) = bytes.as_chunks::<ENTRY>();
        let place = |index: usize| {
            table.address.wrapping_add(u64::try_from(index.saturating_mul(ENTRY)).unwrap_or(0))
        };
        let first = |index: usize| Some(prel31(place(index), self.word(entries.get(index)?)?));
        let (mut low, mut high) = (0, entries.len());
        while low < high {
            let middle = low.midpoint(high);
            match first(middle)? <= address {
                true => low = middle.saturating_add(1),
                false => high = middle,
            }
        }
        let index = low.checked_sub(1)?;
        let content = self.word(entries.get(index)?.get(4..)?)?;
        Some(ExidxEntry { place: place(index), first: first(index)?, content })
    }

    /// Returns the instructions at an address of `.ARM.extab`.
    fn exidx_content(&self, address: u64) -> Option<Instructions<'_>> {
        let bytes = self.constant(address)?;
        let (head, rest) = bytes.split_at_checked(4)?;
        let head = self.word(head)?;
        if head >> 31 == 1 {
            return Instructions::compact(self, head, rest);
        }
        // The generic model: a personality routine, whose data begins as those of GNU's routines do.
        let (head, rest) = rest.split_at_checked(4)?;
        let head = self.word(head)?;
        Instructions::new(self, head, 3, head >> 24, rest)
    }

    fn word(&self, bytes: &[u8]) -> Option<u32> {
        u32::try_from(number(bytes, 4, self.order())?).ok()
    }
}

/// Returns the address that a word at an address leads to: its lower 31 bits are the signed distance.
fn prel31(place: u64, word: u32) -> u64 {
    place.wrapping_add_signed(((word << 1).cast_signed() >> 1).into()) & UnwindMachine::Arm.address_mask()
}

/// The bytes of unwind instructions: in words, of each the most significant byte first.
struct Instructions<'m> {
    module: &'m Module,
    /// The word that is read, and the number of its bytes that are left.
    word: u32,
    left: u32,
    words: &'m [u8],
}

impl<'m> Instructions<'m> {
    /// Returns the instructions of the compact model: those of the routines 0 to 2.
    fn compact(module: &'m Module, word: u32, rest: &'m [u8]) -> Option<Self> {
        match word >> 24 & 0x7f {
            0 => Self::new(module, word, 3, 0, rest),
            1 | 2 => Self::new(module, word, 2, word >> 16 & 0xff, rest),
            _ => None,
        }
    }

    /// Returns the lowest `left` bytes of a word, and those of so many words after it.
    fn new(module: &'m Module, word: u32, left: u32, words: u32, rest: &'m [u8]) -> Option<Self> {
        let words = rest.get(..usize::try_from(words).ok()?.checked_mul(4)?)?;
        Some(Self { module, word, left, words })
    }

    fn next(&mut self) -> Option<u32> {
        if self.left == 0 {
            let (word, rest) = self.words.split_at_checked(4)?;
            (self.word, self.left, self.words) = (self.module.word(word)?, 4, rest);
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.word >> self.left.checked_mul(8)? & 0xff)
    }

    /// Reads an unsigned number of up to five bytes in LEB128.
    fn uleb128(&mut self) -> Option<u32> {
        let mut value = 0;
        for at in (0..32).step_by(7) {
            let byte = self.next()?;
            value |= (byte & 0x7f).checked_shl(at)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

/// A frame that instructions describe: the virtual stack pointer as a register and an offset, and the registers that were
/// popped, with their offsets from the register.
struct VirtualFrame {
    base: Register,
    offset: i32,
    popped: Vec<(Register, i32)>,
}

impl VirtualFrame {
    /// Follows the instructions to their end.
    fn of(mut instructions: Instructions<'_>) -> Result<Self, NoRow> {
        let mut frame = Self { base: Arm::R13, offset: 0, popped: Vec::new() };
        while let Some(byte) = instructions.next() {
            let low = byte & 0x3f;
            let nibble = byte & 0xf;
            let mut next = || instructions.next().ok_or(NoRow::Malformed);
            match byte >> 4 {
                0..4 => frame.add(low.wrapping_mul(4).wrapping_add(4))?,
                4..8 => frame.add(low.wrapping_mul(4).wrapping_add(4).wrapping_neg())?,
                8 => match nibble << 8 | next()? {
                    // Refused.
                    0 => return Err(NoRow::Nothing),
                    mask => frame.pop(mask << 4)?,
                },
                9 if nibble == 13 || nibble == 15 => return Err(NoRow::Malformed),
                9 => frame.set_base(nibble)?,
                10 => {
                    // r4 and so many after it, and perhaps r14.
                    let saved = (2_u32 << (byte & 7)).wrapping_sub(1) << 4;
                    frame.pop(saved | (byte & 8) << 11)?;
                }
                11 => match nibble {
                    0 => return Ok(frame),
                    1 => match next()? {
                        mask @ 1..16 => frame.pop(mask)?,
                        _ => return Err(NoRow::Malformed),
                    },
                    2 => {
                        let words = instructions.uleb128().ok_or(NoRow::Malformed)?;
                        frame.add(
                            words
                                .checked_mul(4)
                                .and_then(|it| it.checked_add(0x204))
                                .ok_or(NoRow::Malformed)?,
                        )?;
                    }
                    // FSTMFDX has a word after the registers.
                    3 => {
                        let count = next()? & 0xf;
                        frame.add(count.wrapping_mul(8).wrapping_add(12))?;
                    }
                    // The authentication code of a return address.
                    4 => frame.add(4)?,
                    8.. => frame.add((byte & 7).wrapping_mul(8).wrapping_add(12))?,
                    _ => return Err(NoRow::Malformed),
                },
                12 => match nibble {
                    0..6 => frame.add(nibble.wrapping_mul(8).wrapping_add(8))?,
                    6 | 8 | 9 => {
                        let count = next()? & 0xf;
                        frame.add(count.wrapping_mul(8).wrapping_add(8))?;
                    }
                    7 => match next()? {
                        mask @ 1..16 => frame.add(mask.count_ones().wrapping_mul(4))?,
                        _ => return Err(NoRow::Malformed),
                    },
                    _ => return Err(NoRow::Malformed),
                },
                13 if nibble < 8 => frame.add(nibble.wrapping_mul(8).wrapping_add(8))?,
                _ => return Err(NoRow::Malformed),
            }
        }
        Ok(frame)
    }

    /// Moves the virtual stack pointer.
    fn add(&mut self, bytes: u32) -> Result<(), NoRow> {
        self.offset = self.offset.checked_add(bytes.cast_signed()).ok_or(NoRow::Malformed)?;
        Ok(())
    }

    /// Makes a register the virtual stack pointer. What was popped before is at other offsets then, which no rule can say.
    fn set_base(&mut self, register: u32) -> Result<(), NoRow> {
        if !self.popped.is_empty() {
            return Err(NoRow::Nothing);
        }
        (self.base, self.offset) = (register_of(register), 0);
        Ok(())
    }

    /// Pops the registers of a mask, the lowest first.
    fn pop(&mut self, mask: u32) -> Result<(), NoRow> {
        for register in (0..16).filter(|at| mask >> at & 1 == 1).map(register_of) {
            // The stack pointer itself: the frame goes on elsewhere.
            if register == Arm::R13 {
                return Err(NoRow::Nothing);
            }
            self.popped.push((register, self.offset));
            self.add(4)?;
        }
        Ok(())
    }

    /// Returns the frame as a rule; `None` if it needs more than a rule can say. The CFA is the stack pointer at its end.
    fn rule(&self) -> Option<Rule> {
        let place_of = |wanted: Register| {
            let popped = self.popped.iter().rev().find(|(register, _)| *register == wanted)?;
            popped.1.checked_sub(self.offset)
        };
        // The program counter itself, or the link register, which is the return address.
        let returns = place_of(Arm::R15).or_else(|| place_of(Arm::R14));
        let returns = returns.map_or(ReturnAddress::In(14), ReturnAddress::Saved);
        let is_saved = |register: Register| UnwindMachine::Arm.callee_saved() >> register.0 & 1 == 1;
        let saved = self.popped.iter().filter(|(register, _)| is_saved(*register));
        let saved: Option<Vec<_>> = saved
            .map(|&(register, at)| Some((register, at.checked_sub(self.offset)?.try_into().ok()?)))
            .collect();
        Rule::new((self.base, self.offset), returns, saved?)
    }
}

/// The core register of a number below 16.
fn register_of(number: u32) -> Register {
    Register(u16::try_from(number).unwrap_or(0))
}
