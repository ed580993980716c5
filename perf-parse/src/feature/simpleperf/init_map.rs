//! `INIT_MAP`: the mappings and names that existed when the recording began.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, Endianness};

use crate::error::FileError;
use crate::feature::codec::Fault;
use crate::feature::{FeatureSection, FieldValue, Fields};
use crate::record::Records;

/// Records of the mappings and names that existed when the recording began: MMAP, MMAP2 and COMM. simpleperf collects them
/// while it records, and stores them here in place of the front of the data section. They apply before all other records.
/// Borrows the bytes of the section.
///
/// The records may be compressed: [`records`](Self::records) then returns COMPRESSED records, and [`reader`](Self::reader)
/// those in them.
///
/// simpleperf: `RecordCommand::DumpInitMapFeature`, `system/extras/simpleperf/cmd_record.cpp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitMap<'a> {
    /// The records.
    pub bytes: &'a [u8],
    /// The byte order of the records.
    pub endianness: Endianness,
}

impl<'a> InitMap<'a> {
    /// Returns the records. They belong to the first event of the capture.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        Records::new_in(self.endianness, self.bytes)
    }

    pub(in crate::feature) fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

/// The number of records and their bytes, without the records themselves.
impl Fields for InitMap<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("records", FieldValue::Number(self.records().count() as u64));
        to("size", FieldValue::Number(self.bytes.len() as u64));
    }
}

pub(in crate::feature) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<InitMap<'a>, FileError> {
    section.whole(|at| {
        while !section.ends(at) {
            let offset = at.offset();
            let record = Records::<O>::new(at.rest()).next();
            let taken = match record {
                Some(Ok(record)) => record.as_bytes().len() as u64,
                Some(Err(mut error)) => {
                    error.offset = error.offset.saturating_add(offset);
                    return Err(error);
                }
                None => break,
            };
            at.bytes(taken, "record")?;
        }
        let len = section.bytes.len().saturating_sub(at.rest().len());
        let bytes = section.bytes.get(..len).unwrap_or_default();
        Ok(InitMap { bytes, endianness: O::ENDIANNESS })
    })
}

pub(in crate::feature) fn encode<O: Endian>(map: &InitMap<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    if map.endianness != O::ENDIANNESS {
        return Err(("endianness", "that of the capture"));
    }
    out.extend_from_slice(map.bytes);
    Ok(())
}
