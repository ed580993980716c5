//! The paths of cgroups.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The paths of cgroups, by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cgroups {
    paths: BTreeMap<u64, Vec<u8>>,
    /// Number of bytes that are taken, and number of cgroups that had no room.
    taken: usize,
    pub(crate) dropped: u64,
}

/// Number of bytes that an entry counts in addition to its path.
const ENTRY: usize = 64;

impl Cgroups {
    /// Adds a cgroup within `limit` bytes. A later path of an id replaces the earlier one. Returns whether there was room.
    pub(crate) fn add(&mut self, id: u64, path: &[u8], limit: usize) -> bool {
        let size = |path: &[u8]| path.len().saturating_add(ENTRY);
        let before = self.paths.get(&id).map_or(0, |path| size(path));
        let taken = self.taken.saturating_sub(before).saturating_add(size(path));
        if taken > limit {
            self.dropped = self.dropped.saturating_add(1);
            return false;
        }
        self.taken = taken;
        self.paths.insert(id, Vec::from(path));
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn get(&self, id: u64) -> Option<&[u8]> {
        self.paths.get(&id).map(Vec::as_slice)
    }
}
