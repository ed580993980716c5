//! Waits for locks: of the kernel, and of programs that wait with futexes.
//!
//! A [`LockReader`] reads the samples of the tracepoints `lock:contention_begin` and `contention_end`, and of the system calls of
//! futexes. From them,
//!
//! - [`Contention`] has the sums that `perf lock contention` prints of a capture, by caller, thread or lock;
//! - [`LockReport`] has each wait from its begin to its end: percentiles, stacks, threads and locks.
//!
//! Both need one walk over the records in order of time, and their memory is bounded by the numbers of rows and of waits that have
//! not ended, which have limits.

mod contention;
mod group;
mod report;
mod row;
#[cfg(test)]
mod tests;

pub use contention::{Contention, ContentionFaults, ContentionKey, ContentionOptions};
pub use group::{LockGroup, LockGroupKey, LockStack};
pub use report::{LockGrouping, LockOptions, LockReport};
pub use row::{ContentionFrame, ContentionRow, ContentionSort};

pub use crate::lock_waits::{
    LockCounts, LockEvent, LockFlags, LockId, LockReader, LockSample, LockTracker, LockWait, WAIT_EVENTS,
};
