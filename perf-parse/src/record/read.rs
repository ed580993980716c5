//! Counter values of tasks that exit.

use perf_abi::endian::Endian;
use perf_abi::read_format::ReadFormat;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::sample::Read;

/// Counter values of a task that exits; written if the attr has `inherit_stat`.
///
/// Kernel: `PERF_RECORD_READ`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReadRecord<'a> {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// The counter values.
    pub read: Read<'a>,
}

impl<'a> ReadRecord<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>, format: ReadFormat) -> Result<Self, Error> {
        let wire::RawRead { pid, tid } = at.fixed::<wire::RawRead<O>>("pid")?;
        Ok(Self { pid: pid.get(), tid: tid.get(), read: Read::parse(O::ENDIANNESS, at, format)? })
    }
}
