//! The clock of the recording's times, and how it relates to the wall clock.

use perf_parse::feature::{self, ClockData, FeatureData};
use perf_parse::file::write::FeaturePayloads;
use rustix::time::{ClockId, DynamicClockId, Timespec, clock_getres, clock_gettime, clock_gettime_dynamic};

use crate::Error;

/// Adds `CLOCKID` and `CLOCK_DATA` for a clock; nothing for one that this machine cannot read.
///
/// perf: `record__init_clock`, `tools/perf/builtin-record.c`.
pub(crate) fn describe(clockid: i32, features: &mut FeaturePayloads) -> Result<(), Error> {
    let (Some((clock, same)), Ok(number)) = (clock(clockid), u32::try_from(clockid)) else { return Ok(()) };
    let Ok(now) = clock_gettime_dynamic(clock) else { return Ok(()) };
    let wall_clock_ns = nanoseconds(clock_gettime(ClockId::Realtime));
    let clockid_time_ns = nanoseconds(now);
    let resolution_ns = nanoseconds(clock_getres(same));
    features.set(&FeatureData::ClockId(feature::ClockId { resolution_ns }))?;
    let data = ClockData { version: 1, clockid: number, wall_clock_ns, clockid_time_ns };
    Ok(features.set(&FeatureData::ClockData(data))?)
}

/// Returns a clock by its number, and a clock with the same resolution.
///
/// Kernel: `CLOCK_*`, `include/uapi/linux/time.h`.
fn clock(clockid: i32) -> Option<(DynamicClockId<'static>, ClockId)> {
    let known = |clock| Some((DynamicClockId::Known(clock), clock));
    match clockid {
        0 => known(ClockId::Realtime),
        1 => known(ClockId::Monotonic),
        4 => known(ClockId::MonotonicRaw),
        7 => known(ClockId::Boottime),
        11 => Some((DynamicClockId::Tai, ClockId::Realtime)),
        _ => None,
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}
