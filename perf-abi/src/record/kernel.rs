//! The fixed parts of the kernel's record payloads, behind the header.
//!
//! What follows a fixed part (a name, an array) is not in the struct: its size is where that begins. The
//! `sample_id` trailer comes last, where the attr has `sample_id_all`.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, I32, U16, U32, U64};

/// A file was mapped; the NUL-padded file name follows.
///
/// Kernel: `PERF_RECORD_MMAP`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_mmap")]
pub struct Mmap<O: Endian> {
    /// Process; -1 for the kernel's own mappings, which perf synthesises.
    pub pid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
    /// Start address. C: `start` in the perf tool.
    pub addr: U64<O>,
    /// Bytes.
    pub len: U64<O>,
    /// Offset of the mapping in the file, in bytes.
    pub pgoff: U64<O>,
}

/// A file was mapped; the NUL-padded file name follows.
///
/// Kernels 3.12 to 3.15 wrote no `prot` and `flags`: the name follows `ino_generation` there.
///
/// Kernel: `PERF_RECORD_MMAP2`; since Linux 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_mmap2")]
pub struct Mmap2<O: Endian> {
    /// Process; -1 for the kernel's own mappings, which perf synthesises.
    pub pid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
    /// Start address. C: `start` in the perf tool.
    pub addr: U64<O>,
    /// Bytes.
    pub len: U64<O>,
    /// Offset of the mapping in the file, in bytes.
    pub pgoff: U64<O>,
    /// [`Mmap2Inode`], or [`Mmap2BuildId`] where `misc` has `MMAP_BUILD_ID`.
    pub id: [u8; 24],
    /// Protection: `PROT_*` of `mmap(2)`.
    pub prot: U32<O>,
    /// Flags: `MAP_*` of `mmap(2)`.
    pub flags: U32<O>,
}

/// The file of a mapping by its inode.
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

/// The file of a mapping by its build id.
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
    /// The build id, from its first byte.
    pub build_id: [u8; 20],
}

/// The ring was full: records were lost.
///
/// Kernel: `PERF_RECORD_LOST`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_lost")]
pub struct Lost<O: Endian> {
    /// Id of the event that noticed.
    pub id: U64<O>,
    /// Records lost, of any event of the ring.
    pub lost: U64<O>,
}

/// A task took a name, which follows NUL-padded.
///
/// Kernel: `PERF_RECORD_COMM`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_comm")]
pub struct Comm<O: Endian> {
    /// Process.
    pub pid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
}

/// A task began (FORK) or ended (EXIT).
///
/// Kernel: `PERF_RECORD_FORK`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_fork")]
pub struct Task<O: Endian> {
    /// Process.
    pub pid: I32<O>,
    /// Parent process.
    pub ppid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
    /// Parent thread; in EXIT records the parent process again.
    pub ptid: I32<O>,
    /// Nanoseconds of the event's clock.
    pub time: U64<O>,
}

/// The event was throttled (THROTTLE) or runs again (UNTHROTTLE).
///
/// Kernel: `PERF_RECORD_THROTTLE`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_throttle")]
pub struct Throttle<O: Endian> {
    /// Nanoseconds of the event's clock.
    pub time: U64<O>,
    /// Id of the event.
    pub id: U64<O>,
    /// Id of the very event, also where it is inherited.
    pub stream_id: U64<O>,
}

/// Counter values of a task that ends; they follow, laid out by the attr's `read_format`.
///
/// Kernel: `PERF_RECORD_READ`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_read")]
pub struct Read<O: Endian> {
    /// Process.
    pub pid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
}

/// There is new data in the AUX area.
///
/// Kernel: `PERF_RECORD_AUX`; since Linux 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_aux")]
pub struct Aux<O: Endian> {
    /// Position of the data: a byte count that never wraps.
    pub aux_offset: U64<O>,
    /// Bytes of the data.
    pub aux_size: U64<O>,
    /// [`AuxFlags`](crate::aux_area::AuxFlags).
    pub flags: U64<O>,
}

/// Instruction tracing began.
///
/// Kernel: `PERF_RECORD_ITRACE_START`; since Linux 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_itrace_start")]
pub struct ItraceStart<O: Endian> {
    /// Process.
    pub pid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
}

/// Samples were lost before they reached the ring.
///
/// Kernel: `PERF_RECORD_LOST_SAMPLES`; since Linux 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_lost_samples")]
pub struct LostSamples<O: Endian> {
    /// Samples lost.
    pub lost: U64<O>,
}

/// A context switch, seen by the cpu.
///
/// Kernel: `PERF_RECORD_SWITCH_CPU_WIDE`; since Linux 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_switch")]
pub struct SwitchCpuWide<O: Endian> {
    /// Process: the next one when switching out, the previous one when switching in.
    pub next_prev_pid: I32<O>,
    /// Thread, likewise.
    pub next_prev_tid: I32<O>,
}

/// The namespaces of a task; `nr_namespaces` [`NamespaceLink`](crate::namespaces::NamespaceLink)s follow.
///
/// Kernel: `PERF_RECORD_NAMESPACES`; since Linux 4.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_namespaces")]
pub struct Namespaces<O: Endian> {
    /// Process.
    pub pid: I32<O>,
    /// Thread.
    pub tid: I32<O>,
    /// How many follow; the kernel writes 7.
    pub nr_namespaces: U64<O>,
}

/// A kernel symbol came or went; its NUL-padded name follows.
///
/// Kernel: `PERF_RECORD_KSYMBOL`; since Linux 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_ksymbol")]
pub struct Ksymbol<O: Endian> {
    /// Address.
    pub addr: U64<O>,
    /// Bytes.
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
pub struct BpfEvent<O: Endian> {
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
pub struct Cgroup<O: Endian> {
    /// Id, as in samples with `PERF_SAMPLE_CGROUP`.
    pub id: U64<O>,
}

/// Kernel text was changed; the old bytes, the new ones and padding follow.
///
/// Kernel: `PERF_RECORD_TEXT_POKE`; since Linux 5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_text_poke_event")]
pub struct TextPoke<O: Endian> {
    /// Address.
    pub addr: U64<O>,
    /// How many bytes were there.
    pub old_len: U16<O>,
    /// How many bytes are there now.
    pub new_len: U16<O>,
}

/// The hardware id by which AUX data tells an event.
///
/// Kernel: `PERF_RECORD_AUX_OUTPUT_HW_ID`; since Linux 5.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_aux_output_hw_id")]
pub struct AuxOutputHwId<O: Endian> {
    /// The PMU's id.
    pub hw_id: U64<O>,
}

/// The user part of an earlier sample's call chain; `nr` addresses follow.
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_callchain_deferred")]
pub struct CallchainDeferred<O: Endian> {
    /// What the sample has after its `PERF_CONTEXT_USER_DEFERRED`.
    pub cookie: U64<O>,
    /// How many addresses follow.
    pub nr: U64<O>,
}
