//! A part of a capture, and what its records have in common.

use core::ops::{Bound, RangeBounds, RangeInclusive};

use super::error::IndexError;
use super::fields::EncodedFields;
use super::ids::EncodedIds;
use super::order::LastPlaces;
use super::others::{DeltaBase, MAX_OTHERS, OtherRecord};
use crate::error::FileError;
use crate::event::{EventRecord, RecordPosition};
use crate::file::Reader;

/// Consecutive records of a capture.
///
/// A data file is divided into spans of 64 KiB. A record whose header is in a later span than the first record of the
/// chunk begins the next chunk. For a compressed record, the header of its COMPRESSED record decides.
#[derive(Clone, Debug)]
pub struct Chunk<'i> {
    place: RecordPosition,
    records: u64,
    samples: u64,
    /// Whether some of the records of the capture are compressed.
    is_compressed: bool,
    times: Option<(u64, u64)>,
    cpus: EncodedIds<'i>,
    threads: EncodedIds<'i>,
    others: Option<EncodedFields<'i>>,
}

/// The span of a data file in which a record begins: one of 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChunkSpan {
    data_file: usize,
    number: u64,
}

impl ChunkSpan {
    pub(super) fn of(place: RecordPosition) -> Self {
        Self { data_file: place.data_file, number: place.offset >> 16 }
    }
}

impl<'i> Chunk<'i> {
    /// Returns the place of the first record.
    #[must_use]
    pub fn position(&self) -> RecordPosition {
        self.place
    }

    /// Returns the number of records, at least 1.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of samples among the records.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the earliest and the latest time of the records; `None` if none of them has a time.
    #[must_use]
    pub fn times(&self) -> Option<RangeInclusive<u64>> {
        self.times.map(|(first, last)| first..=last)
    }

    /// Returns the CPUs of the records, in ascending order. `None` if there are more than 256: any CPU may occur.
    pub fn cpus(&self) -> Option<impl Iterator<Item = u32> + use<'i>> {
        self.cpus.iter()
    }

    /// Returns the thread ids of the records: 0 and the positive ones in ascending order, then the negative ones in
    /// ascending order. `None` if there are more than 256: any thread id may occur.
    pub fn threads(&self) -> Option<impl Iterator<Item = i32> + use<'i>> {
        Some(self.threads.iter()?.map(u32::cast_signed))
    }

    /// Returns whether the chunk may have a record with a time in `span`, of this CPU and this thread. A record that
    /// lacks one of these fields matches only if the field is not requested. The span `..` matches every record.
    #[must_use]
    pub fn may_hold(&self, span: &impl RangeBounds<u64>, cpu: Option<u32>, tid: Option<i32>) -> bool {
        let is_in_span = match (span.start_bound(), span.end_bound()) {
            (Bound::Unbounded, Bound::Unbounded) => true,
            (start, end) => self.times.is_some_and(|(first, last)| {
                let begins = match start {
                    Bound::Included(&start) => last >= start,
                    Bound::Excluded(&start) => last > start,
                    Bound::Unbounded => true,
                };
                let ends = match end {
                    Bound::Included(&end) => first <= end,
                    Bound::Excluded(&end) => first < end,
                    Bound::Unbounded => true,
                };
                begins && ends
            }),
        };
        is_in_span
            && cpu.is_none_or(|cpu| self.cpus.may_contain(cpu))
            && tid.is_none_or(|tid| self.threads.may_contain(tid.cast_unsigned()))
    }

    /// Returns the records that are not samples, in the order of the capture. `None` if there are more than 8,192,
    /// which is possible only in compressed data; [`walk`](Self::walk) then returns them.
    pub fn others(&self) -> Option<impl Iterator<Item = OtherRecord> + use<'i>> {
        let mut fields = self.others.clone()?;
        let mut before = DeltaBase::new(self.place.data_file);
        Some(core::iter::from_fn(move || before.take(&mut fields).ok().flatten()))
    }

    /// Walks over the records, in the order of the capture, with the errors between them.
    ///
    /// `reader` must have opened the capture that was indexed. Begins in constant time, except in a
    /// compressed capture, where everything before the chunk is decompressed again.
    ///
    /// # Errors
    ///
    /// Those of [`EventRecords`](crate::file::EventRecords).
    pub fn walk<'r>(
        &self,
        reader: &'r Reader<'_>,
    ) -> impl Iterator<Item = Result<EventRecord<'r>, FileError>> + use<'r> {
        let mut records = reader.records_beginning_at(self.place, self.is_compressed);
        let mut left = self.records;
        core::iter::from_fn(move || {
            let next = if left > 0 { records.next() } else { None };
            left = left.saturating_sub(u64::from(matches!(next, Some(Ok(_)))));
            next
        })
    }

    /// Reads a chunk at the front of the fields.
    ///
    /// `is_compressed` is whether some of the records of the capture are compressed.
    pub(super) fn read(fields: &mut EncodedFields<'i>, is_compressed: bool) -> Result<Self, IndexError> {
        let size = fields.number("chunk.size")?;
        let mut own = fields.part("chunk.size", size)?;
        let start = own.offset();
        let data_file = usize::try_from(own.number_32("chunk.data_file")?)
            .map_err(|_| IndexError::invalid("chunk.data_file", "a number of data files", start))?;
        let offset = own.number("chunk.offset")?;
        let decompressed = own.number("chunk.position")?.checked_sub(1);
        let (records, samples) = (own.number("chunk.records")?, own.number("chunk.samples")?);
        let times = match own.bytes("chunk.times")? {
            Some(mut times) => {
                let start = times.offset();
                let first = times.number("chunk.times")?;
                let last = first.checked_add(times.number("chunk.times")?);
                times.end()?;
                let last = last.ok_or(IndexError::invalid("chunk.times", "numbers of 64 bits", start))?;
                Some((first, last))
            }
            None => None,
        };
        let (cpus, threads) = (EncodedIds(own.bytes("chunk.cpus")?), EncodedIds(own.bytes("chunk.threads")?));
        let others = own.bytes("chunk.others")?;
        own.end()?;
        let place = RecordPosition { data_file, offset, decompressed };
        Ok(Self { place, records, samples, is_compressed, times, cpus, threads, others })
    }

    /// Checks the fields that [`read`](Self::read) does not check. `capture` is the size of the capture in bytes.
    pub(super) fn check(&self, start: u64, capture: u64) -> Result<(), IndexError> {
        if self.place.offset >= capture {
            return Err(IndexError::invalid("chunk.offset", "an offset in the capture", start));
        }
        if self.records == 0 {
            return Err(IndexError::invalid("chunk.records", "1 or more", start));
        }
        let Some(others) = self.records.checked_sub(self.samples) else {
            return Err(IndexError::invalid("chunk.samples", "no more than the number of records", start));
        };
        self.check_compressed(self.place, start)?;
        self.cpus.check("chunk.cpus")?;
        self.threads.check("chunk.threads")?;
        self.check_others(others)
    }

    fn check_others(&self, expected: u64) -> Result<(), IndexError> {
        let Some(mut fields) = self.others.clone() else { return Ok(()) };
        let start = fields.offset();
        let mut before = DeltaBase::new(self.place.data_file);
        let (mut count, mut last) = (0_u64, LastPlaces::default());
        while let Some(other) = before.take(&mut fields)? {
            if ChunkSpan::of(other.position) > ChunkSpan::of(self.place) || !last.go_to(other.position) {
                let must = "after the previous record, and in the span of the chunk";
                return Err(IndexError::invalid("other.offset", must, start));
            }
            self.check_compressed(other.position, start)?;
            let is_in_times = |time| self.times.is_some_and(|(first, last)| first <= time && time <= last);
            if !other.time.is_none_or(is_in_times) {
                return Err(IndexError::invalid("other.time", "a time of the chunk", start));
            }
            count = count.saturating_add(1);
        }
        if count != expected || count > MAX_OTHERS {
            let must = "the records that are not samples, or absent if there are more than 8192";
            return Err(IndexError::invalid("chunk.others", must, start));
        }
        Ok(())
    }

    /// Returns the place of the first record, and those of the listed records after it.
    pub(super) fn known_places(&self) -> impl Iterator<Item = RecordPosition> + use<'i> {
        let first = self.place;
        let others = self.others().into_iter().flatten().map(|other| other.position);
        core::iter::once(first).chain(others.filter(move |&place| place != first))
    }

    fn check_compressed(&self, place: RecordPosition, start: u64) -> Result<(), IndexError> {
        if place.decompressed.is_some() && !self.is_compressed {
            return Err(IndexError::invalid("flags", "1 if some records are compressed", start));
        }
        Ok(())
    }

    pub(super) fn ids(&self) -> (&EncodedIds<'i>, &EncodedIds<'i>) {
        (&self.cpus, &self.threads)
    }
}
