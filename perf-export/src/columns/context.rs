//! The state that all tables of a capture share.

use core::fmt::Write;
use std::borrow::Cow;

use perf_abi::endian::Endianness;
use perf_profile::CaptureOrigin;
use perf_session::{Dso, DsoKind};
use sha2::{Digest, Sha256};

use super::utf8::utf8;

/// Personal data that are left out of the tables, or hashed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redaction {
    /// Leave out the names of threads and processes, and the fields of tracepoints, which may have them.
    pub comm: bool,
    /// Leave out the command line of the recorder.
    pub cmdline: bool,
    /// Leave out the paths of captures, of mapped files, of source files and of cgroups, and the fields of tracepoints.
    pub paths: bool,
    /// Write a hash of each path and this salt. `None` writes the paths.
    pub salt: Option<String>,
}

/// The facts that all tables of a capture need.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) capture: String,
    pub(super) endianness: Endianness,
    pub(super) origin: CaptureOrigin,
    /// The day on which the recording started.
    pub(super) date: Option<String>,
    pub(super) redaction: Redaction,
}

impl Context {
    /// Returns the time on the wall clock in microseconds since 1970; `None` if the clocks' relation was not recorded.
    #[inline]
    pub(super) fn utc(&self, time: Option<u64>) -> Option<i64> {
        i64::try_from(self.origin.wall_clock(time?)? / 1000).ok()
    }

    /// Returns the name of a thread; `None` if it is left out.
    pub(super) fn comm<'t>(&self, comm: &'t [u8]) -> Option<Cow<'t, str>> {
        (!self.redaction.comm).then(|| utf8(comm))
    }

    /// Returns a path; `None` if it is left out.
    pub(super) fn path<'t>(&self, path: &'t [u8]) -> Option<Cow<'t, str>> {
        match &self.redaction {
            Redaction { paths: true, .. } => None,
            Redaction { salt: Some(salt), .. } if !path.is_empty() => Some(Cow::Owned(hash(salt, path))),
            _ => Some(utf8(path)),
        }
    }

    /// Returns a text that is a path for some kinds of what is mapped, and a name that the kernel chose for others.
    pub(super) fn path_of<'t>(&self, dso: &Dso, path: &'t [u8]) -> Option<Cow<'t, str>> {
        match dso.kind() {
            DsoKind::File | DsoKind::Memory => self.path(path),
            _ if path.starts_with(b"/") => self.path(path),
            _ => Some(utf8(path)),
        }
    }

    /// Returns whether the fields of tracepoints are written. They may have names and paths.
    pub(super) fn has_trace(&self) -> bool {
        !self.redaction.comm && !self.redaction.paths && self.redaction.salt.is_none()
    }
}

/// Returns the first 16 bytes of the SHA-256 of a salt, a zero byte and a path, in hexadecimal.
fn hash(salt: &str, path: &[u8]) -> String {
    let hash = Sha256::new().chain_update(salt).chain_update([0]).chain_update(path).finalize();
    hex(hash.get(..16).unwrap_or_default())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to memory cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_left_out_or_hashed() {
        let context = |redaction| Context {
            capture: String::new(),
            endianness: Endianness::Little,
            origin: CaptureOrigin::default(),
            date: None,
            redaction,
        };
        let plain = context(Redaction::default());
        assert_eq!(plain.path(b"/a").as_deref(), Some("/a"));
        assert_eq!(plain.path(b"/\xff").as_deref(), Some("/\\xff"));
        let salted = |salt: &str| context(Redaction { salt: Some(salt.to_owned()), ..Redaction::default() });
        let (one, other) = (salted("1"), salted("2"));
        let text = one.path(b"/a").unwrap();
        assert_eq!(text.len(), 32);
        assert_eq!(one.path(b"/a").unwrap(), text);
        assert_ne!(one.path(b"/b").unwrap(), text);
        assert_ne!(other.path(b"/a").unwrap(), text);
        let without = context(Redaction { paths: true, comm: true, ..Redaction::default() });
        assert_eq!((without.path(b"/a"), without.comm(b"cat")), (None, None));
        assert!(plain.has_trace() && !one.has_trace() && !without.has_trace());
    }
}
