//! Build ids that a capture lists by path.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_parse::record::user;

/// A build id: what the linker wrote into a file to identify it. At most 20 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId {
    size: u8,
    bytes: [u8; 20],
}

impl BuildId {
    /// Creates a build id of the first 20 bytes.
    #[must_use]
    pub fn new(id: &[u8]) -> Self {
        let mut it = Self { size: 0, bytes: [0; 20] };
        for (to, from) in it.bytes.iter_mut().zip(id) {
            *to = *from;
            it.size = it.size.saturating_add(1);
        }
        it
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.size.into()).unwrap_or_default()
    }
}

/// In hexadecimal, as tools print build ids.
impl core::fmt::Display for BuildId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl core::fmt::Debug for BuildId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self}")
    }
}

/// The build ids of the feature `BUILD_ID` and of HEADER_BUILD_ID records.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildIds {
    /// By path; `None` if two files of the path are listed.
    by_path: BTreeMap<Vec<u8>, Option<BuildId>>,
    /// Number of bytes that are taken, and number of entries that had no room.
    taken: usize,
    pub(crate) dropped: u64,
}

/// Number of bytes that an entry counts in addition to its path.
const ENTRY: usize = 64;

impl BuildIds {
    /// Adds an entry, of a host's file, within `limit` bytes.
    pub(crate) fn add(&mut self, entry: &user::BuildId<'_>, limit: usize) {
        let id = BuildId::new(entry.build_id);
        if let Some(known) = self.by_path.get_mut(entry.filename.as_bytes()) {
            if *known != Some(id) {
                *known = None;
            }
            return;
        }
        let taken = self.taken.saturating_add(entry.filename.len()).saturating_add(ENTRY);
        if taken > limit {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.taken = taken;
        self.by_path.insert(entry.filename.to_vec(), Some(id));
    }

    pub(crate) fn len(&self) -> usize {
        self.by_path.len()
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<BuildId> {
        *self.by_path.get(path)?
    }
}
