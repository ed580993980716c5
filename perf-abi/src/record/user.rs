//! The fixed parts of the payloads of the perf tool's records, after the header.
//!
//! A struct does not include the variable part (a name, an array), which follows directly. These records have
//! no `sample_id` trailer.
//!
//! FINISHED_ROUND and FINISHED_INIT have no payload. HEADER_ATTR has an attr, which
//! [`Attr::read`](crate::attr::Attr::read) decodes, and the ids of its events. COMPRESSED has
//! only compressed bytes.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, F64, I32, I64, U16, U32, U64};

/// Maximum number of 64-bit words in a `sample_id` trailer.
pub const MAX_ID_HDR_ENTRIES: usize = 6;

/// Bytes of an event's name in a HEADER_EVENT_TYPE record.
pub const MAX_EVENT_NAME: usize = 64;

/// Maximum bytes of the message of an AUXTRACE_ERROR record, including its NUL.
pub const MAX_AUXTRACE_ERROR_MSG: usize = 64;

/// Bytes of a program's name in a BPF_METADATA record.
pub const BPF_PROG_NAME_LEN: usize = 512;

/// Bytes of a variable's name in a BPF_METADATA record.
pub const BPF_METADATA_KEY_LEN: usize = 64;

/// Bytes of a variable's value in a BPF_METADATA record.
pub const BPF_METADATA_VALUE_LEN: usize = 256;

/// Maximum bytes of the name of a scheduling domain, including its NUL.
pub const DOMAIN_NAME_LEN: usize = 16;

/// The name of an event. Only the first tools wrote it.
///
/// perf: `PERF_RECORD_HEADER_EVENT_TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias("perf_record_header_event_type", "perf_trace_event_type"))]
pub struct RawHeaderEventType<O: Endian> {
    /// `config` of the event.
    pub event_id: U64<O>,
    /// The name, padded with NUL.
    pub name: [u8; MAX_EVENT_NAME],
}

/// The size of the tracepoint formats, which follow the record and are not part of its `size`.
///
/// Four bytes of padding follow the fixed part, except in the records of older tools.
///
/// perf: `PERF_RECORD_HEADER_TRACING_DATA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_header_tracing_data")]
pub struct HeaderTracingData<O: Endian> {
    /// Bytes of the formats, padded to a multiple of 8.
    pub size: U32<O>,
}

/// The build id of a file; its NUL-padded name follows. The `build_id` feature has entries
/// of the same layout.
///
/// perf: `PERF_RECORD_HEADER_BUILD_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_header_build_id")]
pub struct HeaderBuildId<O: Endian> {
    /// Process id of the guest on the host; -1 for the host itself, 0 for a guest without a process.
    pub pid: I32<O>,
    /// The build id, starting at the first byte. C: `data`.
    pub build_id: [u8; 20],
    /// Bytes of `build_id` in use if `misc` has [`BUILD_ID_SIZE`](super::Misc::BUILD_ID_SIZE);
    /// otherwise all 20 are.
    pub size: u8,
    /// Zero.
    pub reserved_1: u8,
    /// Zero.
    pub reserved_2: U16<O>,
}

/// The CPU and task of each event id.
///
/// `nr` [`IdIndexEntry`]s follow, then `nr` [`IdIndexEntry2`]s if the record is large enough.
///
/// perf: `PERF_RECORD_ID_INDEX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_id_index")]
pub struct RawIdIndex<O: Endian> {
    /// Number of entries that follow.
    pub nr: U64<O>,
}

/// The CPU and task of an event id.
///
/// perf: `struct id_index_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "id_index_entry")]
pub struct IdIndexEntry<O: Endian> {
    /// Id of the event.
    pub id: U64<O>,
    /// Index of the ring.
    pub idx: U64<O>,
    /// CPU number; -1 for any.
    pub cpu: I64<O>,
    /// Thread id; -1 for any.
    pub tid: I64<O>,
}

/// The guest of an event id.
///
/// perf: `struct id_index_entry_2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "id_index_entry_2")]
pub struct IdIndexEntry2<O: Endian> {
    /// Process id of the guest on the host; 0 for the host itself.
    pub machine_pid: I64<O>,
    /// CPU of the guest.
    pub vcpu: I64<O>,
}

/// The tracer that wrote the AUX data; its private 64-bit words follow.
///
/// perf: `PERF_RECORD_AUXTRACE_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_auxtrace_info")]
pub struct RawAuxtraceInfo<O: Endian> {
    /// [`AuxtraceType`](crate::auxtrace::AuxtraceType), which defines the meaning of the words. C: `type`.
    pub kind: U32<O>,
    /// Zero.
    pub reserved: U32<O>,
}

/// The description of AUX data, which follows the record and is not part of its `size`.
///
/// perf: `PERF_RECORD_AUXTRACE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_auxtrace")]
pub struct Auxtrace<O: Endian> {
    /// Bytes of the data.
    pub size: U64<O>,
    /// Position of the data in the AUX area: a byte count that never wraps.
    pub offset: U64<O>,
    /// A number that the tracer chose to identify the data.
    pub reference: U64<O>,
    /// Index of the ring that the data is from.
    pub idx: U32<O>,
    /// Thread id; -1 if a CPU was traced.
    pub tid: I32<O>,
    /// CPU number; -1 if a thread was traced.
    pub cpu: I32<O>,
    /// Zero.
    pub reserved: U32<O>,
}

codes! {
    /// The kind of data that could not be decoded ([`RawAuxtraceError::kind`]).
    ///
    /// perf: `enum auxtrace_error_type`.
    pub struct AuxtraceErrorType(u32) {
        /// An instruction trace.
        ITRACE = 1, "PERF_AUXTRACE_ERROR_ITRACE";
    }
}

impl AuxtraceErrorType {
    /// One past the highest code.
    #[doc(alias = "PERF_AUXTRACE_ERROR_MAX")]
    pub const MAX: u32 = 2;
}

/// An error in decoding AUX data.
///
/// `fmt` determines what follows: 0, the NUL-terminated message; 1, the 64-bit time in nanoseconds, then the
/// message; 2, [`AuxtraceErrorGuest`].
///
/// perf: `PERF_RECORD_AUXTRACE_ERROR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_auxtrace_error")]
pub struct RawAuxtraceError<O: Endian> {
    /// [`AuxtraceErrorType`]. C: `type`.
    pub kind: U32<O>,
    /// The number of the error; the decoder defines it.
    pub code: U32<O>,
    /// CPU number; -1 if unknown.
    pub cpu: I32<O>,
    /// Process id; -1 if unknown.
    pub pid: I32<O>,
    /// Thread id; -1 if unknown.
    pub tid: I32<O>,
    /// Format of the data that follows.
    pub fmt: U32<O>,
    /// Instruction pointer.
    pub ip: U64<O>,
}

/// The data that follows an [`RawAuxtraceError`] of format 2.
///
/// perf: `PERF_RECORD_AUXTRACE_ERROR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct AuxtraceErrorGuest<O: Endian> {
    /// Time in nanoseconds.
    pub time: U64<O>,
    /// The message, padded with NUL.
    pub msg: [u8; MAX_AUXTRACE_ERROR_MSG],
    /// Process id of the guest on the host; 0 for the host itself.
    pub machine_pid: I32<O>,
    /// CPU of the guest; -1 if unknown.
    pub vcpu: I32<O>,
}

/// The threads that were recorded; `nr` [`ThreadMapEntry`]s follow.
///
/// perf: `PERF_RECORD_THREAD_MAP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_thread_map")]
pub struct RawThreadMap<O: Endian> {
    /// Number of entries that follow.
    pub nr: U64<O>,
}

/// A thread that was recorded.
///
/// perf: `struct perf_record_thread_map_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_thread_map_entry")]
pub struct ThreadMapEntry<O: Endian> {
    /// Thread id; -1 for all threads.
    pub pid: I64<O>,
    /// The name of the thread, padded with NUL.
    pub comm: [u8; 16],
}

codes! {
    /// The encoding of a set of CPUs ([`RawCpuMap::kind`]).
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

/// A set of CPUs: the recorded ones, or in an EVENT_UPDATE record those of an event.
///
/// `kind` determines what follows.
///
/// perf: `PERF_RECORD_CPU_MAP`, `struct perf_record_cpu_map_data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias("perf_record_cpu_map", "perf_record_cpu_map_data", "perf_record_event_update_cpus"))]
pub struct RawCpuMap<O: Endian> {
    /// [`CpuMapType`]. C: `type`.
    pub kind: U16<O>,
}

/// A list of CPUs; `nr` 16-bit numbers follow. The number 65535 means any CPU.
///
/// perf: `struct cpu_map_entries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "cpu_map_entries")]
pub struct CpuMapCpus<O: Endian> {
    /// Number of entries that follow.
    pub nr: U16<O>,
}

/// A bitmap of CPUs with words of 32 or 64 bits; `nr` words follow.
///
/// Four bytes of padding precede words of 64 bits.
///
/// perf: `struct perf_record_mask_cpu_map32`, `struct perf_record_mask_cpu_map64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias("perf_record_mask_cpu_map32", "perf_record_mask_cpu_map64"))]
pub struct CpuMapMask<O: Endian> {
    /// Number of words that follow.
    pub nr: U16<O>,
    /// Bytes of a word: 4 or 8.
    pub long_size: U16<O>,
}

/// A range of CPUs.
///
/// perf: `struct perf_record_range_cpu_map`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_range_cpu_map")]
pub struct CpuMapRange<O: Endian> {
    /// Whether the set also contains "any CPU".
    pub any_cpu: u8,
    /// Zero.
    pub pad: u8,
    /// The first CPU.
    pub start_cpu: U16<O>,
    /// The last CPU.
    pub end_cpu: U16<O>,
}

codes! {
    /// The property that an EVENT_UPDATE record gives ([`RawEventUpdate::kind`]).
    ///
    /// perf: the `PERF_EVENT_UPDATE__*` enum.
    pub struct EventUpdateType(u64) {
        /// The unit of the event's counts, a NUL-padded string.
        UNIT = 0, "PERF_EVENT_UPDATE__UNIT";
        /// The factor of the event's counts, [`EventUpdateScale`].
        SCALE = 1, "PERF_EVENT_UPDATE__SCALE";
        /// The name of the event, a NUL-padded string.
        NAME = 2, "PERF_EVENT_UPDATE__NAME";
        /// The CPUs of the event, [`RawCpuMap`].
        CPUS = 3, "PERF_EVENT_UPDATE__CPUS";
    }
}

/// The unit, scale, name or CPUs of an event; `kind` determines what follows.
///
/// perf: `PERF_RECORD_EVENT_UPDATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_event_update")]
pub struct RawEventUpdate<O: Endian> {
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
    /// The factor to multiply the counts by.
    pub scale: F64<O>,
}

/// The conversion of the CPU's time stamps to nanoseconds.
///
/// [`TimeConvShort`] follows, except in the records of older tools.
///
/// perf: `PERF_RECORD_TIME_CONV`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_time_conv")]
pub struct RawTimeConv<O: Endian> {
    /// `time_shift` of the control page.
    pub time_shift: U64<O>,
    /// `time_mult` of the control page.
    pub time_mult: U64<O>,
    /// `time_zero` of the control page.
    pub time_zero: U64<O>,
}

/// The data that follows [`RawTimeConv`]: the parameters to extend a clock narrower than 64 bits.
///
/// perf: `PERF_RECORD_TIME_CONV`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TimeConvShort<O: Endian> {
    /// `time_cycles` of the control page.
    pub time_cycles: U64<O>,
    /// `time_mask` of the control page.
    pub time_mask: U64<O>,
    /// Whether `time_zero` is valid.
    pub cap_user_time_zero: u8,
    /// Whether `time_cycles` and `time_mask` are valid.
    pub cap_user_time_short: u8,
    /// Zero.
    pub reserved: [u8; 6],
}

/// A feature in a pipe; its payload follows, in the same layout as in a file's section.
///
/// perf: `PERF_RECORD_HEADER_FEATURE`; since perf 4.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_header_feature")]
pub struct RawHeaderFeature<O: Endian> {
    /// The feature, a [`Feature`](crate::feature::Feature).
    pub feat_id: U64<O>,
}

/// Compressed records; `data_size` bytes follow, then padding to a multiple of 8.
///
/// perf: `PERF_RECORD_COMPRESSED2`; since perf 6.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_compressed2")]
pub struct RawCompressed2<O: Endian> {
    /// Bytes that follow, without the padding.
    pub data_size: U64<O>,
}

/// Variables of a BPF program; `nr_entries` [`BpfMetadataEntry`]s follow.
///
/// perf: `PERF_RECORD_BPF_METADATA`; since perf 6.17.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_bpf_metadata")]
pub struct RawBpfMetadata<O: Endian> {
    /// Name of the program, padded with NUL.
    pub prog_name: [u8; BPF_PROG_NAME_LEN],
    /// Number of entries that follow.
    pub nr_entries: U64<O>,
}

/// A variable of a BPF program.
///
/// perf: `struct perf_record_bpf_metadata_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_bpf_metadata_entry")]
pub struct BpfMetadataEntry {
    /// The name of the variable, padded with NUL.
    pub key: [u8; BPF_METADATA_KEY_LEN],
    /// The value of the variable as text, padded with NUL.
    pub value: [u8; BPF_METADATA_VALUE_LEN],
}
