//! The fixed parts of the payloads of the kernel's records, after the header.
//!
//! A struct does not include the variable part (a name, an array), which follows directly. The `sample_id`
//! trailer is last, if the attr has `sample_id_all`.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, I32, U16, U32, U64};

/// A memory mapping; the NUL-padded file name follows.
///
/// Kernel: `PERF_RECORD_MMAP`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_mmap")]
pub struct RawMmap<O: Endian> {
    /// Process id; -1 for mappings of the kernel, which perf synthesises.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
    /// Start address. In the perf tool: `start`.
    pub addr: U64<O>,
    /// Bytes of the mapping.
    pub len: U64<O>,
    /// Offset of the mapping in the file, in bytes.
    pub pgoff: U64<O>,
}

/// A memory mapping; the NUL-padded file name follows.
///
/// Kernels 3.12 to 3.15 did not write `prot` and `flags`; in their records the name follows `ino_generation`.
///
/// Kernel: `PERF_RECORD_MMAP2`; since Linux 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_mmap2")]
pub struct RawMmap2<O: Endian> {
    /// Process id; -1 for mappings of the kernel, which perf synthesises.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
    /// Start address. In the perf tool: `start`.
    pub addr: U64<O>,
    /// Bytes of the mapping.
    pub len: U64<O>,
    /// Offset of the mapping in the file, in bytes.
    pub pgoff: U64<O>,
    /// [`Mmap2BuildId`] if `misc` has [`MMAP_BUILD_ID`](super::Misc::MMAP_BUILD_ID),
    /// otherwise [`Mmap2Inode`].
    pub id: [u8; 24],
    /// Protection: `PROT_*` of `mmap(2)`.
    pub prot: U32<O>,
    /// Flags: `MAP_*` of `mmap(2)`.
    pub flags: U32<O>,
}

/// The file of a mapping, identified by its inode.
///
/// Kernel: `PERF_RECORD_MMAP2`; since Linux 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Mmap2Inode<O: Endian> {
    /// Major number of the device.
    pub maj: U32<O>,
    /// Minor number of the device.
    pub min: U32<O>,
    /// Inode number.
    pub ino: U64<O>,
    /// Generation of the inode number.
    pub ino_generation: U64<O>,
}

/// The file of a mapping, identified by its build id.
///
/// Kernel: `PERF_RECORD_MMAP2`; since Linux 5.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Mmap2BuildId {
    /// Bytes of `build_id` in use, at most 20.
    pub build_id_size: u8,
    /// Zero.
    pub reserved_1: u8,
    /// Zero.
    pub reserved_2: [u8; 2],
    /// The build id, starting at the first byte.
    pub build_id: [u8; 20],
}

/// Records were lost because the ring was full.
///
/// Kernel: `PERF_RECORD_LOST`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_lost")]
pub struct RawLost<O: Endian> {
    /// Id of the event that reported the loss.
    pub id: U64<O>,
    /// Number of lost records of all events of the ring.
    pub lost: U64<O>,
}

/// The name of a task changed; the NUL-padded name follows.
///
/// Kernel: `PERF_RECORD_COMM`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_comm")]
pub struct RawComm<O: Endian> {
    /// Process id.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
}

/// A task was created (FORK) or exited (EXIT).
///
/// Kernel: `PERF_RECORD_FORK`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_fork")]
pub struct RawTask<O: Endian> {
    /// Process id.
    pub pid: I32<O>,
    /// Process id of the parent.
    pub ppid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
    /// Thread id of the parent; in EXIT records its process id.
    pub ptid: I32<O>,
    /// Time in nanoseconds of the event's clock.
    pub time: U64<O>,
}

/// The event was throttled (THROTTLE) or is no longer throttled (UNTHROTTLE).
///
/// Kernel: `PERF_RECORD_THROTTLE`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_throttle")]
pub struct RawThrottle<O: Endian> {
    /// Time in nanoseconds of the event's clock.
    pub time: U64<O>,
    /// Id of the event.
    pub id: U64<O>,
    /// Id of the event itself, even if it is inherited.
    pub stream_id: U64<O>,
}

/// Counter values of a task that exits; they follow in the layout of the attr's `read_format`.
///
/// Kernel: `PERF_RECORD_READ`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_read")]
pub struct RawRead<O: Endian> {
    /// Process id.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
}

/// The AUX area has new data.
///
/// Kernel: `PERF_RECORD_AUX`; since Linux 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_aux")]
pub struct RawAux<O: Endian> {
    /// Position of the data in the AUX area: a byte count that never wraps.
    pub aux_offset: U64<O>,
    /// Bytes of the data; can be 0.
    pub aux_size: U64<O>,
    /// [`AuxFlags`](crate::aux_area::AuxFlags).
    pub flags: U64<O>,
}

/// Instruction tracing started.
///
/// Kernel: `PERF_RECORD_ITRACE_START`; since Linux 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_itrace_start")]
pub struct RawItraceStart<O: Endian> {
    /// Process id.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
}

/// Samples were lost before they reached the ring.
///
/// Kernel: `PERF_RECORD_LOST_SAMPLES`; since Linux 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_lost_samples")]
pub struct RawLostSamples<O: Endian> {
    /// Number of lost samples.
    pub lost: U64<O>,
}

/// A context switch on a CPU, with the id of the other task.
///
/// Kernel: `PERF_RECORD_SWITCH_CPU_WIDE`; since Linux 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_switch")]
pub struct RawSwitchCpuWide<O: Endian> {
    /// Process id: of the next task on a switch out, of the previous task on a switch in.
    pub next_prev_pid: I32<O>,
    /// Thread id of the same task.
    pub next_prev_tid: I32<O>,
}

/// The namespaces of a task; `nr_namespaces` [`NamespaceLink`](crate::namespaces::NamespaceLink)s follow.
///
/// Kernel: `PERF_RECORD_NAMESPACES`; since Linux 4.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_namespaces")]
pub struct RawNamespaces<O: Endian> {
    /// Process id.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
    /// Number of namespaces that follow; the kernel writes 7.
    pub nr_namespaces: U64<O>,
}

/// A kernel symbol was registered or unregistered; its NUL-padded name follows.
///
/// Kernel: `PERF_RECORD_KSYMBOL`; since Linux 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_ksymbol")]
pub struct RawKsymbol<O: Endian> {
    /// Address of the symbol.
    pub addr: U64<O>,
    /// Bytes of the symbol.
    pub len: U32<O>,
    /// [`KsymbolType`](crate::ksymbol::KsymbolType).
    pub ksym_type: U16<O>,
    /// [`KsymbolFlags`](crate::ksymbol::KsymbolFlags).
    pub flags: U16<O>,
}

/// A BPF program was loaded or unloaded.
///
/// Kernel: `PERF_RECORD_BPF_EVENT`; since Linux 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_bpf_event")]
pub struct RawBpfEvent<O: Endian> {
    /// [`BpfEventType`](crate::ksymbol::BpfEventType). C: `type`.
    pub kind: U16<O>,
    /// Zero as of 7.3.
    pub flags: U16<O>,
    /// Id of the program.
    pub id: U32<O>,
    /// Hash of the program's instructions.
    pub tag: [u8; 8],
}

/// A cgroup; its NUL-padded path follows.
///
/// Kernel: `PERF_RECORD_CGROUP`; since Linux 5.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_cgroup")]
pub struct RawCgroup<O: Endian> {
    /// Id of the cgroup, as in samples with `PERF_SAMPLE_CGROUP`.
    pub id: U64<O>,
}

/// Kernel text was changed; the old bytes, the new bytes and padding follow.
///
/// Kernel: `PERF_RECORD_TEXT_POKE`; since Linux 5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_text_poke_event")]
pub struct RawTextPoke<O: Endian> {
    /// Address of the text.
    pub addr: U64<O>,
    /// Number of old bytes.
    pub old_len: U16<O>,
    /// Number of new bytes.
    pub new_len: U16<O>,
}

/// The hardware id that AUX data uses for an event.
///
/// Kernel: `PERF_RECORD_AUX_OUTPUT_HW_ID`; since Linux 5.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_aux_output_hw_id")]
pub struct RawAuxOutputHwId<O: Endian> {
    /// The id; the PMU defines its meaning.
    pub hw_id: U64<O>,
}

/// The user part of an earlier sample's call chain; `nr` addresses follow.
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_callchain_deferred")]
pub struct RawCallchainDeferred<O: Endian> {
    /// The word after `PERF_CONTEXT_USER_DEFERRED` in the sample's call chain.
    pub cookie: U64<O>,
    /// Number of addresses that follow.
    pub nr: U64<O>,
}
