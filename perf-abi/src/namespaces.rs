//! The namespaces of a task, as in NAMESPACES records.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U64};

codes! {
    /// The index of a namespace in a NAMESPACES record.
    ///
    /// Kernel: the `*_NS_INDEX` enum.
    pub struct NamespaceIndex(u8) {
        /// Network. Since Linux 4.12.
        NET = 0, "NET_NS_INDEX";
        /// Host name. Since Linux 4.12.
        UTS = 1, "UTS_NS_INDEX";
        /// System V IPC. Since Linux 4.12.
        IPC = 2, "IPC_NS_INDEX";
        /// Process ids. Since Linux 4.12.
        PID = 3, "PID_NS_INDEX";
        /// User ids. Since Linux 4.12.
        USER = 4, "USER_NS_INDEX";
        /// Mounts. Since Linux 4.12.
        MNT = 5, "MNT_NS_INDEX";
        /// Cgroups. Since Linux 4.12.
        CGROUP = 6, "CGROUP_NS_INDEX";
    }
}

impl NamespaceIndex {
    /// The number of namespaces that the kernel writes. Since Linux 4.12.
    #[doc(alias = "NR_NAMESPACES")]
    pub const COUNT: u8 = 7;
}

/// A namespace, identified by the device and inode of its file in `/proc/PID/ns`.
///
/// Both are 0 if the namespace is absent.
///
/// Kernel: `struct perf_ns_link_info`; since Linux 4.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_ns_link_info")]
pub struct NamespaceLink<O: Endian> {
    /// Device.
    pub dev: U64<O>,
    /// Inode.
    pub ino: U64<O>,
}
