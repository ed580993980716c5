//! Every combination of the readings of the ambiguous parts of a record, one after the other.

/// The choices made on the way through a sample, in the order of the record: `true` is the second reading.
#[derive(Default)]
pub(super) struct Choices {
    made: Vec<bool>,
    next: usize,
}

impl Choices {
    /// Whether to take the second reading of the ambiguous part at hand.
    pub(super) fn second(&mut self) -> bool {
        if self.next == self.made.len() {
            self.made.push(false);
        }
        self.next += 1;
        self.made[self.next - 1]
    }

    /// Counts one up, the last choice being the lowest digit; `false` after the last combination.
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
