//! The fixed parts of the perf tool's record payloads, behind the header.
//!
//! What follows a fixed part (a name, an array) is not in the struct: its size is where that begins. These records
//! have no `sample_id` trailer.
//!
//! FINISHED_ROUND and FINISHED_INIT have no payload. HEADER_ATTR has an attr, to be read with
//! [`Attr::read`](crate::attr::Attr::read), and its ids. COMPRESSED has compressed bytes alone.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, F64, I32, I64, U16, U32, U64};

/// Words of a `sample_id` trailer at most.
pub const MAX_ID_HDR_ENTRIES: usize = 6;

/// Bytes of an event's name in a HEADER_EVENT_TYPE record.
pub const MAX_EVENT_NAME: usize = 64;

/// Bytes of the message of an AUXTRACE_ERROR record at most, its NUL counted.
pub const MAX_AUXTRACE_ERROR_MSG: usize = 64;

/// Bytes of a program's name in a BPF_METADATA record.
pub const BPF_PROG_NAME_LEN: usize = 512;

/// Bytes of a variable's name in a BPF_METADATA record.
pub const BPF_METADATA_KEY_LEN: usize = 64;

/// Bytes of a variable's value in a BPF_METADATA record.
pub const BPF_METADATA_VALUE_LEN: usize = 256;

/// Bytes of the name of a scheduling domain at most, its NUL counted.
pub const DOMAIN_NAME_LEN: usize = 16;

/// The name of an event; written by the first tools only.
///
/// perf: `PERF_RECORD_HEADER_EVENT_TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias("perf_record_header_event_type", "perf_trace_event_type"))]
pub struct HeaderEventType<O: Endian> {
    /// `config` of the event.
    pub event_id: U64<O>,
    /// The name, padded with NUL.
    pub name: [u8; MAX_EVENT_NAME],
}

/// Tracepoint formats; they follow the record, outside its `size`.
///
/// Four bytes of padding follow the fixed part, but not in the records of older tools.
///
/// perf: `PERF_RECORD_HEADER_TRACING_DATA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_header_tracing_data")]
pub struct HeaderTracingData<O: Endian> {
    /// Bytes of the formats, which are padded to a multiple of 8.
    pub size: U32<O>,
}

/// The build id of a file; its NUL-padded name follows. The entries of the `build_id` feature are the same.
///
/// perf: `PERF_RECORD_HEADER_BUILD_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_header_build_id")]
pub struct HeaderBuildId<O: Endian> {
    /// Process of the guest on the host; -1 for the host itself, 0 for a guest without one.
    pub pid: I32<O>,
    /// The build id, from its first byte. C: `data`.
    pub build_id: [u8; 20],
    /// Bytes of `build_id` in use, where `misc` has [`BUILD_ID_SIZE`](super::Misc::BUILD_ID_SIZE); else all are.
    pub size: u8,
    /// Zero.
    pub reserved_1: u8,
    /// Zero.
    pub reserved_2: U16<O>,
}

/// Which cpu and task an event id belongs to; `nr` [`IdIndexEntry`]s follow, then `nr` [`IdIndexEntry2`]s if there is room.
///
/// perf: `PERF_RECORD_ID_INDEX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_id_index")]
pub struct IdIndex<O: Endian> {
    /// How many follow.
    pub nr: U64<O>,
}

/// The cpu and task of an event id.
///
/// perf: `struct id_index_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "id_index_entry")]
pub struct IdIndexEntry<O: Endian> {
    /// Id of the event.
    pub id: U64<O>,
    /// Which ring it is in.
    pub idx: U64<O>,
    /// Cpu; -1 for any.
    pub cpu: I64<O>,
    /// Thread; -1 for any.
    pub tid: I64<O>,
}

/// The guest of an event id.
///
/// perf: `struct id_index_entry_2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "id_index_entry_2")]
pub struct IdIndexEntry2<O: Endian> {
    /// Process of the guest on the host; 0 for the host itself.
    pub machine_pid: I64<O>,
    /// Cpu of the guest.
    pub vcpu: I64<O>,
}

/// What recorded the AUX data; its private 64-bit words follow.
///
/// perf: `PERF_RECORD_AUXTRACE_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_auxtrace_info")]
pub struct AuxtraceInfo<O: Endian> {
    /// [`AuxtraceType`](crate::auxtrace::AuxtraceType), which gives the words their meaning. C: `type`.
    pub kind: U32<O>,
    /// Zero.
    pub reserved: U32<O>,
}

/// AUX data; it follows the record, outside its `size`.
///
/// perf: `PERF_RECORD_AUXTRACE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_auxtrace")]
pub struct Auxtrace<O: Endian> {
    /// Bytes of the data.
    pub size: U64<O>,
    /// Position of the data: a byte count that never wraps.
    pub offset: U64<O>,
    /// A number that tells the data from other data, made up by the recorder.
    pub reference: U64<O>,
    /// Which ring the data is from.
    pub idx: U32<O>,
    /// Thread; -1 where a cpu was traced.
    pub tid: I32<O>,
    /// Cpu; -1 where a thread was traced.
    pub cpu: I32<O>,
    /// Zero.
    pub reserved: U32<O>,
}

codes! {
    /// What could not be decoded ([`AuxtraceError::kind`]).
    ///
    /// perf: `enum auxtrace_error_type`.
    pub struct AuxtraceErrorType(u32) {
        /// A trace of instructions.
        ITRACE = 1, "PERF_AUXTRACE_ERROR_ITRACE";
    }
}

impl AuxtraceErrorType {
    /// One past the highest code.
    #[doc(alias = "PERF_AUXTRACE_ERROR_MAX")]
    pub const MAX: u32 = 2;
}

/// AUX data that could not be decoded.
///
/// What follows depends on `fmt`: 0, the NUL-terminated message; 1, the 64-bit time in nanoseconds, then the
/// message; 2, [`AuxtraceErrorGuest`].
///
/// perf: `PERF_RECORD_AUXTRACE_ERROR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_auxtrace_error")]
pub struct AuxtraceError<O: Endian> {
    /// [`AuxtraceErrorType`]. C: `type`.
    pub kind: U32<O>,
    /// The decoder's own number of the error.
    pub code: U32<O>,
    /// Cpu; -1 where not known.
    pub cpu: I32<O>,
    /// Process; -1 where not known.
    pub pid: I32<O>,
    /// Thread; -1 where not known.
    pub tid: I32<O>,
    /// Format: what follows.
    pub fmt: U32<O>,
    /// Instruction pointer.
    pub ip: U64<O>,
}

/// What follows an [`AuxtraceError`] of format 2.
///
/// perf: `PERF_RECORD_AUXTRACE_ERROR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct AuxtraceErrorGuest<O: Endian> {
    /// Nanoseconds.
    pub time: U64<O>,
    /// The message, padded with NUL.
    pub msg: [u8; MAX_AUXTRACE_ERROR_MSG],
    /// Process of the guest on the host; 0 for the host itself.
    pub machine_pid: I32<O>,
    /// Cpu of the guest; -1 where not known.
    pub vcpu: I32<O>,
}

/// The threads that were recorded; `nr` [`ThreadMapEntry`]s follow.
///
/// perf: `PERF_RECORD_THREAD_MAP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_thread_map")]
pub struct ThreadMap<O: Endian> {
    /// How many follow.
    pub nr: U64<O>,
}

/// A thread that was recorded.
///
/// perf: `struct perf_record_thread_map_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_thread_map_entry")]
pub struct ThreadMapEntry<O: Endian> {
    /// Thread; -1 for all.
    pub pid: I64<O>,
    /// Its name, padded with NUL.
    pub comm: [u8; 16],
}

codes! {
    /// How a set of cpus is written ([`CpuMap::kind`]).
    ///
    /// perf: the `PERF_CPU_MAP__*` enum.
    pub struct CpuMapType(u16) {
        /// A list: [`CpuMapCpus`].
        CPUS = 0, "PERF_CPU_MAP__CPUS";
        /// A bitmap: [`CpuMapMask`].
        MASK = 1, "PERF_CPU_MAP__MASK";
        /// A range: [`CpuMapRange`].
        RANGE_CPUS = 2, "PERF_CPU_MAP__RANGE_CPUS";
    }
}

/// A set of cpus: those that were recorded, or in EVENT_UPDATE those of an event. What follows depends on `kind`.
///
/// perf: `PERF_RECORD_CPU_MAP`, `struct perf_record_cpu_map_data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias("perf_record_cpu_map", "perf_record_cpu_map_data", "perf_record_event_update_cpus"))]
pub struct CpuMap<O: Endian> {
    /// [`CpuMapType`]. C: `type`.
    pub kind: U16<O>,
}

/// A list of cpus; `nr` 16-bit numbers follow, 65535 for any cpu.
///
/// perf: `struct cpu_map_entries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "cpu_map_entries")]
pub struct CpuMapCpus<O: Endian> {
    /// How many follow.
    pub nr: U16<O>,
}

/// A bitmap of cpus, with words of 32 or 64 bits: `nr` words follow, the 64-bit ones behind 4 bytes of padding.
///
/// perf: `struct perf_record_mask_cpu_map32`, `struct perf_record_mask_cpu_map64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias("perf_record_mask_cpu_map32", "perf_record_mask_cpu_map64"))]
pub struct CpuMapMask<O: Endian> {
    /// How many words follow.
    pub nr: U16<O>,
    /// Bytes of a word: 4 or 8.
    pub long_size: U16<O>,
}

/// A range of cpus.
///
/// perf: `struct perf_record_range_cpu_map`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_range_cpu_map")]
pub struct CpuMapRange<O: Endian> {
    /// Whether events of any cpu belong to the set too.
    pub any_cpu: u8,
    /// Zero.
    pub pad: u8,
    /// The first cpu.
    pub start_cpu: U16<O>,
    /// The last cpu.
    pub end_cpu: U16<O>,
}

codes! {
    /// What of an event is told ([`EventUpdate::kind`]).
    ///
    /// perf: the `PERF_EVENT_UPDATE__*` enum.
    pub struct EventUpdateType(u64) {
        /// The unit of its counts, a NUL-padded string.
        UNIT = 0, "PERF_EVENT_UPDATE__UNIT";
        /// What to multiply its counts with, [`EventUpdateScale`].
        SCALE = 1, "PERF_EVENT_UPDATE__SCALE";
        /// Its name, a NUL-padded string.
        NAME = 2, "PERF_EVENT_UPDATE__NAME";
        /// Its cpus, [`CpuMap`].
        CPUS = 3, "PERF_EVENT_UPDATE__CPUS";
    }
}

/// Unit, scale, name or cpus of an event; what follows depends on `kind`.
///
/// perf: `PERF_RECORD_EVENT_UPDATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_event_update")]
pub struct EventUpdate<O: Endian> {
    /// [`EventUpdateType`]. C: `type`.
    pub kind: U64<O>,
    /// Id of the event.
    pub id: U64<O>,
}

/// The scale of an event.
///
/// perf: `struct perf_record_event_update_scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_event_update_scale")]
pub struct EventUpdateScale<O: Endian> {
    /// What to multiply the counts with.
    pub scale: F64<O>,
}

/// How the cpu's time stamps become nanoseconds; [`TimeConvShort`] follows, but not in the records of older tools.
///
/// perf: `PERF_RECORD_TIME_CONV`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_time_conv")]
pub struct TimeConv<O: Endian> {
    /// As in the control page, `time_shift`.
    pub time_shift: U64<O>,
    /// As in the control page, `time_mult`.
    pub time_mult: U64<O>,
    /// As in the control page, `time_zero`.
    pub time_zero: U64<O>,
}

/// What follows [`TimeConv`]: how to widen a clock narrower than 64 bits.
///
/// perf: `PERF_RECORD_TIME_CONV`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TimeConvShort<O: Endian> {
    /// As in the control page, `time_cycles`.
    pub time_cycles: U64<O>,
    /// As in the control page, `time_mask`.
    pub time_mask: U64<O>,
    /// Whether `time_zero` holds.
    pub cap_user_time_zero: u8,
    /// Whether `time_cycles` and `time_mask` hold.
    pub cap_user_time_short: u8,
    /// Zero.
    pub reserved: [u8; 6],
}

/// A feature, in a pipe; its payload follows as it stands in the section of a file.
///
/// perf: `PERF_RECORD_HEADER_FEATURE`; since perf 4.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_header_feature")]
pub struct HeaderFeature<O: Endian> {
    /// [`Feature`](crate::feature::Feature).
    pub feat_id: U64<O>,
}

/// Records, compressed; `data_size` bytes follow, then padding to a multiple of 8.
///
/// perf: `PERF_RECORD_COMPRESSED2`; since perf 6.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_compressed2")]
pub struct Compressed2<O: Endian> {
    /// Bytes that follow, padding not counted.
    pub data_size: U64<O>,
}

/// Variables of a BPF program; `nr_entries` [`BpfMetadataEntry`]s follow.
///
/// perf: `PERF_RECORD_BPF_METADATA`; since perf 6.17.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_bpf_metadata")]
pub struct BpfMetadata<O: Endian> {
    /// Name of the program, padded with NUL.
    pub prog_name: [u8; BPF_PROG_NAME_LEN],
    /// How many follow.
    pub nr_entries: U64<O>,
}

/// A variable of a BPF program.
///
/// perf: `struct perf_record_bpf_metadata_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_bpf_metadata_entry")]
pub struct BpfMetadataEntry {
    /// Its name, padded with NUL.
    pub key: [u8; BPF_METADATA_KEY_LEN],
    /// Its value as text, padded with NUL.
    pub value: [u8; BPF_METADATA_VALUE_LEN],
}
