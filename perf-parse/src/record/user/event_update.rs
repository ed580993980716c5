//! Properties of an event that its attr does not have.

use perf_abi::endian::Endian;
use perf_abi::record::{self as wire, EventUpdateType};

use super::CpuMapData;
use crate::cursor::Cursor;
use crate::error::Error;

/// Unit, scale, name or CPUs of an event.
///
/// perf: `struct perf_record_event_update`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventUpdate<'a> {
    /// An id of the event.
    pub id: u64,
    /// The property.
    pub data: EventUpdateData<'a>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

/// The property in an EVENT_UPDATE record.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum EventUpdateData<'a> {
    /// Unit of the counts.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    Unit(&'a [u8]),
    /// Factor for the counts.
    Scale(f64),
    /// Name of the event, as the user wrote it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    Name(&'a [u8]),
    /// CPUs on which the event counts.
    Cpus(CpuMapData<'a>),
    /// An unknown property.
    Other {
        /// Type of the property.
        #[cfg_attr(feature = "serde", serde(rename = "type"))]
        kind: EventUpdateType,
        /// The bytes after `id`.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
        data: &'a [u8],
    },
}

impl<'a> EventUpdate<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let update = at.fixed::<wire::RawEventUpdate<O>>("type")?;
        let data = match EventUpdateType(update.kind.get()) {
            EventUpdateType::UNIT => EventUpdateData::Unit(at.string("unit")?),
            EventUpdateType::SCALE => {
                EventUpdateData::Scale(at.fixed::<wire::EventUpdateScale<O>>("scale")?.scale.get())
            }
            EventUpdateType::NAME => EventUpdateData::Name(at.string("name")?),
            EventUpdateType::CPUS => EventUpdateData::Cpus(CpuMapData::parse::<O>(at)?),
            kind => EventUpdateData::Other { kind, data: at.take_rest() },
        };
        Ok(Self { id: update.id.get(), data, rest: at.take_rest() })
    }

    /// Returns the type of the property. C: `type`.
    #[must_use]
    pub const fn kind(&self) -> EventUpdateType {
        match self.data {
            EventUpdateData::Unit(_) => EventUpdateType::UNIT,
            EventUpdateData::Scale(_) => EventUpdateType::SCALE,
            EventUpdateData::Name(_) => EventUpdateType::NAME,
            EventUpdateData::Cpus(_) => EventUpdateType::CPUS,
            EventUpdateData::Other { kind, .. } => kind,
        }
    }
}
