//! The trait of everything that is done with the samples of a capture.

use std::sync::Arc;

use perf_abi::feature::Feature;
use perf_parse::event::{Event, Events};
use perf_parse::feature::{FeatureSection, Features};
use perf_parse::{EventRecord, FileError};
use perf_session::{SampleContext, Session};
use perf_symbol::StackFrame;
use perf_symbol::unwind::{self, StackEnd};

use super::note_list::NoteList;
use crate::error::ProfileError;
use crate::selection::filter::SampleFilter;
use crate::stack_table::has_stacks;
use crate::symbols::{Symbols, recorded_frame};

/// A sample of an event, or the part of a sample that one event of a group has.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CountedSample<'a> {
    /// The event.
    pub event: &'a Arc<Event>,
    /// The number of events that the sample stands for: see [`Periods`](perf_session::Periods).
    pub period: u64,
    /// The user part of its call chain if that came in a later record.
    pub deferred: Option<&'a [u64]>,
}

impl CountedSample<'_> {
    /// Returns the stack of the sample, innermost frame first, and how it ends: see [`Symbols::stack`]. Of a sample without a
    /// recorded stack, it is its own address. Give the frames back with [`Symbols::done`].
    ///
    /// # Errors
    ///
    /// A fault of the sample's fields.
    pub fn stack<'s>(
        &self,
        at: &SampleContext<'s, '_>,
        symbols: &mut Symbols,
    ) -> Result<(Vec<StackFrame<'s>>, Option<StackEnd>), FileError> {
        if has_stacks(self.event) {
            symbols.stack(at, self.deferred)
        } else {
            Ok((vec![recorded_frame(symbols.own_frame(at))], None))
        }
    }
}

/// What is done with the samples of a capture, such as counting or printing them.
///
/// A pass runs on one thread, which walks over the records in order of time, and has workers on any number of threads:
///
/// 1. [`sample`](Self::sample), [`unselected`](Self::unselected), [`before`](Self::before) and [`other`](Self::other) see each
///    record in order of time, and note what is known of it: [`RecordNotes::push`]. They do what depends on all records before.
/// 2. A [worker](PassWorker) adds to the notes what takes long and depends on the state of the session alone: stacks, names,
///    text. It works on a batch of records at a time; each worker has batches from all of the capture.
/// 3. [`deliver`](Self::deliver) gets what a worker has of a batch as a whole, and [`count`](Self::count) each of its notes, in
///    order of time again.
///
/// So the result is the same for any number of threads. A pass that does everything in step 1 has [`NoWorker`].
pub trait SamplePass<'r> {
    /// What is known of a sample or another record, before and after a worker had it.
    type Note: Send;
    /// The work that other threads can do.
    type Worker: PassWorker<Note = Self::Note>;
    /// What ends a walk.
    type Error: From<ProfileError>;

    /// Whether a sample that reads several counters is passed once, as the sample of its event, and not once for each counter.
    const TAKES_GROUPS: bool = false;

    /// Sees each sample before it is selected or not.
    fn before(&mut self, at: &SampleContext<'_, '_>, notes: &mut RecordNotes<'_, Self::Note>) {
        let _ = (at, notes);
    }

    /// Takes a selected sample.
    ///
    /// # Errors
    ///
    /// A fault of the sample, which the account of the walk notes.
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, Self::Note>,
    ) -> Result<(), FileError>;

    /// Takes a sample of the selected times, CPUs and events, but not of the selected threads, files and functions.
    ///
    /// # Errors
    ///
    /// A fault of the sample, which the account of the walk notes.
    fn unselected(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        notes: &mut RecordNotes<'_, Self::Note>,
    ) -> Result<(), FileError> {
        let _ = (at, counted, notes);
        Ok(())
    }

    /// Takes a record that is not a sample, after the session did.
    ///
    /// # Errors
    ///
    /// A fault of the record, which the account of the walk notes.
    fn other(
        &mut self,
        record: &EventRecord<'r>,
        session: &Session,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, Self::Note>,
    ) -> Result<(), FileError> {
        let _ = (record, session, context, notes);
        Ok(())
    }

    /// Takes what a worker has of a batch, before its notes are counted; of a batch that was [full](PassWorker::is_full), the next
    /// piece. `session` is that of the walk, which is at the end of the batch or further.
    ///
    /// # Errors
    ///
    /// What ends the walk.
    fn deliver(
        &mut self,
        output: <Self::Worker as PassWorker>::Output,
        session: &Session,
    ) -> Result<(), Self::Error> {
        let _ = (output, session);
        Ok(())
    }

    /// Takes a note back.
    fn count(&mut self, note: Self::Note) {
        let _ = note;
    }
}

/// The work of a thread on the notes of a [pass](SamplePass). A clone is for another thread.
pub trait PassWorker: Clone + Send {
    /// See [`SamplePass::Note`].
    type Note: Send;
    /// What a worker has of a batch as a whole, such as text.
    type Output: Send;

    /// Returns the finder of the stacks of samples; `None` if no stacks are wanted.
    fn symbols(&mut self) -> Option<&mut Symbols>;

    /// Works on a note of a sample.
    ///
    /// # Errors
    ///
    /// A fault of the sample, which the account of the walk notes. The sample's further notes are passed over by the worker.
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &SampleStack<'_>,
        note: &mut Self::Note,
    ) -> Result<(), FileError>;

    /// Works on a note of a record that is not a sample.
    fn other(&mut self, record: &EventRecord<'_>, session: &Session, note: &mut Self::Note) {
        let _ = (record, session, note);
    }

    /// Returns whether the output is so large that it should be taken before the next sample.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns the output since the last call.
    fn take_output(&mut self) -> Self::Output;

    /// Takes over what the worker of another thread has at the end of the walk.
    fn merge(&mut self, other: Self) {
        let _ = other;
    }
}

/// The worker of a pass that does everything on the thread of the walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWorker;

impl PassWorker for NoWorker {
    type Note = ();
    type Output = ();

    fn symbols(&mut self) -> Option<&mut Symbols> {
        None
    }

    fn sample(
        &mut self,
        _: &SampleContext<'_, '_>,
        _: &SampleStack<'_>,
        (): &mut (),
    ) -> Result<(), FileError> {
        Ok(())
    }

    fn take_output(&mut self) {}
}

/// The walk that a record comes from.
#[derive(Clone, Copy, Debug)]
pub struct WalkContext<'w> {
    pub(super) events: &'w Events,
    pub(super) features: &'w Features<'w>,
    pub(super) filter: &'w SampleFilter,
}

impl<'w> WalkContext<'w> {
    /// Returns the events that are known so far. A stream may have more later.
    #[must_use]
    pub fn events(&self) -> &'w Events {
        self.events
    }

    /// Returns the features that are known so far.
    #[must_use]
    pub fn features(&self) -> &'w Features<'w> {
        self.features
    }

    /// Returns a feature section that is known so far.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<FeatureSection<'w>> {
        self.features.get(feature)
    }

    /// Returns whether a record of a CPU is selected; `None` for a record without one.
    #[must_use]
    pub fn wants_cpu(&self, cpu: Option<u32>) -> bool {
        self.filter.wants_cpu(cpu)
    }
}

/// The notes of a record.
#[derive(Debug)]
pub struct RecordNotes<'b, N>(pub(super) &'b mut NoteList<N>);

impl<N> RecordNotes<'_, N> {
    /// Adds a note of the record. A worker gets the notes of a record in this order.
    pub fn push(&mut self, note: N) {
        self.0.notes.push(note);
    }

    /// Counts bytes that notes keep in memory: with many, the batch ends.
    pub fn add_bytes(&mut self, bytes: usize) {
        self.0.bytes = self.0.bytes.saturating_add(bytes);
    }

    /// Has the stack of the sample unwound from its copy, ahead of its notes.
    pub fn unwind(&mut self) {
        self.0.unwinds = true;
    }
}

/// The stack of a sample, for a worker.
#[derive(Debug)]
pub struct SampleStack<'w> {
    pub(super) deferred: Option<&'w [u64]>,
    /// The frames that were unwound, those that complete them, and the end.
    pub(super) unwound: Option<(&'w [unwind::UnwoundFrame], &'w [unwind::UnwoundFrame], StackEnd)>,
}

impl<'w> SampleStack<'w> {
    /// Returns the user part of the call chain if that came in a later record.
    #[must_use]
    pub fn deferred(&self) -> Option<&'w [u64]> {
        self.deferred
    }

    /// Returns the frames, as [`Symbols::stack`] does. Give them back with [`Symbols::done`].
    ///
    /// # Errors
    ///
    /// A fault of the sample's fields.
    pub fn find<'s>(
        &self,
        at: &SampleContext<'s, '_>,
        symbols: &mut Symbols,
    ) -> Result<(Vec<StackFrame<'s>>, Option<StackEnd>), FileError> {
        match self.unwound {
            Some((own, outer, end)) => Ok((symbols.mapped(at, own.iter().chain(outer).copied()), Some(end))),
            None => symbols.stack(at, self.deferred),
        }
    }
}
