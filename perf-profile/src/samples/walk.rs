//! A walk over the samples of a capture, one record at a time.

use perf_abi::record::RecordType;
use perf_parse::event::Events;
use perf_parse::feature::Features;
use perf_parse::file::{Account, DeferredSamples};
use perf_parse::{EventRecord, FileError};
use perf_session::{Periods, Session};

use super::batch::NoteBatch;
use super::ordered_records::OrderedRecords;
use super::pass::{CountedSample, PassWorker, RecordNotes, SamplePass, SampleStack, WalkContext};
use crate::selection::filter::SampleFilter;
use crate::symbols::Symbols;

/// The batches of a pass.
pub(super) type BatchOf<'a, P> =
    NoteBatch<'a, <P as SamplePass<'a>>::Note, <<P as SamplePass<'a>>::Worker as PassWorker>::Output>;

/// A walk over the records of a capture in time order, and what is known up to the last one.
#[derive(Debug)]
pub(super) struct SampleWalk<'a> {
    records: OrderedRecords<'a>,
    filter: SampleFilter,
    session: Session,
    /// Finds the files and functions that samples are selected by.
    symbols: Symbols,
    /// Samples whose user part comes later.
    waiting: DeferredSamples<'a>,
    periods: Periods,
    is_stream: bool,
}

impl<'a> SampleWalk<'a> {
    /// Begins a walk with what is known before the first record: the session, and the samples that wait. `is_stream` is whether
    /// records may keep memory that is not the capture's.
    pub(super) fn new(
        records: OrderedRecords<'a>,
        (session, waiting): (Session, DeferredSamples<'a>),
        filter: SampleFilter,
        symbols: Symbols,
        is_stream: bool,
    ) -> Self {
        Self { records, filter, session, symbols, waiting, periods: Periods::default(), is_stream }
    }

    /// Returns what is known up to the last record.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn account(&self) -> &Account {
        self.records.account()
    }

    pub(super) fn account_mut(&mut self) -> &mut Account {
        self.records.account_mut()
    }

    /// Returns the number of bytes of the capture before the next record.
    pub(super) fn reached(&self) -> u64 {
        self.records.reached()
    }

    /// Passes the next record on, and with it the samples that waited for it. Notes their faults. With a worker, it works on
    /// their notes at once; otherwise the batch gets the records. Returns whether there may be more.
    pub(super) fn step<P: SamplePass<'a>>(
        &mut self,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        worker: Option<&mut P::Worker>,
    ) -> bool {
        match self.records.next() {
            Some(Ok(record)) => self.take(&record, pass, batch, worker),
            // The account has the error already.
            Some(Err(_)) => batch.add_fault(),
            None => {
                self.end_waits(pass, batch, worker);
                return false;
            }
        }
        true
    }

    /// Passes a record on that is not among those of the walk, as [`step`](Self::step) does with the next one.
    pub(super) fn push<P: SamplePass<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        worker: Option<&mut P::Worker>,
    ) {
        record.count_in(self.records.account_mut());
        self.take(record, pass, batch, worker);
    }

    /// Passes the samples on that still wait for a later record.
    pub(super) fn end_waits<P: SamplePass<'a>>(
        &mut self,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        mut worker: Option<&mut P::Worker>,
    ) {
        for sample in self.waiting.take_all() {
            self.apply(&sample.record, None, pass, batch, worker.as_deref_mut());
        }
    }

    /// Passes a record on, after the samples that waited for it, or has it wait.
    #[inline]
    fn take<P: SamplePass<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        mut worker: Option<&mut P::Worker>,
    ) {
        if self.waiting.hold(record) {
            return;
        }
        if let Some(ended) = self.waiting.end(record) {
            for sample in &ended.samples {
                self.apply(&sample.record, ended.user_of(sample), pass, batch, worker.as_deref_mut());
            }
        }
        self.apply(record, None, pass, batch, worker);
    }

    /// Applies a record and passes it on; notes its fault. `deferred` is the part of its call chain that came later.
    fn apply<P: SamplePass<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        deferred: Option<&[u64]>,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        worker: Option<&mut P::Worker>,
    ) {
        let passed = if record.kind() == RecordType::SAMPLE {
            self.apply_sample(record, deferred, pass, batch, worker)
        } else {
            self.apply_other(record, pass, batch, worker)
        };
        if let Err(error) = passed {
            batch.add_fault();
            self.records.account_mut().note(error);
        }
    }

    fn apply_other<P: SamplePass<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        worker: Option<&mut P::Worker>,
    ) -> Result<(), FileError> {
        let Self { records, filter, session, is_stream, .. } = self;
        session.update(record)?;
        let first = batch.notes.notes.len();
        let context = WalkContext { events: records.events(), features: records.features(), filter };
        let passed = pass.other(record, session, &context, &mut RecordNotes(&mut batch.notes));
        let notes = batch.notes.notes.get_mut(first..).unwrap_or_default();
        // The session knows no other record of the perf tool.
        let is_known = !record.kind().is_user() || record.kind() == RecordType::HEADER_BUILD_ID;
        if let Some(worker) = worker {
            notes.iter_mut().for_each(|note| worker.other(record, session, note));
            batch.count_record(record, *is_stream);
        } else if is_known || !notes.is_empty() {
            batch.add(record, None, first, 0, *is_stream);
        }
        passed
    }

    fn apply_sample<P: SamplePass<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        deferred: Option<&[u64]>,
        pass: &mut P,
        batch: &mut BatchOf<'a, P>,
        worker: Option<&mut P::Worker>,
    ) -> Result<(), FileError> {
        let Self { records, filter, session, symbols, periods, is_stream, .. } = self;
        let Some((at, event)) = session.update_at(record)?.zip(record.event()) else { return Ok(()) };
        let (first, noted) = (batch.notes.notes.len(), records.account().faults());
        let context = WalkContext { events: records.events(), features: records.features(), filter };
        let mut notes = RecordNotes(&mut batch.notes);
        pass.before(&at, &mut notes);
        let mut pass_one = |counted: &CountedSample<'_>| {
            if !filter.counts(&at, counted.event) {
                return Ok(());
            }
            if !filter.wants(&at, symbols) {
                return pass.unselected(&at, counted, &mut notes);
            }
            pass.sample(&at, counted, &context, &mut notes)
        };
        let passed = if P::TAKES_GROUPS {
            let period = at.sample().period().unwrap_or(event.attr.sample_period);
            pass_one(&CountedSample { event, period, deferred })
        } else {
            periods.of(&at, records.events()).and_then(|mut periods| {
                periods.try_for_each(|(event, period)| pass_one(&CountedSample { event, period, deferred }))
            })
        };
        let Some(worker) = worker else {
            batch.add(record, deferred, first, noted, *is_stream);
            return passed;
        };
        batch.count_record(record, *is_stream);
        batch.notes.unwinds = false;
        let stack = SampleStack { deferred, unwound: None };
        let notes = batch.notes.notes.get_mut(first..).unwrap_or_default();
        passed.and(notes.iter_mut().try_for_each(|note| worker.sample(&at, &stack, note)))
    }

    /// Ends the walk.
    pub(super) fn end(self) -> WalkEnd<'a> {
        let Self { mut records, session, waiting, .. } = self;
        if let Some(fault) = waiting.fault() {
            records.account_mut().note(fault);
        }
        WalkEnd { records, session, omitted: waiting.omitted() }
    }
}

/// What is known at the end of a walk over a capture.
#[derive(Debug)]
pub struct WalkEnd<'a> {
    records: OrderedRecords<'a>,
    session: Session,
    omitted: u64,
}

impl<'a> WalkEnd<'a> {
    /// Returns the account of all records.
    #[must_use]
    pub fn account(&self) -> &Account {
        self.records.account()
    }

    /// Returns the state after the last record.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns all events of the capture.
    #[must_use]
    pub fn events(&self) -> &Events {
        self.records.events()
    }

    /// Returns all features of the capture.
    #[must_use]
    pub fn features(&self) -> &Features<'a> {
        self.records.features()
    }

    /// Returns the number of samples without the user part of their call chain, because too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }
}
