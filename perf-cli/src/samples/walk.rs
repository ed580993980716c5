//! A walk over the samples of a capture, one record at a time.

use perf_abi::record::RecordType;
use perf_parse::EventRecord;
#[cfg(feature = "parquet")]
use perf_parse::event::Events;
use perf_parse::feature::Features;
use perf_parse::file::{Account, DeferredSamples, EventRecords, Reader};
use perf_profile::Symbols;
use perf_session::{Periods, Session};

use super::{Counted, Filter, Visit, Visited};
use crate::output::{Diagnostics, say};
use crate::progress::Progress;
use crate::{Failure, Outcome, advice};

/// A walk over the records of a capture in time order, and what is known up to the last one.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    records: EventRecords<'a>,
    filter: Filter<'a>,
    session: Session,
    names: Symbols,
    /// Samples whose user part comes later.
    waiting: DeferredSamples<'a>,
    periods: Periods,
    progress: Progress,
    /// What ended the walk before its end.
    failure: Option<Failure>,
}

/// What a step of a walk that fills blocks did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Whether there may be more.
    pub(crate) may_be_more: bool,
    /// Whether a fault was noted.
    pub(crate) has_fault: bool,
}

impl<'a> Walk<'a> {
    /// `records` are in time order.
    pub(super) fn new(
        mut records: EventRecords<'a>,
        reader: &'a Reader<'_>,
        filter: Filter<'a>,
        names: Symbols,
        progress: Progress,
    ) -> Self {
        records.check_features();
        let mut session = Session::new();
        session.add_features(records.features());
        let waiting = DeferredSamples::within(reader.limits());
        Self {
            records,
            filter,
            session,
            names,
            waiting,
            periods: Periods::default(),
            progress,
            failure: None,
        }
    }

    /// Returns what is known up to the last record.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn account(&self) -> &Account {
        self.records.account()
    }

    /// Returns the account, to take what was noted, or to add what a visitor found later.
    pub(crate) fn account_mut(&mut self) -> &mut Account {
        self.records.account_mut()
    }

    /// Passes the next record to `visitor`, and with it the samples that waited for it. Notes their faults. Returns whether
    /// there may be more.
    ///
    /// # Errors
    ///
    /// Those of the visitor.
    pub(crate) fn step<V: Visit<'a>>(&mut self, visitor: &mut V) -> Result<bool, Failure> {
        let Some(record) = self.records.next() else {
            for sample in self.waiting.take_all() {
                self.push(&sample.record, None, visitor)?;
            }
            return Ok(false);
        };
        // The account has the error already.
        let Ok(record) = record else { return Ok(true) };
        self.progress.at(self.records.reached().offset);
        if self.waiting.hold(&record) {
            return Ok(true);
        }
        if let Some(ended) = self.waiting.end(&record) {
            for sample in &ended.samples {
                self.push(&sample.record, ended.user_of(sample), visitor)?;
            }
        }
        self.push(&record, None, visitor)?;
        Ok(true)
    }

    /// Does what [`step`](Self::step) does, for a visitor that fills a block. If it fails, the walk ends: see
    /// [`ended`](Self::ended).
    pub(crate) fn step_of_block<V: Visit<'a>>(&mut self, visitor: &mut V) -> Step {
        let faults = self.account().faults();
        let may_be_more = self.step(visitor).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            false
        });
        Step { may_be_more, has_fault: self.account().faults() > faults }
    }

    /// Returns the walk after its last step.
    ///
    /// # Errors
    ///
    /// What a [step](Self::step_of_block) failed with.
    pub(crate) fn ended(mut self) -> Result<Self, Failure> {
        self.failure.take().map_or(Ok(self), Err)
    }

    /// Ends the walk. `diagnostics` has printed the faults of the account so far.
    pub(crate) fn end(self, diagnostics: Diagnostics) -> Walked<'a> {
        let Self { mut records, session, names, waiting, .. } = self;
        if let Some(fault) = waiting.fault() {
            records.account_mut().note(fault);
        }
        Walked { records, session, names, omitted: waiting.omitted(), diagnostics }
    }

    /// Applies a record and passes it on; notes its fault. `user` is the part of its call chain that came later.
    fn push<V: Visit<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        user: Option<&[u64]>,
        visitor: &mut V,
    ) -> Result<(), Failure> {
        if let Err(error) = self.pass(record, user, visitor)? {
            self.records.account_mut().note(error);
        }
        Ok(())
    }

    fn pass<V: Visit<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        user: Option<&[u64]>,
        visitor: &mut V,
    ) -> Visited {
        if record.kind() == RecordType::SAMPLE {
            return self.pass_sample(record, user, visitor);
        }
        if let Err(error) = self.session.update(record) {
            return Ok(Err(error));
        }
        visitor.other(record, &self.session, &self.filter, &self.records)
    }

    fn pass_sample<V: Visit<'a>>(
        &mut self,
        record: &EventRecord<'a>,
        user: Option<&[u64]>,
        visitor: &mut V,
    ) -> Visited {
        let Self { filter, session, names, periods, records, .. } = self;
        let at = match session.update_at(record) {
            Ok(at) => at,
            Err(error) => return Ok(Err(error)),
        };
        let Some((at, event)) = at.zip(record.event()) else { return Ok(Ok(())) };
        visitor.before(&at, record);
        let mut pass = |sample: &Counted<'_>| {
            if !filter.counts(&at, sample.event) {
                return Ok(Ok(()));
            }
            if !filter.wants(&at, names) {
                return visitor.filtered(&at, sample, names);
            }
            visitor.sample(&at, sample, names, records)
        };
        if V::TAKES_GROUPS {
            let period = at.sample().period().unwrap_or(event.attr.sample_period);
            return pass(&Counted { event, period, user });
        }
        let periods = match periods.of(&at, records.events()) {
            Ok(periods) => periods,
            Err(error) => return Ok(Err(error)),
        };
        for (event, period) in periods {
            if let Err(error) = pass(&Counted { event, period, user })? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}

/// What is left at the end of a walk.
#[derive(Debug)]
pub(crate) struct Walked<'a> {
    records: EventRecords<'a>,
    /// The state after the last record.
    pub(crate) session: Session,
    pub(crate) names: Symbols,
    /// The number of samples that did not wait for the user part of their call chain.
    omitted: u64,
    diagnostics: Diagnostics,
}

impl Walked<'_> {
    pub(crate) fn account(&self) -> &Account {
        self.records.account()
    }

    /// Returns all events of the capture.
    #[cfg(feature = "parquet")]
    pub(crate) fn events(&self) -> &Events {
        self.records.events()
    }

    /// Returns all features of the capture.
    pub(crate) fn features(&self) -> &Features<'_> {
        self.records.features()
    }

    /// Reports what could not be decoded. `done` is what the verb did with the samples: printed, counted.
    pub(crate) fn finish(self, done: &str) -> Outcome {
        let Self { records, omitted, mut diagnostics, .. } = self;
        if omitted > 0 {
            say!(
                "perfdata: samples {done} without the user part of their call chain, because too many waited for it: {omitted}"
            );
        }
        let account = records.account();
        diagnostics.report_all(account);
        if account.is_clean() {
            return Outcome::Clean;
        }
        let (walked, faults, skipped) = (account.records, account.faults(), account.bytes_skipped);
        say!(
            "perfdata: records read: {walked}, faults: {faults}, bytes skipped: {skipped}{}",
            advice(account)
        );
        Outcome::Partial
    }
}
