//! Arithmetic of counts, by event and place.

use alloc::collections::BTreeMap;

use perf_open::Count;

/// The place of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The sum of all tallies.
    Everywhere,
    /// A cpu.
    Cpu(u32),
    /// A thread.
    Thread(u32),
    /// A part of the machine, by its number in the labels.
    Part(usize),
}

/// A count and its times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) value: u64,
    /// Nanoseconds for which the event was enabled.
    pub(crate) enabled: u64,
    /// Nanoseconds for which the event ran.
    pub(crate) running: u64,
    /// Whether the value is no count, but the same at any time.
    pub(crate) is_constant: bool,
}

/// The counts up to a moment, by event; `None` for an event that nothing on this machine counts.
pub(crate) type Reading = Vec<Option<BTreeMap<Place, Tally>>>;

impl From<Count> for Tally {
    fn from(count: Count) -> Self {
        let nanoseconds = |time: Option<u64>| time.unwrap_or_default();
        Self {
            value: count.value,
            enabled: nanoseconds(count.time_enabled),
            running: nanoseconds(count.time_running),
            is_constant: false,
        }
    }
}

impl Tally {
    /// Returns the count as it is; `None` if the event never ran.
    pub(crate) fn unscaled(self) -> Option<u64> {
        (self.running > 0).then_some(self.value)
    }

    /// Returns the count, extrapolated to the whole enabled time; `None` if the event never ran.
    pub(crate) fn scaled(self) -> Option<u64> {
        Count::with_times(self.value, self.enabled, self.running).scaled()
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            value: self.value.wrapping_add(other.value),
            enabled: self.enabled.saturating_add(other.enabled),
            running: self.running.saturating_add(other.running),
            is_constant: self.is_constant,
        }
    }

    /// Returns the difference to `earlier`, of the same event and place.
    pub(crate) fn since(self, earlier: Self) -> Self {
        let value = if self.is_constant { self.value } else { self.value.wrapping_sub(earlier.value) };
        Self {
            value,
            enabled: self.enabled.saturating_sub(earlier.enabled),
            running: self.running.saturating_sub(earlier.running),
            is_constant: self.is_constant,
        }
    }
}

/// Returns the difference to `earlier`.
pub(crate) fn since(now: &Reading, earlier: &Reading) -> Reading {
    let tallies = |(index, tallies): (usize, &Option<BTreeMap<Place, Tally>>)| {
        let before = earlier.get(index).and_then(Option::as_ref);
        let since = |(&place, tally): (&Place, &Tally)| {
            let before = before.and_then(|tallies| tallies.get(&place)).copied().unwrap_or_default();
            (place, tally.since(before))
        };
        tallies.as_ref().map(|tallies| tallies.iter().map(since).collect())
    };
    now.iter().enumerate().map(tallies).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(value: u64, enabled: u64, running: u64) -> Tally {
        Tally { value, enabled, running, is_constant: false }
    }

    #[test]
    fn a_count_is_scaled_to_all_of_the_time() {
        assert_eq!(tally(10, 300, 100).scaled(), Some(30));
        assert_eq!(tally(10, 300, 300).scaled(), Some(10));
        assert_eq!(tally(0, 300, 1).scaled(), Some(0));
        assert_eq!(tally(0, 300, 0).scaled(), None);
        assert_eq!(tally(0, 0, 0).scaled(), None);
        assert_eq!(tally(10, 300, 100).unscaled(), Some(10));
        assert_eq!(tally(0, 300, 0).unscaled(), None);
    }

    #[test]
    fn a_constant_is_the_same_in_each_interval() {
        let constant = |time| Tally { is_constant: true, ..tally(4, time, time) };
        assert_eq!(constant(30).since(constant(10)), constant(20));
    }

    #[test]
    fn an_interval_is_what_came_since() {
        let cpus = |tallies: &[Tally]| Some((0_u32..).map(Place::Cpu).zip(tallies.iter().copied()).collect());
        let before = vec![cpus(&[tally(5, 50, 40)]), None];
        let now = vec![cpus(&[tally(7, 80, 70), tally(3, 30, 30)]), None];
        assert_eq!(since(&now, &before), [cpus(&[tally(2, 30, 30), tally(3, 30, 30)]), None]);
        assert_eq!(since(&now, &Reading::new()), now);
    }
}
