//! The records of a chunk that are not samples.

use alloc::vec::Vec;

use perf_abi::record::RecordType;

use super::error::IndexError;
use super::fields::{EncodedFields, put};
use crate::event::RecordPosition;

/// Maximum number of records that a chunk lists: as many uncompressed records as fit into 64 KiB.
pub(super) const MAX_OTHERS: u64 = 8192;

/// A record that is not a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherRecord {
    /// Where the record is.
    pub position: RecordPosition,
    /// Its time, as [`EventRecord::time`](crate::EventRecord::time) returns it.
    pub time: Option<u64>,
    /// Its type.
    pub kind: RecordType,
}

const IS_DECOMPRESSED: u64 = 1;
const HAS_TIME: u64 = 2;

/// The values from which the differences of the next record are computed: those of the records before it, initially 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeltaBase {
    data_file: usize,
    /// The offset of the last record that was not compressed, and of the last one that was.
    offset: u64,
    compressed: u64,
    position: u64,
    time: u64,
}

impl DeltaBase {
    pub(super) fn new(data_file: usize) -> Self {
        Self { data_file, offset: 0, compressed: 0, position: 0, time: 0 }
    }

    /// Appends a record.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, other: &OtherRecord) {
        let OtherRecord { position: place, time, kind } = *other;
        let is_decompressed = if place.decompressed.is_some() { IS_DECOMPRESSED } else { 0 };
        let has_time = if time.is_some() { HAS_TIME } else { 0 };
        put(out, u64::from(kind.0) << 2 | has_time | is_decompressed);
        if let Some(position) = place.decompressed {
            put(out, place.offset.wrapping_sub(self.compressed));
            put(out, position.wrapping_sub(self.position));
            (self.compressed, self.position) = (place.offset, position);
        } else {
            put(out, place.offset.wrapping_sub(self.offset));
            self.offset = place.offset;
        }
        if let Some(time) = time {
            // Zigzag: small differences of either sign become small numbers.
            let difference = time.wrapping_sub(self.time);
            put(out, difference << 1 ^ 0_u64.wrapping_sub(difference >> 63));
            self.time = time;
        }
    }

    /// Takes the next record; `None` after the last.
    pub(super) fn take(&mut self, fields: &mut EncodedFields<'_>) -> Result<Option<OtherRecord>, IndexError> {
        if fields.is_empty() {
            return Ok(None);
        }
        let start = fields.offset();
        let too_large = |field| IndexError::invalid(field, "a number of 64 bits", start);
        let flags = fields.number("other.type")?;
        let kind = u32::try_from(flags >> 2);
        let kind = kind.map_err(|_| IndexError::invalid("other.type", "a number of 32 bits", start))?;
        let is_decompressed = flags & IS_DECOMPRESSED != 0;
        let before = if is_decompressed { &mut self.compressed } else { &mut self.offset };
        let offset = fields.number("other.offset")?.checked_add(*before);
        let offset = offset.ok_or(too_large("other.offset"))?;
        *before = offset;
        let mut decompressed = None;
        if is_decompressed {
            let position = fields.number("other.position")?.checked_add(self.position);
            self.position = position.ok_or(too_large("other.position"))?;
            decompressed = Some(self.position);
        }
        let mut time = None;
        if flags & HAS_TIME != 0 {
            let zigzag = fields.number("other.time")?;
            let difference = zigzag >> 1 ^ 0_u64.wrapping_sub(zigzag & 1);
            self.time = self.time.wrapping_add(difference);
            time = Some(self.time);
        }
        let place = RecordPosition { data_file: self.data_file, offset, decompressed };
        Ok(Some(OtherRecord { position: place, time, kind: RecordType(kind) }))
    }
}
