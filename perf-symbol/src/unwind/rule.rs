//! The rule of a row of an unwind table, in a form that is fast to apply.

use gimli::{CfaRule, Register, RegisterRule, UnwindTableRow};

use super::end::StackEnd;
use super::machine::UnwindMachine;
use super::memory::StackMemory;
use super::registers::UnwindRegisters;

/// Number of registers besides the return address that a [`Rule`] restores at most: as many as arm64 functions save.
const SAVED: usize = 11;

/// How the registers of the caller follow from those of a frame, if it needs no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rule {
    /// The canonical frame address (CFA) is this register and the offset.
    cfa_register: u8,
    cfa_offset: i32,
    /// The CFA is in memory, at that address. What gcc writes for a function that aligns its stack.
    is_indirect: bool,
    return_address: ReturnAddress,
    count: u8,
    /// Registers and where they are saved, relative to the CFA.
    saved: [(u8, i16); SAVED],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ReturnAddress {
    /// The function has no caller.
    Undefined,
    /// In memory, at an offset from the CFA.
    Saved(i32),
    /// In a register.
    In(u8),
}

impl Rule {
    /// Returns a rule whose CFA is a register and an offset. `saved` are registers and where they are saved, relative to the
    /// CFA. `None` if it needs more than a rule can say.
    pub(super) fn new(
        (register, offset): (Register, i32),
        return_address: ReturnAddress,
        saved: impl IntoIterator<Item = (Register, i16)>,
    ) -> Option<Self> {
        let mut rule = Self {
            cfa_register: kept(register)?,
            cfa_offset: offset,
            is_indirect: false,
            return_address,
            count: 0,
            saved: [(0, 0); SAVED],
        };
        saved.into_iter().try_for_each(|(register, at)| rule.save(register, at))?;
        Some(rule)
    }

    /// Adds a register that is saved; `None` if there is no room for it.
    fn save(&mut self, register: Register, at: i16) -> Option<()> {
        *self.saved.get_mut(usize::from(self.count))? = (kept(register)?, at);
        self.count = self.count.saturating_add(1);
        Some(())
    }

    /// Returns the rule of a row; `None` if it needs more than a rule can say. `indirect` is the register and the offset
    /// of a CFA that is in memory.
    pub(crate) fn of_row(
        machine: UnwindMachine,
        row: &UnwindTableRow<usize>,
        return_address: Register,
        indirect: Option<(Register, i64)>,
    ) -> Option<Self> {
        let (register, offset) = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => (*register, *offset),
            CfaRule::Expression(_) => indirect?,
        };
        let returns = match row.register(return_address) {
            Some(RegisterRule::Undefined) => ReturnAddress::Undefined,
            Some(RegisterRule::Offset(offset)) => ReturnAddress::Saved(offset.try_into().ok()?),
            Some(RegisterRule::Register(register)) => ReturnAddress::In(kept(register)?),
            None | Some(RegisterRule::SameValue) if machine.link() == Some(return_address) => {
                ReturnAddress::In(kept(return_address)?)
            }
            _ => return None,
        };
        let mut rule = Self::new((register, offset.try_into().ok()?), returns, [])?;
        rule.is_indirect = indirect.is_some();
        for (register, saved) in row.registers() {
            match saved {
                _ if *register == return_address => {}
                // A vector register, or the state of the signature of a return address.
                _ if kept(*register).is_none() => {}
                RegisterRule::SameValue => {}
                RegisterRule::Undefined if machine.callee_saved() >> register.0 & 1 == 0 => {}
                RegisterRule::Offset(offset) => rule.save(*register, (*offset).try_into().ok()?)?,
                _ => return None,
            }
        }
        Some(rule)
    }

    /// Returns whether the function has no caller.
    pub(crate) fn is_root(&self) -> bool {
        self.return_address == ReturnAddress::Undefined
    }

    /// Turns the registers of a frame into those of its caller.
    ///
    /// # Errors
    ///
    /// How the stack ends, if there is no caller or it cannot be found.
    #[inline]
    pub(crate) fn apply(
        &self,
        machine: UnwindMachine,
        registers: &mut UnwindRegisters,
        memory: &StackMemory<'_>,
    ) -> Result<(), StackEnd> {
        if self.return_address == ReturnAddress::Undefined {
            return Err(StackEnd::Rooted);
        }
        let (mask, size) = (machine.address_mask(), machine.address_size());
        let offset = |base: u64, offset: i32| base.wrapping_add_signed(offset.into()) & mask;
        let base = registers.get(Register(self.cfa_register.into())).ok_or(StackEnd::Garbage)?;
        let mut cfa = offset(base, self.cfa_offset);
        if self.is_indirect {
            cfa = memory.read(cfa, size).ok_or_else(|| memory.end_without(cfa))?;
        }
        let sp = registers.get(machine.sp()).ok_or(StackEnd::Garbage)?;
        let pc = match self.return_address {
            ReturnAddress::Saved(at) => {
                let place = offset(cfa, at);
                memory.read(place, size).ok_or_else(|| memory.end_without(place))?
            }
            ReturnAddress::In(register) => {
                registers.get(Register(register.into())).ok_or(StackEnd::NoUnwindInfo)?
            }
            ReturnAddress::Undefined => return Err(StackEnd::Rooted),
        };
        // A function whose return address is in a register may have saved nothing.
        let may_be_equal = matches!(self.return_address, ReturnAddress::In(_));
        if cfa < sp || cfa == sp && !may_be_equal {
            return Err(StackEnd::Garbage);
        }
        registers.keep(machine.callee_saved());
        for &(register, at) in self.saved.iter().take(self.count.into()) {
            let register = Register(register.into());
            let place = offset(cfa, at.into());
            match memory.read(place, size) {
                Some(value) => registers.set(register, value),
                // It was popped: the register has the value again. Compilers leave that out of the tables.
                None if place < sp => {}
                None => registers.forget(register),
            }
        }
        registers.set(machine.sp(), cfa);
        registers.pc = pc & machine.code_mask();
        Ok(())
    }
}

/// Returns the number of a register, if [`UnwindRegisters`] keeps it.
fn kept(register: Register) -> Option<u8> {
    u8::try_from(register.0).ok().filter(|number| *number < 32)
}
