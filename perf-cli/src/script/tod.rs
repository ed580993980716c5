//! The time of day of a sample.

use perf_parse::feature::ClockData;

use crate::escape::print;
use crate::local_time::{self, DateText};

const SECOND: u64 = 1_000_000_000;

/// Appends date and time in the local time zone. `clock` is one moment on both clocks; `None` if the capture has none.
///
/// perf: `tod_scnprintf`, `tools/perf/builtin-script.c`.
pub(super) fn push(out: &mut Vec<u8>, time: u64, clock: Option<&ClockData>, ns: bool) {
    let Some(clock) = clock else {
        out.extend_from_slice(b"disabled ");
        return;
    };
    let tod = clock.wall_clock_ns.wrapping_add(time.wrapping_sub(clock.clockid_time_ns));
    match local_time::of((tod / SECOND) as i64).as_ref().map(DateText) {
        None => out.extend_from_slice(b"failed "),
        Some(local) if ns => print(out, format_args!("{local}.{:09} ", tod % SECOND)),
        Some(local) => print(out, format_args!("{local}.{:06} ", tod % SECOND / 1000)),
    }
}
