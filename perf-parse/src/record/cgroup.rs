//! Cgroups by id.

use perf_abi::endian::Endian;

use crate::cursor::Cursor;
use crate::error::Error;

/// The path of a cgroup.
///
/// Kernel: `PERF_RECORD_CGROUP`; since Linux 5.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cgroup<'a> {
    /// Id of the cgroup, as in samples with `PERF_SAMPLE_CGROUP`.
    pub id: u64,
    /// Path from the root of the hierarchy.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub path: &'a [u8],
}

impl<'a> Cgroup<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { id: at.word::<O>("id")?, path: at.string("path")? })
    }
}
