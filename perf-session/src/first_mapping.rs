//! The first mapping of a DSO, by which it is found in a process that still runs.

use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

/// The first recorded mapping of a [`Dso`](crate::Dso) by a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstMapping {
    /// The process id, as the machine numbered processes that recorded.
    pub pid: i32,
    /// The first address.
    pub start: u64,
}

/// A first mapping that is no part of the identity of its DSO: all are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unidentifying(pub(crate) Option<FirstMapping>);

impl PartialEq for Unidentifying {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Unidentifying {}

impl PartialOrd for Unidentifying {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Unidentifying {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Unidentifying {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
