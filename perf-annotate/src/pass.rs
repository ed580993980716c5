//! The addresses of samples, counted.

use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use perf_abi::record::RecordType;
use perf_parse::event::Event;
use perf_parse::record::Record;
use perf_parse::{EventRecord, FileError};
use perf_profile::branches::branch_stack;
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::symbols::recorded_frame;
use perf_profile::{FrameTable, ProfileError, SampleTotal, Symbols};
use perf_session::{Dso, DsoKind, Mapping, SampleContext, Session};

use crate::branches::BranchCounts;
use crate::code::{TextPokes, jitdump_of};
use crate::options::AnnotateLimits;

/// Counts the samples of each address.
#[derive(Debug)]
pub(crate) struct AddressPass {
    pub(crate) symbols: Symbols,
    pub(crate) limits: AnnotateLimits,
    pub(crate) counts: AddressCounts,
}

/// Counts of a capture.
#[derive(Debug, Default)]
pub(crate) struct AddressCounts {
    pub(crate) events: Vec<Arc<Event>>,
    /// The index in `events` of each event of the capture, by its index there.
    numbers: Vec<Option<usize>>,
    pub(crate) frames: FrameTable,
    /// By event and number of the address.
    pub(crate) totals: HashMap<(usize, u32), SampleTotal>,
    /// All samples, by event.
    pub(crate) all: Vec<SampleTotal>,
    /// Those beyond the limit, by event.
    pub(crate) beyond: Vec<SampleTotal>,
    /// The time of the last sample at an address, by its number; `None` without one, and of generated code if it is not of the
    /// clock of jitdumps.
    pub(crate) last: Vec<Option<u64>>,
    /// The files with generated code, by the address of the DSO of the code, which the frames keep alive.
    pub(crate) jitdumps: HashMap<usize, Arc<Dso>>,
    pub(crate) pokes: TextPokes,
    pub(crate) branches: BranchCounts,
}

impl AddressCounts {
    /// Returns the index of an event.
    fn event(&mut self, event: &Arc<Event>) -> usize {
        let next = self.events.len();
        if self.numbers.len() <= event.index {
            self.numbers.resize(event.index + 1, None);
        }
        let number = self.numbers.get_mut(event.index).map_or(next, |it| *it.get_or_insert(next));
        if number == next {
            self.events.push(Arc::clone(event));
            self.all.push(SampleTotal::default());
            self.beyond.push(SampleTotal::default());
        }
        number
    }

    /// Returns the indexes of the events that have samples among `totals`, those with most samples in the capture first. The totals of
    /// rows are in this order.
    pub(crate) fn event_order(&self, totals: &[SampleTotal]) -> Vec<usize> {
        let all = |index: usize| self.all.get(index).map_or(0, |total| total.samples);
        let has_samples = |&index: &usize| totals.get(index).is_some_and(|it| it.samples > 0);
        let mut order: Vec<_> = (0..self.events.len()).filter(has_samples).collect();
        order.sort_by_key(|&index| (core::cmp::Reverse(all(index)), index));
        order
    }

    /// Counts samples; of an address beyond the limit, which has no number, only their sum.
    fn count(&mut self, event: usize, frame: Option<u32>, time: Option<u64>, total: SampleTotal) {
        if let Some(all) = self.all.get_mut(event) {
            all.add(total);
        }
        let Some(frame) = frame else {
            if let Some(beyond) = self.beyond.get_mut(event) {
                beyond.add(total);
            }
            return;
        };
        self.totals.entry((event, frame)).or_default().add(total);
        let frame = frame as usize;
        if self.last.len() <= frame {
            self.last.resize(frame + 1, None);
        }
        if let Some(last) = self.last.get_mut(frame) {
            *last = time.or(*last);
        }
    }

    /// Notes the jitdump of the process that has generated the code of a mapping.
    fn note_jitdump(&mut self, at: &SampleContext<'_, '_>, mapping: &Mapping) {
        if let Entry::Vacant(entry) = self.jitdumps.entry(Arc::as_ptr(mapping.dso()).addr())
            && let Some(marker) = jitdump_of(at)
        {
            entry.insert(Arc::clone(marker));
        }
    }
}

impl<'r> SamplePass<'r> for AddressPass {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let Self { symbols, limits, counts } = self;
        let frame = recorded_frame(symbols.own_frame(at));
        let number = counts.frames.number(at, &frame, symbols.symbolizer_mut(), limits.addresses);
        let mapping = frame.frame.mapping;
        let is_generated = mapping.is_some_and(|mapping| mapping.dso().kind() == DsoKind::Memory);
        if let Some(mapping) = mapping.filter(|_| is_generated) {
            counts.note_jitdump(at, mapping);
        }
        let event = counts.event(counted.event);
        let total = SampleTotal { samples: 1, period: counted.period };
        let time = at.sample().time().filter(|_| counted.event.attr.has_monotonic_times() || !is_generated);
        counts.count(event, number, time, total);
        if let Some(stack) = branch_stack(at)? {
            counts.branches.add(at, &stack, limits.branches);
        }
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        _: &Session,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        if record.kind() == RecordType::TEXT_POKE
            && let Record::TextPoke(poke) = record.decode()?
        {
            self.counts.pokes.add(&poke, record.time(), self.limits.text_pokes);
        }
        Ok(())
    }
}
