//! The time at which a recording ended.

use std::time::{Duration, SystemTime};

use perf_parse::feature::Features;

use crate::input::Memory;

/// Returns when a recording ended: by the wall clock, if the capture relates it to the clock of its samples (`CLOCK_DATA`),
/// else by the time at which its files were written. `None` for a stream.
pub(crate) fn of(features: &Features<'_>, memory: Memory<'_>) -> Option<SystemTime> {
    let written =
        || memory.inputs.iter().map(crate::output::InputFile::modified).max().filter(|&time| time > 0);
    let nanoseconds = by_clock(features).or_else(written)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds))
}

/// Returns the time of the last sample in nanoseconds since 1970.
fn by_clock(features: &Features<'_>) -> Option<u64> {
    let clock = features.clock_data()?.ok()?;
    let last = features.sample_time()?.ok()?.last;
    clock.wall_clock_ns.checked_add(last.checked_sub(clock.clockid_time_ns)?)
}
