//! Tasks that are created or exit: FORK and EXIT.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A task was created (FORK) or exited (EXIT).
///
/// Kernel: `PERF_RECORD_FORK`, `PERF_RECORD_EXIT`, `perf_event_task_output`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "ForkOrExitRecord")]
pub struct Task {
    /// Process id.
    pub pid: i32,
    /// Process id of the parent.
    pub ppid: i32,
    /// Thread id.
    pub tid: i32,
    /// Thread id of the parent; in EXIT records its process id.
    pub ptid: i32,
    /// Time in nanoseconds of the event's clock.
    pub time: u64,
}

impl Task {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawTask { pid, ppid, tid, ptid, time } = at.fixed::<wire::RawTask<O>>("pid")?;
        Ok(Self { pid: pid.get(), ppid: ppid.get(), tid: tid.get(), ptid: ptid.get(), time: time.get() })
    }
}
