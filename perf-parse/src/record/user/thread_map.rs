//! The recorded threads.

use perf_abi::endian::Endian;
use perf_abi::record::ThreadMapEntry as WireEntry;

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, structures};

/// The recorded threads.
///
/// perf: `struct perf_record_thread_map`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ThreadMap<'a> {
    /// The threads.
    pub entries: List<'a, ThreadMapEntry>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> ThreadMap<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word::<O>("nr")?;
        Ok(Self { entries: at.list(O::ENDIANNESS, nr, "entries")?, rest: at.take_rest() })
    }
}

/// A recorded thread.
///
/// perf: `struct perf_record_thread_map_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ThreadMapEntry {
    /// Thread id.
    pub pid: i64,
    #[cfg_attr(feature = "serde", serde(serialize_with = "name"))]
    comm: [u8; 16],
}

impl ThreadMapEntry {
    /// Returns the name of the thread; empty if unknown.
    #[must_use]
    pub fn comm(&self) -> &[u8] {
        until_nul(&self.comm)
    }
}

/// Serializes the name of a thread without its padding.
#[cfg(feature = "serde")]
fn name<S: serde::Serializer>(comm: &[u8; 16], to: S) -> Result<S::Ok, S::Error> {
    crate::serialize::text(&until_nul(comm), to)
}

structures! {
    ThreadMapEntry = WireEntry |it| ThreadMapEntry { pid: it.pid.get(), comm: it.comm };
}
