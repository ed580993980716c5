//! Records in a zstd stream.

use perf_abi::endian::Endian;

use crate::cursor::Cursor;
use crate::error::Error;

/// A piece of a zstd stream of records, which may end within a record.
///
/// perf: `struct perf_record_compressed2`; since perf 6.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Compressed2<'a> {
    /// The piece: `data_size` bytes.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub data: &'a [u8],
    /// The padding; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> Compressed2<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let data_size = at.word::<O>("data_size")?;
        Ok(Self { data: at.bytes(data_size, "data")?, rest: at.take_rest() })
    }
}
