//! Samples whose copies of stacks are unwound, on several threads.

use core::num::NonZero;
use std::sync::{Mutex, PoisonError};

use perf_abi::record::RecordType;
use perf_parse::EventRecord;
use perf_parse::event::RecordPosition;
use perf_parse::rewrite::EditedRecord;
use perf_session::Session;

use super::call_chain;
use super::edited_sample::edited_sample;
use crate::symbols::Symbols;
use crate::work::batch::{BatchRoom, may_keep};
use crate::work::waves::{each_range, wave};

/// The number of batches that each thread has before it waits for the others.
const BATCHES: usize = 4;

/// The number of bytes of a batch: some hundred copies of stacks.
const BYTES: usize = 1 << 20;

/// Samples that wait to be unwound, in batches that threads take in turn.
///
/// A stack that is unwound for a call chain ends at the first guess, so that it does not depend on the stacks before it, and each
/// thread has a finder of its own.
#[derive(Debug)]
pub(super) struct Unwinding<'r> {
    threads: NonZero<usize>,
    is_stream: bool,
    batches: Vec<UnwindBatch<'r>>,
    /// The finders of stacks, which keep what they know of files.
    finders: Vec<Mutex<Symbols>>,
}

/// Records that follow each other in time, and what is known before the first of them.
#[derive(Debug)]
struct UnwindBatch<'r> {
    session: Session,
    room: BatchRoom,
    records: Vec<PendingRecord<'r>>,
}

#[derive(Debug)]
struct PendingRecord<'r> {
    record: EventRecord<'r>,
    /// What is taken off the values of the counters of a sample that is kept; `None` for another record.
    kept: Option<Option<Vec<u64>>>,
}

impl<'r> Unwinding<'r> {
    pub(super) fn new(symbols: &Symbols, threads: NonZero<usize>, is_stream: bool) -> Self {
        let finders = (0..wave(1, threads)).map(|_| Mutex::new(symbols.clone())).collect();
        Self { threads, is_stream, batches: Vec::new(), finders }
    }

    /// Makes room for the next record. `session` is what is known before it. Returns `false` if the threads have enough to do.
    pub(super) fn has_room(&mut self, session: &Session) -> bool {
        if self.batches.last().is_some_and(|last| last.room.is_left()) {
            return true;
        }
        if self.batches.len() >= BATCHES * self.finders.len() {
            return false;
        }
        let room = BatchRoom::for_at_least(session.entries()).for_bytes(BYTES);
        self.batches.push(UnwindBatch { session: session.clone(), room, records: Vec::new() });
        true
    }

    /// Adds a record for which there is room. `kept` is given for a sample that is kept: what is taken off the values of its counters.
    pub(super) fn push(&mut self, record: &EventRecord<'r>, kept: Option<Option<Vec<u64>>>) {
        let Some(last) = self.batches.last_mut() else { return };
        last.room.add(record, may_keep(record, self.is_stream, true));
        last.records.push(PendingRecord { record: record.clone(), kept });
    }

    /// Unwinds the stacks of all samples that were added, and calls `decide` with what becomes of each. `session` is what is known
    /// after the last record.
    pub(super) fn finish(&mut self, session: &Session, mut decide: impl FnMut(RecordPosition, EditedRecord)) {
        let batches = core::mem::take(&mut self.batches).into_iter();
        // Mappings are found with the DSOs that the finders know already.
        let batches = batches.map(|it| UnwindBatch { session: it.session.with_dsos_of(session), ..it });
        let batches: Vec<_> = batches.map(|it| Mutex::new(Some(it))).collect();
        let work = |range: core::ops::Range<usize>| {
            let finder = self.finders.get(range.start % self.finders.len().max(1));
            let batch = batches
                .get(range.start)
                .and_then(|it| it.lock().unwrap_or_else(PoisonError::into_inner).take());
            let unwound = batch.zip(finder).map(|(batch, finder)| {
                batch.unwound(&mut finder.lock().unwrap_or_else(PoisonError::into_inner))
            });
            unwound.unwrap_or_default()
        };
        let take = |decided: Vec<_>| {
            decided.into_iter().for_each(|(place, edited)| decide(place, edited));
            Ok(())
        };
        // Taking the results cannot fail.
        let _ = each_range(batches.len(), 1, self.threads, work, take);
    }
}

impl UnwindBatch<'_> {
    /// Returns what becomes of the samples that are kept.
    fn unwound(self, symbols: &mut Symbols) -> Vec<(RecordPosition, EditedRecord)> {
        let Self { mut session, records, .. } = self;
        let mut decided = Vec::with_capacity(records.iter().filter(|it| it.kept.is_some()).count());
        for PendingRecord { record, kept } in records {
            // The walk has applied it without an error.
            if record.kind() != RecordType::SAMPLE {
                let _ = session.update(&record);
                continue;
            }
            let Ok(Some(at)) = session.update_at(&record) else { continue };
            let Some(shifts) = kept else { continue };
            let chain = call_chain::of(&at, symbols);
            let changed = edited_sample(&at, shifts.as_deref(), chain.as_deref(), None);
            decided.push((record.position(), changed.map_or(EditedRecord::Kept, EditedRecord::Replaced)));
        }
        decided
    }
}
