//! Counts of perf stat.

use perf_abi::endian::Endian;
use perf_abi::record::StatConfigEntry;

use crate::cursor::Cursor;
use crate::error::Error;

/// The settings of perf stat.
///
/// perf: `struct perf_record_stat_config`.
#[derive(Clone, Copy, Debug)]
pub struct StatConfig<'a, O: Endian> {
    /// The settings. C: `data`.
    pub entries: &'a [StatConfigEntry<O>],
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> StatConfig<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word::<O>("nr")?;
        Ok(Self { entries: at.array(nr, "data")?, rest: at.take_rest() })
    }
}
