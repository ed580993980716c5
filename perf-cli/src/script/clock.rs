//! The times of lines.

use perf_parse::Sample;

use super::Options;
use crate::perf_text::print::{push_decimal_to, push_microseconds, push_zeroed};

/// The times that `--reltime` and `--deltatime` refer to: 0 before the first line with a time, as in perf.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    first: u64,
    before: u64,
}

impl Clock {
    /// Returns the time that the next line shows.
    pub(super) fn shown(&mut self, time: u64, options: &Options<'_>) -> u64 {
        if options.reltime {
            if self.first == 0 {
                self.first = time;
            }
            time.wrapping_sub(self.first)
        } else if options.deltatime {
            let before = core::mem::replace(&mut self.before, time);
            if before == 0 { 0 } else { time.wrapping_sub(before) }
        } else {
            time
        }
    }
}

/// Returns the time of a sample; the largest one if it has none.
pub(super) fn time_of(sample: &Sample<'_>) -> u64 {
    sample.time().unwrap_or(u64::MAX)
}

/// Appends seconds, with six or nine decimal places.
pub(super) fn push_time(out: &mut Vec<u8>, time: u64, ns: bool) {
    if ns {
        push_decimal_to(out, time / 1_000_000_000, 5);
        out.push(b'.');
        push_zeroed(out, time % 1_000_000_000, 9);
    } else {
        push_microseconds(out, time, 5);
    }
}
