//! The time that threads spend off the CPU, by the state and the stack in which they left it.

mod scheduler;
mod state;
mod tally;

use alloc::borrow::Cow;
use alloc::sync::Arc;

use hashbrown::{HashMap, HashSet};
use perf_abi::attr::AttrFlags;
use perf_abi::event::{EventType, SwId};
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::file::Reader;
use perf_parse::tracepoint::{Tracepoints, TracingData};
use perf_parse::{EventRecord, Record};
use perf_profile::tracepoints::tracing_data;
use perf_session::At;

use crate::Failure;
use crate::args::only::OnlyArgs;
use crate::output::say;
use crate::tid_field::TidField;
pub(crate) use scheduler::SchedulerFrames;
pub(crate) use state::Wait;
use state::{State, StateReader};
use tally::Tally;

/// The name of the event whose periods are the times for which threads were blocked.
pub(crate) const NAME: &str = "off-cpu";

/// Follows threads off the CPU and back.
///
/// A thread leaves the CPU with a sample of the tracepoint `sched:sched_switch`, whose stack and state are exact. Captures
/// without this tracepoint may have SWITCH records (`--switch-events`); then the stack is that of the thread's last sample
/// before, and one bit tells whether the thread was preempted, which Linux sets from version 4.17 on. A thread is back with a
/// `sched_switch` that names it as the next one, or with a SWITCH record. `T` is what is kept of the sample.
#[derive(Debug)]
pub(crate) struct OffCpu<'a, T> {
    /// By the kind of wait.
    events: [Arc<Event>; 3],
    /// The only kind that is counted, if one is selected.
    only: Option<Wait>,
    tracepoint: Option<Switches<'a>>,
    /// By the id of the thread.
    away: HashMap<i32, Away<T>>,
    /// The last sample of each thread. Empty if stacks come with the tracepoint.
    last: HashMap<i32, T>,
    /// The threads that have samples, selected or not. Empty if stacks come with the tracepoint.
    sampled: HashSet<i32>,
    /// The threads that ended, and leave the CPU once more.
    ended: HashSet<i32>,
    /// Number of times that threads left the CPU before their first sample.
    without_sample: u64,
    tally: Tally,
    /// Whether any thread came back.
    has_returns: bool,
}

/// The tracepoint `sched:sched_switch`.
#[derive(Debug)]
struct Switches<'a> {
    /// The thread that is next.
    next: TidField<'a>,
    /// `None` if the capture does not tell the states.
    states: Option<StateReader<'a>>,
}

/// A thread that is off the CPU.
#[derive(Clone, Debug)]
struct Away<T> {
    since: u64,
    wait: Wait,
    /// The letters of its state, or what the SWITCH record tells.
    state: Box<str>,
    before: T,
}

/// What a thread did before it was off the CPU, why it was, when it came back, and the nanoseconds in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Back<T> {
    pub(crate) tid: i32,
    pub(crate) wait: Wait,
    pub(crate) before: T,
    pub(crate) time: u64,
    pub(crate) away: u64,
}

impl<'a, T: Copy> OffCpu<'a, T> {
    /// Counts one kind of wait, or all of them.
    ///
    /// # Errors
    ///
    /// If the capture does not tell when threads switch.
    pub(crate) fn new(reader: &'a Reader<'_>, only: Option<Wait>) -> Result<Self, Failure> {
        let traced = TidField::find(reader, &[(b"sched_switch", b"next_pid")]);
        let events = reader.events();
        let traced = traced.and_then(|(event, next)| {
            Some((events.get(event)?, Some(Switches { next, states: states(reader) })))
        });
        let recorded = || {
            let recorded = events.iter().find(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
            recorded.map(|event| (event, None))
        };
        let Some((event, tracepoint)) = traced.or_else(recorded) else {
            let what = "the capture does not tell when threads are off the CPU; record with perfdata record --off-cpu, with \
                -a -e sched:sched_switch -g for exact stacks, or with --switch-events";
            return Err(Failure(format!("--off-cpu: {what}")));
        };
        let made = |number: usize| {
            let mut event = (**event).clone();
            event.index = events.len() + number;
            event.name = Wait::ALL.get(number).map(|wait| wait.event_name().into());
            event.update = None;
            event.ids = Vec::new();
            (event.attr.kind, event.attr.config) = (EventType::SOFTWARE, SwId::TASK_CLOCK.0);
            event.attr.sample_type |= SampleType::PERIOD;
            Arc::new(event)
        };
        Ok(Self {
            events: core::array::from_fn(made),
            only,
            tracepoint,
            away: HashMap::new(),
            last: HashMap::new(),
            sampled: HashSet::new(),
            ended: HashSet::new(),
            without_sample: 0,
            tally: Tally::default(),
            has_returns: false,
        })
    }

    /// Returns the event that times of this kind are samples of.
    pub(crate) fn event(&self, wait: Wait) -> &Arc<Event> {
        let [blocked, runnable, stopped] = &self.events;
        match wait {
            Wait::Blocked => blocked,
            Wait::Runnable => runnable,
            Wait::Stopped => stopped,
        }
    }

    /// Takes any sample, selected or not. Returns the thread that came back with it.
    pub(crate) fn before(&mut self, at: &At<'_, '_>) -> Option<Back<T>> {
        let Some(tracepoint) = &self.tracepoint else {
            self.sampled.insert(at.thread().tid());
            return None;
        };
        let next = tracepoint.next.of(at)?;
        let time = at.sample().time()?;
        self.back(next, time)
    }

    /// Returns whether a sample is one of the tracepoint: its innermost frames are the scheduler's.
    pub(crate) fn is_switch(&self, at: &At<'_, '_>) -> bool {
        self.tracepoint.as_ref().is_some_and(|it| it.next.is_of(at))
    }

    /// Takes a selected sample, and what is kept of it.
    pub(crate) fn sample(&mut self, at: &At<'_, '_>, kept: T) {
        let tid = at.thread().tid();
        let is_switch = self.is_switch(at);
        let Some(tracepoint) = &mut self.tracepoint else {
            self.last.insert(tid, kept);
            return;
        };
        // The idle task is never away.
        let Some(since) = at.sample().time().filter(|_| is_switch && tid != 0) else { return };
        let raw = at.sample().tail().ok().and_then(|tail| tail.raw);
        let state = tracepoint.states.as_mut().zip(raw).and_then(|(states, raw)| states.of(raw));
        let state = state.unwrap_or_else(State::unknown);
        match state.wait {
            Some(wait) => {
                self.away.insert(tid, Away { since, wait, state: state.letters, before: kept });
            }
            // Its id may be that of another thread later.
            None => {
                self.away.remove(&tid);
            }
        }
    }

    /// Takes a record that is not a sample. Returns the thread that came back with it.
    pub(crate) fn other(&mut self, record: &EventRecord<'_>) -> Option<Back<T>> {
        match record.kind() {
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => {}
            RecordType::FORK | RecordType::EXIT => {
                match record.decode() {
                    Ok(Record::Fork(it)) => self.begins(it.tid),
                    Ok(Record::Exit(it)) => {
                        self.ended.insert(it.tid);
                    }
                    _ => {}
                }
                return None;
            }
            _ => return None,
        }
        let ((_, tid), time) = (record.pid_tid()?, record.time()?);
        let misc = record.misc();
        if !misc.contains(Misc::SWITCH_OUT) {
            return self.back(tid, time);
        }
        // The tracepoint has what is exact.
        if tid == 0 || self.tracepoint.is_some() || self.ended.remove(&tid) {
            return None;
        }
        let is_preempted = misc.contains(Misc::SWITCH_OUT_PREEMPT);
        let wait = if is_preempted { Wait::Runnable } else { Wait::Blocked };
        let state = if is_preempted { "preempted" } else { "not preempted" };
        match self.last.get(&tid) {
            Some(&before) => {
                self.away.insert(tid, Away { since: time, wait, state: state.into(), before });
            }
            None => self.without_sample += u64::from(!self.sampled.contains(&tid)),
        }
        None
    }

    /// Forgets the thread that had the id of a new one.
    fn begins(&mut self, tid: i32) {
        self.away.remove(&tid);
        self.last.remove(&tid);
        self.sampled.remove(&tid);
        self.ended.remove(&tid);
    }

    fn back(&mut self, tid: i32, time: u64) -> Option<Back<T>> {
        let Away { since, wait, state, before } = self.away.remove(&tid)?;
        self.has_returns = true;
        let away = time.saturating_sub(since);
        self.tally.add(wait, &state, away);
        self.only.is_none_or(|only| only == wait).then_some(Back { tid, wait, before, time, away })
    }

    /// Reports which states were counted as what, and what could not be counted.
    pub(crate) fn report(&self) {
        self.tally.report();
        let record = if self.has_returns { "" } else { "; record with -a, or add --switch-events" };
        let count = self.away.len();
        if count > 0 {
            say!(
                "perfdata: threads whose last wait is not counted, because the capture does not tell when it ended: {count}{record}"
            );
        }
        let count = self.without_sample;
        if count > 0 {
            say!(
                "perfdata: waits that are not counted, because their threads have no sample before them: {count}; record with \
                 sched:sched_switch, or with more samples"
            );
        }
    }
}

/// Returns the kind of wait that `--event` names, and the selection of samples without it.
pub(crate) fn selection(only: &OnlyArgs, is_off_cpu: bool) -> (Option<Wait>, Cow<'_, OnlyArgs>) {
    match only.event.as_deref().filter(|_| is_off_cpu).and_then(Wait::of_event) {
        None => (None, Cow::Borrowed(only)),
        wait => (wait, Cow::Owned(OnlyArgs { event: None, ..only.clone() })),
    }
}

/// Returns the name of the event that is shown first with `--off-cpu`: the one that `--event` names, or `off-cpu`. `None` without
/// the option.
pub(crate) fn first_event(only: &OnlyArgs, is_off_cpu: bool) -> Option<&'static str> {
    let (wait, _) = selection(only, is_off_cpu);
    is_off_cpu.then(|| wait.unwrap_or(Wait::Blocked).event_name())
}

/// Returns what reads the states of threads.
fn states<'a>(reader: &'a Reader<'_>) -> Option<StateReader<'a>> {
    let tracing = TracingData::parse(tracing_data(reader)).ok()?;
    let tracepoints = Tracepoints::new(&tracing);
    StateReader::new(tracepoints.find(b"sched", b"sched_switch")?, reader.endianness())
}
