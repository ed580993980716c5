//! Numbers of values, in the order in which they came.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Numbers of values, found by their hashes. The values are kept elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    numbers: HashTable<u32>,
}

impl Numbering {
    /// Returns the number of the value with this hash for which `is` holds; otherwise adds the next number.
    #[inline]
    pub(crate) fn number(
        &mut self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
    ) -> u32 {
        let next = self.numbers.len() as u32;
        match self.numbers.entry(hash, |&number| is(number), |&number| hash_of(number)) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(place) => *place.insert(next).get(),
        }
    }

    /// Returns the number of the value with this hash for which `is` holds.
    pub(crate) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.numbers.find(hash, |&number| is(number)).copied()
    }

    /// Forgets all numbers.
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
    }
}
