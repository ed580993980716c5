//! The time that threads spend off the CPU, by the stack at which they left it.

use alloc::sync::Arc;

use hashbrown::HashMap;
use perf_abi::attr::AttrFlags;
use perf_abi::event::{EventType, SwId};
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::EventRecord;
use perf_parse::event::Event;
use perf_parse::file::Reader;
use perf_session::At;

use crate::Failure;
use crate::output::say;
use crate::tid_field::TidField;

/// The name of the event whose periods are the times off the CPU.
pub(crate) const NAME: &str = "off-cpu";

/// Follows threads off the CPU and back.
///
/// A thread leaves the CPU with a sample of the tracepoint `sched:sched_switch`, whose stack is exact. Captures without this
/// tracepoint may have SWITCH records (`--switch-events`); then the stack is that of the thread's last sample before. A
/// thread is back with a `sched_switch` that names it as the next one, or with a SWITCH record. `T` is what is kept of the
/// sample.
#[derive(Debug)]
pub(crate) struct OffCpu<'a, T> {
    event: Arc<Event>,
    /// The thread that is next in `sched:sched_switch`.
    tracepoint: Option<TidField<'a>>,
    /// By the id of the thread: since when, and what it did.
    away: HashMap<i32, (u64, T)>,
    /// The last sample of each thread. Empty if stacks come with the tracepoint.
    last: HashMap<i32, T>,
    /// Whether any thread came back.
    has_returns: bool,
}

/// What a thread did before it was off the CPU, when it came back, and the nanoseconds in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Back<T> {
    pub(crate) tid: i32,
    pub(crate) before: T,
    pub(crate) time: u64,
    pub(crate) away: u64,
}

impl<'a, T: Copy> OffCpu<'a, T> {
    /// # Errors
    ///
    /// If the capture does not tell when threads switch.
    pub(crate) fn new(reader: &'a Reader<'_>) -> Result<Self, Failure> {
        let traced = TidField::find(reader, &[(b"sched_switch", b"next_pid")]);
        let events = reader.events();
        let traced = traced.and_then(|(event, field)| Some((events.get(event)?, Some(field))));
        let recorded = || {
            let recorded = events.iter().find(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
            recorded.map(|event| (event, None))
        };
        let Some((event, tracepoint)) = traced.or_else(recorded) else {
            let what = "the capture does not tell when threads are off the CPU; record with --switch-events, or \
                with -a -e sched:sched_switch -g for exact stacks";
            return Err(Failure(format!("--off-cpu: {what}")));
        };
        let mut event = (**event).clone();
        event.index = events.len();
        event.name = Some(NAME.into());
        event.update = None;
        event.ids = Vec::new();
        (event.attr.kind, event.attr.config) = (EventType::SOFTWARE, SwId::TASK_CLOCK.0);
        event.attr.sample_type |= SampleType::PERIOD;
        Ok(Self {
            event: Arc::new(event),
            tracepoint,
            away: HashMap::new(),
            last: HashMap::new(),
            has_returns: false,
        })
    }

    /// Returns the event that times off the CPU are samples of.
    pub(crate) fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Takes any sample, selected or not. Returns the thread that came back with it.
    pub(crate) fn before(&mut self, at: &At<'_, '_>) -> Option<Back<T>> {
        let next = self.tracepoint.as_ref()?.of(at)?;
        let time = at.sample().time()?;
        self.back(next, time)
    }

    /// Takes a selected sample, and what is kept of it.
    pub(crate) fn sample(&mut self, at: &At<'_, '_>, kept: T) {
        let tid = at.thread().tid();
        let Some(tracepoint) = &self.tracepoint else {
            self.last.insert(tid, kept);
            return;
        };
        let is_switch = tracepoint.is_of(at);
        // The idle task is never away.
        if let Some(time) = at.sample().time().filter(|_| is_switch && tid != 0) {
            self.away.insert(tid, (time, kept));
        }
    }

    /// Takes a record that is not a sample. Returns the thread that came back with it.
    pub(crate) fn other(&mut self, record: &EventRecord<'_>) -> Option<Back<T>> {
        if !matches!(record.kind(), RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE) {
            return None;
        }
        let ((_, tid), time) = (record.pid_tid()?, record.time()?);
        if !record.misc().contains(Misc::SWITCH_OUT) {
            return self.back(tid, time);
        }
        if let Some(&kept) = self.last.get(&tid) {
            self.away.insert(tid, (time, kept));
        }
        None
    }

    fn back(&mut self, tid: i32, time: u64) -> Option<Back<T>> {
        let (since, before) = self.away.remove(&tid)?;
        self.has_returns = true;
        Some(Back { tid, before, time, away: time.saturating_sub(since) })
    }

    /// Reports how many threads did not come back.
    pub(crate) fn report_still_away(&self) {
        let count = self.away.len();
        if count > 0 {
            let record = if self.has_returns { "" } else { "; record with -a, or add --switch-events" };
            say!(
                "perfdata: threads whose last wait is not counted, because the capture does not tell when it ended: {count}{record}"
            );
        }
    }
}
