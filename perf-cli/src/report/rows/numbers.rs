//! The numbers of rows. A stack has a row for each function, and most rows have many stacks, so a row is found by two numbers
//! rather than by all that distinguishes it.

use core::hash::{BuildHasher, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use perf_profile::NONE;

use super::{Element, Row, RowKey, Spot};

/// The numbers of the rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowNumbers {
    /// What the rows of a sample share: all but where they are.
    shared: Vec<RowKey>,
    shared_numbers: HashMap<RowKey, u32>,
    spots: Vec<Spot>,
    spot_numbers: HashTable<u32>,
    /// The numbers of the spots of functions, and of addresses without a function by their frames; or [`NONE`].
    of_function: Vec<u32>,
    of_frame: Vec<u32>,
    /// The numbers of the rows.
    rows: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl RowNumbers {
    /// Returns what distinguishes a row; `None` if there is none with these numbers.
    pub(super) fn key(&self, shared: u32, spot: u32) -> Option<RowKey> {
        Some(self.shared.get(shared as usize)?.at(*self.spots.get(spot as usize)?))
    }

    /// Returns the number of what the rows of a sample share, which it adds. `key` is that of any of them.
    pub(super) fn shared(&mut self, key: &RowKey) -> u32 {
        let (key, next) = (key.without_spot(), self.shared.len() as u32);
        let number = *self.shared_numbers.entry(key).or_insert(next);
        if number == next {
            self.shared.push(key);
        }
        number
    }

    /// Returns the number of a spot, which it adds.
    pub(super) fn spot(&mut self, spot: Spot) -> u32 {
        let Self { spots, spot_numbers, hasher, .. } = self;
        let of = |number: u32| spots.get(number as usize);
        let hash = hasher.hash_one(spot);
        match spot_numbers.entry(hash, |&it| of(it) == Some(&spot), |&it| hash_of(hasher, of(it))) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(place) => {
                let number = spots.len() as u32;
                place.insert(number);
                spots.push(spot);
                number
            }
        }
    }

    /// Returns the number of the spot of an element, which it adds.
    pub(super) fn spot_of(&mut self, element: Element, find: impl FnOnce() -> Spot) -> u32 {
        let known = self.known_spot_of(element);
        if known != NONE {
            return known;
        }
        let number = self.spot(find());
        let (list, place) = match element.function {
            NONE => (&mut self.of_frame, element.frame as usize),
            function => (&mut self.of_function, function as usize),
        };
        if list.len() <= place {
            list.resize(place + 1, NONE);
        }
        list[place] = number;
        number
    }

    /// Returns the number of a row of `rows`, or the next number, which it then gets.
    pub(super) fn row(&mut self, shared: u32, spot: u32, rows: &[Row]) -> usize {
        let of = |number: u32| rows.get(number as usize).map(|row| (row.shared, row.spot));
        let key = (shared, spot);
        let hash = self.hasher.hash_one(key);
        let hasher = &self.hasher;
        match self.rows.entry(hash, |&it| of(it) == Some(key), |&it| hash_of(hasher, of(it))) {
            Entry::Occupied(number) => *number.get() as usize,
            Entry::Vacant(place) => {
                place.insert(rows.len() as u32);
                rows.len()
            }
        }
    }

    /// Like [`shared`](Self::shared), of a sample that came before.
    pub(super) fn known_shared(&self, key: &RowKey) -> u32 {
        self.shared_numbers.get(&key.without_spot()).copied().unwrap_or(NONE)
    }

    /// Like [`spot`](Self::spot), of one that came before.
    pub(super) fn known_spot(&self, spot: Spot) -> u32 {
        let of = |number: u32| self.spots.get(number as usize);
        let found = self.spot_numbers.find(self.hasher.hash_one(spot), |&it| of(it) == Some(&spot));
        found.copied().unwrap_or(NONE)
    }

    /// Like [`spot_of`](Self::spot_of), of an element that came before; [`NONE`] for others.
    #[inline]
    pub(super) fn known_spot_of(&self, element: Element) -> u32 {
        let number = match element.function {
            NONE => self.of_frame.get(element.frame as usize),
            function => self.of_function.get(function as usize),
        };
        number.copied().unwrap_or(NONE)
    }

    /// Returns the number of a row; `None` if there is none.
    pub(super) fn known_row(&self, shared: u32, spot: u32, rows: &[Row]) -> Option<usize> {
        let is = |row: &Row| (row.shared, row.spot) == (shared, spot);
        let hash = self.hasher.hash_one((shared, spot));
        let found = self.rows.find(hash, |&number| rows.get(number as usize).is_some_and(is));
        found.map(|&row| row as usize)
    }
}

fn hash_of(hasher: &DefaultHashBuilder, value: Option<impl Hash>) -> u64 {
    value.map_or(0, |value| hasher.hash_one(value))
}
