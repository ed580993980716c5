//! Names of tasks.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The name of a task changed. `misc` has `COMM_EXEC` if an exec changed it.
///
/// Kernel: `PERF_RECORD_COMM`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "CommOrExecRecord")]
pub struct Comm<'a> {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// The name. The kernel writes at most 15 bytes.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    #[doc(alias = "name")]
    pub comm: &'a [u8],
}

impl<'a> Comm<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawComm { pid, tid } = at.fixed::<wire::RawComm<O>>("pid")?;
        Ok(Self { pid: pid.get(), tid: tid.get(), comm: at.string("comm")? })
    }
}
