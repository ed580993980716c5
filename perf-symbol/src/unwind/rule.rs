//! The rule of a row of an unwind table, in a form that is fast to apply.

use gimli::{CfaRule, Register, RegisterRule, UnwindTableRow};
use hashbrown::HashMap;

use super::end::StackEnd;
use super::first::Boundary;
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
enum ReturnAddress {
    /// The function has no caller.
    Undefined,
    /// In memory, at an offset from the CFA.
    Saved(i32),
    /// In a register.
    In(u8),
}

impl Rule {
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
        let mut rule = Self {
            cfa_register: kept(register)?,
            cfa_offset: offset.try_into().ok()?,
            is_indirect: indirect.is_some(),
            return_address: match row.register(return_address) {
                Some(RegisterRule::Undefined) => ReturnAddress::Undefined,
                Some(RegisterRule::Offset(offset)) => ReturnAddress::Saved(offset.try_into().ok()?),
                Some(RegisterRule::Register(register)) => ReturnAddress::In(kept(register)?),
                None | Some(RegisterRule::SameValue) if machine.link() == Some(return_address) => {
                    ReturnAddress::In(kept(return_address)?)
                }
                _ => return None,
            },
            count: 0,
            saved: [(0, 0); SAVED],
        };
        for (register, saved) in row.registers() {
            match saved {
                _ if *register == return_address => {}
                // A vector register, or the state of the signature of a return address.
                _ if kept(*register).is_none() => {}
                RegisterRule::SameValue => {}
                RegisterRule::Undefined if machine.callee_saved() >> register.0 & 1 == 0 => {}
                RegisterRule::Offset(offset) => {
                    *rule.saved.get_mut(usize::from(rule.count))? =
                        (kept(*register)?, (*offset).try_into().ok()?);
                    rule.count = rule.count.saturating_add(1);
                }
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

/// What is known of an address of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleAnswer {
    /// The rule with this number.
    Rule(u32),
    /// A row that needs to be evaluated each time.
    Row,
    /// No unwind table covers the address.
    Nothing,
    /// The entry or its instructions are malformed.
    Malformed,
    /// The stack ends with the function, whatever its entry says.
    Boundary(Boundary),
}

/// Number of addresses in the cache: the stacks of most programs have fewer. A power of two, and small enough for the
/// caches of a CPU.
const SLOTS: usize = 1 << 13;

/// What leaves as many of the highest bits of a word as there are slots.
const SHIFT: u32 = 64 - SLOTS.trailing_zeros();

/// The largest number of different rules that are kept. Programs have some hundred.
const MAX_RULES: usize = 1 << 16;

/// Number of bits of an address in a key. Those above are the number of the module, and 1.
const ADDRESS_BITS: u32 = 40;

/// What is known of the addresses that occurred last.
#[derive(Debug)]
pub(crate) struct Rules {
    slots: Vec<RuleSlot>,
    rules: Vec<Rule>,
    numbers: HashMap<Rule, u32>,
}

#[derive(Clone, Copy, Debug)]
struct RuleSlot {
    /// Address and module; 0 in an empty slot.
    key: u64,
    known: RuleAnswer,
}

// Four to a line of a CPU's cache.
const _: () = assert!(size_of::<RuleSlot>() == 16);

impl Rules {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), rules: Vec::new(), numbers: HashMap::new() }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the key of an address; 0 for an address that no file has, and for one file too many. They are not kept.
    #[inline]
    fn key_of(module: u32, address: u64) -> u64 {
        let module = u64::from(module).wrapping_add(1);
        if address >> ADDRESS_BITS != 0 || module >> (64 - ADDRESS_BITS) != 0 {
            return 0;
        }
        module << ADDRESS_BITS | address
    }

    #[inline]
    fn slot_of(key: u64) -> usize {
        usize::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> SHIFT).unwrap_or(0)
    }

    #[inline]
    pub(crate) fn get(&self, module: u32, address: u64) -> Option<RuleAnswer> {
        let key = Self::key_of(module, address);
        let slot = self.slots.get(Self::slot_of(key))?;
        (slot.key == key && key != 0).then_some(slot.known)
    }

    #[inline]
    pub(crate) fn rule(&self, number: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(number).ok()?)
    }

    pub(crate) fn add(&mut self, module: u32, address: u64, known: RuleAnswer) {
        if self.slots.is_empty() {
            self.slots = vec![RuleSlot { key: 0, known: RuleAnswer::Nothing }; SLOTS];
        }
        let key = Self::key_of(module, address);
        if let Some(slot) = self.slots.get_mut(Self::slot_of(key)) {
            *slot = RuleSlot { key, known };
        }
    }

    /// Returns the number of a rule, which is the same for equal rules.
    pub(crate) fn number_of(&mut self, rule: Rule) -> u32 {
        if let Some(&number) = self.numbers.get(&rule) {
            return number;
        }
        if self.rules.len() >= MAX_RULES {
            self.clear();
        }
        let number = u32::try_from(self.rules.len()).unwrap_or(0);
        self.rules.push(rule);
        self.numbers.insert(rule, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let mut rules = Rules::new();
        let places = [(0, 0), (0, 1), (1, 0), (7, 0xff_ffff_ffff), (0xff_fffe, 3)];
        assert_eq!(rules.get(0, 0), None);
        for (number, (module, address)) in places.into_iter().enumerate() {
            rules.add(module, address, RuleAnswer::Rule(number as u32));
            assert_eq!(rules.get(module, address), Some(RuleAnswer::Rule(number as u32)));
        }
        let found = places.iter().filter(|(module, address)| rules.get(*module, *address).is_some()).count();
        // Few places, so that none took another one's slot.
        assert_eq!(found, places.len());
        // These are not kept.
        for (module, address) in [(0, 1 << 40), (0xff_ffff, 1), (u32::MAX, u64::MAX)] {
            rules.add(module, address, RuleAnswer::Row);
            assert_eq!(rules.get(module, address), None);
        }
    }

    #[test]
    fn the_number_of_rules_is_bounded() {
        let mut rules = Rules::new();
        let rule = |offset: usize| Rule {
            cfa_register: 7,
            cfa_offset: offset as i32,
            is_indirect: false,
            return_address: ReturnAddress::Saved(-8),
            count: 0,
            saved: [(0, 0); SAVED],
        };
        for offset in 0..MAX_RULES + 10 {
            let number = rules.number_of(rule(offset));
            assert_eq!(rules.rule(number), Some(&rule(offset)));
            assert_eq!(rules.number_of(rule(offset)), number);
        }
        assert_eq!(rules.rules.len(), 10);
        assert_eq!(rules.numbers.len(), 10);
    }
}
