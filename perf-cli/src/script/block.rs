//! Blocks of records: the unit of work of a printing thread.

use alloc::sync::Arc;
use core::ops::Range;

use perf_parse::file::Account;
use perf_parse::record::user::IdIndexGuest;
use perf_parse::{EventRecord, FileError};
use perf_profile::work::batch::BatchRoom;
use perf_session::Session;
use perf_symbol::StackFrame;
use perf_symbol::unwind::{self, StackEnd};

use super::printer::Printer;
use super::{Known, Shown};
use crate::batch::{OUT, Printed};

/// The maximum number of unwound frames in a block. One stack may exceed it.
const FRAMES: usize = 1 << 16;

/// Records, what was known before the first of them, and their output. The buffers are reused for each block.
///
/// All records that change the session are in it, printed or not, so that a thread which knows what was known before the
/// first of them knows what was known at each.
#[derive(Debug, Default)]
pub(super) struct Block<'r> {
    /// What was known before the next record; `None` after the last one.
    session: Option<Session>,
    entries: Vec<Entry<'r>>,
    items: Vec<Item>,
    frames: Vec<unwind::UnwoundFrame>,
    texts: Vec<u8>,
    /// The number that no limit of the block is below.
    least: usize,
    room: BatchRoom,
    /// What the walk noted while it read the records.
    noted: Option<Account>,
    /// The number of entries that were printed, and the faults of those that could not be decoded.
    printed: usize,
    undecodable: Vec<(u64, FileError)>,
    /// The output, or the next piece of it.
    out: Vec<u8>,
    /// The account of all records; `None` while there are more to print.
    account: Option<Account>,
}

/// How a sample of an event is printed.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) known: Arc<Known>,
    pub(super) period: u64,
    pub(super) time: u64,
    pub(super) guest: Option<IdIndexGuest>,
    pub(super) data_src_width: usize,
}

#[derive(Debug)]
enum Entry<'r> {
    Sample(Box<SampleEntry<'r>>),
    Other(EventRecord<'r>, Option<ShownOther>),
    /// What was printed before.
    Text(Range<usize>),
}

/// A sample.
#[derive(Debug)]
struct SampleEntry<'r> {
    record: EventRecord<'r>,
    /// The number of faults that the walk had noted up to it.
    noted: u64,
    /// What is printed of it: its place in the items. Empty if it was not selected.
    items: Range<usize>,
    user: Option<Box<[u64]>>,
    /// The place of its stack in the frames, and its end.
    unwound: Option<(Range<usize>, Option<StackEnd>)>,
}

/// How a record that is not a sample is printed.
#[derive(Debug)]
struct ShownOther {
    known: Option<Arc<Known>>,
    time: u64,
}

impl<'r> Block<'r> {
    /// Makes this the block of the records that are added until [`end`](Self::end). `session` is what is known before them.
    pub(super) fn begin(&mut self, session: Session) {
        self.entries.clear();
        self.items.clear();
        self.frames.clear();
        self.texts.clear();
        // As many as there are entries in the session, which each block copies.
        self.least = session.entries();
        self.room = BatchRoom::for_at_least(self.least);
        self.session = Some(session);
        self.printed = 0;
        self.account = None;
    }

    pub(super) fn has_room(&self) -> bool {
        self.room.is_left()
            && self.frames.len() < FRAMES.max(self.least)
            && self.texts.len() < OUT.max(self.least)
    }

    /// Adds a sample. Nothing is printed until items are added to it. It `may_keep` memory that is not the capture's.
    pub(super) fn add_sample(&mut self, record: EventRecord<'r>, may_keep: bool) {
        self.room.add(&record, may_keep);
        let items = self.items.len()..self.items.len();
        let sample = SampleEntry { record, noted: 0, items, user: None, unwound: None };
        self.entries.push(Entry::Sample(Box::new(sample)));
    }

    /// Returns the sample that was added last.
    fn last_sample(&mut self) -> Option<&mut SampleEntry<'r>> {
        match self.entries.last_mut() {
            Some(Entry::Sample(sample)) => Some(sample),
            _ => None,
        }
    }

    /// Returns whether the sample that was added last has its stack.
    pub(super) fn is_unwound(&mut self) -> bool {
        self.last_sample().is_some_and(|sample| sample.unwound.is_some())
    }

    /// Adds the stack of the sample that was added last.
    pub(super) fn set_unwound(&mut self, frames: &[StackFrame<'_>], end: Option<StackEnd>) {
        let start = self.frames.len();
        self.frames.extend(frames.iter().map(|&StackFrame { is_caller, source, frame }| {
            unwind::UnwoundFrame { ip: frame.ip, mode: frame.mode, is_return: is_caller, source }
        }));
        let range = start..self.frames.len();
        if let Some(sample) = self.last_sample() {
            sample.unwound = Some((range, end));
        }
    }

    /// Has the sample that was added last printed. `noted` is the number of faults that the walk has noted.
    pub(super) fn add_item(&mut self, item: Item, user: Option<&[u64]>, noted: u64) {
        self.items.push(item);
        let end = self.items.len();
        if let Some(sample) = self.last_sample() {
            sample.items.end = end;
            sample.noted = noted;
            sample.user = user.map(Box::from);
        }
    }

    /// Adds a record that is not a sample, and that is not printed yet.
    pub(super) fn add_other(&mut self, record: EventRecord<'r>, may_keep: bool) {
        self.room.add(&record, may_keep);
        self.entries.push(Entry::Other(record, None));
    }

    /// Has the record that was added last printed.
    pub(super) fn show_other(&mut self, known: Option<Arc<Known>>, time: u64) {
        if let Some(Entry::Other(_, shown)) = self.entries.last_mut() {
            *shown = Some(ShownOther { known, time });
        }
    }

    /// Adds text.
    pub(super) fn add_text(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        let start = self.texts.len();
        push(&mut self.texts);
        self.entries.push(Entry::Text(start..self.texts.len()));
    }

    /// Counts an error that the walk noted.
    pub(super) fn add_error(&mut self) {
        self.room.add_error();
    }

    /// Ends the block with what the walk noted while it read the records.
    pub(super) fn end(&mut self, noted: Account) {
        self.noted = Some(noted);
    }

    /// Prints the records, or the next of them if their output is large.
    pub(super) fn print(&mut self, printer: &mut Printer<'_>) {
        let Self { entries, items, frames, texts, out, undecodable, .. } = self;
        out.clear();
        let Some(session) = &mut self.session else { return };
        for entry in entries.iter().skip(self.printed) {
            if out.len() >= OUT {
                return;
            }
            self.printed += 1;
            match entry {
                Entry::Sample(sample) => {
                    if let Err(error) = sample.print(session, items, frames, printer, out) {
                        undecodable.push((sample.noted, error));
                    }
                }
                Entry::Other(record, shown) => {
                    // The walk has applied it without an error.
                    let _ = session.update(record);
                    if let Some(ShownOther { known, time }) = shown {
                        printer.other(record, session, known.as_deref(), *time, out);
                    }
                }
                Entry::Text(range) => out.extend_from_slice(texts.get(range.clone()).unwrap_or_default()),
            }
        }
        // The records keep memory that the walk needs.
        self.entries.clear();
        self.printed = 0;
        self.session = None;
        self.account = self.noted.take().map(|mut account| {
            account.note_among(self.undecodable.drain(..));
            account
        });
    }
}

impl Printed for Block<'_> {
    fn out(&self) -> &[u8] {
        &self.out
    }

    fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }
}

impl SampleEntry<'_> {
    /// Applies the sample to the session, and prints what is selected of it.
    fn print(
        &self,
        session: &mut Session,
        items: &[Item],
        frames: &[unwind::UnwoundFrame],
        printer: &mut Printer<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        // The walk has applied it without an error.
        let Ok(Some(at)) = session.update_at(&self.record) else { return Ok(()) };
        let unwound = self.unwound.as_ref();
        let unwound = unwound.and_then(|(range, end)| Some((frames.get(range.clone())?, *end)));
        for item in items.get(self.items.clone()).unwrap_or_default() {
            let Item { known, period, time, guest, data_src_width } = item;
            let shown = Shown {
                known,
                period: *period,
                time: *time,
                guest: *guest,
                data_src_width: *data_src_width,
                user: self.user.as_deref(),
                unwound,
            };
            printer.sample(&at, &shown, out)?;
        }
        Ok(())
    }
}
