//! Counter values of tasks that end.

use perf_abi::endian::Endian;
use perf_abi::read_format::ReadFormat;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::sample::Read;

/// The counts of a task that ends, written where the attr has `inherit_stat`.
///
/// Kernel: `PERF_RECORD_READ`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRecord<'a, O: Endian> {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// The values.
    pub read: Read<'a, O>,
}

impl<'a, O: Endian> ReadRecord<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>, format: ReadFormat) -> Result<Self, Error> {
        let wire::Read { pid, tid } = at.fixed::<wire::Read<O>>("pid")?;
        Ok(Self { pid: pid.get(), tid: tid.get(), read: Read::parse(at, format)? })
    }
}
