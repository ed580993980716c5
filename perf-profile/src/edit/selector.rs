//! The decisions about the samples of a capture, in its order.

use core::num::NonZero;
use core::ops::RangeInclusive;

use hashbrown::HashMap;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::EventRecord;
use perf_parse::Reader;
use perf_parse::event::{Events, RecordPosition};
use perf_parse::file::EventRecords;
use perf_parse::index::Chunk;
use perf_parse::rewrite::EditedRecord;
use perf_session::{Periods, Session};

use super::address_mover::AddressMover;
use super::call_chain;
use super::counter_base::CounterBase;
use super::edited_sample::edited_sample;
use super::unwinding::Unwinding;
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::selection::Selection;
use crate::selection::filter::SampleFilter;
use crate::symbols::Symbols;

/// Decides about each sample of a capture.
#[derive(Debug)]
pub(super) struct SampleSelector<'r> {
    filter: SampleFilter,
    /// The walk in order of time; `None` if a sample alone tells whether it is selected.
    in_time: Option<Box<TimeOrderWalk<'r>>>,
}

/// A walk in order of time, which is ahead of the questions.
#[derive(Debug)]
struct TimeOrderWalk<'r> {
    records: EventRecords<'r>,
    session: Session,
    symbols: Symbols,
    periods: Periods,
    counters: CounterBase,
    /// The number of selected samples of each event.
    selected: HashMap<usize, u64>,
    one_in: u64,
    unwinds: bool,
    /// Unwinds the stacks of many samples at a time, if no addresses are moved: how, changes with each mapping.
    unwinding: Option<Unwinding<'r>>,
    /// Moves addresses.
    mover: Option<AddressMover>,
    /// The number of samples that may still be kept.
    room: u64,
    /// The decisions that are not asked for yet.
    decided: HashMap<RecordPosition, EditedRecord>,
}

impl<'r> SampleSelector<'r> {
    pub(super) fn new(
        reader: &'r Reader<'_>,
        selection: Selection,
        symbols: Symbols,
        (one_in, limit): (Option<NonZero<u64>>, Option<u64>),
        unwinding_threads: Option<NonZero<usize>>,
        mover: Option<AddressMover>,
    ) -> Result<Self, ProfileError> {
        let unwinds = unwinding_threads.is_some();
        let unwinding = unwinding_threads
            .filter(|_| mover.is_none())
            .map(|threads| Unwinding::new(&symbols, threads, !reader.can_walk_again()));
        let names_things = !selection.comms.is_empty()
            || !selection.dsos.is_empty()
            || !selection.symbols.is_empty()
            || selection.no_idle;
        let filter = SampleFilter::new(selection, reader.into(), || Some(reader.records()))?;
        let reads = |events: &Events| events.iter().any(|it| it.attr.sample_type.contains(SampleType::READ));
        let reads = if CaptureInfo::from(reader).is_complete() {
            reads(reader.events())
        } else {
            // A pipe may have more events later.
            let mut records = reader.records();
            records.by_ref().for_each(drop);
            reads(records.events())
        };
        let needs_walk =
            mover.is_some() || unwinds || names_things || reads || one_in.is_some() || limit.is_some();
        let in_time = needs_walk.then(|| {
            let records = reader.records().in_time_order();
            let mut session = Session::new();
            session.add_features(records.features());
            Box::new(TimeOrderWalk {
                records,
                session,
                symbols,
                periods: Periods::default(),
                counters: CounterBase::default(),
                selected: HashMap::new(),
                one_in: one_in.map_or(1, NonZero::get),
                unwinds,
                unwinding,
                mover,
                room: limit.unwrap_or(u64::MAX),
                decided: HashMap::new(),
            })
        });
        Ok(Self { filter, in_time })
    }

    /// Returns the times from the first selected one to the last; `None` for all.
    pub(super) fn times(&self) -> Option<RangeInclusive<u64>> {
        self.filter.times()
    }

    /// Returns which parts of the capture may have selected samples; `None` if the walk in order of time needs all.
    pub(super) fn needed_parts(&self) -> Option<impl Fn(&Chunk<'_>) -> bool + use<>> {
        let spans = self.filter.spans().clone();
        self.in_time.is_none().then_some(move |part: &Chunk<'_>| spans.may_be_in(part))
    }

    /// Returns whether the walk decides about records that are not samples, too.
    pub(super) fn moves_addresses(&self) -> bool {
        self.in_time.as_ref().is_some_and(|walk| walk.mover.is_some())
    }

    /// Returns what becomes of a sample, or of another record of the kernel if [addresses are moved](Self::moves_addresses);
    /// `None` for one of an unknown event, and for one that the walk in order of time does not
    /// return.
    pub(super) fn decide(&mut self, record: &EventRecord<'_>) -> Option<EditedRecord> {
        let Self { filter, in_time } = self;
        match in_time {
            Some(walk) => walk.decide(record.position(), filter),
            None => {
                let is_selected = filter.selects(&record.sample()?, record.event()?);
                Some(if is_selected { EditedRecord::Kept } else { EditedRecord::LeftOut })
            }
        }
    }
}

impl<'r> TimeOrderWalk<'r> {
    /// Walks on until the sample at a place is decided.
    fn decide(&mut self, place: RecordPosition, filter: &SampleFilter) -> Option<EditedRecord> {
        loop {
            if let Some(decided) = self.decided.remove(&place) {
                return Some(decided);
            }
            if self.unwinding.is_some() {
                self.walk_for_threads(filter)?;
                continue;
            }
            // The walk of the edit reports faults.
            let Ok(record) = self.records.next()? else { continue };
            self.pass(&record, filter);
        }
    }

    /// Walks over as many records as the threads that unwind stacks take, and decides about their samples. `None` after the last
    /// record.
    fn walk_for_threads(&mut self, filter: &SampleFilter) -> Option<()> {
        let mut has_more = false;
        while self.unwinding.as_mut().is_some_and(|it| it.has_room(&self.session)) {
            let Some(record) = self.records.next() else { break };
            has_more = true;
            let Ok(record) = record else { continue };
            self.pass(&record, filter);
        }
        let Self { unwinding, session, decided, .. } = self;
        if let Some(unwinding) = unwinding {
            unwinding.finish(session, |place, edited| {
                decided.insert(place, edited);
            });
        }
        has_more.then_some(())
    }

    fn pass(&mut self, record: &EventRecord<'r>, filter: &SampleFilter) {
        let Self { records, session, symbols, periods, counters, selected, unwinding, mover, .. } = self;
        if let Some(mover) = mover.as_mut().filter(|_| record.kind() != RecordType::SAMPLE) {
            let Ok(changes) = session.update_changes(record) else { return };
            changes.for_each(|change| mover.note(&change));
            if !record.kind().is_user() {
                self.decided.insert(record.position(), mover.record(session, record));
            }
            return;
        }
        if let Some(unwinding) = unwinding.as_mut().filter(|_| record.kind() != RecordType::SAMPLE) {
            if session.update(record).is_ok() {
                unwinding.push(record, None);
            }
            return;
        }
        let Ok(Some(at)) = session.update_at(record) else { return };
        let Some(event) = record.event() else { return };
        // All of them, as each step takes over the value of a counter.
        let counted = periods.of(&at, records.events());
        let counted = counted.map_or(0, |all| all.filter(|(event, _)| filter.counts(&at, event)).count());
        let mut is_kept = counted > 0 && filter.wants(&at, symbols);
        if is_kept {
            let before = selected.entry(event.index).or_insert(0);
            is_kept = before.is_multiple_of(self.one_in) && self.room > 0;
            *before = before.saturating_add(1);
        }
        self.room = self.room.saturating_sub(u64::from(is_kept));
        let shifts = counters.pass(&at, is_kept);
        if let Some(unwinding) = unwinding {
            if !is_kept {
                self.decided.insert(record.position(), EditedRecord::LeftOut);
            }
            unwinding.push(record, is_kept.then_some(shifts));
            return;
        }
        let decided = if is_kept {
            let chain = if self.unwinds { call_chain::of(&at, symbols) } else { None };
            let changed = edited_sample(&at, shifts.as_deref(), chain.as_deref(), mover.as_ref());
            // What cannot be encoded would keep its addresses.
            let unchanged = if mover.is_some() { EditedRecord::LeftOut } else { EditedRecord::Kept };
            changed.map_or(unchanged, EditedRecord::Replaced)
        } else {
            EditedRecord::LeftOut
        };
        self.decided.insert(record.position(), decided);
    }
}
