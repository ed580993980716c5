//! A limit of the steps of one request.

use std::cell::Cell;

use crate::budget::Budget;
use crate::cancellation::Cancellation;

/// Number of steps between two checks of cancellation.
const CHECKED: u64 = 1 << 16;

/// The steps that a request may take, in proportion to the DWARF that may be read. Unlike reading, they keep nothing, so that each
/// request may take as many.
#[derive(Debug)]
pub(super) struct Steps {
    left: Cell<u64>,
    until_check: Cell<u64>,
    cancellation: Cancellation,
}

impl Steps {
    pub(super) fn new(budget: &Budget) -> Self {
        Self {
            left: Cell::new(budget.allowed()),
            until_check: Cell::new(0),
            cancellation: budget.cancellation(),
        }
    }

    /// Takes some steps. `false` if there are no more, or if the request is cancelled.
    pub(super) fn take(&self, count: usize) -> bool {
        let count = count as u64;
        let Some(left) = self.left.get().checked_sub(count) else { return false };
        if self.until_check.get() < count {
            if self.cancellation.is_cancelled() {
                return false;
            }
            self.until_check.set(CHECKED);
        }
        self.left.set(left);
        self.until_check.set(self.until_check.get().saturating_sub(count));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end() {
        let budget = Budget::new(0);
        let steps = Steps::new(&budget);
        let allowed = usize::try_from(budget.allowed()).unwrap();
        assert!(!steps.take(allowed + 1));
        assert!(steps.take(allowed));
        assert!(!steps.take(1));
        assert!(Steps::new(&budget).take(1), "each request has its own");
    }

    #[test]
    fn steps_are_cancelled() {
        let budget = Budget::new(0);
        let cancellation = Cancellation::new();
        budget.set_cancellation(&cancellation);
        let steps = Steps::new(&budget);
        assert!(steps.take(1));
        cancellation.cancel();
        assert_eq!((0..).take_while(|_| steps.take(1)).count() as u64, CHECKED - 1);
    }
}
