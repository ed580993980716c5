//! Values, each once.

use core::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;

use crate::table::numbering::Numbering;

/// Values, each once, with numbers in the order in which they came.
#[derive(Debug)]
pub struct Interner<T> {
    list: Vec<T>,
    /// Has as many numbers as the list has values.
    numbering: Numbering,
    hasher: DefaultHashBuilder,
}

impl<T> Interner<T> {
    /// Returns the hash of a key, for [`number_by`](Self::number_by).
    #[inline]
    pub fn hash(&self, key: impl Hash) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Returns the number of the value with this hash for which `is` holds; otherwise adds the one that `make` returns.
    /// `hash_of` returns the hash of a value's key.
    #[inline]
    pub fn number_by(
        &mut self,
        hash: u64,
        is: impl Fn(&T) -> bool,
        hash_of: impl Fn(&DefaultHashBuilder, &T) -> u64,
        make: impl FnOnce() -> T,
    ) -> u32 {
        let number = self.find_or_next(hash, is, hash_of);
        if number as usize == self.list.len() {
            self.list.push(make());
        }
        number
    }

    /// Returns the number of a value, or that of the next one, which is to be added.
    #[inline]
    fn find_or_next(
        &mut self,
        hash: u64,
        is: impl Fn(&T) -> bool,
        hash_of: impl Fn(&DefaultHashBuilder, &T) -> u64,
    ) -> u32 {
        let Self { list, numbering, hasher } = self;
        let of = |number: u32| list.get(number as usize);
        let is = |number| of(number).is_some_and(&is);
        numbering.number(hash, is, |number| of(number).map_or(0, |it| hash_of(hasher, it)))
    }

    /// Returns the values, by their numbers.
    pub fn list(&self) -> &[T] {
        &self.list
    }

    /// Returns the same.
    pub fn into_list(self) -> Vec<T> {
        self.list
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// Returns the number of a value that is there; `None` if it is not.
    #[must_use]
    pub fn find(&self, it: &T) -> Option<u32> {
        self.numbering.find(self.hash(it), |number| self.list.get(number as usize) == Some(it))
    }

    /// Returns the number of a value.
    pub fn number(&mut self, it: T) -> u32 {
        let number =
            self.find_or_next(self.hash(&it), |other| *other == it, |hasher, it| hasher.hash_one(it));
        if number as usize == self.list.len() {
            self.list.push(it);
        }
        number
    }
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { list: Vec::new(), numbering: Numbering::default(), hasher: DefaultHashBuilder::default() }
    }
}
