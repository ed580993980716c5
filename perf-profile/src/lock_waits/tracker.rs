//! Waits from their begins to their ends.

use hashbrown::HashMap;
use perf_abi::record::RecordType;
use perf_parse::{EventRecord, Record};

use super::event::{LockEvent, LockId, LockSample};

/// A wait for a lock of the kernel, or for a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockWait<T> {
    /// The process id of the thread that waited.
    pub pid: i32,
    /// Its thread id.
    pub tid: i32,
    /// What it waited for.
    pub lock: LockId,
    /// The type of the lock, or the operation of the futex.
    pub kind: &'static str,
    /// The time at which it began, in nanoseconds of the capture's clock.
    pub start: u64,
    /// The time at which it ended.
    pub end: u64,
    /// What was kept of the sample with which it began.
    pub kept: T,
}

/// The numbers of waits that a [`LockTracker`] could not follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockCounts {
    /// Waits that have not ended: their thread still waits at the end, ended, or began another wait instead.
    pub unfinished: u64,
    /// Ends of waits for locks of the kernel that began before the capture, or whose begin was lost.
    pub unmatched: u64,
    /// Waits that were not followed, because too many threads wait or a thread waits for too many locks.
    pub dropped: u64,
}

/// Follows threads from the begins of their waits to the ends. `T` is what is kept of the sample with which a wait begins.
///
/// Waits of interrupts are those of the thread that they interrupt. The idle threads of all CPUs have one id, and are told from each
/// other by their CPU.
#[derive(Debug)]
pub struct LockTracker<T> {
    /// By the thread, and for the idle thread by the CPU: the waits, the last one that began at the end.
    waiting: HashMap<(i32, u32), Vec<OpenWait<T>>>,
    threads: usize,
    counts: LockCounts,
}

#[derive(Clone, Copy, Debug)]
struct OpenWait<T> {
    lock: LockId,
    kind: &'static str,
    since: u64,
    kept: T,
}

/// The most threads that wait at a time, by default.
const THREADS: usize = 1 << 20;

/// The most locks that a thread waits for at a time: interrupts may wait for one each.
///
/// Linux: `MAX_LOCK_DEPTH`, `include/linux/sched.h`.
const DEPTH: usize = 48;

impl<T: Copy> Default for LockTracker<T> {
    fn default() -> Self {
        Self::within(THREADS)
    }
}

impl<T: Copy> LockTracker<T> {
    /// Follows at most so many threads that wait at a time.
    #[must_use]
    pub fn within(threads: usize) -> Self {
        Self { waiting: HashMap::new(), threads, counts: LockCounts::default() }
    }

    /// Takes a sample, its CPU, and what is kept of it. Returns the wait that ends with it.
    pub fn sample(&mut self, sample: &LockSample, cpu: Option<u32>, kept: T) -> Option<LockWait<T>> {
        let thread = (sample.tid, if sample.tid == 0 { cpu.unwrap_or(0) } else { 0 });
        match sample.event {
            LockEvent::Begin { address, flags } => {
                self.begin(thread, LockId::Kernel(address), flags.name(), sample.time, kept);
                None
            }
            LockEvent::FutexBegin { address, operation } => {
                let lock = LockId::Futex { pid: sample.pid, address };
                self.begin(thread, lock, operation, sample.time, kept);
                None
            }
            LockEvent::End { address } => {
                let is_it = |wait: &OpenWait<T>| wait.lock == LockId::Kernel(address);
                let ended = self.end(thread, sample, is_it);
                self.counts.unmatched += u64::from(ended.is_none());
                ended
            }
            LockEvent::FutexEnd => self.end(thread, sample, |wait| wait.lock.is_futex()),
        }
    }

    /// Takes a record that is not a sample: a thread that begins has no waits, even if an earlier one had its id.
    pub fn record(&mut self, record: &EventRecord<'_>) {
        if record.kind() == RecordType::FORK
            && let Ok(Record::Fork(it)) = record.decode()
            && let Some(waits) = self.waiting.remove(&(it.tid, 0))
        {
            self.counts.unfinished += waits.len() as u64;
        }
    }

    fn begin(&mut self, thread: (i32, u32), lock: LockId, kind: &'static str, since: u64, kept: T) {
        if self.waiting.len() >= self.threads && !self.waiting.contains_key(&thread) {
            self.counts.dropped += 1;
            return;
        }
        let waits = self.waiting.entry(thread).or_default();
        if lock.is_futex() {
            // A thread is in one system call.
            let before = waits.len();
            waits.retain(|wait| !wait.lock.is_futex());
            self.counts.unfinished += (before - waits.len()) as u64;
        } else if waits.iter().any(|wait| wait.lock == lock) {
            // A wait that spins at first sleeps later, which is one wait.
            return;
        }
        if waits.len() >= DEPTH {
            self.counts.dropped += 1;
            return;
        }
        waits.push(OpenWait { lock, kind, since, kept });
    }

    fn end(
        &mut self,
        thread: (i32, u32),
        sample: &LockSample,
        is_it: impl Fn(&OpenWait<T>) -> bool,
    ) -> Option<LockWait<T>> {
        let waits = self.waiting.get_mut(&thread)?;
        let OpenWait { lock, kind, since, kept } = waits.remove(waits.iter().rposition(is_it)?);
        if waits.is_empty() {
            self.waiting.remove(&thread);
        }
        let (pid, tid, end) = (sample.pid, sample.tid, sample.time.max(since));
        Some(LockWait { pid, tid, lock, kind, start: since, end, kept })
    }

    /// Returns the numbers of waits that could not be followed. Those that are open count as not ended.
    #[must_use]
    pub fn counts(&self) -> LockCounts {
        let open: usize = self.waiting.values().map(Vec::len).sum();
        LockCounts { unfinished: self.counts.unfinished + open as u64, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::lock_waits::LockFlags;

    /// A wait that is open in the model: the thread, the CPU of an idle thread, the lock, the time, and what was kept.
    type Open = (i32, u32, LockId, u64, usize);

    fn event() -> impl Strategy<Value = LockEvent> {
        prop_oneof![
            (0..3_u64).prop_map(|address| LockEvent::Begin { address, flags: LockFlags::WRITE }),
            (0..3_u64).prop_map(|address| LockEvent::End { address }),
            (0..3_u64).prop_map(|address| LockEvent::FutexBegin { address, operation: "wait" }),
            Just(LockEvent::FutexEnd),
        ]
    }

    proptest! {
        /// Against a list of all open waits, oldest first.
        #[test]
        fn waits_are_those_of_a_list(
            samples in vec((0..3_i32, 0..2_u32, 0..5_u64, event()), 0..200),
            threads in 0..4_usize,
        ) {
            let mut tracker = LockTracker::within(threads);
            let (mut open, mut counts) = (Vec::<Open>::new(), LockCounts::default());
            let mut time = 100;
            for (kept, (tid, cpu, step, event)) in samples.into_iter().enumerate() {
                // Clocks of CPUs differ: time runs back at times.
                time = time + step - 1;
                let of = if tid == 0 { cpu } else { 0 };
                let is_of_thread = |it: &Open| (it.0, it.1) == (tid, of);
                let begun = match event {
                    LockEvent::Begin { address, .. } => Some(LockId::Kernel(address)),
                    LockEvent::FutexBegin { address, .. } => Some(LockId::Futex { pid: 7, address }),
                    LockEvent::End { .. } | LockEvent::FutexEnd => None,
                };
                let mut expected = None;
                if let Some(lock) = begun {
                    let mut waiting: Vec<_> = open.iter().map(|it| (it.0, it.1)).collect();
                    waiting.sort_unstable();
                    waiting.dedup();
                    if waiting.len() >= threads && !open.iter().any(is_of_thread) {
                        counts.dropped += 1;
                    } else if lock.is_futex() || !open.iter().any(|it| is_of_thread(it) && it.2 == lock) {
                        let before = open.len();
                        open.retain(|it| !(lock.is_futex() && is_of_thread(it) && it.2.is_futex()));
                        counts.unfinished += (before - open.len()) as u64;
                        open.push((tid, of, lock, time, kept));
                    }
                } else {
                    let is_it = |it: &Open| is_of_thread(it) && match event {
                        LockEvent::End { address } => it.2 == LockId::Kernel(address),
                        _ => it.2.is_futex(),
                    };
                    expected = open.iter().rposition(is_it).map(|at| open.remove(at));
                    counts.unmatched += u64::from(expected.is_none() && matches!(event, LockEvent::End { .. }));
                }
                let wait = tracker.sample(&LockSample { time, pid: 7, tid, event }, Some(cpu), kept);
                let of_wait = |wait: LockWait<usize>| (wait.tid, wait.lock, wait.start, wait.end, wait.kept);
                let of_model = |it: Open| (it.0, it.2, it.3, time.max(it.3), it.4);
                prop_assert_eq!(wait.map(of_wait), expected.map(of_model));
                let unfinished = counts.unfinished + open.len() as u64;
                prop_assert_eq!(tracker.counts(), LockCounts { unfinished, ..counts });
            }
        }
    }
}
