//! What the program itself takes.

use std::fs;
use std::time::Instant;

/// The processor time of this process since the last look.
#[derive(Debug)]
pub(super) struct OwnCost {
    ticks: u64,
    looked: Instant,
}

impl OwnCost {
    pub(super) fn new() -> Self {
        Self { ticks: ticks(), looked: Instant::now() }
    }

    /// Returns the percentage of one CPU that the process took since the last call.
    pub(super) fn percent(&mut self) -> f64 {
        let (ticks, now) = (ticks(), Instant::now());
        let seconds = now.duration_since(self.looked).as_secs_f64().max(1e-3);
        let per_second = rustix::param::clock_ticks_per_second().max(1) as f64;
        let used = ticks.saturating_sub(self.ticks) as f64 / per_second;
        *self = Self { ticks, looked: now };
        100.0 * used / seconds
    }
}

/// Returns the ticks of all threads of this process; 0 if they cannot be read.
fn ticks() -> u64 {
    of_stat(&fs::read_to_string("/proc/self/stat").unwrap_or_default()).unwrap_or(0)
}

/// Returns the sum of the fields `utime` and `stime`, which are the twelfth and thirteenth after the name in parentheses.
fn of_stat(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()?.saturating_add(next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_stat() {
        let stat = "77 (a ) b) S 1 77 77 0 -1 4194304 100 200 0 0 5 6 70 80 20 0 1 0 99 1000";
        assert_eq!((of_stat(stat), of_stat("77 (a) S 1"), of_stat("")), (Some(11), None, None));
        let mut cost = OwnCost::new();
        assert!(cost.percent() >= 0.0);
    }
}
