//! Records that the perf tool synthesises: types from 64 on. Those from 32768 on are of Android's simpleperf.
//!
//! They belong to no event and have no `sample_id` trailer. Each file holds one family of records. Records and fields
//! have perf's names.
//!
//! # Records with unknown trailing bytes
//!
//! perf reads the fields that it knows and skips the bytes after them. This is how these records have grown:
//! TIME_CONV by three fields, AUXTRACE_ERROR by the time and the guest, ID_INDEX by a second array. Bytes after the
//! last field known here are therefore no fault; [`UserRecord::rest`] returns them. They are fields of a newer perf,
//! or padding, which can be 8 bytes or more (perf gives each EVENT_UPDATE the size of the largest one).
//!
//! Three kinds of records have no such rest:
//!
//! - HEADER_ATTR and AUXTRACE_INFO end with an array of 64-bit words that has no count. An incomplete word at their
//!   end is [`Residue`](crate::ErrorKind::Residue).
//! - FINISHED_ROUND, FINISHED_INIT and SPLIT_END have no payload in any version. A payload is `Residue`.
//! - A string or bytes at the end of a record take all remaining bytes: the name of HEADER_EVENT_TYPE,
//!   HEADER_BUILD_ID and EVENT_UPDATE, the message of AUXTRACE_ERROR, the data of HEADER_FEATURE and COMPRESSED; of
//!   simpleperf's records those of DSO, SYMBOL, DEBUG and SPLIT.
//!
//! A record that ends before a field known here is [`Truncated`](crate::ErrorKind::Truncated), unless an older perf
//! ended the record there.

mod auxtrace;
mod bpf_metadata;
mod build_id;
mod compressed;
mod cpu_map;
mod event_update;
mod header;
mod id_index;
mod schedstat;
mod simpleperf;
mod stat;
mod thread_map;
mod time_conv;

pub use auxtrace::{Auxtrace, AuxtraceError, AuxtraceInfo};
pub use bpf_metadata::BpfMetadata;
pub use build_id::BuildId;
pub use compressed::Compressed2;
pub use cpu_map::{CpuMap, CpuMapData, Cpus};
pub use event_update::{EventUpdate, EventUpdateData};
pub use header::{HeaderAttr, HeaderEventType, HeaderFeature, HeaderTracingData};
pub use id_index::{IdIndex, IdIndexEntry, IdIndexGuest};
pub use schedstat::{SchedstatCpu, SchedstatDomain};
pub use simpleperf::{
    EventId, EventIdEntry, KernelSymbol, SimpleperfCallchain, SimpleperfDebug, SimpleperfDso,
    SimpleperfSymbol, SimpleperfTracingData, UnwindingResult, UnwindingState,
};
pub use stat::{Stat, StatConfig, StatConfigEntry, StatRound};
pub use thread_map::{ThreadMap, ThreadMapEntry};
pub use time_conv::{TimeConv, TimeConvShort};

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::RawRecord;
use crate::cursor::Cursor;
use crate::error::Error;

/// A record of the perf tool itself, or of simpleperf. Borrows from the record's bytes.
///
/// perf: `enum perf_user_event_type`, `tools/lib/perf/include/perf/event.h`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "SCREAMING_SNAKE_CASE"))]
#[non_exhaustive]
pub enum UserRecord<'a> {
    /// `PERF_RECORD_HEADER_ATTR`: an event; in pipes.
    HeaderAttr(HeaderAttr<'a>),
    /// `PERF_RECORD_HEADER_EVENT_TYPE`: the name of an event; only the first versions of perf wrote it.
    HeaderEventType(HeaderEventType<'a>),
    /// `PERF_RECORD_HEADER_TRACING_DATA`: the size of the formats of tracepoints, which follow the record.
    HeaderTracingData(HeaderTracingData<'a>),
    /// `PERF_RECORD_HEADER_BUILD_ID`: the build id of a file.
    HeaderBuildId(BuildId<'a>),
    /// `PERF_RECORD_FINISHED_ROUND`: perf has read every ring once.
    FinishedRound,
    /// `PERF_RECORD_ID_INDEX`: the CPU and task of each event id.
    IdIndex(IdIndex<'a>),
    /// `PERF_RECORD_AUXTRACE_INFO`: the tracer of the AUX data and its settings.
    AuxtraceInfo(AuxtraceInfo<'a>),
    /// `PERF_RECORD_AUXTRACE`: the description of a piece of AUX data, which follows the record.
    Auxtrace(Auxtrace<'a>),
    /// `PERF_RECORD_AUXTRACE_ERROR`: AUX data that could not be decoded.
    AuxtraceError(AuxtraceError<'a>),
    /// `PERF_RECORD_THREAD_MAP`: the recorded threads.
    ThreadMap(ThreadMap<'a>),
    /// `PERF_RECORD_CPU_MAP`: the recorded CPUs.
    CpuMap(CpuMap<'a>),
    /// `PERF_RECORD_STAT_CONFIG`: the settings of perf stat.
    StatConfig(StatConfig<'a>),
    /// `PERF_RECORD_STAT`: a count of perf stat.
    Stat(Stat<'a>),
    /// `PERF_RECORD_STAT_ROUND`: a round of counts ended.
    StatRound(StatRound<'a>),
    /// `PERF_RECORD_EVENT_UPDATE`: unit, scale, name or CPUs of an event.
    EventUpdate(EventUpdate<'a>),
    /// `PERF_RECORD_TIME_CONV`: the conversion of the CPU's time stamps to nanoseconds.
    TimeConv(TimeConv<'a>),
    /// `PERF_RECORD_HEADER_FEATURE`: a feature section; in pipes.
    HeaderFeature(HeaderFeature<'a>),
    /// `PERF_RECORD_COMPRESSED`: a piece of a zstd stream of records, which may end within a record.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    Compressed(&'a [u8]),
    /// `PERF_RECORD_FINISHED_INIT`: the end of the records that perf synthesises at the start.
    FinishedInit,
    /// `PERF_RECORD_COMPRESSED2`: like `Compressed`, with a size that excludes the padding.
    Compressed2(Compressed2<'a>),
    /// `PERF_RECORD_BPF_METADATA`: variables of a BPF program.
    BpfMetadata(BpfMetadata<'a>),
    /// `PERF_RECORD_SCHEDSTAT_CPU`: scheduler statistics of a CPU.
    SchedstatCpu(SchedstatCpu<'a>),
    /// `PERF_RECORD_SCHEDSTAT_DOMAIN`: scheduler statistics of a domain.
    SchedstatDomain(SchedstatDomain<'a>),
    /// `SIMPLE_PERF_RECORD_KERNEL_SYMBOL`: the text of `/proc/kallsyms`.
    KernelSymbol(KernelSymbol<'a>),
    /// `SIMPLE_PERF_RECORD_DSO`: a file with symbols.
    Dso(SimpleperfDso<'a>),
    /// `SIMPLE_PERF_RECORD_SYMBOL`: a symbol of a file.
    Symbol(SimpleperfSymbol<'a>),
    /// `SIMPLE_PERF_RECORD_SPLIT`: a piece of a longer record, which [`SplitJoiner`](crate::record::SplitJoiner) joins.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    Split(&'a [u8]),
    /// `SIMPLE_PERF_RECORD_SPLIT_END`: the end of the pieces.
    SplitEnd,
    /// `SIMPLE_PERF_RECORD_EVENT_ID`: ids of the events.
    EventId(EventId<'a>),
    /// `SIMPLE_PERF_RECORD_CALLCHAIN`: a call chain that simpleperf unwound.
    Callchain(SimpleperfCallchain<'a>),
    /// `SIMPLE_PERF_RECORD_UNWINDING_RESULT`: the result of unwinding a stack.
    UnwindingResult(UnwindingResult<'a>),
    /// `SIMPLE_PERF_RECORD_TRACING_DATA`: the formats of tracepoints.
    TracingData(SimpleperfTracingData<'a>),
    /// `SIMPLE_PERF_RECORD_DEBUG`: a message for the developers of simpleperf.
    Debug(SimpleperfDebug<'a>),
    /// A type that this crate does not know, from a newer perf.
    Other(RawRecord<'a>),
}

impl<'a> UserRecord<'a> {
    pub(super) fn parse<O: Endian>(raw: &RawRecord<'a, O>) -> Result<Self, Error> {
        let mut cursor = Cursor::new(raw.payload(), 8);
        let at = &mut cursor;
        let record = match raw.kind() {
            RecordType::HEADER_ATTR => Self::HeaderAttr(HeaderAttr::parse::<O>(at)?),
            RecordType::HEADER_EVENT_TYPE => Self::HeaderEventType(HeaderEventType::parse::<O>(at)?),
            RecordType::HEADER_TRACING_DATA => Self::HeaderTracingData(HeaderTracingData::parse::<O>(at)?),
            RecordType::HEADER_BUILD_ID => Self::HeaderBuildId(BuildId::parse::<O>(at, raw.misc())?),
            RecordType::FINISHED_ROUND => Self::FinishedRound,
            RecordType::ID_INDEX => Self::IdIndex(IdIndex::parse::<O>(at)?),
            RecordType::AUXTRACE_INFO => Self::AuxtraceInfo(AuxtraceInfo::parse::<O>(at)?),
            RecordType::AUXTRACE => Self::Auxtrace(Auxtrace::parse::<O>(at)?),
            RecordType::AUXTRACE_ERROR => Self::AuxtraceError(AuxtraceError::parse::<O>(at)?),
            RecordType::THREAD_MAP => Self::ThreadMap(ThreadMap::parse::<O>(at)?),
            RecordType::CPU_MAP => Self::CpuMap(CpuMap::parse::<O>(at)?),
            RecordType::STAT_CONFIG => Self::StatConfig(StatConfig::parse::<O>(at)?),
            RecordType::STAT => Self::Stat(Stat::parse::<O>(at)?),
            RecordType::STAT_ROUND => Self::StatRound(StatRound::parse::<O>(at)?),
            RecordType::EVENT_UPDATE => Self::EventUpdate(EventUpdate::parse::<O>(at)?),
            RecordType::TIME_CONV => Self::TimeConv(TimeConv::parse::<O>(at)?),
            RecordType::HEADER_FEATURE => Self::HeaderFeature(HeaderFeature::parse::<O>(at)?),
            RecordType::COMPRESSED => Self::Compressed(at.take_rest()),
            RecordType::FINISHED_INIT => Self::FinishedInit,
            RecordType::COMPRESSED2 => Self::Compressed2(Compressed2::parse::<O>(at)?),
            RecordType::BPF_METADATA => Self::BpfMetadata(BpfMetadata::parse::<O>(at)?),
            RecordType::SCHEDSTAT_CPU => Self::SchedstatCpu(SchedstatCpu::parse::<O>(at)?),
            RecordType::SCHEDSTAT_DOMAIN => Self::SchedstatDomain(SchedstatDomain::parse::<O>(at)?),
            RecordType::KERNEL_SYMBOL => Self::KernelSymbol(KernelSymbol::parse::<O>(at)?),
            RecordType::DSO => Self::Dso(SimpleperfDso::parse::<O>(at)?),
            RecordType::SYMBOL => Self::Symbol(SimpleperfSymbol::parse::<O>(at)?),
            RecordType::SPLIT => Self::Split(at.take_rest()),
            RecordType::SPLIT_END => Self::SplitEnd,
            RecordType::EVENT_ID => Self::EventId(EventId::parse::<O>(at)?),
            RecordType::CALLCHAIN => Self::Callchain(SimpleperfCallchain::parse::<O>(at)?),
            RecordType::UNWINDING_RESULT => Self::UnwindingResult(UnwindingResult::parse::<O>(at)?),
            RecordType::TRACING_DATA => Self::TracingData(SimpleperfTracingData::parse::<O>(at)?),
            RecordType::DEBUG => Self::Debug(SimpleperfDebug::parse::<O>(at)?),
            _ => return Ok(Self::Other(raw.untyped())),
        };
        cursor.finish()?;
        Ok(record)
    }

    /// Returns the bytes after the last field that this crate knows: padding, or fields of a newer perf.
    ///
    /// Empty if the last field takes all remaining bytes, and for an unknown type.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        match self {
            Self::HeaderTracingData(it) => it.rest,
            Self::IdIndex(it) => it.rest,
            Self::Auxtrace(it) => it.rest,
            Self::AuxtraceError(it) => it.rest,
            Self::ThreadMap(it) => it.rest,
            Self::CpuMap(it) => it.rest,
            Self::StatConfig(it) => it.rest,
            Self::Stat(it) => it.rest,
            Self::StatRound(it) => it.rest,
            Self::EventUpdate(it) => it.rest,
            Self::TimeConv(it) => it.rest,
            Self::Compressed2(it) => it.rest,
            Self::BpfMetadata(it) => it.rest,
            Self::SchedstatCpu(it) => it.rest,
            Self::SchedstatDomain(it) => it.rest,
            Self::KernelSymbol(it) => it.rest,
            Self::EventId(it) => it.rest,
            Self::Callchain(it) => it.rest,
            Self::UnwindingResult(it) => it.state().rest,
            Self::TracingData(it) => it.rest,
            Self::HeaderAttr(_)
            | Self::HeaderEventType(_)
            | Self::HeaderBuildId(_)
            | Self::FinishedRound
            | Self::AuxtraceInfo(_)
            | Self::HeaderFeature(_)
            | Self::Compressed(_)
            | Self::FinishedInit
            | Self::Dso(_)
            | Self::Symbol(_)
            | Self::Split(_)
            | Self::SplitEnd
            | Self::Debug(_)
            | Self::Other(_) => &[],
        }
    }
}

/// Returns the name in a field of fixed size: the bytes before the first NUL, or all bytes.
fn until_nul(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == 0).next().unwrap_or_default()
}
