//! The bytes of a written attr.

use core::ops::{Deref, DerefMut};

use super::AttrVersion;

const MAX: usize = AttrVersion::NEWEST.size() as usize;

/// The bytes of an attr in one version; [`Attr::write`](super::Attr::write) makes them.
///
/// Derefs to a slice of [`AttrVersion::size`] bytes.
#[derive(Clone, Copy)]
pub struct AttrBytes {
    /// Zero after the version's size.
    bytes: [u8; MAX],
    version: AttrVersion,
}

impl AttrBytes {
    /// `version` is at most [`AttrVersion::NEWEST`].
    pub(super) const fn new(bytes: [u8; MAX], version: AttrVersion) -> Self {
        Self { bytes, version }
    }

    /// Returns the version, which is the number of bytes.
    #[must_use]
    pub const fn version(&self) -> AttrVersion {
        self.version
    }
}

impl Deref for AttrBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.version.size() as usize).unwrap_or(&self.bytes)
    }
}

impl DerefMut for AttrBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..self.version.size() as usize).unwrap_or_default()
    }
}

impl AsRef<[u8]> for AttrBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for AttrBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for AttrBytes {}

impl core::fmt::Debug for AttrBytes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("AttrBytes").field(&&**self).finish()
    }
}
