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
mod counter;
mod event;
mod flags;
mod functions;
mod group;
mod reader;
mod report;
mod row;
#[cfg(test)]
mod tests;
mod tracker;

pub use contention::{Contention, ContentionFaults, ContentionKey, ContentionOptions};
pub use counter::WAIT_EVENTS;
pub(crate) use counter::{LockCounter, LockNote};
pub use event::{LockEvent, LockId, LockSample};
pub use flags::LockFlags;
pub(crate) use functions::LockFunctions;
pub use group::{LockGroup, LockGroupKey, LockStack};
pub use reader::LockReader;
pub use report::{LockGrouping, LockOptions, LockReport};
pub use row::{ContentionFrame, ContentionRow, ContentionSort};
pub use tracker::{LockCounts, LockTracker, LockWait};
