//! Throttled events: THROTTLE and UNTHROTTLE.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The event was throttled because it occurred too often (THROTTLE), or is no longer throttled (UNTHROTTLE).
///
/// Kernel: `PERF_RECORD_THROTTLE`, `PERF_RECORD_UNTHROTTLE`; since Linux 2.6.31. Since 6.16 only the leader of a
/// group writes these records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "ThrottleRecord")]
pub struct Throttle {
    /// Time in nanoseconds of the event's clock.
    pub time: u64,
    /// Id of the event.
    pub id: u64,
    /// Id of the event itself, even if it is inherited.
    pub stream_id: u64,
}

impl Throttle {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawThrottle { time, id, stream_id } = at.fixed::<wire::RawThrottle<O>>("time")?;
        Ok(Self { time: time.get(), id: id.get(), stream_id: stream_id.get() })
    }
}
