//! Numbers that are found once and then known, so that each frame does not look for a text again.

use crate::frames::NONE;

/// Numbers by what they are the numbers of, which has numbers of its own. Each is found when it is needed first.
#[derive(Debug)]
pub(crate) struct KnownNumbers(Vec<u32>);

impl KnownNumbers {
    /// Returns the numbers of `count` things, none of which is known.
    pub(crate) fn of(count: usize) -> Self {
        Self(vec![NONE; count])
    }

    /// Returns the number of a thing, which `find` finds the first time.
    #[inline]
    pub(crate) fn number(&mut self, of: u32, find: impl FnOnce() -> u32) -> u32 {
        match self.0.get_mut(of as usize) {
            Some(known) if *known == NONE => {
                *known = find();
                *known
            }
            Some(known) => *known,
            None => find(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_once() {
        let mut known = KnownNumbers::of(2);
        assert_eq!(
            [(0, 7), (1, 8), (0, 9), (1, 9)].map(|(of, found)| known.number(of, || found)),
            [7, 8, 7, 8]
        );
        // What was not counted is found each time.
        assert_eq!([7, 8].map(|found| known.number(2, || found)), [7, 8]);
    }
}
