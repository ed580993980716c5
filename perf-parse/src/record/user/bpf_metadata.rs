//! Variables of BPF programs.

use perf_abi::endian::Endian;
use perf_abi::record::{self as wire, BpfMetadataEntry};

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::Error;

/// Variables of a BPF program.
///
/// perf: `struct perf_record_bpf_metadata`; since perf 6.17.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BpfMetadata<'a> {
    /// Name of the program.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub prog_name: &'a [u8],
    /// The variables.
    #[cfg_attr(feature = "serde", serde(serialize_with = "entries"))]
    pub entries: &'a [BpfMetadataEntry],
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> BpfMetadata<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let fixed = at.fixed::<wire::RawBpfMetadata<O>>("prog_name")?;
        let entries = at.array(fixed.nr_entries.get(), "entries")?;
        Ok(Self { prog_name: until_nul(&fixed.prog_name), entries, rest: at.take_rest() })
    }
}

/// Serializes the variables as a map from the key to the value, both without their padding.
#[cfg(feature = "serde")]
fn entries<S: serde::Serializer>(entries: &[BpfMetadataEntry], to: S) -> Result<S::Ok, S::Error> {
    use crate::serialize::SerializedText;

    to.collect_map(
        entries.iter().map(|it| (SerializedText(until_nul(&it.key)), SerializedText(until_nul(&it.value)))),
    )
}
