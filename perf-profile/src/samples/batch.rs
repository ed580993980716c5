//! Batches of records: the unit of work of a thread.

use core::ops::Range;

use perf_abi::record::RecordType;
use perf_parse::file::Account;
use perf_parse::{EventRecord, FileError};
use perf_session::Session;
use perf_symbol::unwind::ThreadRoots;

use super::note_list::NoteList;
use super::pass::{PassWorker, SampleStack};
use super::unwound::UnwoundStacks;
use crate::work::batch::{BatchRoom, may_keep};
use crate::work::turns::Turns;

/// The number of bytes of a batch: some hundred copies of stacks, which take longer than to wake a thread.
const BYTES: usize = 1 << 20;

/// The number of bytes that the notes of a batch keep. One may exceed it.
const NOTE_BYTES: usize = 2 << 20;

/// The notes of records. For another thread, it also has the records, and what was known before the first of them. The buffers
/// are reused for each batch.
#[derive(Debug)]
pub(crate) struct NoteBatch<'r, N, O> {
    number: u64,
    pub(crate) notes: NoteList<N>,
    room: BatchRoom,
    /// What was known before the next record; `None` if the records are not here, or after the last one.
    session: Option<Session>,
    records: Vec<BatchRecord<'r>>,
    /// The number of records that were worked on, and of unwound stacks that they have.
    next: (usize, usize),
    unwound: UnwoundStacks,
    /// What the walk noted while it read the records.
    pub(super) noted: Account,
    /// The faults that the worker found, each with the number of faults that the walk had noted before.
    faults: Vec<(u64, FileError)>,
    /// What the worker has of the batch, or the next piece of it.
    pub(crate) output: Option<O>,
    /// Whether the worker has more to work on.
    pub(super) has_more: bool,
}

/// A sample, or a record that changes what is known.
#[derive(Debug)]
struct BatchRecord<'r> {
    record: EventRecord<'r>,
    deferred: Option<Box<[u64]>>,
    notes: Range<usize>,
    unwinds: bool,
    /// The number of faults that the walk had noted up to it.
    noted: u64,
}

impl<N, O> Default for NoteBatch<'_, N, O> {
    fn default() -> Self {
        Self {
            number: 0,
            notes: NoteList { notes: Vec::new(), bytes: 0, unwinds: false },
            room: BatchRoom::default(),
            session: None,
            records: Vec::new(),
            next: (0, 0),
            unwound: UnwoundStacks::default(),
            noted: Account::default(),
            faults: Vec::new(),
            output: None,
            has_more: false,
        }
    }
}

impl<'r, N, O> NoteBatch<'r, N, O> {
    /// Begins a batch of records that are worked on as they are read.
    pub(super) fn begin(&mut self) {
        self.notes.notes.clear();
        self.notes.bytes = 0;
        self.records.clear();
        self.next = (0, 0);
        self.room = BatchRoom::default().for_bytes(BYTES);
        self.session = None;
        self.has_more = false;
    }

    /// Begins a batch of records for another thread. `session` is what is known before them.
    pub(crate) fn begin_for_thread(&mut self, number: u64, session: Session) {
        self.begin();
        self.number = number;
        // As many as there are entries in the session, which each batch copies.
        self.room = BatchRoom::for_at_least(session.entries()).for_bytes(BYTES);
        self.session = Some(session);
    }

    /// Has mappings found with the DSOs of a later session: see [`Session::with_dsos_of`].
    pub(crate) fn use_dsos_of(&mut self, later: &Session) {
        self.session = self.session.take().map(|session| session.with_dsos_of(later));
    }

    /// Returns whether there is room for another record.
    pub(crate) fn has_room(&self) -> bool {
        self.room.is_left() && self.notes.bytes < NOTE_BYTES
    }

    /// Counts a fault of the walk.
    pub(super) fn add_fault(&mut self) {
        self.room.add_error();
    }

    /// Counts a record that was worked on.
    pub(super) fn count_record(&mut self, record: &EventRecord<'r>, is_stream: bool) {
        self.room.add(record, may_keep(record, is_stream, true));
    }

    /// Adds a record, whose notes are those from `first` on. `noted` is the number of faults so far.
    pub(crate) fn add(
        &mut self,
        record: &EventRecord<'r>,
        deferred: Option<&[u64]>,
        first: usize,
        noted: u64,
        is_stream: bool,
    ) {
        self.count_record(record, is_stream);
        let notes = first..self.notes.notes.len();
        let unwinds = core::mem::take(&mut self.notes.unwinds);
        let deferred = deferred.filter(|_| !notes.is_empty()).map(Box::from);
        self.records.push(BatchRecord { record: record.clone(), deferred, notes, unwinds, noted });
    }

    /// Works on the notes, or on the next of them if the output is large. `earlier` is given if stacks are unwound.
    pub(crate) fn work<W: PassWorker<Note = N, Output = O>>(
        &mut self,
        worker: &mut W,
        earlier: Option<&Turns<ThreadRoots>>,
    ) {
        if let Some(earlier) = earlier.filter(|_| !self.has_more) {
            let turn = earlier.of(self.number);
            self.unwind(worker);
            turn.take(|earlier| self.unwound.complete(earlier));
        }
        let Some(mut session) = self.session.take() else { return };
        let (mut next, mut stack) = self.next;
        self.has_more = false;
        while let Some(it) = self.records.get(next) {
            if worker.is_full() {
                self.has_more = true;
                break;
            }
            next += 1;
            let notes = self.notes.notes.get_mut(it.notes.clone()).unwrap_or_default();
            // The walk has applied it without an error.
            if it.record.kind() != RecordType::SAMPLE {
                let _ = session.update(&it.record);
                notes.iter_mut().for_each(|note| worker.other(&it.record, &session, note));
                continue;
            }
            let unwound = if it.unwinds {
                stack += 1;
                self.unwound.stack(stack - 1)
            } else {
                None
            };
            let Ok(Some(at)) = session.update_at(&it.record) else { continue };
            let of_sample = SampleStack { deferred: it.deferred.as_deref(), unwound };
            if let Err(error) = notes.iter_mut().try_for_each(|note| worker.sample(&at, &of_sample, note)) {
                self.faults.push((it.noted, error));
            }
        }
        self.output = Some(worker.take_output());
        self.next = (next, stack);
        if self.has_more {
            self.session = Some(session);
            return;
        }
        // The records keep memory that the walk needs.
        self.records.clear();
        self.noted.note_among(self.faults.drain(..));
    }

    /// Unwinds the stacks of the batch, each alone.
    fn unwind<W: PassWorker>(&mut self, worker: &mut W) {
        let Self { unwound, records, session, .. } = self;
        unwound.clear();
        let has_any = records.iter().any(|it| it.unwinds);
        let Some(symbols) = worker.symbols().filter(|_| has_any) else { return };
        let Some(mut session) = session.clone() else { return };
        for it in records {
            if it.record.kind() != RecordType::SAMPLE {
                let _ = session.update(&it.record);
                continue;
            }
            let at = session.update_at(&it.record).ok().flatten();
            if it.unwinds {
                unwound.push(at.as_ref(), it.deferred.as_deref(), symbols);
            }
        }
    }
}
