//! `AUXTRACE`: the positions of the AUXTRACE records.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::codec::{Fault, entry, put_word};
use super::{Entries, FeatureSection};
use crate::error::FileError;

entry! {
    /// The position of an AUXTRACE record.
    ///
    /// perf: `struct auxtrace_index_entry`, `auxtrace_index__write`, `tools/perf/util/auxtrace.c`.
    pub struct AuxtraceEntry {
        /// Offset of the record from the start of the file.
        pub file_offset: u64,
        /// Size of the record in bytes, without its data. perf: `sz`.
        pub size: u64,
    }
}

pub(super) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, AuxtraceEntry>, FileError> {
    section.whole(|at| {
        let nr = at.word::<O>("nr")?;
        Entries::array::<O, 16>(at, nr, "entries")
    })
}

pub(super) fn encode<O: Endian>(
    entries: &Entries<'_, AuxtraceEntry>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    put_word::<O>(out, entries.len() as u64);
    entries.put_all::<O>(out, "")
}
