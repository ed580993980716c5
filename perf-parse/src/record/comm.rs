//! Names of tasks.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A task took a name; `misc` has `COMM_EXEC` where an exec gave it.
///
/// Kernel: `PERF_RECORD_COMM`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm<'a> {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// The name, at most 15 bytes from the kernel.
    pub comm: &'a [u8],
}

impl<'a> Comm<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::Comm { pid, tid } = at.fixed::<wire::Comm<O>>("pid")?;
        Ok(Self { pid: pid.get(), tid: tid.get(), comm: at.string("comm")? })
    }
}
