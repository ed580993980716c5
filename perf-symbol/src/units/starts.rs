//! The listed offsets at which a unit starts.

use std::cell::{Cell, RefCell};

use super::UnitIndex;

/// Which units of a [`UnitIndex`] start where they are listed, found by walking from one unit of `.debug_info` to the next.
///
/// `.debug_aranges` may have any offsets. What is at an offset in the middle of a unit could be read as another unit, one that
/// no reader of all units would see.
#[derive(Debug, Default)]
pub(crate) struct UnitStarts {
    /// The end of the last unit that was walked over; [`usize::MAX`] after damage.
    at: Cell<usize>,
    /// Whether each unit starts where it is listed, up to the last one that was asked for.
    found: RefCell<Vec<bool>>,
}

impl UnitStarts {
    /// Returns whether the unit of a number starts where it is listed. `size_at` returns the number of bytes of the unit at an
    /// offset, its length included; `None` if it is damaged. All calls together ask for each unit once.
    pub(crate) fn has(
        &self,
        index: &UnitIndex,
        number: usize,
        mut size_at: impl FnMut(usize) -> Option<usize>,
    ) -> bool {
        let mut found = self.found.borrow_mut();
        while found.len() <= number {
            let Some(listed) = index.offset(found.len()) else { return false };
            while self.at.get() < listed {
                let end = size_at(self.at.get()).and_then(|size| self.at.get().checked_add(size.max(1)));
                self.at.set(end.unwrap_or(usize::MAX));
            }
            found.push(self.at.get() == listed);
        }
        found.get(number).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use gimli::{DebugAranges, Dwarf, RunTimeEndian};

    use super::*;
    use crate::budget::{Budget, Metered};

    /// Tests the units that are listed at offsets.
    fn listed(offsets: &[u32], test: impl FnOnce(&UnitIndex)) {
        let mut bytes = Vec::new();
        for (offset, address) in offsets.iter().zip(1_u64..) {
            bytes.extend_from_slice(&[44, 0, 0, 0, 2, 0]);
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&[8, 0, 0, 0, 0, 0]);
            bytes.extend_from_slice(&[address, 1, 0, 0].map(u64::to_le_bytes).concat());
        }
        let budget = Budget::new(0);
        budget.begin();
        let reader = |bytes| Metered::new(bytes, RunTimeEndian::Little, &budget);
        let mut dwarf = Dwarf::load(|_| Ok::<_, gimli::Error>(reader(&[]))).unwrap();
        dwarf.debug_aranges = DebugAranges::from(reader(&bytes));
        let most = offsets.len();
        assert!(UnitIndex::of(&dwarf, most - 1).unwrap().is_none(), "there is a limit");
        test(&UnitIndex::of(&dwarf, most).unwrap().unwrap());
    }

    /// Units of 10 bytes; the one at 30 is damaged.
    fn size_at(offset: usize) -> Option<usize> {
        assert_eq!(offset % 10, 0, "it is walked from one unit to the next");
        (offset < 30).then_some(10)
    }

    #[test]
    fn units_start_where_others_end() {
        let expected = [true, false, true, false, true, false];
        listed(&[0, 5, 10, 29, 30, 40], |index| {
            for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 4, 2, 1, 5]] {
                let starts = UnitStarts::default();
                for number in order {
                    assert_eq!(starts.has(index, number, size_at), expected[number], "{number}");
                }
                assert!(!starts.has(index, 6, size_at));
            }
        });
    }

    #[test]
    fn each_unit_is_asked_for_once() {
        listed(&[20, 10], |index| {
            let (starts, mut asked) = (UnitStarts::default(), Vec::new());
            for number in [1, 0, 1] {
                let size_at = |offset| {
                    asked.push(offset);
                    size_at(offset)
                };
                assert!(starts.has(index, number, size_at));
            }
            assert_eq!(asked, [0, 10]);
        });
    }
}
