//! The part of a dump that handles each record in turn: from the reader to blocks.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{Event, FileError, FileRecord, Reader, Source};

use super::Origins;
use super::block::Block;
use super::filter::Filter;
use super::tracepoints::Formats;
use crate::input::Memory;
use crate::progress::Progress;
use crate::render::record::EventParts;

/// Reads the selected records.
#[derive(Debug)]
pub(super) struct Reading<'r, 'a, O: Endian, S: Source> {
    reader: &'r mut Reader<'a, O, S>,
    filter: Filter,
    origins: &'r Origins,
    memory: Memory<'r>,
    formats: &'r Formats<'r>,
    progress: Progress,
    /// The number of records that may still be printed.
    left: u64,
    /// The number of errors that the reader has found so far.
    noted: u64,
    events: EventIndexes,
}

/// The indexes of the events in the block that is being filled.
#[derive(Debug, Default)]
struct EventIndexes {
    /// For each event, the generation in which it was added to a block, and its index there.
    added: Vec<(u64, u32)>,
    /// The current generation. Events of earlier generations are not in this block, or have changed since.
    generation: u64,
}

/// The types of records that may change events.
const CHANGE_EVENTS: [RecordType; 4] = [
    RecordType::HEADER_ATTR,
    RecordType::HEADER_EVENT_TYPE,
    RecordType::EVENT_UPDATE,
    RecordType::HEADER_FEATURE,
];

impl<'r, 'a, O: Endian, S: Source> Reading<'r, 'a, O, S> {
    pub(super) fn new(
        reader: &'r mut Reader<'a, O, S>,
        filter: Filter,
        origins: &'r Origins,
        memory: Memory<'r>,
        formats: &'r Formats<'r>,
        limit: Option<u64>,
    ) -> Self {
        if let Some(types) = filter.types() {
            reader.only(&[types, &CHANGE_EVENTS].concat());
        }
        let progress = Progress::new(memory.size());
        let noted = reader.account().faults();
        let left = limit.unwrap_or(u64::MAX);
        Self {
            reader,
            filter,
            origins,
            memory,
            formats,
            progress,
            left,
            noted,
            events: EventIndexes::default(),
        }
    }

    /// Fills an empty block. Returns whether there may be more records.
    pub(super) fn fill(&mut self, block: &mut Block) -> bool {
        self.progress.at(self.reader.offset());
        self.events.generation += 1;
        while block.has_room() {
            if self.left == 0 {
                return false;
            }
            let index = block.len();
            match self.reader.next() {
                Ok(None) => return false,
                Ok(Some(record)) => {
                    if CHANGE_EVENTS.contains(&record.raw.kind()) {
                        self.events.generation += 1;
                    }
                    if self.filter.wants(&record) {
                        self.left -= 1;
                        let event = self.events.of(block, &record, self.formats);
                        let is_stored = S::IN_MEMORY && record.inner.is_none();
                        block.add_record(&record, event, is_stored && self.memory.has(record.data_file));
                    }
                }
                Err(error) => block.add_unreadable(self.at_origin(error)),
            }
            let noted = self.reader.account().faults();
            if noted != self.noted {
                self.noted = noted;
                block.set_noted(index, noted);
            }
        }
        true
    }

    /// Changes the offset of the error, here and in the account, to the offset in the file.
    #[cold]
    fn at_origin(&mut self, error: FileError) -> FileError {
        let offset = self.origins.offset(self.reader.data_file(), error.offset);
        // The reader has noted the error in the account.
        let noted = self.reader.account_mut().diagnostics.last_mut();
        if let Some(noted) = noted.filter(|noted| **noted == error) {
            noted.offset = offset;
        }
        FileError { offset, ..error }
    }
}

impl EventIndexes {
    /// Returns the index of a record's event in the block. Adds the event if it is not there. Returns `None` for the
    /// perf tool's own records.
    #[inline(always)]
    fn of<O: Endian>(
        &mut self,
        block: &mut Block,
        record: &FileRecord<'_, O>,
        formats: &Formats<'_>,
    ) -> Option<u32> {
        match record.event_index.zip(record.event()) {
            Some((index, event)) => match self.added.get(index) {
                Some(&(generation, known)) if generation == self.generation => Some(known),
                _ => Some(self.add(block, index, event, formats)),
            },
            None => record.unknown_event().map(|why| block.add_event(Err(why))),
        }
    }

    #[cold]
    fn add(&mut self, block: &mut Block, index: usize, event: &Event, formats: &Formats<'_>) -> u32 {
        let added = block.add_event(Ok(EventParts::new(index, event, formats.of(event))));
        if self.added.len() <= index {
            self.added.resize(index + 1, (0, 0));
        }
        self.added[index] = (self.generation, added);
        added
    }
}
