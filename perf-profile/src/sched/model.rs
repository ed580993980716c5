//! The runs, waits and wake-ups of threads.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;
use perf_abi::record::{Misc, RecordType};
use perf_parse::{EventRecord, Record};
use perf_session::SampleContext;

use super::event::{SchedEvent, SchedSample, WakeupKind};
use super::reader::SchedReader;
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::off_cpu::{ThreadState, WaitKind};

/// Follows threads from run to wait to run. `T` is what is kept of the samples with which a thread leaves the CPU, and is woken up,
/// such as their stacks.
///
/// It takes the samples and other records of a capture in order of time. Captures without `sched:sched_switch` may have SWITCH
/// records: then the state of a thread is only known to be preempted or not.
#[derive(Debug)]
pub struct SchedModel<'a, T> {
    reader: SchedReader<'a>,
    threads: HashMap<i32, ThreadPhase<T>>,
    cpus: BTreeMap<u32, CpuHistory>,
    changes: VecDeque<Change<T>>,
    /// The number of threads that had each id before.
    reused: HashMap<i32, u32>,
    /// The times of the EXIT records of threads that did not leave the CPU since.
    exited: HashMap<i32, u64>,
    dropped: u64,
    last: u64,
}

/// A thread: its id, and the number of threads that had this id before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    /// The thread id.
    pub tid: i32,
    /// The number of threads before it in the capture that had this id.
    pub reuse: u32,
}

/// A change that is known with a sample or another record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change<T> {
    /// A thread ran.
    Run(Run),
    /// A thread did not run.
    Wait(Wait<T>),
    /// A thread was woken up.
    Wakeup(Wakeup<T>),
}

/// A time for which a thread ran on a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// The thread.
    pub thread: ThreadId,
    /// The CPU; `None` if the records do not have it.
    pub cpu: Option<u32>,
    /// The start, in nanoseconds of the capture's clock.
    pub start: u64,
    /// The end.
    pub end: u64,
    /// The state in which it left the CPU; `None` if it ran until the end of the capture.
    pub state: Option<ThreadState>,
}

/// A time for which a thread did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait<T> {
    /// The thread.
    pub thread: ThreadId,
    /// The start, in nanoseconds of the capture's clock: the switch away from it, or its wake-up if the capture does not have the
    /// switch.
    pub start: u64,
    /// The end.
    pub end: u64,
    /// The state in which it left the CPU: `new` for a new thread.
    pub state: ThreadState,
    /// The kind of its time up to its wake-up.
    pub kind: WaitKind,
    /// What was kept of the sample with which it left the CPU.
    pub kept: Option<T>,
    /// What woke it up; `None` if it was preempted, or the capture does not tell.
    pub wakeup: Option<Wakeup<T>>,
    /// The CPU that it left.
    pub cpu_before: Option<u32>,
    /// The CPU on which it ran next; `None` if it did not, or if the records do not have it.
    pub cpu: Option<u32>,
    /// Whether it ran next. If not, the capture or the thread ended.
    pub is_finished: bool,
}

impl<T> Wait<T> {
    /// Returns the time at which it could run; `None` if it could not. A thread that was preempted can run at once.
    ///
    /// A thread that was woken up in a capture without wake-ups cannot be told from one that waited until it ran.
    #[must_use]
    pub fn ready(&self) -> Option<u64> {
        if self.kind == WaitKind::Runnable {
            return Some(self.start);
        }
        self.wakeup.as_ref().map(|wakeup| wakeup.time.clamp(self.start, self.end))
    }

    /// Returns the nanoseconds for which it could run.
    #[must_use]
    pub fn runnable(&self) -> u64 {
        self.ready().map_or(0, |ready| self.end - ready)
    }

    /// Returns the nanoseconds before it could run.
    #[must_use]
    pub fn before_ready(&self) -> u64 {
        self.ready().unwrap_or(self.end) - self.start
    }
}

/// A thread was woken up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakeup<T> {
    /// The thread that was woken up.
    pub thread: ThreadId,
    /// The time, in nanoseconds of the capture's clock.
    pub time: u64,
    /// The thread that woke it, or that an interrupt interrupted to do so; 0 is an idle thread.
    pub waker: ThreadId,
    /// The CPU of the waker.
    pub waker_cpu: u32,
    /// The CPU on which the thread should run.
    pub target_cpu: Option<u32>,
    /// Whether it is the first one of a new thread.
    pub is_new: bool,
    /// Whether it ends a wait. If not, the thread could run already.
    pub ends_wait: bool,
    /// What was kept of the sample.
    pub kept: T,
}

/// What a thread does.
#[derive(Clone, Debug)]
enum ThreadPhase<T> {
    Runs {
        cpu: Option<u32>,
        since: u64,
        /// The last wake-up since it runs. It counts if the thread sleeps at that moment.
        woken: Option<Wakeup<T>>,
    },
    Waits(Wait<T>),
}

/// The last runs on a CPU.
#[derive(Clone, Debug, Default)]
struct CpuHistory {
    current: Option<(ThreadId, u64)>,
    runs: VecDeque<(ThreadId, u64, u64)>,
}

/// The number of runs of a CPU that are kept. Threads that waited longer know what ran last.
const RUNS: usize = 256;

/// The most threads and CPUs. What concerns others is dropped, and counted.
const THREADS: usize = 1 << 20;
const CPUS: usize = 1 << 14;

/// The state of a thread whose capture has no state.
fn state(letters: &str, wait: Option<WaitKind>) -> ThreadState {
    ThreadState { wait, letters: letters.into() }
}

impl<'a, T: Clone> SchedModel<'a, T> {
    /// Knows no thread yet.
    ///
    /// # Errors
    ///
    /// [`ProfileError::SchedNotRecorded`] if the capture has neither `sched:sched_switch` nor SWITCH records.
    pub fn new(capture: impl Into<CaptureInfo<'a>>) -> Result<Self, ProfileError> {
        let info = capture.into();
        let reader = SchedReader::any(info);
        if !reader.has_switches(info) {
            return Err(ProfileError::SchedNotRecorded);
        }
        Ok(Self {
            reader,
            threads: HashMap::new(),
            cpus: BTreeMap::new(),
            changes: VecDeque::new(),
            reused: HashMap::new(),
            exited: HashMap::new(),
            dropped: 0,
            last: 0,
        })
    }

    /// Returns whether the capture has wake-ups. Without them, a thread that was woken up counts as blocked until it runs.
    #[must_use]
    pub fn has_wakeups(&self) -> bool {
        self.reader.has_wakeups()
    }

    /// Returns whether the capture has `sched:sched_switch`, and so the states of threads.
    #[must_use]
    pub fn has_states(&self) -> bool {
        self.reader.is_traced()
    }

    /// Returns the number of events that were dropped, because there are too many threads or CPUs.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the next change that the samples and records so far tell.
    pub fn next_change(&mut self) -> Option<Change<T>> {
        self.changes.pop_front()
    }

    /// Reads a sample, for [`sample`](Self::sample); `None` as [`SchedReader::read`].
    #[must_use]
    pub fn read<'r>(&self, at: &SampleContext<'_, 'r>) -> Option<SchedSample<'r>> {
        self.reader.read(at)
    }

    /// Takes a sample, what was [read](Self::read) of it, and what is kept of it, which is used of switches and wake-ups.
    pub fn sample(&mut self, at: &SampleContext<'_, '_>, sample: &SchedSample<'_>, kept: T) {
        self.last = self.last.max(sample.time);
        let cpu = Some(sample.cpu);
        match &sample.event {
            SchedEvent::Switch(switch) => {
                let state = self.reader.state(at).clone();
                self.leave(switch.prev_tid, sample.time, cpu, state, Some(kept));
                self.enter(switch.next_tid, sample.time, cpu);
            }
            SchedEvent::Wakeup(wakeup) => {
                let (thread, waker) = (self.id(wakeup.tid), self.id(sample.tid));
                self.wake(Wakeup {
                    thread,
                    time: sample.time,
                    waker,
                    waker_cpu: sample.cpu,
                    target_cpu: wakeup.target_cpu,
                    is_new: wakeup.kind == WakeupKind::New,
                    ends_wait: false,
                    kept,
                });
            }
            SchedEvent::Migration(_) | SchedEvent::Runtime(_) => {}
        }
    }

    /// Takes a record that is not a sample. Those that cannot be decoded are skipped.
    pub fn record(&mut self, record: &EventRecord<'_>) {
        match record.kind() {
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => {
                let Some(((_, tid), time)) = record.pid_tid().zip(record.time()) else { return };
                let cpu = record.cpu();
                self.last = self.last.max(time);
                self.switch_record(record.misc(), tid, time, cpu);
            }
            RecordType::FORK => {
                if let Ok(Record::Fork(it)) = record.decode()
                    && let Some(phase) = self.threads.remove(&it.tid)
                {
                    self.close(it.tid, phase, record.time().unwrap_or(self.last));
                    if self.reused.len() < THREADS || self.reused.contains_key(&it.tid) {
                        *self.reused.entry(it.tid).or_default() += 1;
                    }
                }
            }
            RecordType::EXIT => {
                if let Ok(Record::Exit(it)) = record.decode()
                    && self.threads.contains_key(&it.tid)
                {
                    self.exited.insert(it.tid, record.time().unwrap_or(self.last));
                }
            }
            _ => {}
        }
    }

    /// Ends all runs and waits at the last time of the capture.
    pub fn end(&mut self) {
        let mut threads: Vec<_> = self.threads.drain().collect();
        threads.sort_unstable_by_key(|(tid, _)| *tid);
        for (tid, phase) in threads {
            self.close(tid, phase, self.last);
        }
    }

    /// Ends what a thread does with its EXIT record, or at a time.
    fn close(&mut self, tid: i32, phase: ThreadPhase<T>, last: u64) {
        let thread = self.id(tid);
        let exited = self.exited.remove(&tid);
        let last = exited.unwrap_or(last);
        match phase {
            ThreadPhase::Runs { cpu, since, .. } => {
                let state = exited.map(|_| state("ended", None));
                self.changes.push_back(Change::Run(Run {
                    thread,
                    cpu,
                    start: since,
                    end: last.max(since),
                    state,
                }));
            }
            ThreadPhase::Waits(mut wait) => {
                wait.end = last.max(wait.start);
                // The thread never ran again, so a wake-up before the switch was not the one that counts.
                wait.wakeup = wait.wakeup.filter(|wakeup| wakeup.time >= wait.start);
                self.changes.push_back(Change::Wait(wait));
            }
        }
    }

    /// Takes a SWITCH record. Where the capture has the tracepoint, it has what that does not: the tracepoint of a single thread
    /// does not have the switches to it, nor each one away from it.
    fn switch_record(&mut self, misc: Misc, tid: i32, time: u64, cpu: Option<u32>) {
        let (is_traced, runs) = (self.reader.is_traced(), self.runs(tid));
        match () {
            () if !misc.contains(Misc::SWITCH_OUT) => {
                if !is_traced || !runs {
                    self.enter(tid, time, cpu);
                }
            }
            // The tracepoint comes before the record.
            () if is_traced && !runs => {}
            () if misc.contains(Misc::SWITCH_OUT_PREEMPT) => {
                self.leave(tid, time, cpu, state("preempted", Some(WaitKind::Runnable)), None);
            }
            () => self.leave(tid, time, cpu, state("not preempted", Some(WaitKind::Blocked)), None),
        }
    }

    /// Returns the threads that ran on a CPU in a time that ends now, the last first, each with its nanoseconds in this time. Long
    /// ago, the runs are no longer known.
    pub fn ran_on(&self, cpu: u32, from: u64, to: u64) -> impl Iterator<Item = (ThreadId, u64)> + '_ {
        let runs = self.cpus.get(&cpu).into_iter().flat_map(|history| history.runs.iter().rev());
        let within = move |&(thread, start, end): &(ThreadId, u64, u64)| {
            (thread, end.min(to).saturating_sub(start.max(from)))
        };
        runs.take_while(move |(_, _, end)| *end > from).map(within).filter(|(_, time)| *time > 0)
    }

    fn id(&self, tid: i32) -> ThreadId {
        ThreadId { tid, reuse: self.reused.get(&tid).copied().unwrap_or(0) }
    }

    fn runs(&self, tid: i32) -> bool {
        matches!(self.threads.get(&tid), Some(ThreadPhase::Runs { .. }))
    }

    /// Returns whether another thread can be followed, and counts it as dropped if not.
    fn has_room(&mut self, tid: i32) -> bool {
        let has_room = self.threads.len() < THREADS || self.threads.contains_key(&tid);
        self.dropped += u64::from(!has_room);
        has_room
    }

    fn leave(&mut self, tid: i32, time: u64, cpu: Option<u32>, state: ThreadState, kept: Option<T>) {
        let thread = self.id(tid);
        if let Some(history) = cpu.and_then(|cpu| self.cpus.get_mut(&cpu))
            && let Some((_, since)) = history.current.take().filter(|(current, _)| *current == thread)
        {
            if history.runs.len() >= RUNS {
                history.runs.pop_front();
            }
            history.runs.push_back((thread, since, time));
        }
        // Idle threads are as many as CPUs, under one id.
        if tid == 0 || !self.has_room(tid) {
            return;
        }
        self.exited.remove(&tid);
        let mut woken_before = None;
        if let Some(ThreadPhase::Runs { cpu, since, woken }) = self.threads.remove(&tid) {
            let state = Some(state.clone());
            self.changes.push_back(Change::Run(Run {
                thread,
                cpu,
                start: since,
                end: time.max(since),
                state,
            }));
            woken_before = woken;
        }
        let Some(kind) = state.wait else { return };
        let wakeup = woken_before.filter(|_| kind != WaitKind::Runnable);
        let wait = Wait {
            thread,
            start: time,
            end: time,
            state,
            kind,
            kept,
            wakeup,
            cpu_before: cpu,
            cpu: None,
            is_finished: false,
        };
        self.threads.insert(tid, ThreadPhase::Waits(wait));
    }

    fn enter(&mut self, tid: i32, time: u64, cpu: Option<u32>) {
        let thread = self.id(tid);
        if let Some(cpu) = cpu {
            if self.cpus.len() < CPUS || self.cpus.contains_key(&cpu) {
                self.cpus.entry(cpu).or_default().current = Some((thread, time));
            } else {
                self.dropped += 1;
            }
        }
        // The last switches of a thread that ended are not in a recording of its process alone: they do not continue its life.
        let has_ended = self.exited.contains_key(&tid) && self.runs(tid);
        if tid == 0 || has_ended || !self.has_room(tid) {
            return;
        }
        let runs = ThreadPhase::Runs { cpu, since: time, woken: None };
        if let Some(ThreadPhase::Waits(mut wait)) = self.threads.insert(tid, runs) {
            (wait.end, wait.cpu, wait.is_finished) = (time.max(wait.start), cpu, true);
            self.changes.push_back(Change::Wait(wait));
        }
    }

    fn wake(&mut self, mut wakeup: Wakeup<T>) {
        let tid = wakeup.thread.tid;
        if tid == 0 || !self.has_room(tid) {
            return;
        }
        match self.threads.get_mut(&tid) {
            Some(ThreadPhase::Runs { woken, .. }) => *woken = Some(wakeup.clone()),
            Some(ThreadPhase::Waits(wait)) => {
                // One from before the switch was only a guess.
                let is_first = wait.wakeup.as_ref().is_none_or(|before| before.time <= wait.start);
                if is_first && wait.kind != WaitKind::Runnable && wakeup.time >= wait.start {
                    wakeup.ends_wait = true;
                    wait.wakeup = Some(wakeup.clone());
                }
            }
            None => {
                let is_new = wakeup.is_new;
                wakeup.ends_wait = true;
                let letters = if is_new { "new" } else { "unknown" };
                let wait = Wait {
                    thread: wakeup.thread,
                    start: wakeup.time,
                    end: wakeup.time,
                    state: state(letters, Some(WaitKind::Blocked)),
                    kind: WaitKind::Blocked,
                    kept: None,
                    wakeup: Some(wakeup.clone()),
                    cpu_before: None,
                    cpu: None,
                    is_finished: false,
                };
                self.threads.insert(tid, ThreadPhase::Waits(wait));
            }
        }
        self.changes.push_back(Change::Wakeup(wakeup));
    }
}
