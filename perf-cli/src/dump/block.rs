//! Blocks of records: the unit of work of a formatting thread.

use perf_abi::endian::Endian;
use perf_parse::RawRecord;
use perf_parse::file::{FileError, FileErrorKind, FileRecord};

use super::Origins;
use super::formatter::Formatter;
use crate::render::record::{EventParts, Place, PlacedRecord};

/// The maximum numbers of records and of bytes in a block. One record and one event's name may exceed them.
///
/// Blocks are large enough to make the cost of passing one to a thread negligible. They are small enough for their
/// output to stay in the cache, and for records from a slow pipe to appear soon.
const RECORDS: usize = 2048;
const BYTES: usize = 128 << 10;

/// The number of bytes that a block formats at a time. One record may exceed it.
///
/// Most blocks print less. The thread that writes the output formats the rest of a larger block, piece by piece.
const OUT: usize = 2 << 20;

/// Records that were read, and their output. The buffers are reused for each block.
#[derive(Debug, Default)]
pub(super) struct Block {
    records: Vec<StoredRecord>,
    /// Copies of the records that do not stay in memory while the capture is open, end to end.
    copies: Vec<u8>,
    /// The events of the records, or for a record the reason why its event is unknown.
    events: Vec<Result<EventParts, FileErrorKind>>,
    /// The number of bytes of records and names.
    bytes: usize,
    /// Errors that the reader found, each with the index of the record that follows it.
    unreadable: Vec<(usize, FileError)>,
    /// The number of errors that the reader had found when it returned the record of an index. It holds up to the next
    /// index.
    noted: Vec<(usize, u64)>,
    /// The output, or the next piece of it.
    pub(super) out: Vec<u8>,
    /// The number of records that were formatted.
    printed: usize,
    /// Errors in records that could not be decoded.
    undecodable: Vec<(usize, FileError)>,
}

/// A record of a block.
#[derive(Clone, Copy, Debug)]
struct StoredRecord {
    place: Place,
    /// The index of its event in the block; `None` for the perf tool's own records.
    event: Option<u32>,
    /// The position of its copy; `None` if the record is in memory, at its offset.
    copy: Option<usize>,
}

/// An error, in the order of the records.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// An error that the reader has noted.
    Unreadable(FileError),
    /// An error that the reader has not noted, and the number of the reader's errors that come before it.
    Undecodable(FileError, u64),
}

impl Block {
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.copies.clear();
        self.events.clear();
        self.bytes = 0;
        self.unreadable.clear();
        self.noted.clear();
        self.out.clear();
        self.printed = 0;
        self.undecodable.clear();
    }

    pub(super) fn has_room(&self) -> bool {
        self.records.len() < RECORDS && self.bytes < BYTES && self.unreadable.len() < RECORDS
    }

    /// Adds an event, or the reason why the event of a record is unknown. Returns its index in the block.
    pub(super) fn add_event(&mut self, event: Result<EventParts, FileErrorKind>) -> u32 {
        let name = event.as_ref().ok().and_then(|event| event.name.as_ref());
        self.bytes += name.map_or(0, Vec::len);
        self.events.push(event);
        // There are no more events than records.
        self.events.len() as u32 - 1
    }

    /// Adds a record. `event` is the index of its event in the block. Copies the record, unless it stays `in_memory` at
    /// its offset.
    #[inline]
    pub(super) fn add_record<O: Endian>(
        &mut self,
        record: &FileRecord<'_, O>,
        event: Option<u32>,
        in_memory: bool,
    ) {
        let copy = (!in_memory).then(|| {
            let start = self.copies.len();
            record.raw.write(&mut self.copies);
            start
        });
        self.bytes += usize::from(record.raw.size());
        let FileRecord { offset, inner: decompressed_offset, data_file, .. } = *record;
        self.records.push(StoredRecord {
            place: Place { offset, decompressed_offset, data_file },
            event,
            copy,
        });
    }

    /// Adds an error that the reader found after the record that was added last.
    pub(super) fn add_unreadable(&mut self, error: FileError) {
        self.unreadable.push((self.records.len(), error));
    }

    /// Returns the number of records.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Sets the number of errors that the reader had found up to and including the record of `index`.
    pub(super) fn set_noted(&mut self, index: usize, count: u64) {
        self.noted.push((index, count));
    }

    /// Returns whether all records are formatted.
    pub(super) fn is_done(&self) -> bool {
        self.printed == self.records.len()
    }

    /// Formats the records, or the next of them if their output is large. `data_files` are those that are in memory.
    pub(super) fn format<O: Endian>(
        &mut self,
        formatter: &mut Formatter<'_>,
        data_files: &[&[u8]],
        origins: &Origins,
    ) {
        self.out.clear();
        for (index, stored) in self.records.iter().enumerate().skip(self.printed) {
            if self.out.len() >= OUT {
                break;
            }
            self.printed = index + 1;
            let StoredRecord { mut place, event, copy } = *stored;
            let bytes = match copy {
                Some(start) => self.copies.get(start..),
                None => data_files
                    .get(place.data_file)
                    .zip(usize::try_from(place.offset).ok())
                    .and_then(|(file, offset)| file.get(offset..)),
            };
            place.offset = origins.offset(place.data_file, place.offset);
            let raw = match RawRecord::<O>::parse(bytes.unwrap_or_default()) {
                Ok((raw, _)) => raw,
                // The record was valid when it was read, so the file has changed since.
                Err(error) => {
                    let kind = FileErrorKind::Boundary(error);
                    self.undecodable.push((index, FileError { kind, offset: place.offset }));
                    continue;
                }
            };
            let event = match event.and_then(|event| self.events.get(event as usize)) {
                Some(event) => event.as_ref().map_err(|kind| *kind),
                None => Err(FileErrorKind::UnknownEvent { kind: raw.kind() }),
            };
            let error = formatter.record(&PlacedRecord { place, raw, event }, &mut self.out);
            if let Some(error) = error {
                let in_record = error.offset.saturating_sub(place.offset);
                let offset = origins.offset_in_record(place.data_file, place.offset, in_record);
                self.undecodable.push((index, FileError { offset, ..*error }));
            }
        }
    }

    /// Calls `report` for each error, in the order of the records. `noted` is the number of errors that the reader had
    /// found before the block; it is updated to the number at the end of the block.
    pub(super) fn faults(&self, noted: &mut u64, mut report: impl FnMut(Fault)) {
        let mut unreadable = self.unreadable.iter().peekable();
        let mut counts = self.noted.iter().peekable();
        for &(index, error) in &self.undecodable {
            while let Some((_, error)) = unreadable.next_if(|&&(before, _)| before <= index) {
                report(Fault::Unreadable(*error));
            }
            while let Some((_, count)) = counts.next_if(|&&(from, _)| from <= index) {
                *noted = *count;
            }
            report(Fault::Undecodable(error, *noted));
        }
        unreadable.for_each(|(_, error)| report(Fault::Unreadable(*error)));
        if let Some((_, count)) = counts.last() {
            *noted = *count;
        }
    }
}
