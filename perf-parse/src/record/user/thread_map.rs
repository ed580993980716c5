//! The recorded threads.

use perf_abi::endian::Endian;
use perf_abi::record::ThreadMapEntry;

use crate::cursor::Cursor;
use crate::error::Error;

/// The recorded threads.
///
/// perf: `struct perf_record_thread_map`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadMap<'a, O: Endian> {
    /// The threads.
    pub entries: &'a [ThreadMapEntry<O>],
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> ThreadMap<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word::<O>("nr")?;
        Ok(Self { entries: at.array(nr, "entries")?, rest: at.take_rest() })
    }
}
