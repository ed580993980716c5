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
pub struct BpfMetadata<'a> {
    /// Name of the program.
    pub prog_name: &'a [u8],
    /// The variables.
    pub entries: &'a [BpfMetadataEntry],
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a> BpfMetadata<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let fixed = at.fixed::<wire::RawBpfMetadata<O>>("prog_name")?;
        let entries = at.array(fixed.nr_entries.get(), "entries")?;
        Ok(Self { prog_name: until_nul(&fixed.prog_name), entries, rest: at.take_rest() })
    }
}
