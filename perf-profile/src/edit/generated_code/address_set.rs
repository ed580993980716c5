//! Sets of addresses.

use core::ops::Range;
use std::collections::BTreeMap;

/// Addresses, as ranges that neither overlap nor adjoin: starts with ends.
#[derive(Debug, Default)]
pub(super) struct AddressSet(BTreeMap<u64, u64>);

impl AddressSet {
    pub(super) fn insert(&mut self, addresses: Range<u64>) {
        let Range { mut start, mut end } = addresses;
        // Each is removed once.
        while let Some((&at, &until)) = self.0.range(..=end).next_back().filter(|it| *it.1 >= start) {
            self.0.remove(&at);
            (start, end) = (start.min(at), end.max(until));
        }
        self.0.insert(start, end);
    }

    /// Returns whether one of the addresses is in the set.
    pub(super) fn overlaps(&self, addresses: &Range<u64>) -> bool {
        let last = self.0.range(..addresses.end).next_back();
        last.is_some_and(|(_, &end)| end > addresses.start)
    }
}
