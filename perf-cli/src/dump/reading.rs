//! The part of a dump that handles each record in turn: from the reader to batches.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{Event, FileError, FileRecord, Reader, Source};

use super::Places;
use super::batch::{Batch, Read};
use super::filter::Filter;
use super::tracepoints::Formats;
use super::view::EventView;
use crate::input::Memory;
use crate::progress::Progress;
use crate::render::escape::push_printable;
use crate::render::ready::Ready;

/// Reads the selected records.
#[derive(Debug)]
pub(super) struct Reading<'r, 'a, O: Endian, S: Source> {
    reader: &'r mut Reader<'a, O, S>,
    filter: Filter,
    places: &'r Places,
    memory: Memory<'r>,
    formats: &'r Formats<'r>,
    progress: Progress,
    /// The number of records that may still be printed.
    left: u64,
    /// The number of errors that the reader has found so far.
    noted: u64,
    events: Slots,
}

/// The positions of the events in the batch that is being filled.
#[derive(Debug, Default)]
struct Slots {
    /// For each event, the generation in which it was added to a batch, and its position there.
    of: Vec<(u64, u32)>,
    /// The current generation. Events of earlier generations are not in this batch, or have changed since.
    now: u64,
}

/// The types of records that may change events.
const CHANGE_EVENTS: [RecordType; 4] = [
    RecordType::HEADER_ATTR,
    RecordType::HEADER_EVENT_TYPE,
    RecordType::EVENT_UPDATE,
    RecordType::HEADER_FEATURE,
];

impl Slots {
    /// Returns the position of the event of `index` in the batch. Adds the event if it is not there.
    #[inline]
    fn of(&mut self, batch: &mut Batch, index: usize, event: &Event, formats: &Formats<'_>) -> u32 {
        match self.of.get(index) {
            Some(&(when, slot)) if when == self.now => slot,
            _ => self.put(batch, index, event, formats),
        }
    }

    #[cold]
    fn put(&mut self, batch: &mut Batch, index: usize, event: &Event, formats: &Formats<'_>) -> u32 {
        let shown = event.name.as_deref().map(|name| {
            let mut shown = Vec::new();
            push_printable(&mut shown, name);
            Ready::new(shown)
        });
        let members = Ready::new(format!(",\"event\":{index},\"fields\":").into_bytes());
        let (layout, fault, tracepoint) = (event.layout, event.fault, formats.of(event));
        let slot = batch.event(Ok(EventView { index, layout, fault, tracepoint, shown, members }));
        if self.of.len() <= index {
            self.of.resize(index + 1, (0, 0));
        }
        self.of[index] = (self.now, slot);
        slot
    }
}

impl<'r, 'a, O: Endian, S: Source> Reading<'r, 'a, O, S> {
    pub(super) fn new(
        reader: &'r mut Reader<'a, O, S>,
        filter: Filter,
        places: &'r Places,
        memory: Memory<'r>,
        formats: &'r Formats<'r>,
        limit: Option<u64>,
    ) -> Self {
        if let Some(types) = filter.types() {
            reader.only(&[types, &CHANGE_EVENTS].concat());
        }
        let progress = Progress::new(memory.size());
        let noted = reader.account().faults();
        let (left, events) = (limit.unwrap_or(u64::MAX), Slots::default());
        Self { reader, filter, places, memory, formats, progress, left, noted, events }
    }

    /// Fills an empty batch. Returns whether there may be more records.
    pub(super) fn fill(&mut self, batch: &mut Batch) -> bool {
        self.progress.at(self.reader.offset());
        self.events.now += 1;
        while batch.has_room() {
            if self.left == 0 {
                return false;
            }
            let index = batch.len();
            match self.reader.next() {
                Ok(None) => return false,
                Ok(Some(record)) => {
                    if CHANGE_EVENTS.contains(&record.raw.kind()) {
                        self.events.now += 1;
                    }
                    if self.filter.wants(&record) {
                        self.left -= 1;
                        let event = event(&mut self.events, batch, &record, self.formats);
                        let FileRecord { offset, inner, data_file, raw, .. } = record;
                        let in_memory = S::IN_MEMORY && inner.is_none() && self.memory.has(data_file);
                        batch.record(&Read { offset, inner, data_file, raw, event, in_memory });
                    }
                }
                Err(error) => batch.unreadable(self.placed(error)),
            }
            let noted = self.reader.account().faults();
            if noted != self.noted {
                self.noted = noted;
                batch.noted(index, noted);
            }
        }
        true
    }

    /// Changes the offset of the error, here and in the account, to the offset in the file.
    #[cold]
    fn placed(&mut self, error: FileError) -> FileError {
        let offset = self.places.of(self.reader.data_file(), error.offset);
        // The reader has noted the error in the account.
        let noted = self.reader.account_mut().diagnostics.last_mut();
        if let Some(noted) = noted.filter(|noted| **noted == error) {
            noted.offset = offset;
        }
        FileError { offset, ..error }
    }
}

/// Returns the position of a record's event in the batch; `None` for the perf tool's own records.
#[inline(always)]
fn event<O: Endian>(
    events: &mut Slots,
    batch: &mut Batch,
    record: &FileRecord<'_, O>,
    formats: &Formats<'_>,
) -> Option<u32> {
    match record.event_index.zip(record.event()) {
        Some((index, event)) => Some(events.of(batch, index, event, formats)),
        None => record.unknown_event().map(|why| batch.event(Err(why))),
    }
}
