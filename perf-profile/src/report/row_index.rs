//! The numbers of rows. A stack has a row for each function, and most rows have many stacks, so a row is found by two numbers
//! rather than by its whole identity.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::row::ReportRow;
use super::row_key::{RowKey, RowSpot};
use super::stack_function::StackFunction;
use crate::table::frames::NONE;
use crate::table::interner::Interner;
use crate::table::numbering::Numbering;

/// The numbers of the rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowIndex {
    /// What the rows of a sample share: all but their spots.
    shared: Interner<RowKey>,
    spots: Interner<RowSpot>,
    /// The numbers of the spots of functions, and of addresses without a function by their frames; or [`NONE`].
    of_function: Vec<u32>,
    of_frame: Vec<u32>,
    /// The numbers of the rows, by the two numbers that identify them.
    rows: Numbering,
    hasher: DefaultHashBuilder,
}

impl RowIndex {
    /// Returns the identity of a row; `None` if there is none with these numbers.
    pub(super) fn key(&self, shared: u32, spot: u32) -> Option<RowKey> {
        Some(self.shared.list().get(shared as usize)?.at(*self.spots.list().get(spot as usize)?))
    }

    /// Returns the number of what the rows of a sample share, which it adds. `key` is that of any of them.
    pub(super) fn shared(&mut self, key: &RowKey) -> u32 {
        self.shared.number(key.without_spot())
    }

    /// Returns the number of a spot, which it adds.
    pub(super) fn spot(&mut self, spot: RowSpot) -> u32 {
        self.spots.number(spot)
    }

    /// Returns the number of the spot of a function, which it adds.
    pub(super) fn spot_of(&mut self, it: StackFunction, find: impl FnOnce() -> RowSpot) -> u32 {
        let known = self.known_spot_of(it);
        if known != NONE {
            return known;
        }
        let number = self.spot(find());
        let (list, index) = match it.function {
            NONE => (&mut self.of_frame, it.frame as usize),
            function => (&mut self.of_function, function as usize),
        };
        if list.len() <= index {
            list.resize(index + 1, NONE);
        }
        if let Some(known) = list.get_mut(index) {
            *known = number;
        }
        number
    }

    /// Returns the number of a row of `rows`, or the next number, which it then gets.
    pub(super) fn row(&mut self, shared: u32, spot: u32, rows: &[ReportRow]) -> usize {
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
    pub(super) fn known_spot(&self, spot: RowSpot) -> u32 {
        self.spots.find(&spot).unwrap_or(NONE)
    }

    /// Like [`spot_of`](Self::spot_of), of a function that came before; [`NONE`] for others.
    #[inline]
    pub(super) fn known_spot_of(&self, it: StackFunction) -> u32 {
        let number = match it.function {
            NONE => self.of_frame.get(it.frame as usize),
            function => self.of_function.get(function as usize),
        };
        number.copied().unwrap_or(NONE)
    }

    /// Returns the number of a row; `None` if there is none.
    pub(super) fn known_row(&self, shared: u32, spot: u32, rows: &[ReportRow]) -> Option<usize> {
        let key = (shared, spot);
        let found = self.rows.find(self.hasher.hash_one(key), |number| key_of(rows, number) == Some(key));
        found.map(|row| row as usize)
    }
}

/// Returns the two numbers that identify a row.
fn key_of(rows: &[ReportRow], number: u32) -> Option<(u32, u32)> {
    rows.get(number as usize).map(|row| (row.shared, row.spot))
}
