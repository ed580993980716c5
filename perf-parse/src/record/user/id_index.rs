//! The CPU and task of each event id.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The CPU and task of each event id.
///
/// perf: `struct perf_record_id_index`.
#[derive(Clone, Copy, Debug)]
pub struct IdIndex<'a, O: Endian> {
    /// The entries, one for each id.
    pub entries: &'a [wire::IdIndexEntry<O>],
    /// The virtual machine and vCPU of each entry. `None` if the record has no room for all of them: perf writes them
    /// only if a guest was recorded, and older versions never do.
    pub guests: Option<&'a [wire::IdIndexEntry2<O>]>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> IdIndex<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word::<O>("nr")?;
        let entries = at.array(nr, "entries")?;
        let guests = if nr == 0 { None } else { at.array(nr, "entries_2").ok() };
        Ok(Self { entries, guests, rest: at.take_rest() })
    }
}
