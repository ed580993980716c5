//! Events that are held back: THROTTLE and UNTHROTTLE.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The event came too often and was stopped (THROTTLE), or runs again (UNTHROTTLE).
///
/// Kernel: `PERF_RECORD_THROTTLE`, `PERF_RECORD_UNTHROTTLE`; since Linux 2.6.31. Since 6.16 only the group's leader
/// says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// Nanoseconds of the event's clock.
    pub time: u64,
    /// Id of the event.
    pub id: u64,
    /// Id of the very event, also where it is inherited.
    pub stream_id: u64,
}

impl Throttle {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::Throttle { time, id, stream_id } = at.fixed::<wire::Throttle<O>>("time")?;
        Ok(Self { time: time.get(), id: id.get(), stream_id: stream_id.get() })
    }
}
