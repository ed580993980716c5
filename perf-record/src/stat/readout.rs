//! The counts of all events at a moment, by aggregate.

use alloc::collections::BTreeMap;

use perf_open::Count;

use super::aggregation::Aggregate;

/// A count with its times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimedCount {
    /// Number of occurrences while the event was on a counter, or nanoseconds for clock events.
    pub value: u64,
    /// Nanoseconds for which the event was enabled. Of several counters, their sum.
    pub enabled: u64,
    /// Nanoseconds for which the event was on a counter. Of several counters, their sum.
    pub running: u64,
    /// Whether the value is a property of the machine, the same at any time, such as its number of cpus.
    pub is_constant: bool,
}

impl From<Count> for TimedCount {
    /// Times that were not read are 0.
    fn from(count: Count) -> Self {
        let nanoseconds = |time: Option<u64>| time.unwrap_or_default();
        Self::new(count.value, nanoseconds(count.time_enabled), nanoseconds(count.time_running))
    }
}

impl TimedCount {
    /// Returns a count.
    #[must_use]
    pub const fn new(value: u64, enabled: u64, running: u64) -> Self {
        Self { value, enabled, running, is_constant: false }
    }

    /// Returns the value as it was counted; `None` if the event never ran.
    #[must_use]
    pub fn unscaled(self) -> Option<u64> {
        (self.running > 0).then_some(self.value)
    }

    /// Returns the value, extrapolated to the whole enabled time; `None` if the event never ran.
    #[must_use]
    pub fn scaled(self) -> Option<u64> {
        Count::with_times(self.value, self.enabled, self.running).scaled()
    }

    /// Returns the sum of the counts of two counters of an event.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            value: self.value.wrapping_add(other.value),
            enabled: self.enabled.saturating_add(other.enabled),
            running: self.running.saturating_add(other.running),
            is_constant: self.is_constant,
        }
    }

    /// Returns the difference to `earlier`, of the same event and aggregate. A constant stays as it is.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let value = if self.is_constant { self.value } else { self.value.wrapping_sub(earlier.value) };
        Self {
            value,
            enabled: self.enabled.saturating_sub(earlier.enabled),
            running: self.running.saturating_sub(earlier.running),
            is_constant: self.is_constant,
        }
    }
}

/// The counts of all events, from the start to a moment, or between two moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readout {
    /// By event; `None` for an event that nothing on this machine counts.
    counts: Vec<Option<BTreeMap<Aggregate, TimedCount>>>,
}

impl Readout {
    /// Returns a readout of this many events, none of which is counted.
    pub(super) fn unsupported(events: usize) -> Self {
        Self { counts: vec![None; events] }
    }

    /// Marks an event as one that this machine counts.
    pub(super) fn support(&mut self, event: usize) {
        if let Some(counts) = self.counts.get_mut(event) {
            counts.get_or_insert_default();
        }
    }

    /// Adds a count to those of an aggregate. Has no effect on an event that is not supported.
    pub(super) fn add(&mut self, event: usize, aggregate: Aggregate, count: TimedCount) {
        if let Some(Some(counts)) = self.counts.get_mut(event) {
            let sum = counts.entry(aggregate).or_default();
            *sum = sum.plus(count);
        }
    }

    /// Sets the total of an event. Has no effect on an event that is not supported.
    pub(super) fn set_total(&mut self, event: usize, count: TimedCount) {
        if let Some(Some(counts)) = self.counts.get_mut(event) {
            counts.insert(Aggregate::Total, count);
        }
    }

    /// Returns the counts of an event by aggregate; `None` if nothing on this machine counts the event. Empty if no counter
    /// of it could be read.
    #[must_use]
    pub fn of_event(&self, event: usize) -> Option<&BTreeMap<Aggregate, TimedCount>> {
        self.counts.get(event)?.as_ref()
    }

    /// Returns the counts of each event, as [`of_event`](Self::of_event) does.
    pub fn iter(&self) -> impl Iterator<Item = Option<&BTreeMap<Aggregate, TimedCount>>> {
        self.counts.iter().map(Option::as_ref)
    }

    /// Returns the difference to an earlier readout of the same events.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let of_event = |(index, counts): (usize, &Option<BTreeMap<Aggregate, TimedCount>>)| {
            let before = earlier.of_event(index);
            let since = |(&aggregate, count): (&Aggregate, &TimedCount)| {
                let before = before.and_then(|counts| counts.get(&aggregate)).copied().unwrap_or_default();
                (aggregate, count.since(before))
            };
            counts.as_ref().map(|counts| counts.iter().map(since).collect())
        };
        Self { counts: self.counts.iter().enumerate().map(of_event).collect() }
    }
}

#[cfg(test)]
impl From<Vec<Option<BTreeMap<Aggregate, TimedCount>>>> for Readout {
    fn from(counts: Vec<Option<BTreeMap<Aggregate, TimedCount>>>) -> Self {
        Self { counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(value: u64, enabled: u64, running: u64) -> TimedCount {
        TimedCount { value, enabled, running, is_constant: false }
    }

    #[test]
    fn a_count_is_scaled_to_all_of_the_time() {
        assert_eq!(timed(10, 300, 100).scaled(), Some(30));
        assert_eq!(timed(10, 300, 300).scaled(), Some(10));
        assert_eq!(timed(0, 300, 1).scaled(), Some(0));
        assert_eq!(timed(0, 300, 0).scaled(), None);
        assert_eq!(timed(0, 0, 0).scaled(), None);
        assert_eq!(timed(10, 300, 100).unscaled(), Some(10));
        assert_eq!(timed(0, 300, 0).unscaled(), None);
    }

    #[test]
    fn a_constant_is_the_same_in_each_interval() {
        let constant = |time| TimedCount { is_constant: true, ..timed(4, time, time) };
        assert_eq!(constant(30).since(constant(10)), constant(20));
    }

    #[test]
    fn an_interval_has_the_counts_since_its_start() {
        let cpus =
            |counts: &[TimedCount]| Some((0_u32..).map(Aggregate::Cpu).zip(counts.iter().copied()).collect());
        let before = Readout { counts: vec![cpus(&[timed(5, 50, 40)]), None] };
        let now = Readout { counts: vec![cpus(&[timed(7, 80, 70), timed(3, 30, 30)]), None] };
        assert_eq!(now.since(&before).counts, [cpus(&[timed(2, 30, 30), timed(3, 30, 30)]), None]);
        assert_eq!(now.since(&Readout::default()), now);
    }
}
