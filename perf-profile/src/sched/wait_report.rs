//! The sums of runs and waits by thread.

use core::num::NonZero;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::file::Account;
use perf_parse::{EventRecord, FileError};
use perf_session::{SampleContext, Session};

use super::event::SchedEvent;
use super::model::{Change, SchedModel, ThreadId};
use super::wait_group::{WaitGroup, WaitGroupKey};
use super::wait_stacks::{StackTexts, WaitStacks};
use crate::error::ProfileError;
use crate::observer::Observer;
use crate::off_cpu::SchedulerFrames;
use crate::samples::Samples;
use crate::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use crate::symbols::Symbols;

/// What a [`WaitReport`] has a row for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitGrouping {
    /// Each thread.
    #[default]
    Thread,
    /// The threads of a process.
    Process,
    /// The threads with one name.
    Comm,
    /// The threads of a cgroup.
    Cgroup,
}

/// What is selected, and what a row is.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WaitOptions {
    /// What a row is.
    pub by: WaitGrouping,
    /// Only threads of these processes; of all if empty.
    pub pids: Vec<i32>,
    /// Only these threads; all if empty.
    pub tids: Vec<i32>,
    /// Only threads with these names; with any if empty.
    pub comms: Vec<Vec<u8>>,
    /// The most frames of a stack, innermost first; 0 for no stacks.
    pub max_stack: usize,
}

/// For how long threads run and wait, with the distributions of these times and their causes. Made by [`Samples::waits`].
#[derive(Debug)]
pub struct WaitReport {
    groups: Vec<(WaitGroupKey, WaitGroup)>,
    threads: HashMap<ThreadId, ThreadName>,
    stacks: StackTexts,
    has_wakeups: bool,
    has_states: bool,
    dropped: u64,
    account: Account,
    omitted: u64,
}

/// What is known of a thread.
#[derive(Clone, Debug)]
struct ThreadName {
    comm: Arc<[u8]>,
    pid: i32,
    cgroup: Arc<[u8]>,
    /// The time of its first event, and of its last one.
    life: Option<(u64, u64)>,
}

/// The most rows. The threads beyond are counted as dropped.
const GROUPS: usize = 1 << 17;

/// The pass that follows threads.
struct WaitPass<'a> {
    options: WaitOptions,
    model: SchedModel<'a, u32>,
    stacks: WaitStacks,
    scheduler: SchedulerFrames,
    groups: HashMap<WaitGroupKey, WaitGroup>,
    threads: HashMap<ThreadId, ThreadName>,
    /// The last name of each thread id.
    names: HashMap<i32, ThreadName>,
    dropped: u64,
}

impl Samples<'_> {
    /// Adds up for how long threads run and wait. All samples are read: the options select threads.
    ///
    /// # Errors
    ///
    /// [`ProfileError::SchedNotRecorded`] if the capture does not tell when threads switch, and [`ProfileError::Cancelled`].
    pub fn waits(
        self,
        options: &WaitOptions,
        symbols: &Symbols,
        observer: &mut dyn Observer,
    ) -> Result<WaitReport, ProfileError> {
        let source = self.source();
        let info = source.info();
        let mut pass = WaitPass {
            options: options.clone(),
            model: SchedModel::new(info)?,
            stacks: WaitStacks::new(symbols.clone(), options.max_stack),
            scheduler: SchedulerFrames::default(),
            groups: HashMap::new(),
            threads: HashMap::new(),
            names: HashMap::new(),
            dropped: 0,
        };
        let one = NonZero::<usize>::MIN;
        let walked = self.read_all().walk(symbols.clone(), &mut pass, &mut NoWorker, one, observer)?;
        pass.model.end();
        pass.take_changes();
        let (account, omitted) = (walked.account().clone(), walked.omitted());
        Ok(pass.finish(account, omitted))
    }
}

impl<'r> SamplePass<'r> for WaitPass<'_> {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    const TAKES_GROUPS: bool = true;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let Some(sample) = self.model.read(at) else { return Ok(()) };
        let is_switch = match &sample.event {
            SchedEvent::Switch(switch) => {
                self.name(at.session(), switch.next_tid, Some(switch.next_comm), None);
                self.name(at.session(), switch.prev_tid, Some(switch.prev_comm), at.cgroup());
                true
            }
            SchedEvent::Wakeup(wakeup) => {
                self.name(at.session(), wakeup.tid, Some(wakeup.comm), None);
                false
            }
            _ => return Ok(()),
        };
        let scheduler = &mut self.scheduler;
        let stack = self.stacks.number(at, counted, |stack, symbols| {
            if is_switch { scheduler.count(at, stack, symbols) } else { 0 }
        })?;
        self.model.sample(at, &sample, stack);
        self.take_changes();
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        session: &Session,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        if let Some((_, tid)) = record.pid_tid().filter(|_| !self.model.has_states()) {
            self.name(session, tid, None, None);
        }
        self.model.record(record);
        self.take_changes();
        Ok(())
    }
}

impl WaitPass<'_> {
    /// Notes what is known of a thread.
    fn name(&mut self, session: &Session, tid: i32, comm: Option<&[u8]>, cgroup: Option<&[u8]>) {
        let thread = session.thread(tid);
        let comm = comm.filter(|comm| !comm.is_empty()).or(thread.map(|thread| thread.comm()));
        let pid = thread.map_or(-1, |thread| thread.pid());
        if let Some(known) = self.names.get_mut(&tid) {
            if let Some(comm) = comm.filter(|&comm| *known.comm != *comm) {
                known.comm = comm.into();
            }
            known.pid = pid;
            if let Some(cgroup) = cgroup.filter(|&cgroup| *known.cgroup != *cgroup) {
                known.cgroup = cgroup.into();
            }
        } else if self.names.len() < GROUPS * 8 {
            let (comm, cgroup) = (comm.unwrap_or_default().into(), cgroup.unwrap_or_default().into());
            self.names.insert(tid, ThreadName { comm, pid, cgroup, life: None });
        }
    }

    /// Returns the row of a thread; `None` if it is not selected, or there are too many. Notes a time of its life.
    fn group(&mut self, thread: ThreadId, (start, end): (u64, u64)) -> Option<&mut WaitGroup> {
        let now = self.names.get(&thread.tid)?;
        if self.threads.len() >= GROUPS * 8 && !self.threads.contains_key(&thread) {
            self.dropped += 1;
            return None;
        }
        let known = self.threads.entry(thread).or_insert_with(|| now.clone());
        (known.comm, known.pid) = (Arc::clone(&now.comm), now.pid);
        known.cgroup = Arc::clone(&now.cgroup);
        let (first, last) = known.life.unwrap_or((start, end));
        known.life = Some((first.min(start), last.max(end)));
        let options = &self.options;
        let is_selected = (options.pids.is_empty() || options.pids.contains(&known.pid))
            && (options.tids.is_empty() || options.tids.contains(&thread.tid))
            && (options.comms.is_empty() || options.comms.iter().any(|comm| **comm == *known.comm));
        if !is_selected {
            return None;
        }
        let key = match options.by {
            WaitGrouping::Thread => WaitGroupKey { thread: Some(thread), pid: None, name: Arc::default() },
            WaitGrouping::Process => {
                WaitGroupKey { thread: None, pid: Some(known.pid), name: Arc::default() }
            }
            WaitGrouping::Comm => WaitGroupKey { thread: None, pid: None, name: Arc::clone(&known.comm) },
            WaitGrouping::Cgroup => WaitGroupKey { thread: None, pid: None, name: Arc::clone(&known.cgroup) },
        };
        if self.groups.len() >= GROUPS && !self.groups.contains_key(&key) {
            self.dropped += 1;
            return None;
        }
        Some(self.groups.entry(key).or_default())
    }

    fn take_changes(&mut self) {
        while let Some(change) = self.model.next_change() {
            match change {
                Change::Run(run) => {
                    if let Some(group) = self.group(run.thread, (run.start, run.end)) {
                        group.run(&run);
                    }
                }
                Change::Wait(wait) => {
                    let from = wait.ready();
                    let stolen: Vec<_> = match from.zip(wait.cpu) {
                        Some((from, cpu)) => self.model.ran_on(cpu, from, wait.end).collect(),
                        None => Vec::new(),
                    };
                    let thread = wait.thread;
                    if let Some(group) = self.group(thread, (wait.start, wait.end)) {
                        group.wait(&wait, stolen.into_iter().filter(|(other, _)| *other != thread));
                    }
                }
                Change::Wakeup(_) => {}
            }
        }
    }

    fn finish(self, account: Account, omitted: u64) -> WaitReport {
        let Self { model, stacks, groups, threads, names, dropped, .. } = self;
        let mut groups: Vec<_> = groups.into_iter().collect();
        for (key, group) in &mut groups {
            let lives = group.thread_ids().filter_map(|id| threads.get(&id)?.life);
            group.lifetime = lives.map(|(first, last)| last - first).fold(0, u64::saturating_add);
            let of_process = |pid| names.get(&pid).map(|name| Arc::clone(&name.comm));
            if let Some(known) = key.thread.and_then(|id| threads.get(&id)) {
                (key.pid, key.name) = (Some(known.pid), Arc::clone(&known.comm));
            } else if let Some(name) = key.pid.and_then(of_process) {
                key.name = name;
            }
        }
        groups.sort_unstable_by(|(left_key, left), (right_key, right)| {
            let order = |group: &WaitGroup| (group.runnable, group.blocked, group.running);
            order(right).cmp(&order(left)).then_with(|| left_key.cmp(right_key))
        });
        // Wakers may be threads that are in no row.
        let mut threads = threads;
        for (tid, name) in names {
            threads.entry(ThreadId { tid, reuse: 0 }).or_insert(name);
        }
        WaitReport {
            groups,
            threads,
            stacks: stacks.into_texts(),
            has_wakeups: model.has_wakeups(),
            has_states: model.has_states(),
            dropped: dropped + model.dropped(),
            account,
            omitted,
        }
    }
}

impl WaitReport {
    /// Returns the rows: those that could run for the longest time without running come first.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&WaitGroupKey, &WaitGroup)> {
        self.groups.iter().map(|(key, group)| (key, group))
    }

    /// Returns the name of a thread; `swapper` for an idle CPU, empty if it is not known.
    #[must_use]
    pub fn comm(&self, thread: ThreadId) -> &[u8] {
        match self.threads.get(&thread) {
            _ if thread.tid == 0 => b"swapper",
            Some(known) => &known.comm,
            None => b"",
        }
    }

    /// Returns the functions of a stack, innermost first.
    pub fn stack(&self, number: u32) -> impl Iterator<Item = &[u8]> {
        self.stacks.functions(number)
    }

    /// Returns whether the capture has wake-ups: without them, a thread that was woken up counts as blocked until it runs.
    #[must_use]
    pub fn has_wakeups(&self) -> bool {
        self.has_wakeups
    }

    /// Returns whether the capture has `sched:sched_switch`, and so the states of threads.
    #[must_use]
    pub fn has_states(&self) -> bool {
        self.has_states
    }

    /// Returns the number of events that are not in the rows, because there are too many threads.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns what could not be decoded.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain: too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }
}
