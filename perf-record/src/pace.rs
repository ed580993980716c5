//! The rate at which the rings of a recording fill.

use core::time::Duration;
use std::time::Instant;

/// How long a thread that sleeps may take to run again after the kernel wakes it: tens of microseconds on an idle machine, up to
/// a millisecond in a virtual machine.
const WAKING: Duration = Duration::from_millis(1);

/// The rate at which the rings fill, which decides whether their reader may sleep.
///
/// The kernel wakes the reader when a ring is half full. If the other half fills before the reader runs, records are lost.
/// A reader of such rings asks again instead: that takes the time of a cpu, but only while records come this fast.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The start of the span of time that is measured.
    since: Instant,
    /// The sum of what the fullest ring gave in each drain of that span, in bytes.
    bytes: u64,
    /// Bytes of the fullest ring in the current drain.
    fullest: u64,
    /// The size of each ring in bytes; 0 if none gave anything yet.
    size: u64,
    /// Whether rings filled by half in less than [`WAKING`], in the span before.
    is_fast: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { since: Instant::now(), bytes: 0, fullest: 0, size: 0, is_fast: false }
    }
}

impl Pace {
    /// Takes the number of bytes that a ring of `size` bytes gave in this drain.
    pub(crate) fn ring(&mut self, bytes: u64, size: usize) {
        self.fullest = self.fullest.max(bytes);
        self.size = size as u64;
    }

    /// Ends a drain of all rings. A span of time ends with half of a ring, or when it lasted for [`WAKING`]: a storm is
    /// seen early, and a short pause does not end it.
    pub(crate) fn drained(&mut self, now: Instant) {
        self.bytes = self.bytes.saturating_add(core::mem::take(&mut self.fullest));
        let elapsed = now.saturating_duration_since(self.since);
        let half = self.size / 2;
        if self.bytes < half && elapsed < WAKING {
            return;
        }
        self.is_fast = u128::from(self.bytes) * WAKING.as_nanos() > u128::from(half) * elapsed.as_nanos();
        self.bytes = 0;
        self.since = now;
    }

    /// Returns whether the rings fill so fast that their reader must not sleep.
    pub(crate) fn is_fast(&self) -> bool {
        self.is_fast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 1000;

    /// Drains that gave so many bytes, each so many microseconds after the one before; whether the pace is fast after each.
    fn drains<const N: usize>(drains: [(u64, u64); N]) -> [bool; N] {
        let mut pace = Pace::default();
        let mut now = pace.since;
        drains.map(|(bytes, micros)| {
            now += Duration::from_micros(micros);
            pace.ring(bytes, SIZE);
            pace.drained(now);
            pace.is_fast()
        })
    }

    #[test]
    fn half_of_a_ring_in_the_time_of_waking_is_the_limit() {
        assert_eq!(drains([(499, 999)]), [false]);
        assert_eq!(drains([(499, 1000)]), [false]);
        assert_eq!(drains([(500, 999)]), [true]);
        assert_eq!(drains([(500, 1000)]), [false]);
        assert_eq!(drains([(501, 1000)]), [true]);
        assert_eq!(drains([(1000, 1999), (1000, 2000)]), [true, false]);
    }

    #[test]
    fn bytes_of_several_drains_are_summed() {
        assert_eq!(drains([(200, 100), (200, 100), (200, 100)]), [false, false, true]);
        assert_eq!(drains([(100, 300), (100, 300), (100, 300), (100, 300)]), [false; 4]);
    }

    #[test]
    fn a_short_pause_does_not_end_a_storm() {
        assert_eq!(
            drains([(600, 100), (0, 900), (600, 99), (0, 999), (0, 1), (0, 1)]),
            [true, true, true, true, false, false]
        );
    }

    #[test]
    fn a_storm_after_a_sleep_is_seen_with_its_second_half_of_a_ring() {
        assert_eq!(drains([(600, 1_000_000), (600, 200)]), [false, true]);
    }

    #[test]
    fn only_the_fullest_ring_of_a_drain_counts() {
        let mut pace = Pace::default();
        let now = pace.since + Duration::from_micros(100);
        for bytes in [10, 499, 400] {
            pace.ring(bytes, SIZE);
        }
        pace.drained(now);
        assert!(!pace.is_fast());
        assert_eq!(pace.bytes, 499);
    }

    #[test]
    fn rings_that_gave_nothing_are_slow() {
        let mut pace = Pace::default();
        assert!(!pace.is_fast(), "before the first drain");
        let now = pace.since;
        pace.drained(now);
        assert!(!pace.is_fast(), "without rings");
    }
}
