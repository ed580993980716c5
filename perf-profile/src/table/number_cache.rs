//! Numbers that are found once and then known, so that each frame does not look for a text again.

use crate::table::frames::NONE;

/// Numbers by what they are the numbers of, which has numbers of its own or is [`NONE`]. Each is found when it is needed first.
#[derive(Debug)]
pub struct NumberCache {
    numbers: Vec<u32>,
    of_none: u32,
}

impl NumberCache {
    /// Returns the numbers of `count` things and of [`NONE`], none of which is known.
    pub fn of(count: usize) -> Self {
        Self { numbers: vec![NONE; count], of_none: NONE }
    }

    /// Returns the number of a thing, which `find` finds the first time. `of` is below the count or [`NONE`].
    #[inline]
    pub fn number(&mut self, of: u32, find: impl FnOnce() -> u32) -> u32 {
        let known = self.numbers.get_mut(of as usize).unwrap_or(&mut self.of_none);
        if *known == NONE {
            *known = find();
        }
        *known
    }
}

/// The numbers of the names of functions that are not known, by the file that they are in and whether the frame is a guess.
#[derive(Debug)]
pub struct UnknownNames([NumberCache; 2]);

impl UnknownNames {
    /// Returns the numbers for `dsos` files and for [`NONE`], none of which is known.
    pub fn of(dsos: usize) -> Self {
        Self([NumberCache::of(dsos), NumberCache::of(dsos)])
    }

    /// Returns the number of a name: see [`NumberCache::number`].
    #[inline]
    pub fn number(&mut self, dso: u32, is_guess: bool, find: impl FnOnce() -> u32) -> u32 {
        let [known, guessed] = &mut self.0;
        if is_guess { guessed } else { known }.number(dso, find)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_once() {
        let mut known = NumberCache::of(2);
        let asked = [(0, 7), (1, 8), (NONE, 9), (0, 1), (1, 2), (NONE, 3)];
        assert_eq!(asked.map(|(of, found)| known.number(of, || found)), [7, 8, 9, 7, 8, 9]);
    }
}
