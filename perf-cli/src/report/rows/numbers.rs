//! The numbers of rows. A stack has a row for each function, and most rows have many stacks, so a row is found by two numbers
//! rather than by all that distinguishes it.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use perf_profile::NONE;
use perf_profile::table::interner::Interner;
use perf_profile::table::numbering::Numbering;

use super::{Element, Row, RowKey, Spot};

/// The numbers of the rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowNumbers {
    /// What the rows of a sample share: all but where they are.
    shared: Interner<RowKey>,
    spots: Interner<Spot>,
    /// The numbers of the spots of functions, and of addresses without a function by their frames; or [`NONE`].
    of_function: Vec<u32>,
    of_frame: Vec<u32>,
    /// The numbers of the rows, by the two numbers that distinguish them.
    rows: Numbering,
    hasher: DefaultHashBuilder,
}

impl RowNumbers {
    /// Returns what distinguishes a row; `None` if there is none with these numbers.
    pub(super) fn key(&self, shared: u32, spot: u32) -> Option<RowKey> {
        Some(self.shared.list().get(shared as usize)?.at(*self.spots.list().get(spot as usize)?))
    }

    /// Returns the number of what the rows of a sample share, which it adds. `key` is that of any of them.
    pub(super) fn shared(&mut self, key: &RowKey) -> u32 {
        self.shared.number(key.without_spot())
    }

    /// Returns the number of a spot, which it adds.
    pub(super) fn spot(&mut self, spot: Spot) -> u32 {
        self.spots.number(spot)
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
        let (key, hasher) = ((shared, spot), &self.hasher);
        let is = |number: u32| key_of(rows, number) == Some(key);
        let hash_of = |number: u32| hasher.hash_one(key_of(rows, number).unwrap_or_default());
        self.rows.number(hasher.hash_one(key), is, hash_of) as usize
    }

    /// Like [`shared`](Self::shared), of a sample that came before.
    pub(super) fn known_shared(&self, key: &RowKey) -> u32 {
        self.shared.find(&key.without_spot()).unwrap_or(NONE)
    }

    /// Like [`spot`](Self::spot), of one that came before.
    pub(super) fn known_spot(&self, spot: Spot) -> u32 {
        self.spots.find(&spot).unwrap_or(NONE)
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
        let key = (shared, spot);
        let found = self.rows.find(self.hasher.hash_one(key), |number| key_of(rows, number) == Some(key));
        found.map(|row| row as usize)
    }
}

/// Returns the two numbers that distinguish a row.
fn key_of(rows: &[Row], number: u32) -> Option<(u32, u32)> {
    rows.get(number as usize).map(|row| (row.shared, row.spot))
}
