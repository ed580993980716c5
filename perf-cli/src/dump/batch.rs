//! Records by the thousand: what a thread formats at a time.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;
use perf_parse::file::{FileError, FileErrorKind};

use super::Places;
use super::format::Formatter;
use super::view::{EventView, View};
use crate::render::ready::Ready;

/// Records of a batch at most, and bytes of them. One record and one event's name may go beyond.
///
/// Enough that handing a batch over is nothing beside formatting it, and so few that what they print as stays in the
/// cache, and what comes slowly through a pipe does not wait for long.
const RECORDS: usize = 2048;
const BYTES: usize = 128 << 10;

/// Bytes that a batch prints at a time. One record may go beyond.
///
/// Most batches print less. One that prints more is finished by the thread that writes it out, piece by piece.
const OUT: usize = 2 << 20;

/// Records that were read, and what they print as. Its buffers are used again for each batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    /// Copies of the records that are not in memory for as long as the capture is open, end to end.
    copies: Vec<u8>,
    /// The events that its records are of, and why that of a record cannot be told.
    events: Vec<Result<EventView, FileErrorKind>>,
    /// Bytes of records and names.
    bytes: usize,
    /// What the reader found wrong, in front of the record of that index.
    unreadable: Vec<(usize, FileError)>,
    /// How many things the reader had found wrong when it gave the record of that index; up to the next the same.
    noted: Vec<(usize, u64)>,
    /// What it prints as, or the next piece of that.
    pub(super) out: Vec<u8>,
    /// Records that were printed.
    printed: usize,
    /// What of its records could not be decoded.
    undecodable: Vec<(usize, FileError)>,
}

/// A record of a batch.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where it is in what is read.
    offset: u64,
    inner: Option<u64>,
    data_file: u32,
    /// Its event among the batch's; [`NO_EVENT`] for the perf tool's own records.
    event: u32,
    /// Where its copy is; [`IN_MEMORY`] if it stands at `offset` in memory.
    copy: usize,
}

const NO_EVENT: u32 = u32::MAX;
const IN_MEMORY: usize = usize::MAX;

/// A record that is put into a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'r, O: Endian> {
    pub(super) offset: u64,
    pub(super) inner: Option<u64>,
    pub(super) data_file: usize,
    pub(super) raw: RawRecord<'r, O>,
    /// Its event among the batch's.
    pub(super) event: Option<u32>,
    /// Whether it stands at `offset` in memory.
    pub(super) in_memory: bool,
}

/// Something that is wrong, in the order of the records.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// The reader has noted it.
    Unreadable(FileError),
    /// To be noted behind the so many that the reader has.
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

    /// Adds an event, or why that of a record cannot be told.
    pub(super) fn event(&mut self, event: Result<EventView, FileErrorKind>) -> u32 {
        let shown = event.as_ref().ok().and_then(|event| event.shown.as_ref());
        self.bytes += shown.map_or(0, Ready::len);
        self.events.push(event);
        // There are no more of them than records.
        self.events.len() as u32 - 1
    }

    /// Adds a record.
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

    /// The reader found something wrong behind the record that was added last.
    pub(super) fn unreadable(&mut self, error: FileError) {
        self.unreadable.push((self.entries.len(), error));
    }

    /// How many records it has.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The reader had found so many things wrong when it gave the record of `index`, or before.
    pub(super) fn noted(&mut self, index: usize, count: u64) {
        self.noted.push((index, count));
    }

    /// Whether all its records were formatted.
    pub(super) fn is_done(&self) -> bool {
        self.printed == self.entries.len()
    }

    /// Formats its records, or the next of them if they print much. `memory` are the data files that are in memory.
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
                // It was one when it was read: the file has changed since.
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

    /// What is wrong, in the order of the records. `noted` is how many things the reader had found wrong before; it is
    /// carried on to the end of the batch.
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
