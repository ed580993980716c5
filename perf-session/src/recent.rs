//! The mappings of a process that samples were in lately.

use alloc::boxed::Box;
use core::fmt;

use crate::map::Mapping;

/// Copies of the mappings that samples were in lately, the last one first.
// In three system-wide captures, 71 to 83 % of the samples of user code are in the last mapping of their thread, and 94 to
// 99 % in one of its last four. The first copy is one cache line away from the process. A search reads at least nine, and
// four of them each after the one before.
#[derive(Default)]
pub(crate) struct RecentMappings(Option<Box<[Option<Mapping>; COUNT]>>);

/// Number of mappings that are kept.
const COUNT: usize = 4;

/// Mappings are cloned for a fork, which seldom needs these.
impl Clone for RecentMappings {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// They say nothing that the mappings do not.
impl fmt::Debug for RecentMappings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentMappings").finish_non_exhaustive()
    }
}

impl RecentMappings {
    /// Returns the mapping that was found last.
    #[inline]
    pub(crate) fn last(&self) -> Option<&Mapping> {
        let [last, ..] = &**self.0.as_ref()?;
        last.as_ref()
    }

    /// Finds the mapping that contains an address, and puts it first. Returns whether there is one.
    pub(crate) fn find(&mut self, addr: u64) -> bool {
        let Some(mappings) = &mut self.0 else { return false };
        let has = |mapping: &Option<Mapping>| mapping.as_ref().is_some_and(|mapping| mapping.contains(addr));
        let Some(to_found) = mappings.iter().position(has).and_then(|at| mappings.get_mut(..=at)) else {
            return false;
        };
        to_found.rotate_right(1);
        true
    }

    /// Adds a mapping, in the place of the one that was found longest ago.
    pub(crate) fn add(&mut self, mapping: Mapping) {
        let mappings = self.0.get_or_insert_default();
        mappings.rotate_right(1);
        let [first, ..] = &mut **mappings;
        *first = Some(mapping);
    }

    /// Drops the mappings that have an address from `start` to `end`.
    pub(crate) fn drop_overlaps(&mut self, start: u64, end: u64) {
        let Some(mappings) = &mut self.0 else { return };
        for place in mappings.iter_mut() {
            if place.as_ref().is_some_and(|mapping| mapping.start < end && start < mapping.end) {
                *place = None;
            }
        }
    }
}
