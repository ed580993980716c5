//! Pseudorandom numbers, the same in each run.

/// A generator by shifts and exclusive or.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 20
    }

    pub(crate) fn is_one_of(&mut self, count: u64) -> bool {
        self.next().is_multiple_of(count)
    }
}
