//! `AUXTRACE`: the positions of the AUXTRACE records.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, LittleEndian};
use perf_abi::record as wire;

use super::codec::{Fault, entry, put_word};
use super::{Entries, FeatureSection};
use crate::cursor::Cursor;
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

/// Size of an AUXTRACE record of simpleperf.
const RECORD_SIZE: u64 =
    (size_of::<wire::Header<LittleEndian>>() + size_of::<wire::Auxtrace<LittleEndian>>()) as u64;

/// Decodes the entries. simpleperf writes them without their number, and every AUXTRACE record with the same size.
///
/// simpleperf: `RecordFileWriter::WriteAuxTraceFeature`, `system/extras/simpleperf/record_file_writer.cpp`.
pub(super) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, AuxtraceEntry>, FileError> {
    let without_number = Entries::<AuxtraceEntry>::array::<O, 16>(
        &mut Cursor::new(section.bytes, 0),
        (section.bytes.len() / 16) as u64,
        "entries",
    );
    if let (Ok(entries), true) = (without_number, section.bytes.len().is_multiple_of(16)) {
        if !entries.is_empty() && entries.iter().all(|it| it.size == RECORD_SIZE) {
            return Ok(entries);
        }
    }
    section.whole(|at| {
        let nr = at.word::<O>("nr")?;
        Entries::array::<O, 16>(at, nr, "entries")
    })
}

/// Encodes the entries as perf does, which simpleperf reads too.
pub(super) fn encode<O: Endian>(
    entries: &Entries<'_, AuxtraceEntry>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    put_word::<O>(out, entries.len() as u64);
    entries.put_all::<O>(out, "")
}
