//! The times of a group of threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::histogram::Histogram;
use super::model::{Run, ThreadId, Wait};
use crate::off_cpu::WaitKind;

/// The threads that a row of a [`WaitReport`](super::WaitReport) is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct WaitGroupKey {
    /// The thread; `None` if the row is of several.
    pub thread: Option<ThreadId>,
    /// The process id, if all are of one process; -1 if it is not known.
    pub pid: Option<i32>,
    /// Their name, that of the process, or the path of their cgroup.
    pub name: Arc<[u8]>,
}

/// The times of a thread, or of several.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WaitGroup {
    /// The times for which they ran, each run once.
    pub runs: Histogram,
    /// The times from wake-up to run.
    pub wakeup_to_run: Histogram,
    /// The times for which they could run after they had been preempted.
    pub preempted: Histogram,
    /// The times before they could run, by the letters of their states.
    pub states: BTreeMap<Arc<str>, StateTimes>,
    /// The sum of the times for which they ran, in nanoseconds.
    pub running: u64,
    /// The sum of the times for which they could run and did not.
    pub runnable: u64,
    /// The sum of the times for which they were blocked.
    pub blocked: u64,
    /// The sum of the times for which they were stopped.
    pub stopped: u64,
    /// The sum of the times from the first to the last event of each thread.
    pub lifetime: u64,
    threads: HashSet<ThreadId>,
    stacks: HashMap<(WaitKind, Arc<str>, u32), Amount>,
    wakers: HashMap<(ThreadId, u32), Amount>,
    stolen_by: HashMap<ThreadId, u64>,
}

/// The times that threads spent in a state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StateTimes {
    /// The kind of the state.
    pub kind: WaitKind,
    /// The times.
    pub times: Histogram,
}

/// A number of waits, and the sum of their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Amount {
    /// The number of waits.
    pub count: u64,
    /// The sum of their times, in nanoseconds.
    pub time: u64,
}

impl Amount {
    pub(crate) fn add(&mut self, time: u64) {
        self.count += 1;
        self.time = self.time.saturating_add(time);
    }
}

/// The most entries of a map of a group. What is beyond is only in the sums.
const ENTRIES: usize = 1 << 12;

/// The most states of a group. Real captures have about ten.
const STATES: usize = 32;

/// Returns the value of a key; `None` if it is new and the map is full.
pub(crate) fn entry<K: Eq + core::hash::Hash, V: Default>(map: &mut HashMap<K, V>, key: K) -> Option<&mut V> {
    (map.len() < ENTRIES || map.contains_key(&key)).then(|| map.entry(key).or_default())
}

impl WaitGroup {
    /// Takes a run.
    pub(super) fn run(&mut self, run: &Run) {
        self.threads.insert(run.thread);
        let time = run.end - run.start;
        self.running = self.running.saturating_add(time);
        if run.state.is_some() {
            self.runs.add(time);
        }
    }

    /// Takes a wait with the number of its stack. `stolen` are the threads that ran while it could run, with their times.
    pub(super) fn wait(&mut self, wait: &Wait<u32>, stolen: impl Iterator<Item = (ThreadId, u64)>) {
        self.threads.insert(wait.thread);
        let (before, runnable) = (wait.before_ready(), wait.runnable());
        self.runnable = self.runnable.saturating_add(runnable);
        let sum = if wait.kind == WaitKind::Stopped { &mut self.stopped } else { &mut self.blocked };
        *sum = sum.saturating_add(before);
        if !wait.is_finished {
            return;
        }
        if wait.kind == WaitKind::Runnable {
            self.preempted.add(runnable);
        } else {
            if wait.ready().is_some() {
                self.wakeup_to_run.add(runnable);
            }
            let letters = &wait.state.letters;
            if self.states.len() < STATES || self.states.contains_key(letters) {
                let state = self.states.entry(Arc::clone(letters));
                let state = state.or_insert(StateTimes { kind: wait.kind, times: Histogram::default() });
                state.times.add(before);
            }
        }
        if let Some(stack) = wait.kept {
            let key = (wait.kind, Arc::clone(&wait.state.letters), stack);
            let time = if wait.kind == WaitKind::Runnable { runnable } else { before };
            if let Some(amount) = entry(&mut self.stacks, key) {
                amount.add(time);
            }
        }
        if let Some(wakeup) = &wait.wakeup
            && let Some(amount) = entry(&mut self.wakers, (wakeup.waker, wakeup.kept))
        {
            amount.add(before);
        }
        for (thread, time) in stolen {
            if let Some(sum) = entry(&mut self.stolen_by, thread) {
                *sum = sum.saturating_add(time);
            }
        }
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Returns the threads.
    pub(super) fn thread_ids(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.iter().copied()
    }

    /// Returns where they waited, the longest first: the kind and the letters of the state, the number of the stack, and the times
    /// before they could run; of a preempted thread, those for which it could.
    #[must_use]
    pub fn stacks(&self) -> Vec<(WaitKind, &str, u32, Amount)> {
        let all =
            self.stacks.iter().map(|((kind, letters, stack), &amount)| (*kind, &**letters, *stack, amount));
        sorted(all, |it| (it.3.time, it.3.count), |it| (it.2, it.1))
    }

    /// Returns what woke them up, the longest waits first: the thread that woke, the number of its stack, and the times of the waits.
    #[must_use]
    pub fn wakers(&self) -> Vec<(ThreadId, u32, Amount)> {
        let all = self.wakers.iter().map(|(&(thread, stack), &amount)| (thread, stack, amount));
        sorted(all, |it| (it.2.time, it.2.count), |it| (it.0, it.1))
    }

    /// Returns the threads that ran on their CPUs while they could run, the longest first. Id 0 is an idle CPU.
    #[must_use]
    pub fn stolen_by(&self) -> Vec<(ThreadId, u64)> {
        let all = self.stolen_by.iter().map(|(&thread, &time)| (thread, time));
        sorted(all, |it| it.1, |it| it.0)
    }
}

/// Returns values by a number, the largest first, and then by a key.
pub(crate) fn sorted<'k, T, N: Ord, K: Ord + 'k>(
    all: impl Iterator<Item = T>,
    number: impl Fn(&T) -> N,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by(|left, right| {
        number(right).cmp(&number(left)).then_with(|| key(left).cmp(&key(right)))
    });
    all
}
