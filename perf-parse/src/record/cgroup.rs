//! Cgroups by id.

use perf_abi::endian::Endian;

use crate::cursor::Cursor;
use crate::error::Error;

/// A cgroup and where it is in the hierarchy.
///
/// Kernel: `PERF_RECORD_CGROUP`; since Linux 5.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cgroup<'a> {
    /// Id, as in samples with `PERF_SAMPLE_CGROUP`.
    pub id: u64,
    /// Path from the hierarchy's root.
    pub path: &'a [u8],
}

impl<'a> Cgroup<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { id: at.word::<O>("id")?, path: at.string("path")? })
    }
}
