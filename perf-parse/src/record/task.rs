//! Tasks that begin and end: FORK and EXIT.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A task began (FORK) or ended (EXIT).
///
/// Kernel: `PERF_RECORD_FORK`, `PERF_RECORD_EXIT`, `perf_event_task_output`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Process.
    pub pid: i32,
    /// Parent process.
    pub ppid: i32,
    /// Thread.
    pub tid: i32,
    /// Parent thread; in EXIT the parent process again.
    pub ptid: i32,
    /// Nanoseconds of the event's clock.
    pub time: u64,
}

impl Task {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::Task { pid, ppid, tid, ptid, time } = at.fixed::<wire::Task<O>>("pid")?;
        Ok(Self { pid: pid.get(), ppid: ppid.get(), tid: tid.get(), ptid: ptid.get(), time: time.get() })
    }
}
