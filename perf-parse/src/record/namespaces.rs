//! Namespaces of tasks.

use perf_abi::endian::Endian;
use perf_abi::namespaces::NamespaceLink as WireLink;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, structures};

/// The namespaces of a task, in the order of [`NamespaceIndex`](perf_abi::namespaces::NamespaceIndex).
///
/// Kernel: `PERF_RECORD_NAMESPACES`; since Linux 4.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Namespaces<'a> {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// The namespaces. The kernel writes 7, with zeros for a namespace that it was built without.
    pub link_info: List<'a, NamespaceLink>,
}

impl<'a> Namespaces<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawNamespaces { pid, tid, nr_namespaces } = at.fixed::<wire::RawNamespaces<O>>("pid")?;
        let link_info = at.list(O::ENDIANNESS, nr_namespaces.get(), "link_info")?;
        Ok(Self { pid: pid.get(), tid: tid.get(), link_info })
    }
}

/// A namespace of a task.
///
/// Kernel: `struct perf_ns_link_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NamespaceLink {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
}

structures! {
    NamespaceLink = WireLink |it| NamespaceLink { dev: it.dev.get(), ino: it.ino.get() };
}
