//! Records that the perf tool makes up itself: types from 64 on.
//!
//! They belong to no event and have no `sample_id` trailer.

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::endian::{Endian, U64};
use perf_abi::record::{self as wire, RecordType};

use super::RawRecord;
use crate::cursor::Cursor;
use crate::error::Error;

/// A record of the perf tool's own. Borrows from the record's bytes.
///
/// perf: `enum perf_user_event_type`, `tools/lib/perf/include/perf/event.h`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum UserRecord<'a, O: Endian> {
    /// `PERF_RECORD_FINISHED_ROUND`: every ring was read once.
    FinishedRound,
    /// `PERF_RECORD_FINISHED_INIT`: the records made up at the start end here.
    FinishedInit,
    /// `PERF_RECORD_ID_INDEX`: the cpu and task of each event id.
    IdIndex(IdIndex<'a, O>),
    /// `PERF_RECORD_AUXTRACE_INFO`: what recorded the AUX data.
    AuxtraceInfo(AuxtraceInfo<'a, O>),
    /// `PERF_RECORD_AUXTRACE`: a piece of AUX data, which stands behind the record.
    Auxtrace(&'a wire::Auxtrace<O>),
    /// `PERF_RECORD_THREAD_MAP`: the threads that were recorded.
    ThreadMap(&'a [wire::ThreadMapEntry<O>]),
    /// `PERF_RECORD_TIME_CONV`: how the cpu's time stamps become nanoseconds.
    TimeConv(TimeConv<'a, O>),
    /// s
    HeaderAttr(HeaderAttr<'a, O>),
    /// s
    EventUpdate(EventUpdateRecord<'a, O>),
    /// s
    HeaderFeature(HeaderFeature<'a>),
    /// s
    HeaderTracingData(u32),
    /// A type that is not decoded.
    Other(RawRecord<'a, O>),
}

/// s
#[derive(Clone, Copy, Debug)]
pub struct HeaderAttr<'a, O: Endian> {
    /// s
    pub read: perf_abi::attr::ReadAttr<'a>,
    /// s
    pub ids: &'a [U64<O>],
}
/// s
#[derive(Clone, Copy, Debug)]
pub struct HeaderFeature<'a> {
    /// s
    pub feature: perf_abi::feature::Feature,
    /// s
    pub data: &'a [u8],
}
/// s
#[derive(Clone, Copy, Debug)]
pub struct EventUpdateRecord<'a, O: Endian> {
    /// s
    pub id: u64,
    /// s
    pub update: EventUpdate<'a, O>,
}
/// s
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EventUpdate<'a, O: Endian> {
    /// s
    Unit(&'a [u8]),
    /// s
    Scale(f64),
    /// s
    Name(&'a [u8]),
    /// s
    Cpus(&'a [U64<O>]),
    /// s
    Unknown,
}

/// The cpu and task of each event id.
#[derive(Clone, Copy, Debug)]
pub struct IdIndex<'a, O: Endian> {
    /// An entry an id.
    pub entries: &'a [wire::IdIndexEntry<O>],
    /// The virtual machine and vcpu of each entry; `None` in records without that part.
    pub guests: Option<&'a [wire::IdIndexEntry2<O>]>,
}

/// What recorded the AUX data.
#[derive(Clone, Copy, Debug)]
pub struct AuxtraceInfo<'a, O: Endian> {
    /// Which tracer.
    pub kind: AuxtraceType,
    /// Its settings, by the word indices of [`perf_abi::auxtrace`].
    pub words: &'a [U64<O>],
}

/// How the cpu's time stamps become nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct TimeConv<'a, O: Endian> {
    /// Shift, factor and offset.
    pub scale: &'a wire::TimeConv<O>,
    /// How a counter that wraps is extended; `None` in records of perf before 5.10, which end before it.
    pub short: Option<&'a wire::TimeConvShort<O>>,
}

impl<'a, O: Endian> UserRecord<'a, O> {
    pub(super) fn parse(raw: &RawRecord<'a, O>) -> Result<Self, Error> {
        let mut cursor = Cursor::new(raw.payload(), 8);
        let at = &mut cursor;
        let record = match raw.kind() {
            RecordType::FINISHED_ROUND => Self::FinishedRound,
            RecordType::FINISHED_INIT => Self::FinishedInit,
            RecordType::ID_INDEX => {
                let nr = at.word::<O>("nr")?;
                let entries = at.array(nr, "entries")?;
                let guests = if at.rest().is_empty() { None } else { Some(at.array(nr, "entries_2")?) };
                Self::IdIndex(IdIndex { entries, guests })
            }
            RecordType::AUXTRACE_INFO => {
                let info = at.fixed::<wire::AuxtraceInfo<O>>("type")?;
                let words = at.array((at.rest().len() / 8) as u64, "priv")?;
                Self::AuxtraceInfo(AuxtraceInfo { kind: AuxtraceType(info.kind.get()), words })
            }
            RecordType::AUXTRACE => Self::Auxtrace(at.fixed("size")?),
            RecordType::THREAD_MAP => {
                let nr = at.word::<O>("nr")?;
                Self::ThreadMap(at.array(nr, "entries")?)
            }
            RecordType::TIME_CONV => {
                let scale = at.fixed("time_shift")?;
                let short = if at.rest().is_empty() { None } else { Some(at.fixed("time_cycles")?) };
                Self::TimeConv(TimeConv { scale, short })
            }
            RecordType::HEADER_ATTR => {
                let read = perf_abi::attr::Attr::read::<O>(at.rest()).map_err(|_| at.truncated("attr", 0))?;
                let len = if read.attr.size == 0 { 64 } else { read.attr.size };
                at.bytes(u64::from(len), "attr")?;
                Self::HeaderAttr(HeaderAttr { read, ids: at.array((at.rest().len() / 8) as u64, "ids")? })
            }
            RecordType::EVENT_UPDATE => {
                let kind = at.word::<O>("type")?;
                let id = at.word::<O>("id")?;
                let update = match kind {
                    2 => EventUpdate::Name(at.string("name")?),
                    0 => EventUpdate::Unit(at.string("unit")?),
                    1 => EventUpdate::Scale(f64::from_bits(at.word::<O>("scale")?)),
                    _ => {
                        at.take_rest();
                        EventUpdate::Unknown
                    }
                };
                at.take_rest();
                Self::EventUpdate(EventUpdateRecord { id, update })
            }
            RecordType::HEADER_FEATURE => {
                let feature = perf_abi::feature::Feature(at.word::<O>("feat_id")? as u32);
                Self::HeaderFeature(HeaderFeature { feature, data: at.take_rest() })
            }
            RecordType::HEADER_TRACING_DATA => {
                let size = at.fixed::<perf_abi::endian::U32<O>>("size")?.get();
                at.take_rest();
                Self::HeaderTracingData(size)
            }
            _ => return Ok(Self::Other(*raw)),
        };
        cursor.finish()?;
        Ok(record)
    }
}
