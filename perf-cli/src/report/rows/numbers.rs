//! The numbers of rows. A stack has a row for each function, and most rows have many stacks, so a row is found by two numbers
//! rather than by all that distinguishes it.

use hashbrown::HashMap;
use perf_profile::NONE;

use super::{Element, RowKey, Spot};

/// The numbers of the rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowNumbers {
    /// The numbers of what the rows of a sample share: all but where they are.
    shared: HashMap<RowKey, u32>,
    spots: HashMap<Spot, u32>,
    /// The numbers of the spots of functions, and of addresses without a function by their frames; or [`NONE`].
    of_function: Vec<u32>,
    of_frame: Vec<u32>,
    /// By the number of what is shared, and that of the spot.
    rows: HashMap<(u32, u32), u32>,
}

impl RowNumbers {
    /// Returns the number of what the rows of a sample share, which it adds. `key` is that of any of them.
    pub(super) fn shared(&mut self, key: &RowKey) -> u32 {
        let next = self.shared.len() as u32;
        *self.shared.entry(key.without_spot()).or_insert(next)
    }

    /// Returns the number of a spot, which it adds.
    pub(super) fn spot(&mut self, spot: Spot) -> u32 {
        let next = self.spots.len() as u32;
        *self.spots.entry(spot).or_insert(next)
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

    /// Returns the number of a row, or `new`, which it then gets.
    pub(super) fn row(&mut self, shared: u32, spot: u32, new: usize) -> usize {
        *self.rows.entry((shared, spot)).or_insert(new as u32) as usize
    }

    /// Like [`shared`](Self::shared), of a sample that came before.
    pub(super) fn known_shared(&self, key: &RowKey) -> u32 {
        self.shared.get(&key.without_spot()).copied().unwrap_or(NONE)
    }

    /// Like [`spot`](Self::spot), of one that came before.
    pub(super) fn known_spot(&self, spot: Spot) -> u32 {
        self.spots.get(&spot).copied().unwrap_or(NONE)
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
    pub(super) fn known_row(&self, shared: u32, spot: u32) -> Option<usize> {
        self.rows.get(&(shared, spot)).map(|&row| row as usize)
    }
}
