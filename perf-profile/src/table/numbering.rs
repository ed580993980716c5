//! Numbers of values, in the order in which they came.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Numbers of values, found by their hashes. The values are kept elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    numbers: HashTable<u32>,
}

impl Numbering {
    /// Returns the number of the value with this hash for which `is` holds; otherwise adds the next number.
    #[inline]
    pub fn number(&mut self, hash: u64, is: impl Fn(u32) -> bool, hash_of: impl Fn(u32) -> u64) -> u32 {
        let next = self.numbers.len() as u32;
        self.number_or(hash, is, hash_of, Some(next)).unwrap_or(next)
    }

    /// Returns the number of the value with this hash for which `is` holds; otherwise adds `next`. `None` if there is no such
    /// value, and no room for a next one.
    #[inline]
    pub fn number_or(
        &mut self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
        next: Option<u32>,
    ) -> Option<u32> {
        match self.numbers.entry(hash, |&number| is(number), |&number| hash_of(number)) {
            Entry::Occupied(number) => Some(*number.get()),
            Entry::Vacant(place) => next.map(|next| *place.insert(next).get()),
        }
    }

    /// Adds the number of a value with this hash that is not there yet.
    pub fn add(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        self.numbers.insert_unique(hash, number, |&number| hash_of(number));
    }

    /// Makes room for so many more numbers.
    pub fn reserve(&mut self, more: usize, hash_of: impl Fn(u32) -> u64) {
        self.numbers.reserve(more, |&number| hash_of(number));
    }

    /// Returns how many numbers there are.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "no caller asks")]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the number of the value with this hash for which `is` holds.
    pub fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.numbers.find(hash, |&number| is(number)).copied()
    }

    /// Forgets all numbers.
    pub fn clear(&mut self) {
        self.numbers.clear();
    }
}
