//! Build ids that a capture lists by path.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::record::CpuMode;
use perf_parse::record::user;

use crate::kernel_names::{KERNEL, module_stem};

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
    /// The first path of the text of the host's kernel.
    pub(crate) kernel: Option<Vec<u8>>,
    /// Number of bytes that are taken, and number of entries that had no room.
    taken: usize,
    pub(crate) dropped: u64,
}

/// Number of bytes that an entry counts in addition to its path.
const ENTRY: usize = 64;

impl BuildIds {
    /// Adds an entry, of a host's file, within `limit` bytes. Returns whether it is the first one of its path, or another one
    /// than those before.
    pub(crate) fn add(&mut self, entry: &user::BuildId<'_>, limit: usize) -> bool {
        let (id, path) = (BuildId::new(entry.build_id), entry.filename.as_bytes());
        if let Some(known) = self.by_path.get_mut(path) {
            let is_other = known.is_some_and(|known| known != id);
            if is_other {
                *known = None;
            }
            return is_other;
        }
        let taken = self.taken.saturating_add(path.len()).saturating_add(ENTRY);
        if taken > limit {
            self.dropped = self.dropped.saturating_add(1);
            return false;
        }
        self.taken = taken;
        if self.kernel.is_none() && is_kernel(entry) {
            self.kernel = Some(Vec::from(path));
        }
        self.by_path.insert(Vec::from(path), Some(id));
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.by_path.len()
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<BuildId> {
        *self.by_path.get(path)?
    }
}

/// Returns whether an entry is of the text of a kernel, and not of a module or of what the kernel maps into processes.
///
/// perf: `is_kernel_module`, `tools/perf/util/dso.h`.
fn is_kernel(entry: &user::BuildId<'_>) -> bool {
    let path = entry.filename.as_bytes();
    let is_kernel = !path.starts_with(b"[") || path.starts_with(KERNEL);
    entry.cpumode() == CpuMode::KERNEL && is_kernel && module_stem(path).is_none()
}
