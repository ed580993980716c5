//! Enumerates every combination of the readings of a record's ambiguous parts.

/// The choices made while a sample is decoded, in the order of the record; `true` is the second reading.
#[derive(Default)]
pub(super) struct Choices {
    made: Vec<bool>,
    next: usize,
}

impl Choices {
    /// Returns whether to take the second reading of the current ambiguous part.
    pub(super) fn second(&mut self) -> bool {
        if self.next == self.made.len() {
            self.made.push(false);
        }
        self.next += 1;
        self.made[self.next - 1]
    }

    /// Moves to the next combination and returns `true`; returns `false` after the last one.
    ///
    /// The combinations are the binary numbers in ascending order, and the last choice is the lowest digit.
    pub(super) fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some(second) = self.made.pop() {
            if !second {
                self.made.push(true);
                return true;
            }
        }
        false
    }
}
