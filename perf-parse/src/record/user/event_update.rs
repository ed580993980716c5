//! What perf tells of an event apart from its attr.

use perf_abi::endian::Endian;
use perf_abi::record::{self as wire, EventUpdateType};

use super::CpuMapData;
use crate::cursor::Cursor;
use crate::error::Error;

/// Unit, scale, name or cpus of an event.
///
/// perf: `struct perf_record_event_update`.
#[derive(Clone, Copy, Debug)]
pub struct EventUpdate<'a, O: Endian> {
    /// An id of the event.
    pub id: u64,
    /// What is told.
    pub data: EventUpdateData<'a, O>,
    /// What stands behind the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

/// What an EVENT_UPDATE record tells.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EventUpdateData<'a, O: Endian> {
    /// The unit of its counts.
    Unit(&'a [u8]),
    /// What to multiply its counts with.
    Scale(f64),
    /// Its name, as the user gave it.
    Name(&'a [u8]),
    /// The cpus it counts on.
    Cpus(CpuMapData<'a, O>),
    /// Something else.
    Other {
        /// Which.
        kind: EventUpdateType,
        /// What follows `id`.
        data: &'a [u8],
    },
}

impl<'a, O: Endian> EventUpdate<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let update = at.fixed::<wire::EventUpdate<O>>("type")?;
        let data = match EventUpdateType(update.kind.get()) {
            EventUpdateType::UNIT => EventUpdateData::Unit(at.string("unit")?),
            EventUpdateType::SCALE => {
                EventUpdateData::Scale(at.fixed::<wire::EventUpdateScale<O>>("scale")?.scale.get())
            }
            EventUpdateType::NAME => EventUpdateData::Name(at.string("name")?),
            EventUpdateType::CPUS => EventUpdateData::Cpus(CpuMapData::parse(at)?),
            kind => EventUpdateData::Other { kind, data: at.take_rest() },
        };
        Ok(Self { id: update.id.get(), data, rest: at.take_rest() })
    }

    /// What of the event is told. C: `type`.
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
