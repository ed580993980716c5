//! The rows of `perf lock contention`.

use core::str::FromStr;
use std::sync::Arc;

use crate::lock_waits::LockFlags;
use crate::sched::Histogram;

/// The waits of a caller or a thread, or for a lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContentionRow {
    /// What the row is of: the address of a lock, the id of a thread, or a number that callers with the same stack have in common.
    pub key: u64,
    /// The function that waits, with its offset; `Unknown` if there is none. Of a lock, its symbol; empty if it has none, and of a
    /// thread.
    pub name: Arc<[u8]>,
    /// The type of the lock of the first wait, even of one that is filtered out.
    pub flags: LockFlags,
    /// The number of waits that began.
    pub contended: u64,
    /// The times of those that ended, in nanoseconds.
    pub waits: Histogram,
    /// The stack of the first wait, innermost frame first, with the functions that take the lock; empty unless it was asked for: see
    /// [`ContentionOptions::stacks`](super::ContentionOptions::stacks).
    pub stack: Vec<ContentionFrame>,
    /// Whether a wait ended twice.
    pub is_broken: bool,
}

/// A frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentionFrame {
    /// The address.
    pub ip: u64,
    /// The function of the kernel with the offset; empty if there is none.
    pub name: Arc<[u8]>,
}

impl ContentionRow {
    pub(super) fn new(key: u64, name: Arc<[u8]>, flags: LockFlags) -> Self {
        let (waits, stack) = (Histogram::default(), Vec::new());
        Self { key, name, flags, contended: 0, waits, stack, is_broken: false }
    }

    /// Returns the value that a key of sorting compares.
    #[must_use]
    pub fn value(&self, sort: ContentionSort) -> u64 {
        match sort {
            ContentionSort::Contended => self.contended,
            ContentionSort::WaitTotal => self.waits.sum(),
            ContentionSort::WaitMax => self.waits.max(),
            ContentionSort::WaitMin => self.waits.min(),
            ContentionSort::AvgWait => self.waits.mean(),
        }
    }
}

/// A column of numbers, which rows can be sorted by, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentionSort {
    /// The number of waits that began.
    Contended,
    /// The sum of the times of those that ended.
    #[default]
    WaitTotal,
    /// The longest time.
    WaitMax,
    /// The shortest time.
    WaitMin,
    /// The mean time.
    AvgWait,
}

impl FromStr for ContentionSort {
    type Err = String;

    /// Reads a key as perf spells it.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "contended" => Ok(Self::Contended),
            "wait_total" => Ok(Self::WaitTotal),
            "wait_max" => Ok(Self::WaitMax),
            "wait_min" => Ok(Self::WaitMin),
            "avg_wait" => Ok(Self::AvgWait),
            _ => Err(format!(
                "{text}: no such column; use contended, wait_total, wait_max, wait_min or avg_wait"
            )),
        }
    }
}
