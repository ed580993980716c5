//! A cache of unwind rules, by addresses.

use hashbrown::HashMap;

use super::first::Boundary;
use super::rule::Rule;

/// What is known of an address of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleAnswer {
    /// The rule with this number.
    Rule(u32),
    /// The rule with this number, which holds at the calls of the function alone.
    AtCalls(u32),
    /// The rule with this number, of a file whose code the program is assumed to have moved here.
    Assumed(u32),
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
pub(crate) struct RuleCache {
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

impl RuleCache {
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
    use crate::unwind::rule::ReturnAddress;

    #[test]
    fn addresses_are_told_apart() {
        let mut rules = RuleCache::new();
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
        let mut rules = RuleCache::new();
        let rule = |offset: usize| {
            Rule::new((gimli::X86_64::RSP, offset as i32), ReturnAddress::Saved(-8), []).unwrap()
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
