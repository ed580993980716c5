//! An index of a capture: the times, CPUs and threads of each part, and the places of the records that are not samples.
//!
//! A capture is divided into [`Chunk`]s of 64 KiB. [`Index::samples`] returns those that may have samples of a time
//! span, a CPU or a thread. [`Index::before`] returns the records that a program needs to start in the middle: the
//! MMAP, COMM, FORK and other records before a time. An index is made in one pass over the capture, from one walk or
//! from [blocks](crate::Reader::blocks) on several threads. It can be kept as bytes.
//!
//! # Examples
//!
//! The samples of a span of time:
//!
//! ```
//! use perf_parse::{Index, Reader};
//!
//! # let path = "examples/captures/plain.data";
//! let bytes = std::fs::read(path)?;
//! let reader = Reader::new(&bytes)?;
//! let index = Index::from_records(reader.records())?;
//! let times = index.chunks().find_map(|chunk| chunk.times()).expect("records with a time");
//! let span = *times.end() - 1_000_000..=*times.end();
//!
//! let mut samples = 0;
//! for chunk in index.samples(span.clone(), None, None) {
//!     for record in chunk.walk(&reader) {
//!         let record = record?;
//!         let is_in_span = record.time().is_some_and(|time| span.contains(&time));
//!         samples += u64::from(is_in_span && record.sample().is_some());
//!     }
//! }
//! assert!(samples > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What was known at a time, in time order:
//!
//! ```
//! use perf_parse::{Index, Reader};
//!
//! # let path = "examples/captures/plain.data";
//! let bytes = std::fs::read(path)?;
//! let reader = Reader::new(&bytes)?;
//! let index = Index::from_records(reader.records())?;
//! let time = index.chunks().filter_map(|chunk| chunk.times()).map(|times| *times.end()).max().unwrap_or(0);
//!
//! let mut others: Vec<_> = index.before(time).expect("not compressed").collect();
//! others.sort_by_key(|other| (other.time, other.position));
//! for other in others {
//!     let record = reader.at(other.position)?.expect("the place of a record");
//!     assert_eq!(record.kind(), other.kind);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory
//!
//! An index takes as much memory as its encoded form. Measured on captures of 100 MiB, whose records are those of a
//! small capture, repeated: 2 % of the capture for samples without stacks, 5 % for FORK, COMM and EXIT records, 14 %
//! for SWITCH records alone, and 0.2 % for samples with copied stacks. Each chunk lists at most 256 CPUs, 256 threads
//! and 8,192 records that are not samples. An index is therefore at most as large as the capture plus 1 KiB, whatever
//! the capture contains. The index of a compressed capture is at most 4 times as large as the capture plus 1 KiB.
//!
//! # Format
//!
//! Numbers of the header are little-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | magic: `PERFIDX1` |
//! | 8 | 4 | version: 1 |
//! | 12 | 4 | flags: 1 if some of the records are compressed, else 0 |
//! | 16 | 8 | size of the capture in bytes |
//! | 24 | 8 | time of the capture's last modification, in the unit of the caller |
//! | 32 | 8 | FNV-1a hash of the capture's mode, byte order, and header |
//! | 40 | 8 | offset of the capture's data section; 0 for a pipe |
//! | 48 | 8 | size of the capture's data section; 0 for a pipe |
//! | 56 | 8 | number of chunks |
//! | 64 | 8 | size of the chunks in bytes |
//! | 72 | 8 | FNV-1a hash of all other bytes |
//! | 80 | | chunks, in the order of the capture |
//!
//! Numbers of a chunk are in LEB128: 7 bits a byte, the lowest first, the highest bit set in all but the last byte.
//! *Bytes* are 0 if absent; otherwise their number plus 1, and then the bytes.
//!
//! | field | encoding |
//! |---|---|
//! | size | number of bytes after this field |
//! | place of the first record | number of its data file; offset; 0, or the position in the decompressed stream plus 1 |
//! | records | number of records |
//! | samples | number of samples among them |
//! | times | bytes: the earliest time, and the latest minus the earliest; absent without times |
//! | CPUs | bytes: the first id, then the difference to each next id minus 1; absent if there are more than 256 |
//! | thread ids | the same, with negative ids as unsigned numbers of 32 bits |
//! | other records | bytes: the list of records that are not samples; absent if there are more than 8,192 |
//!
//! An entry of that list:
//!
//! | field | encoding |
//! |---|---|
//! | type and flags | the type times 4; plus 2 if the record has a time; plus 1 if it was compressed |
//! | offset | the difference to the offset of the previous record in the list of the same kind, compressed or not; for the first of each kind, the offset |
//! | position | if the record was compressed: encoded as the offset is |
//! | time | if the record has a time: the difference `d` to the previous time in the list (for the first, to 0), as `d << 1 ^ d >> 63` |

mod build;
mod chunk;
mod error;
mod fields;
mod format;
mod ids;
mod order;
mod others;
mod pass;
mod pieces;

use alloc::vec::Vec;
use core::ops::RangeBounds;

use crate::batch::SampleBatch;
use crate::error::FileError;
use crate::event::EventRecord;
use crate::file::EventRecords;
use build::ChunkBuilder;
use fields::EncodedFields;
use order::LastPlaces;
use pass::IndexPass;

pub use chunk::Chunk;
use chunk::ChunkSpan;
pub use error::{IndexError, IndexErrorKind};
pub use format::IndexIdentity;
pub use others::OtherRecord;

/// An index of a capture; see the [module docs](self).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// The encoded chunks.
    bytes: Vec<u8>,
    chunks: u64,
    /// Where the last chunk begins; 0 without chunks.
    last: usize,
    /// Whether some of the records are compressed.
    is_compressed: bool,
}

impl core::fmt::Debug for Index {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.chunks()).finish()
    }
}

impl Index {
    /// Makes an index from all records of a walk in the order of the capture, such as
    /// [`Reader::records`](crate::Reader::records) or one of [`Reader::blocks`](crate::Reader::blocks).
    ///
    /// Skips the errors of the walk, which are in its account. The walk must return records of all types; otherwise the
    /// numbers of records in the index are wrong.
    ///
    /// # Errors
    ///
    /// [`IndexErrorKind::Order`] if the records are not in the order of the capture.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::{Index, Reader};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let mut records = reader.records();
    /// let index = Index::from_records(&mut records)?;
    /// assert_eq!(index.chunks().map(|chunk| chunk.records()).sum::<u64>(), records.account().records);
    /// assert!(records.account().is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_records<'r>(
        records: impl IntoIterator<Item = Result<EventRecord<'r>, FileError>>,
    ) -> Result<Self, IndexError> {
        let mut pass = IndexPass::default();
        records.into_iter().filter_map(Result::ok).try_for_each(|record| pass.add(&record))?;
        Ok(pass.end())
    }

    /// Makes the index that [`from_records`](Self::from_records) makes, faster: takes the samples in
    /// [batches](EventRecords::next_batch).
    ///
    /// `check` gets each record that is not in a batch; an error that it returns is noted in the account of the walk. The
    /// samples of a batch have been decoded to their last byte, so that only what a program makes of their raw data is left
    /// to check: pass [`RecordCheck::record`](crate::file::RecordCheck::record) for a capture without tracepoints.
    ///
    /// # Errors
    ///
    /// Those of [`from_records`](Self::from_records).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::file::RecordCheck;
    /// use perf_parse::{Index, Reader};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let mut records = reader.records();
    /// let check = RecordCheck::new(&[]);
    /// let index = Index::from_batches(&mut records, |record| check.record(record))?;
    /// assert_eq!(index, Index::from_records(reader.records())?);
    /// assert!(records.account().is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_batches(
        records: &mut EventRecords<'_>,
        mut check: impl FnMut(&EventRecord<'_>) -> Result<(), FileError>,
    ) -> Result<Self, IndexError> {
        let mut pass = IndexPass::default();
        let mut batch = SampleBatch::<256>::new(ChunkBuilder::FIELDS);
        loop {
            let place = records.reached();
            records.next_batch(&mut batch);
            pass.add_batch(place, &batch)?;
            if batch.is_full() {
                continue;
            }
            match records.next() {
                Some(Ok(record)) => {
                    check(&record).unwrap_or_else(|error| records.account_mut().note(error));
                    pass.add(&record)?;
                }
                Some(Err(_)) => {}
                None => return Ok(pass.end()),
            }
        }
    }

    /// Appends the index of the next part of the capture. The indexes of all [blocks](crate::Reader::blocks), appended
    /// in their order, equal the index of one walk.
    ///
    /// # Errors
    ///
    /// [`IndexErrorKind::Order`] if the other part does not come after this one. After an error the index is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    ///
    /// use perf_parse::{Index, Reader};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let mut index = Index::default();
    /// thread::scope(|scope| {
    ///     let threads: Vec<_> =
    ///         reader.blocks(4).map(|block| scope.spawn(|| Index::from_records(block))).collect();
    ///     threads.into_iter().try_for_each(|thread| index.append(thread.join().unwrap()?))
    /// })?;
    /// assert_eq!(index, Index::from_records(reader.records())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(&mut self, other: Self) -> Result<(), IndexError> {
        let Ok(last) = Chunk::read(&mut self.fields(self.last), self.is_compressed) else {
            *self = other;
            return Ok(());
        };
        let mut order = LastPlaces::default();
        last.known_places().for_each(|place| _ = order.go_to(place));
        let mut both = ChunkBuilder::new(last.position());
        both.add_chunk(&last);
        // The number and the size of the other part's chunks that belong to the last chunk of this part.
        let (mut merged, mut size) = (0_u64, 0);
        let mut fields = other.fields(0);
        while let Ok(chunk) = Chunk::read(&mut fields, other.is_compressed) {
            if let Some(place) = chunk.known_places().find(|&place| !order.go_to(place)) {
                return Err(IndexError::new(IndexErrorKind::Order, place.offset));
            }
            if ChunkSpan::of(chunk.position()) > both.span() {
                break;
            }
            both.add_chunk(&chunk);
            merged = merged.saturating_add(1);
            size = other.bytes.len().saturating_sub(fields.rest().len());
        }
        self.is_compressed |= other.is_compressed;
        if merged > 0 {
            self.bytes.truncate(self.last);
            self.chunks = self.chunks.saturating_sub(1);
            self.push(&both);
        }
        let rest = other.bytes.get(size..).unwrap_or_default();
        if !rest.is_empty() {
            self.last = self.bytes.len().saturating_add(other.last.saturating_sub(size));
            self.bytes.extend_from_slice(rest);
            self.chunks = self.chunks.saturating_add(other.chunks.saturating_sub(merged));
        }
        Ok(())
    }

    /// Returns all chunks, in the order of the capture.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut fields = self.fields(0);
        core::iter::from_fn(move || Chunk::read(&mut fields, self.is_compressed).ok())
    }

    /// Returns the chunks that may have a sample with a time in `span`, of this CPU and this thread. The span `..`
    /// includes samples without a time.
    ///
    /// Every such sample is in one of the returned chunks. A returned chunk need not have such a sample, so the caller
    /// has to check each record of [`Chunk::walk`]. The time grows with the size of the index.
    pub fn samples(
        &self,
        span: impl RangeBounds<u64>,
        cpu: Option<u32>,
        tid: Option<i32>,
    ) -> impl Iterator<Item = Chunk<'_>> {
        self.chunks().filter(move |chunk| chunk.samples() > 0 && chunk.may_hold(&span, cpu, tid))
    }

    /// Returns the records before a time that are not samples, in the order of the capture: what a program needs to
    /// start at that time.
    ///
    /// These are the records with an earlier time, wherever they are, and the records without a time in the chunks
    /// before the first chunk that has a record of that time or later.
    ///
    /// `None` if a chunk does not [list](Chunk::others) its records, as may happen in compressed data. Then walk over
    /// the capture from its start.
    pub fn before(&self, time: u64) -> Option<impl Iterator<Item = OtherRecord> + '_> {
        let first_later =
            self.chunks().position(|chunk| chunk.times().is_some_and(|times| *times.end() >= time));
        let is_needed = move |number: usize, chunk: &Chunk<'_>| {
            first_later.is_none_or(|first| number < first)
                || chunk.times().is_some_and(|times| *times.start() < time)
        };
        let mut needed = self.chunks().enumerate().filter(move |(number, chunk)| is_needed(*number, chunk));
        if needed.any(|(_, chunk)| chunk.others().is_none()) {
            return None;
        }
        let needed = self.chunks().enumerate().filter(move |(number, chunk)| is_needed(*number, chunk));
        Some(needed.flat_map(move |(number, chunk)| {
            let others = chunk.others().into_iter().flatten();
            others.filter(move |other| match other.time {
                Some(it) => it < time,
                None => first_later.is_none_or(|first| number < first),
            })
        }))
    }

    fn push(&mut self, chunk: &ChunkBuilder) {
        self.last = self.bytes.len();
        self.chunks = self.chunks.saturating_add(1);
        chunk.encode(&mut self.bytes);
    }

    /// Returns the encoded chunks from `start` on, which must be the start of a chunk.
    fn fields(&self, start: usize) -> EncodedFields<'_> {
        EncodedFields::new(self.bytes.get(start..).unwrap_or_default(), start as u64)
    }
}
