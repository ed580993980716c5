//! Namespaces of tasks.

use perf_abi::endian::Endian;
use perf_abi::namespaces::NamespaceLink;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The namespaces of a task, in the order of [`NamespaceIndex`](perf_abi::namespaces::NamespaceIndex).
///
/// Kernel: `PERF_RECORD_NAMESPACES`; since Linux 4.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespaces<'a, O: Endian> {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// The namespaces. The kernel writes 7, with zeros for a namespace that it was built without.
    pub link_info: &'a [NamespaceLink<O>],
}

impl<'a, O: Endian> Namespaces<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawNamespaces { pid, tid, nr_namespaces } = at.fixed::<wire::RawNamespaces<O>>("pid")?;
        let link_info = at.array(nr_namespaces.get(), "link_info")?;
        Ok(Self { pid: pid.get(), tid: tid.get(), link_info })
    }
}
