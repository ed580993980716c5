//! The times that threads are off the CPU and on it, by the switches that are read.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::state::WaitKind;
use super::tally::{WaitTally, WaitTotal};
use super::{SwitchKind, ThreadSwitch};

/// The state of a thread that a SWITCH record says was preempted.
const PREEMPTED: &str = "preempted";

/// The state of a thread that was woken up and does not run yet.
const WOKEN: &str = "woken";

/// Follows threads off the CPU and back. `T` is what is kept of the sample with which a thread leaves.
#[derive(Debug)]
pub struct OffCpuTracker<T> {
    /// The only kind that is counted, if one is selected.
    only: Option<WaitKind>,
    /// By the id of the thread.
    away: HashMap<i32, AwayThread<T>>,
    /// The last sample of each thread. Empty if stacks come with the tracepoint.
    last: HashMap<i32, T>,
    /// The threads that have samples, selected or not. Empty if stacks come with the tracepoint.
    sampled: HashSet<i32>,
    /// The times at which threads began to run. Empty if the capture does not have wake-ups.
    running: HashMap<i32, u64>,
    /// Whether a thread was woken up.
    has_wakeups: bool,
    /// The threads that ended, and leave the CPU once more.
    ended: HashSet<i32>,
    /// Number of times that threads left the CPU before their first sample.
    without_sample: u64,
    /// Number of times that threads left the CPU although nothing told that they had come back.
    without_return: u64,
    tally: WaitTally,
    /// Whether any thread came back.
    has_returns: bool,
}

/// A thread that is off the CPU.
#[derive(Clone, Debug)]
struct AwayThread<T> {
    since: u64,
    wait: WaitKind,
    /// The letters of its state, or what the SWITCH record tells.
    state: Arc<str>,
    /// The time at which it was woken up.
    woken: Option<u64>,
    before: T,
}

/// The end of a time that a thread spent in one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitEnd<T> {
    /// The id of the thread.
    pub tid: i32,
    /// The kind.
    pub kind: WaitKind,
    /// What was kept of the sample with which it left the CPU.
    pub before: T,
    /// The time at which it ended, in nanoseconds of the capture's clock.
    pub time: u64,
    /// The nanoseconds that it took.
    pub away: u64,
}

impl<T: Copy> OffCpuTracker<T> {
    /// Counts one kind of wait, or all of them.
    #[must_use]
    pub fn new(only: Option<WaitKind>) -> Self {
        Self {
            only,
            away: HashMap::new(),
            last: HashMap::new(),
            sampled: HashSet::new(),
            running: HashMap::new(),
            has_wakeups: false,
            ended: HashSet::new(),
            without_sample: 0,
            without_return: 0,
            tally: WaitTally::default(),
            has_returns: false,
        }
    }

    /// Takes what a selected sample says, and what is kept of the sample. Returns the time for which the thread ran; if its return
    /// is not recorded, the time until it was woken up. `None` if that is not known.
    pub fn sample(&mut self, switch: ThreadSwitch, kept: T) -> Option<WaitEnd<T>> {
        match switch.0 {
            SwitchKind::Last { tid } => {
                self.last.insert(tid, kept);
            }
            SwitchKind::Away { tid, since, state } => {
                let last = match state.wait {
                    Some(wait) => {
                        let (state, woken, before) = (state.letters, None, kept);
                        self.away.insert(tid, AwayThread { since, wait, state, woken, before })
                    }
                    // Its id may be that of another thread later.
                    None => self.away.remove(&tid),
                };
                if let Some(last) = last {
                    return self.end_without_return(tid, last);
                }
                let began = self.running.remove(&tid)?;
                let away = since.saturating_sub(began);
                return self.end(tid, WaitKind::Running, "on the CPU", (since, away), kept);
            }
            _ => {}
        }
        None
    }

    /// Takes what any other sample or record says. Returns the times of the thread that came back with it: blocked or stopped, and
    /// runnable.
    pub fn apply(&mut self, switch: &ThreadSwitch) -> [Option<WaitEnd<T>>; 2] {
        match switch.0 {
            SwitchKind::Sampled { tid } => {
                self.sampled.insert(tid);
            }
            SwitchKind::Back { tid, time } => return self.back(tid, time),
            SwitchKind::Woken { tid, time } => {
                self.has_wakeups = true;
                if let Some(away) = self.away.get_mut(&tid)
                    && away.wait != WaitKind::Runnable
                {
                    away.woken.get_or_insert(time);
                }
            }
            SwitchKind::Out { tid, time, is_preempted } if !self.ended.remove(&tid) => {
                self.leaves(tid, time, is_preempted);
            }
            SwitchKind::Preempted { tid } => {
                if let Some(away) = self.away.get_mut(&tid) {
                    (away.wait, away.state) = (WaitKind::Runnable, PREEMPTED.into());
                }
            }
            SwitchKind::Begins { tid } => self.begins(tid),
            SwitchKind::Ends { tid } => {
                self.ended.insert(tid);
            }
            _ => {}
        }
        [None, None]
    }

    /// Takes a switch away from a thread, with the stack of its last sample.
    fn leaves(&mut self, tid: i32, time: u64, is_preempted: bool) {
        let wait = if is_preempted { WaitKind::Runnable } else { WaitKind::Blocked };
        let state = if is_preempted { PREEMPTED } else { "not preempted" };
        match self.last.get(&tid) {
            Some(&before) => {
                let (since, state, woken) = (time, state.into(), None);
                let last = self.away.insert(tid, AwayThread { since, wait, state, woken, before });
                self.without_return += u64::from(last.is_some());
            }
            None => self.without_sample += u64::from(!self.sampled.contains(&tid)),
        }
    }

    /// Forgets the thread that had the id of a new one.
    fn begins(&mut self, tid: i32) {
        self.away.remove(&tid);
        self.running.remove(&tid);
        self.last.remove(&tid);
        self.sampled.remove(&tid);
        self.ended.remove(&tid);
    }

    fn back(&mut self, tid: i32, time: u64) -> [Option<WaitEnd<T>>; 2] {
        // A SWITCH record may come after the tracepoint.
        if self.has_wakeups && tid != 0 {
            self.running.entry(tid).or_insert(time);
        }
        let Some(AwayThread { since, wait, state, woken, before }) = self.away.remove(&tid) else {
            return [None, None];
        };
        self.has_returns = true;
        let ready = woken.unwrap_or(time).clamp(since, time.max(since));
        let first = self.end(tid, wait, &state, (ready, ready - since), before);
        let runnable = woken.map(|_| time.saturating_sub(ready));
        let then = runnable.and_then(|away| self.end(tid, WaitKind::Runnable, WOKEN, (time, away), before));
        [first, then]
    }

    /// Counts a wait up to the wake-up, if there was one: kernels leave out some switches, and records are lost.
    fn end_without_return(&mut self, tid: i32, last: AwayThread<T>) -> Option<WaitEnd<T>> {
        self.without_return += 1;
        let AwayThread { since, wait, state, woken, before } = last;
        let woken = woken?.max(since);
        self.end(tid, wait, &state, (woken, woken - since), before)
    }

    /// Counts a time of a kind. Returns it if the kind is selected.
    fn end(
        &mut self,
        tid: i32,
        kind: WaitKind,
        state: &str,
        (time, away): (u64, u64),
        before: T,
    ) -> Option<WaitEnd<T>> {
        self.tally.add(kind, state, away);
        self.only.is_none_or(|only| only == kind).then_some(WaitEnd { tid, kind, before, time, away })
    }

    /// Returns which states were counted as what, and what could not be counted.
    #[must_use]
    pub fn summary(&self) -> OffCpuSummary {
        OffCpuSummary {
            waits: self.tally.totals(),
            unfinished: self.away.len(),
            has_returns: self.has_returns,
            without_sample: self.without_sample,
            without_return: self.without_return,
        }
    }
}

/// The times off the CPU that were counted, and those that could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffCpuSummary {
    /// The total of each kind, in the order of [`WaitKind::ALL`].
    pub waits: Vec<WaitTotal>,
    /// The number of threads whose last wait is not counted, because the capture does not tell when it ended.
    pub unfinished: usize,
    /// Whether any thread came back.
    pub has_returns: bool,
    /// The number of waits that are not counted, because their threads have no sample before them.
    pub without_sample: u64,
    /// The number of times that a thread left the CPU although the capture does not tell that it had come back: the wait before is
    /// counted up to its wake-up, or not at all.
    pub without_return: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::off_cpu::ThreadState;

    fn away(tracker: &mut OffCpuTracker<u32>, since: u64, wait: WaitKind, kept: u32) -> Option<WaitEnd<u32>> {
        let state = ThreadState { wait: Some(wait), letters: "S".into() };
        tracker.sample(ThreadSwitch(SwitchKind::Away { tid: 7, since, state }), kept)
    }

    fn apply(tracker: &mut OffCpuTracker<u32>, switch: SwitchKind) -> Vec<(WaitKind, u64, u64, u32)> {
        let ends = tracker.apply(&ThreadSwitch(switch)).into_iter().flatten();
        ends.map(|end| (end.kind, end.time, end.away, end.before)).collect()
    }

    #[test]
    fn with_wakeups_all_kinds_together_are_the_life_of_a_thread() {
        let mut tracker = OffCpuTracker::new(None);
        assert_eq!(away(&mut tracker, 100, WaitKind::Blocked, 1), None);
        assert_eq!(apply(&mut tracker, SwitchKind::Woken { tid: 7, time: 130 }), []);
        // Only the first one counts.
        assert_eq!(apply(&mut tracker, SwitchKind::Woken { tid: 7, time: 135 }), []);
        let back = apply(&mut tracker, SwitchKind::Back { tid: 7, time: 150 });
        assert_eq!(back, [(WaitKind::Blocked, 130, 30, 1), (WaitKind::Runnable, 150, 20, 1)]);
        // The SWITCH record of the same switch.
        assert_eq!(apply(&mut tracker, SwitchKind::Back { tid: 7, time: 151 }), []);
        let ran = away(&mut tracker, 190, WaitKind::Runnable, 2).unwrap();
        assert_eq!((ran.kind, ran.time, ran.away, ran.before), (WaitKind::Running, 190, 40, 2));
        // It was preempted, so nothing wakes it up.
        assert_eq!(apply(&mut tracker, SwitchKind::Woken { tid: 7, time: 195 }), []);
        let back = apply(&mut tracker, SwitchKind::Back { tid: 7, time: 200 });
        assert_eq!(back, [(WaitKind::Runnable, 200, 10, 2)]);
        let sum: u64 = tracker.summary().waits.iter().map(|total| total.nanoseconds).sum();
        assert_eq!(sum, 200 - 100);
    }

    #[test]
    fn without_wakeups_a_thread_is_blocked_until_it_runs() {
        let mut tracker = OffCpuTracker::new(None);
        away(&mut tracker, 100, WaitKind::Blocked, 1);
        let back = apply(&mut tracker, SwitchKind::Back { tid: 7, time: 150 });
        assert_eq!(back, [(WaitKind::Blocked, 150, 50, 1)]);
        assert_eq!(away(&mut tracker, 190, WaitKind::Blocked, 2), None, "the run is not counted");
    }

    #[test]
    fn without_the_return_a_wait_counts_up_to_its_wakeup() {
        let mut tracker = OffCpuTracker::new(None);
        away(&mut tracker, 100, WaitKind::Blocked, 1);
        apply(&mut tracker, SwitchKind::Woken { tid: 7, time: 130 });
        let before = away(&mut tracker, 190, WaitKind::Blocked, 2).unwrap();
        assert_eq!((before.kind, before.time, before.away, before.before), (WaitKind::Blocked, 130, 30, 1));
        assert_eq!(away(&mut tracker, 240, WaitKind::Blocked, 3), None, "nothing tells when it was woken up");
        let back = apply(&mut tracker, SwitchKind::Back { tid: 7, time: 250 });
        assert_eq!(back, [(WaitKind::Blocked, 250, 10, 3)]);
        let summary = tracker.summary();
        assert_eq!((summary.without_return, summary.unfinished), (2, 0));
        assert_eq!(summary.waits.iter().map(|total| total.nanoseconds).sum::<u64>(), 40);
    }

    #[test]
    fn without_the_return_between_switch_records_a_wait_is_not_counted() {
        let mut tracker = OffCpuTracker::new(None);
        assert_eq!(tracker.sample(ThreadSwitch(SwitchKind::Last { tid: 7 }), 1), None);
        for time in [100, 190] {
            assert_eq!(apply(&mut tracker, SwitchKind::Out { tid: 7, time, is_preempted: false }), []);
        }
        let back = apply(&mut tracker, SwitchKind::Back { tid: 7, time: 200 });
        assert_eq!(back, [(WaitKind::Blocked, 200, 10, 1)]);
        assert_eq!(tracker.summary().without_return, 1);
    }

    #[test]
    fn only_the_selected_kind_is_returned() {
        let mut tracker = OffCpuTracker::new(Some(WaitKind::Runnable));
        away(&mut tracker, 100, WaitKind::Stopped, 1);
        apply(&mut tracker, SwitchKind::Woken { tid: 7, time: 130 });
        let back = apply(&mut tracker, SwitchKind::Back { tid: 7, time: 150 });
        assert_eq!(back, [(WaitKind::Runnable, 150, 20, 1)]);
        assert_eq!(away(&mut tracker, 190, WaitKind::Blocked, 2), None);
        assert_eq!(tracker.summary().waits.len(), 3);
    }
}
