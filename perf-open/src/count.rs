//! The result of reading a counter: counts, and the times to scale them by.

use perf_abi::endian::Endian;
use perf_parse::ring::CounterTimes;
use perf_parse::sample::{Read, ReadValue};

/// The count of an event. A field that the event's `read_format` does not include is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// Number of occurrences, or nanoseconds for the clock events. If the event was multiplexed, only occurrences while
    /// it was on the PMU are counted.
    pub value: u64,
    /// Nanoseconds for which the event was enabled. For a member of a group: for which the leader was.
    pub time_enabled: Option<u64>,
    /// Nanoseconds for which the event was on a counter. For a member of a group: for which the leader was.
    pub time_running: Option<u64>,
    /// The event's id.
    pub id: Option<u64>,
    /// Number of samples that were lost because the ring was full. Since Linux 6.0.
    pub lost: Option<u64>,
}

impl Count {
    fn new(value: ReadValue, time_enabled: Option<u64>, time_running: Option<u64>) -> Self {
        Self { value: value.value, time_enabled, time_running, id: value.id, lost: value.lost }
    }

    /// Returns a count with its times in nanoseconds, for example the sum of several reads.
    #[must_use]
    pub const fn with_times(value: u64, time_enabled: u64, time_running: u64) -> Self {
        let (time_enabled, time_running) = (Some(time_enabled), Some(time_running));
        Self { value, time_enabled, time_running, id: None, lost: None }
    }

    /// Returns the counts of a read, the leader's first.
    pub(crate) fn all<'a, O: Endian>(read: &Read<'a, O>) -> impl Iterator<Item = Self> + use<'a, O> {
        let (enabled, running) = (read.time_enabled(), read.time_running());
        read.values().map(move |value| Self::new(value, enabled, running))
    }

    /// Estimates the value for the case that the event had been on a counter all the time it was enabled: `value` times
    /// `time_enabled` divided by `time_running`, rounded down.
    ///
    /// `None` if the event never ran, if the times were not read, or if the result exceeds 64 bits.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use perf_open::abi::event::SwId;
    /// use perf_open::abi::read_format::ReadFormat;
    /// use perf_open::{Builder, EventSpec, Target};
    ///
    /// let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    /// let faults = Builder::new(EventSpec::software(SwId::PAGE_FAULTS)).exclude_kernel(true).read_format(times);
    /// let count = faults.open(&Target::this_thread())?.read()?;
    /// assert_eq!(count.scaled(), Some(count.value)); // software events always run
    /// # Ok::<(), perf_open::Error>(())
    /// ```
    #[must_use]
    pub fn scaled(&self) -> Option<u64> {
        CounterTimes { enabled: self.time_enabled?, running: self.time_running? }.estimate(self.value)
    }

    /// Returns the ratio of `time_running` to `time_enabled`: 1 if the event was always on a counter. `None` if the
    /// times were not read, or if `time_enabled` is 0.
    #[must_use]
    pub fn running_ratio(&self) -> Option<f64> {
        let enabled = self.time_enabled.filter(|&enabled| enabled != 0)?;
        Some(self.time_running? as f64 / enabled as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    fn count(value: u64, enabled: Option<u64>, running: Option<u64>) -> Count {
        Count { value, time_enabled: enabled, time_running: running, id: None, lost: None }
    }

    #[test]
    fn scales_exactly_and_rounds_down() {
        assert_eq!(count(10, Some(3), Some(2)).scaled(), Some(15));
        assert_eq!(count(1, Some(4), Some(3)).scaled(), Some(1)); // 1.33
        assert_eq!(count(1, Some(5), Some(3)).scaled(), Some(1)); // 1.67
        assert_eq!(count(u64::MAX, Some(u64::MAX), Some(u64::MAX)).scaled(), Some(u64::MAX));
        // Floating point would lose the low bits.
        assert_eq!(count((1 << 60) + 1, Some(2), Some(2)).scaled(), Some((1 << 60) + 1));
    }

    #[test]
    fn does_not_guess() {
        assert_eq!(count(0, Some(5), Some(0)).scaled(), None);
        assert_eq!(count(5, None, Some(1)).scaled(), None);
        assert_eq!(count(5, Some(1), None).scaled(), None);
        assert_eq!(count(u64::MAX, Some(2), Some(1)).scaled(), None);
        assert_eq!(count(0, Some(0), Some(0)).running_ratio(), None);
        assert_eq!(count(0, Some(4), Some(1)).running_ratio(), Some(0.25));
    }
}
