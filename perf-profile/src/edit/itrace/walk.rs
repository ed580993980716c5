//! The samples of all AUX areas, before the records of the capture that are later.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use perf_aux::trace::AuxTrace;
use perf_parse::EventRecord;

use super::TraceAccount;
use super::area::time;
use super::pt_tracer::PtTracer;
use super::sample_writer::SampleWriter;
use super::spe_tracer::SpeTracer;
use super::threads::Threads;

/// Number of bytes of samples after which they are written.
const AT_ONCE: usize = 1 << 18;

/// A walk over the AUX areas of a capture, in step with one over its records.
pub(super) struct TraceWalk<'r, 'a> {
    trace: &'r AuxTrace,
    tracer: Tracer<'r, 'a>,
    is_timed: bool,
    /// The latest time of each area so far, in ticks.
    ticks: Vec<u64>,
    /// The areas by the ticks of their next items.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    threads: Threads,
    /// Index of the next area of a capture without times, and whether the area was begun.
    next: (usize, bool),
    writer: SampleWriter,
}

/// The decoders of all areas. An item is what samples are made of: a record of Arm SPE, or an event of Intel PT.
pub(super) enum Tracer<'r, 'a> {
    Spe(SpeTracer<'r, 'a>),
    Pt(PtTracer<'r, 'a>),
}

impl Tracer<'_, '_> {
    fn areas(&self) -> usize {
        match self {
            Self::Spe(spe) => spe.areas(),
            Self::Pt(pt) => pt.areas(),
        }
    }

    /// Goes on to the next item of an area, and returns its ticks, or `Some(None)` for an item that belongs to the one before it;
    /// `None` at the end.
    fn advance(&mut self, area: usize) -> Option<Option<u64>> {
        match self {
            Self::Spe(spe) => spe.advance(area),
            Self::Pt(pt) => pt.advance(area),
        }
    }

    /// Finds the thread that the next samples of an area are of.
    fn find_owner(&mut self, area: usize, threads: &Threads) {
        match self {
            Self::Spe(spe) => spe.find_owner(area, threads),
            Self::Pt(pt) => pt.find_owner(area, threads),
        }
    }

    /// Makes the samples of the item of an area.
    fn make(&mut self, area: usize, threads: &mut Threads, writer: &mut SampleWriter, out: &mut Vec<u8>) {
        match self {
            Self::Spe(spe) => spe.make(area, threads, writer, out),
            Self::Pt(pt) => pt.make(area, writer, out),
        }
    }

    /// Takes a record of the capture, which may put a thread on a CPU.
    fn take(
        &mut self,
        record: &EventRecord<'_>,
        threads: &mut Threads,
        writer: &SampleWriter,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Spe(spe) => spe.take(record, threads),
            Self::Pt(pt) => pt.take(record, threads, writer, out),
        }
    }

    fn add_to(&self, account: &mut TraceAccount) {
        match self {
            Self::Spe(spe) => spe.add_to(account),
            Self::Pt(pt) => pt.add_to(account),
        }
    }
}

impl<'r, 'a> TraceWalk<'r, 'a> {
    pub(super) fn new(
        trace: &'r AuxTrace,
        mut tracer: Tracer<'r, 'a>,
        is_timed: bool,
        writer: SampleWriter,
    ) -> Self {
        let mut ticks = vec![0; tracer.areas()];
        let mut waiting = BinaryHeap::new();
        for (area, ticks) in ticks.iter_mut().enumerate().filter(|_| is_timed) {
            // perf makes no samples of the items before the first one with a time.
            while let Some(first) = tracer.advance(area) {
                if let Some(first) = first {
                    *ticks = first;
                    waiting.push(Reverse((first, area)));
                    break;
                }
            }
        }
        let (threads, next) = (Threads::default(), (0, false));
        Self { trace, tracer, is_timed, ticks, waiting, threads, next, writer }
    }

    /// Makes the samples that are earlier than a record, or all that are left at the end; returns whether there are more.
    pub(super) fn before(&mut self, record: Option<&EventRecord<'_>>, out: &mut Vec<u8>) -> bool {
        let is_timed = self.is_timed;
        let has_more = match record {
            Some(record) => {
                let time = record.time().filter(|&time| is_timed && time != 0 && time != u64::MAX);
                time.is_some_and(|time| self.until(Some(time), out))
            }
            None if is_timed => self.until(None, out),
            None => self.without_times(out),
        };
        if let Some(record) = record.filter(|_| !has_more) {
            self.threads.update(record);
            self.tracer.take(record, &mut self.threads, &self.writer, out);
        }
        has_more
    }

    /// Returns what was decoded so far.
    pub(super) fn account(&self) -> TraceAccount {
        let mut account = TraceAccount::of_areas(self.trace.account());
        account.samples = self.writer.samples;
        self.tracer.add_to(&mut account);
        account
    }

    /// Makes the samples of items that are earlier than `end`.
    ///
    /// perf: `arm_spe_process_queues`, `intel_pt_process_queues`.
    fn until(&mut self, end: Option<u64>, out: &mut Vec<u8>) -> bool {
        let is_earlier = |trace: &AuxTrace, ticks| end.is_none_or(|end| time(trace, ticks) < end);
        while let Some(&Reverse((ticks, area))) = self.waiting.peek() {
            if !is_earlier(self.trace, ticks) {
                return false;
            }
            self.waiting.pop();
            self.tracer.find_owner(area, &self.threads);
            let next = self.waiting.peek().map(|&Reverse((ticks, _))| ticks);
            loop {
                self.make(area, out);
                let Some(advanced) = self.tracer.advance(area) else { break };
                // An item without a time belongs to the one before it.
                if advanced.is_none() && out.len() < AT_ONCE {
                    continue;
                }
                let Some(ticks) = self.ticks.get_mut(area) else { break };
                *ticks = advanced.map_or(*ticks, |advanced| advanced.max(*ticks));
                let ticks = *ticks;
                let is_next = next.is_none_or(|next| ticks <= next) && is_earlier(self.trace, ticks);
                if !is_next || out.len() >= AT_ONCE {
                    self.waiting.push(Reverse((ticks, area)));
                    break;
                }
            }
            if out.len() >= AT_ONCE {
                return true;
            }
        }
        false
    }

    /// Makes the samples of a capture without times, area by area.
    ///
    /// perf: `arm_spe_process_timeless_queues`, `intel_pt_process_timeless_queues`.
    fn without_times(&mut self, out: &mut Vec<u8>) -> bool {
        loop {
            let (area, is_begun) = self.next;
            if area >= self.tracer.areas() {
                return false;
            }
            if !is_begun {
                self.tracer.find_owner(area, &self.threads);
                // Of the first record of Arm SPE, which has no packets.
                self.make(area, out);
                self.next.1 = true;
            }
            while self.tracer.advance(area).is_some() {
                self.make(area, out);
                if out.len() >= AT_ONCE {
                    return true;
                }
            }
            self.next = (area.saturating_add(1), false);
        }
    }

    fn make(&mut self, area: usize, out: &mut Vec<u8>) {
        self.tracer.make(area, &mut self.threads, &mut self.writer, out);
    }
}
