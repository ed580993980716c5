//! The waits of a caller, a thread or a process, or for a lock.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::lock_waits::LockId;
use crate::lock_waits::LockWait;
use crate::sched::{Amount, Histogram, entry, sorted};

/// What a row of a [`LockReport`](super::LockReport) is of. What all of its waits have in common is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LockGroupKey {
    /// The type of the lock, or the operation of the futex.
    pub kind: Option<&'static str>,
    /// The function that waits; empty if it is not known.
    pub caller: Option<Arc<[u8]>>,
    /// The lock.
    pub lock: Option<LockId>,
    /// The process id.
    pub pid: Option<i32>,
    /// The thread id.
    pub tid: Option<i32>,
    /// The last name of the thread, or that of the process.
    pub comm: Option<Arc<[u8]>>,
}

/// The number of a stack of a [`LockReport`](super::LockReport), with the kind of the lock that was waited for with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LockStack {
    /// The number: see [`LockReport::stack`](super::LockReport::stack).
    pub number: u32,
    /// The type of the lock, or the operation of the futex.
    pub kind: &'static str,
}

/// The waits of a row, and their causes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LockGroup {
    /// The times of the waits, in nanoseconds.
    pub waits: Histogram,
    threads: HashMap<i32, Amount>,
    locks: HashMap<LockId, Amount>,
    stacks: HashMap<LockStack, Amount>,
}

impl LockGroup {
    /// Takes a wait.
    pub(super) fn wait(&mut self, wait: &LockWait<u32>) {
        let time = wait.end - wait.start;
        self.waits.add(time);
        let amounts = [
            entry(&mut self.threads, wait.tid),
            entry(&mut self.locks, wait.lock),
            entry(&mut self.stacks, LockStack { number: wait.kept, kind: wait.kind }),
        ];
        amounts.into_iter().flatten().for_each(|amount| amount.add(time));
    }

    /// Returns the threads that waited, the longest first; up to 4096.
    #[must_use]
    pub fn threads(&self) -> Vec<(i32, Amount)> {
        list(&self.threads)
    }

    /// Returns the locks that were waited for, those with the longest waits first; up to 4096.
    #[must_use]
    pub fn locks(&self) -> Vec<(LockId, Amount)> {
        list(&self.locks)
    }

    /// Returns the stacks, those with the longest waits first; up to 4096.
    #[must_use]
    pub fn stacks(&self) -> Vec<(LockStack, Amount)> {
        list(&self.stacks)
    }
}

fn list<K: Copy + Ord + core::hash::Hash>(amounts: &HashMap<K, Amount>) -> Vec<(K, Amount)> {
    sorted(amounts.iter().map(|(&key, &amount)| (key, amount)), |it| (it.1.time, it.1.count), |it| it.0)
}
