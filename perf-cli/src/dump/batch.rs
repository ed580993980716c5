//! Batches of records: the unit of work of a formatting thread.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;
use perf_parse::file::{FileError, FileErrorKind};

use super::Places;
use super::format::Formatter;
use super::view::{EventView, View};
use crate::render::ready::Ready;

/// The maximum numbers of records and of bytes in a batch. One record and one event's name may exceed them.
///
/// Batches are large enough to make the cost of passing one to a thread negligible. They are small enough for their
/// output to stay in the cache, and for records from a slow pipe to appear soon.
const RECORDS: usize = 2048;
const BYTES: usize = 128 << 10;

/// The number of bytes that a batch formats at a time. One record may exceed it.
///
/// Most batches print less. The thread that writes the output formats the rest of a larger batch, piece by piece.
const OUT: usize = 2 << 20;

/// Records that were read, and their output. The buffers are reused for each batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    /// Copies of the records that do not stay in memory while the capture is open, end to end.
    copies: Vec<u8>,
    /// The events of the records, or for a record the reason why its event is unknown.
    events: Vec<Result<EventView, FileErrorKind>>,
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

/// A record of a batch.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The offset of the record in the input.
    offset: u64,
    inner: Option<u64>,
    data_file: u32,
    /// The index of its event in the batch; [`NO_EVENT`] for the perf tool's own records.
    event: u32,
    /// The position of its copy; [`IN_MEMORY`] if the record is at `offset` in memory.
    copy: usize,
}

const NO_EVENT: u32 = u32::MAX;
const IN_MEMORY: usize = usize::MAX;

/// A record to add to a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'r, O: Endian> {
    pub(super) offset: u64,
    pub(super) inner: Option<u64>,
    pub(super) data_file: usize,
    pub(super) raw: RawRecord<'r, O>,
    /// The index of its event in the batch.
    pub(super) event: Option<u32>,
    /// Whether the record is at `offset` in memory.
    pub(super) in_memory: bool,
}

/// An error, in the order of the records.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// An error that the reader has noted.
    Unreadable(FileError),
    /// An error that the reader has not noted, and the number of the reader's errors that come before it.
    Undecodable(FileError, u64),
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
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
        self.entries.len() < RECORDS && self.bytes < BYTES && self.unreadable.len() < RECORDS
    }

    /// Adds an event, or the reason why the event of a record is unknown.
    pub(super) fn event(&mut self, event: Result<EventView, FileErrorKind>) -> u32 {
        let shown = event.as_ref().ok().and_then(|event| event.shown.as_ref());
        self.bytes += shown.map_or(0, Ready::len);
        self.events.push(event);
        // There are no more events than records.
        self.events.len() as u32 - 1
    }

    #[inline]
    pub(super) fn record<O: Endian>(&mut self, read: &Read<'_, O>) {
        let copy = if read.in_memory { IN_MEMORY } else { self.copies.len() };
        if !read.in_memory {
            read.raw.write(&mut self.copies);
        }
        self.bytes += usize::from(read.raw.size());
        self.entries.push(Entry {
            offset: read.offset,
            inner: read.inner,
            data_file: read.data_file as u32,
            event: read.event.unwrap_or(NO_EVENT),
            copy,
        });
    }

    /// Adds an error that the reader found after the record that was added last.
    pub(super) fn unreadable(&mut self, error: FileError) {
        self.unreadable.push((self.entries.len(), error));
    }

    /// Returns the number of records.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Sets the number of errors that the reader had found up to and including the record of `index`.
    pub(super) fn noted(&mut self, index: usize, count: u64) {
        self.noted.push((index, count));
    }

    /// Returns whether all records are formatted.
    pub(super) fn is_done(&self) -> bool {
        self.printed == self.entries.len()
    }

    /// Formats the records, or the next of them if their output is large. `memory` contains the data files that are in
    /// memory.
    pub(super) fn format<O: Endian>(
        &mut self,
        formatter: &mut Formatter<'_>,
        memory: &[&[u8]],
        places: &Places,
    ) {
        formatter.plan(&self.events);
        self.out.clear();
        for (index, entry) in self.entries.iter().enumerate().skip(self.printed) {
            if self.out.len() >= OUT {
                break;
            }
            self.printed = index + 1;
            let data_file = entry.data_file as usize;
            let (bytes, at) = match entry.copy {
                IN_MEMORY => (memory.get(data_file).copied(), usize::try_from(entry.offset)),
                copy => (Some(&*self.copies), Ok(copy)),
            };
            let offset = places.of(data_file, entry.offset);
            let bytes = bytes.zip(at.ok()).and_then(|(bytes, at)| bytes.get(at..)).unwrap_or_default();
            let raw = match RawRecord::<O>::parse(bytes) {
                Ok((raw, _)) => raw,
                // The record was valid when it was read, so the file has changed since.
                Err(error) => {
                    self.undecodable
                        .push((index, FileError { kind: FileErrorKind::Boundary(error), offset }));
                    continue;
                }
            };
            let place = entry.event as usize;
            let event = match self.events.get(place) {
                Some(Ok(event)) => Ok(event),
                Some(Err(kind)) => Err(*kind),
                None => Err(FileErrorKind::UnknownEvent { kind: raw.kind() }),
            };
            let sample = match event {
                Ok(event) if raw.kind() == RecordType::SAMPLE => {
                    formatter.sample(place, event, offset, &raw, &mut self.out)
                }
                _ => None,
            };
            let view = || View { offset, inner: entry.inner, data_file, raw, event };
            let error = match sample {
                Some(Ok(())) => None,
                Some(Err(error)) => Some(view().error(error)),
                None => formatter.record(&view(), &mut self.out),
            };
            if let Some(error) = error {
                let inside = error.offset.saturating_sub(offset);
                let offset = places.in_record(data_file, offset, inside);
                self.undecodable.push((index, FileError { offset, ..error }));
            }
        }
    }

    /// Calls `tell` for each error, in the order of the records. `noted` is the number of errors that the reader had
    /// found before the batch; it is updated to the number at the end of the batch.
    pub(super) fn faults(&self, noted: &mut u64, mut tell: impl FnMut(Fault)) {
        let mut unreadable = self.unreadable.iter().peekable();
        let mut counts = self.noted.iter().peekable();
        for &(index, error) in &self.undecodable {
            while let Some((_, error)) = unreadable.next_if(|&&(before, _)| before <= index) {
                tell(Fault::Unreadable(*error));
            }
            while let Some((_, count)) = counts.next_if(|&&(from, _)| from <= index) {
                *noted = *count;
            }
            tell(Fault::Undecodable(error, *noted));
        }
        unreadable.for_each(|(_, error)| tell(Fault::Unreadable(*error)));
        if let Some((_, count)) = counts.last() {
            *noted = *count;
        }
    }
}
