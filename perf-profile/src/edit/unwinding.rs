//! Samples whose copies of stacks are unwound, on several threads.

use core::num::NonZero;
use core::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perf_parse::event::RecordPosition;
use perf_parse::rewrite::EditedRecord;
use perf_parse::{EventRecord, FileError};
use perf_session::{SampleContext, Session};

use super::call_chain;
use super::edited_sample::edited_sample;
use crate::samples::NoteBatch;
use crate::samples::pass::{PassWorker, SampleStack};
use crate::symbols::Symbols;
use crate::work::waves::{each_range, wave};

/// The number of batches that each thread has before it waits for the others.
const BATCHES: usize = 4;

/// What becomes of samples.
type Decisions = Vec<(RecordPosition, EditedRecord)>;

/// What is taken off the values of the counters of a sample; `None` if they stay.
type Shifts = Option<Vec<u64>>;

/// Samples that wait to be unwound, in batches that threads take in turn.
///
/// A stack that is unwound for a call chain ends at the first guess, so that it does not depend on the stacks before it, and each
/// thread has a finder of its own.
#[derive(Debug)]
pub(super) struct Unwinding<'r> {
    threads: NonZero<usize>,
    is_stream: bool,
    batches: Vec<NoteBatch<'r, Shifts, Decisions>>,
    /// The finders of stacks, which keep what they know of files.
    finders: Vec<Mutex<ChainFinder>>,
}

impl<'r> Unwinding<'r> {
    pub(super) fn new(symbols: &Symbols, threads: NonZero<usize>, is_stream: bool) -> Self {
        let finder = || ChainFinder { symbols: symbols.clone(), decided: Vec::new() };
        let finders = (0..wave(1, threads)).map(|_| Mutex::new(finder())).collect();
        Self { threads, is_stream, batches: Vec::new(), finders }
    }

    /// Makes room for the next record. `session` is what is known before it. Returns `false` if the threads have enough to do.
    pub(super) fn has_room(&mut self, session: &Session) -> bool {
        if self.batches.last().is_some_and(NoteBatch::has_room) {
            return true;
        }
        if self.batches.len() >= BATCHES * self.finders.len() {
            return false;
        }
        let mut batch = NoteBatch::default();
        batch.begin_for_thread(0, session.clone());
        self.batches.push(batch);
        true
    }

    /// Adds a record for which there is room. `kept` is given for a sample that is kept.
    pub(super) fn push(&mut self, record: &EventRecord<'r>, kept: Option<Shifts>) {
        let Some(batch) = self.batches.last_mut() else { return };
        let first = batch.notes.notes.len();
        batch.notes.notes.extend(kept);
        batch.add(record, None, first, 0, self.is_stream);
    }

    /// Unwinds the stacks of all samples that were added, and calls `decide` with what becomes of each. `session` is what is known
    /// after the last record.
    pub(super) fn finish(&mut self, session: &Session, mut decide: impl FnMut(RecordPosition, EditedRecord)) {
        let Self { threads, batches, finders, .. } = self;
        // Mappings are found with the DSOs that the finders know already.
        batches.iter_mut().for_each(|batch| batch.use_dsos_of(session));
        let batches: Vec<_> = batches.drain(..).map(Mutex::new).collect();
        let work = |range: Range<usize>| {
            let finder = finders.get(range.start % finders.len().max(1))?;
            let mut batch = locked(batches.get(range.start)?);
            batch.work(&mut *locked(finder), None);
            batch.output.take()
        };
        let take = |decided: Option<Decisions>| {
            decided.into_iter().flatten().for_each(|(place, edited)| decide(place, edited));
            Ok(())
        };
        // Taking the results cannot fail.
        let _ = each_range(batches.len(), 1, *threads, work, take);
    }
}

/// Finds the call chains of samples.
#[derive(Clone, Debug)]
struct ChainFinder {
    symbols: Symbols,
    decided: Decisions,
}

impl PassWorker for ChainFinder {
    type Note = Shifts;
    type Output = Decisions;

    fn symbols(&mut self) -> Option<&mut Symbols> {
        Some(&mut self.symbols)
    }

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &SampleStack<'_>,
        shifts: &mut Shifts,
    ) -> Result<(), FileError> {
        let chain = call_chain::of(at, &mut self.symbols);
        let changed = edited_sample(at, shifts.as_deref(), chain.as_deref(), None);
        let edited = changed.map_or(EditedRecord::Kept, EditedRecord::Replaced);
        self.decided.push((at.record().position(), edited));
        Ok(())
    }

    fn take_output(&mut self) -> Decisions {
        core::mem::take(&mut self.decided)
    }
}

/// Locks what a thread that panicked may have left locked: the panic is passed on.
fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
