//! Records that the perf tool makes up itself: types from 64 on.
//!
//! They belong to no event and have no `sample_id` trailer. One file a family of records; records and fields go by
//! perf's names.
//!
//! # Records longer than known
//!
//! perf reads the fields that it knows and passes over what stands behind them, and that is how these records have
//! grown: TIME_CONV by three fields, AUXTRACE_ERROR by the time and the guest, ID_INDEX by a second array. So what
//! stands behind the last field known here is no fault but [`UserRecord::rest`]: the fields of a newer perf, or padding,
//! which is not always below 8 bytes (perf gives each EVENT_UPDATE the room of the largest).
//!
//! Three kinds of records have no such rest:
//!
//! - HEADER_ATTR and AUXTRACE_INFO end with an array of 64-bit words that has no count. What is not a whole word at
//!   their end is [`Residue`](crate::ErrorKind::Residue).
//! - FINISHED_ROUND and FINISHED_INIT say nothing but their type; no perf has given them a payload. One is `Residue`.
//! - A string or bytes at the end of a record take all that is left: the name of HEADER_EVENT_TYPE, HEADER_BUILD_ID
//!   and EVENT_UPDATE, the message of AUXTRACE_ERROR, the data of HEADER_FEATURE and COMPRESSED.
//!
//! A record that ends before a field known here is [`Truncated`](crate::ErrorKind::Truncated), but where older perf
//! ended it.

mod auxtrace;
mod bpf_metadata;
mod build_id;
mod compressed;
mod cpu_map;
mod event_update;
mod header;
mod id_index;
mod schedstat;
mod stat;
mod thread_map;
mod time_conv;

pub use auxtrace::{AuxtraceError, AuxtraceInfo};
pub use bpf_metadata::BpfMetadata;
pub use build_id::BuildId;
pub use compressed::Compressed2;
pub use cpu_map::{CpuMap, CpuMapData, Cpus};
pub use event_update::{EventUpdate, EventUpdateData};
pub use header::{HeaderAttr, HeaderEventType, HeaderFeature};
pub use id_index::IdIndex;
pub use schedstat::{SchedstatCpu, SchedstatDomain, SchedstatDomainCounts};
pub use stat::StatConfig;
pub use thread_map::ThreadMap;
pub use time_conv::TimeConv;

use perf_abi::endian::Endian;
use perf_abi::record::{self as wire, RecordType};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::RawRecord;
use crate::cursor::Cursor;
use crate::error::Error;

/// A record of the perf tool's own. Borrows from the record's bytes.
///
/// perf: `enum perf_user_event_type`, `tools/lib/perf/include/perf/event.h`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum UserRecord<'a, O: Endian> {
    /// `PERF_RECORD_HEADER_ATTR`: an event, in a pipe.
    HeaderAttr(HeaderAttr<'a, O>),
    /// `PERF_RECORD_HEADER_EVENT_TYPE`: the name of an event; written by the first tools only.
    HeaderEventType(HeaderEventType<'a>),
    /// `PERF_RECORD_HEADER_TRACING_DATA`: formats of the tracepoints, which stand behind the record.
    HeaderTracingData(Fixed<'a, wire::HeaderTracingData<O>>),
    /// `PERF_RECORD_HEADER_BUILD_ID`: the build id of a file.
    HeaderBuildId(BuildId<'a>),
    /// `PERF_RECORD_FINISHED_ROUND`: every ring was read once.
    FinishedRound,
    /// `PERF_RECORD_ID_INDEX`: the cpu and task of each event id.
    IdIndex(IdIndex<'a, O>),
    /// `PERF_RECORD_AUXTRACE_INFO`: what recorded the AUX data.
    AuxtraceInfo(AuxtraceInfo<'a, O>),
    /// `PERF_RECORD_AUXTRACE`: a piece of AUX data, which stands behind the record.
    Auxtrace(Fixed<'a, wire::Auxtrace<O>>),
    /// `PERF_RECORD_AUXTRACE_ERROR`: AUX data that could not be decoded.
    AuxtraceError(AuxtraceError<'a, O>),
    /// `PERF_RECORD_THREAD_MAP`: the threads that were recorded.
    ThreadMap(ThreadMap<'a, O>),
    /// `PERF_RECORD_CPU_MAP`: the cpus that were recorded.
    CpuMap(CpuMap<'a, O>),
    /// `PERF_RECORD_STAT_CONFIG`: how perf stat was run.
    StatConfig(StatConfig<'a, O>),
    /// `PERF_RECORD_STAT`: a count of perf stat.
    Stat(Fixed<'a, wire::Stat<O>>),
    /// `PERF_RECORD_STAT_ROUND`: a round of counts ended.
    StatRound(Fixed<'a, wire::StatRound<O>>),
    /// `PERF_RECORD_EVENT_UPDATE`: unit, scale, name or cpus of an event.
    EventUpdate(EventUpdate<'a, O>),
    /// `PERF_RECORD_TIME_CONV`: how the cpu's time stamps become nanoseconds.
    TimeConv(TimeConv<'a, O>),
    /// `PERF_RECORD_HEADER_FEATURE`: a feature section, in a pipe.
    HeaderFeature(HeaderFeature<'a>),
    /// `PERF_RECORD_COMPRESSED`: a piece of a zstd stream of records, which may end within one.
    Compressed(&'a [u8]),
    /// `PERF_RECORD_FINISHED_INIT`: the records made up at the start end here.
    FinishedInit,
    /// `PERF_RECORD_COMPRESSED2`: as `Compressed`, its size apart from the padding.
    Compressed2(Compressed2<'a>),
    /// `PERF_RECORD_BPF_METADATA`: variables of a BPF program.
    BpfMetadata(BpfMetadata<'a>),
    /// `PERF_RECORD_SCHEDSTAT_CPU`: scheduler statistics of a cpu.
    SchedstatCpu(SchedstatCpu<'a, O>),
    /// `PERF_RECORD_SCHEDSTAT_DOMAIN`: scheduler statistics of a domain.
    SchedstatDomain(SchedstatDomain<'a, O>),
    /// A type of a newer perf.
    Other(RawRecord<'a, O>),
}

/// Fields of fixed size, which it derefs to, and what stands behind them.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<'a, T> {
    /// The fields.
    pub fields: &'a T,
    /// What stands behind them; see [`UserRecord::rest`].
    pub rest: &'a [u8],
}

impl<'a, T: FromBytes + KnownLayout + Immutable + Unaligned> Fixed<'a, T> {
    fn parse(at: &mut Cursor<'a>, field: &'static str) -> Result<Self, Error> {
        Ok(Self { fields: at.fixed(field)?, rest: at.take_rest() })
    }
}

impl<T> core::ops::Deref for Fixed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.fields
    }
}

impl<'a, O: Endian> UserRecord<'a, O> {
    pub(super) fn parse(raw: &RawRecord<'a, O>) -> Result<Self, Error> {
        let mut cursor = Cursor::new(raw.payload(), 8);
        let at = &mut cursor;
        let record = match raw.kind() {
            RecordType::HEADER_ATTR => Self::HeaderAttr(HeaderAttr::parse(at)?),
            RecordType::HEADER_EVENT_TYPE => Self::HeaderEventType(HeaderEventType::parse::<O>(at)?),
            RecordType::HEADER_TRACING_DATA => Self::HeaderTracingData(Fixed::parse(at, "size")?),
            RecordType::HEADER_BUILD_ID => Self::HeaderBuildId(BuildId::parse::<O>(at, raw.misc())?),
            RecordType::FINISHED_ROUND => Self::FinishedRound,
            RecordType::ID_INDEX => Self::IdIndex(IdIndex::parse(at)?),
            RecordType::AUXTRACE_INFO => Self::AuxtraceInfo(AuxtraceInfo::parse(at)?),
            RecordType::AUXTRACE => Self::Auxtrace(Fixed::parse(at, "size")?),
            RecordType::AUXTRACE_ERROR => Self::AuxtraceError(AuxtraceError::parse(at)?),
            RecordType::THREAD_MAP => Self::ThreadMap(ThreadMap::parse(at)?),
            RecordType::CPU_MAP => Self::CpuMap(CpuMap::parse(at)?),
            RecordType::STAT_CONFIG => Self::StatConfig(StatConfig::parse(at)?),
            RecordType::STAT => Self::Stat(Fixed::parse(at, "id")?),
            RecordType::STAT_ROUND => Self::StatRound(Fixed::parse(at, "type")?),
            RecordType::EVENT_UPDATE => Self::EventUpdate(EventUpdate::parse(at)?),
            RecordType::TIME_CONV => Self::TimeConv(TimeConv::parse(at)?),
            RecordType::HEADER_FEATURE => Self::HeaderFeature(HeaderFeature::parse::<O>(at)?),
            RecordType::COMPRESSED => Self::Compressed(at.take_rest()),
            RecordType::FINISHED_INIT => Self::FinishedInit,
            RecordType::COMPRESSED2 => Self::Compressed2(Compressed2::parse::<O>(at)?),
            RecordType::BPF_METADATA => Self::BpfMetadata(BpfMetadata::parse::<O>(at)?),
            RecordType::SCHEDSTAT_CPU => Self::SchedstatCpu(SchedstatCpu::parse(at)?),
            RecordType::SCHEDSTAT_DOMAIN => Self::SchedstatDomain(SchedstatDomain::parse(at)?),
            _ => return Ok(Self::Other(*raw)),
        };
        cursor.finish()?;
        Ok(record)
    }

    /// What stands behind the last field that this crate knows: padding, or fields of a newer perf.
    ///
    /// Empty where the last field takes all that is left, and for a type that is not known.
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
            Self::HeaderAttr(_)
            | Self::HeaderEventType(_)
            | Self::HeaderBuildId(_)
            | Self::FinishedRound
            | Self::AuxtraceInfo(_)
            | Self::HeaderFeature(_)
            | Self::Compressed(_)
            | Self::FinishedInit
            | Self::Other(_) => &[],
        }
    }
}

/// A name in a field of fixed size: what stands before its first NUL, or all of it.
fn until_nul(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == 0).next().unwrap_or_default()
}
