//! Rows of counts: an event and an aggregate, with the value in the event's unit and the metrics.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use super::aggregation::{Aggregate, AggregateLabel, AggregateLabels};
use super::counted_event::{CountedEvent, MetricChoice};
use super::mean::RunMean;
use super::metric::{MetricValue, SiblingCounts, metric, second_metric};
use super::readout::{Readout, TimedCount};

/// A count in the unit of its event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a number is whole or not")]
pub enum CountValue {
    /// A count, exact or estimated from the part of the time for which the event ran.
    Whole(u64),
    /// The count of an event with a scale, or the mean of several runs.
    Real(f64),
}

/// Whether an event has a value, and why not.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "these are perf's")]
pub enum CountStatus {
    /// It was counted.
    Counted {
        /// The count; of several runs, their mean.
        value: CountValue,
        /// The standard error of the mean, in percent; 0 for one run.
        deviation_percent: f64,
    },
    /// The event was open, but never ran.
    NotCounted,
    /// Nothing on this machine counts the event.
    NotSupported,
}

/// The count of an event in an aggregate.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what perf stat prints of an event; printers make rows in their tests"
)]
pub struct CountRow<'a> {
    /// The event.
    pub event: &'a CountedEvent,
    /// The targets whose counts are added up.
    pub aggregate: Aggregate,
    /// The name of the aggregate; `None` for the total.
    pub label: Option<&'a AggregateLabel>,
    /// The count, or why there is none.
    pub status: CountStatus,
    /// Nanoseconds for which the event was enabled, the mean of the runs.
    pub enabled: u64,
    /// Nanoseconds for which the event ran, the mean of the runs.
    pub running: u64,
    /// The metric computed from this and other counts; `None` if there is none.
    pub metric: Option<MetricValue>,
    /// A second one, of an event of the top-down method.
    pub second_metric: Option<MetricValue>,
}

impl CountRow<'_> {
    /// Returns the count as a number; `None` if there is none.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self.status {
            CountStatus::Counted { value: CountValue::Whole(value), .. } => Some(value as f64),
            CountStatus::Counted { value: CountValue::Real(value), .. } => Some(value),
            CountStatus::NotCounted | CountStatus::NotSupported => None,
        }
    }

    /// Returns whether nothing was counted.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.value().is_none_or(|value| value == 0.0)
    }

    /// Returns the percentage of the enabled time for which the event ran; `None` if it was never enabled.
    #[must_use]
    pub fn running_percent(&self) -> Option<f64> {
        (self.enabled > 0).then(|| 100.0 * self.running as f64 / self.enabled as f64)
    }
}

/// Returns the rows of several runs, which took `elapsed` in the mean: for each event, its aggregates. `readouts` has one
/// for each run. Counts are extrapolated if `scale` is set.
pub(super) fn rows<'a>(
    events: &'a [CountedEvent],
    labels: &'a AggregateLabels,
    readouts: &[Readout],
    elapsed: Duration,
    scale: bool,
) -> Vec<CountRow<'a>> {
    // An event that nothing counts also has a row for each aggregate.
    let mut all_aggregates: BTreeSet<Aggregate> =
        readouts.iter().flat_map(Readout::iter).flatten().flat_map(|counts| counts.keys().copied()).collect();
    if all_aggregates.is_empty() {
        all_aggregates.insert(Aggregate::Total);
    }
    let mut rows = Vec::new();
    for (index, event) in events.iter().enumerate().filter(|(_, event)| !event.is_merged) {
        let of_runs: Vec<_> = readouts.iter().filter_map(|readout| readout.of_event(index)).collect();
        let is_supported = !of_runs.is_empty();
        let own: BTreeSet<Aggregate> = of_runs.iter().flat_map(|counts| counts.keys().copied()).collect();
        for &aggregate in if own.is_empty() { &all_aggregates } else { &own } {
            let counts: Vec<TimedCount> =
                of_runs.iter().filter_map(|counts| counts.get(&aggregate).copied()).collect();
            rows.push((index, event, aggregate, counts, is_supported));
        }
    }
    let mean_count = |counts: &[TimedCount]| RunMean::of(&values(counts, scale)).map(|mean| mean.value);
    // The counts by event, and those in each place: of an aggregate and a cgroup.
    let mut of_events: BTreeMap<(usize, Aggregate), f64> = BTreeMap::new();
    let mut of_places: BTreeMap<(Aggregate, Option<&str>), SiblingCounts> = BTreeMap::new();
    for (index, event, aggregate, counts, _) in &rows {
        let Some(mean) = mean_count(counts) else { continue };
        of_events.insert((*index, *aggregate), mean);
        of_places.entry((*aggregate, event.cgroup.as_deref())).or_default().add(event.kind, mean);
    }
    let nothing = SiblingCounts::default();
    let mut result = Vec::with_capacity(rows.len());
    for (_, event, aggregate, counts, is_supported) in &rows {
        let beside = of_places.get(&(*aggregate, event.cgroup.as_deref())).unwrap_or(&nothing);
        let count_of = |number: usize| of_events.get(&(number, *aggregate)).copied();
        let computed = |value| match event.metric_choice {
            MetricChoice::Own => metric(event.kind, value, elapsed, beside),
            MetricChoice::None => None,
            MetricChoice::Named(named, divisor) => {
                let divisor = match divisor {
                    Some(number) => count_of(number)?,
                    None => elapsed.as_nanos() as f64,
                };
                let value = named.value(value, divisor)?;
                Some(MetricValue { value, unit: named.label(), per_second: None })
            }
        };
        result.push(CountRow {
            event,
            aggregate: *aggregate,
            label: labels.get(aggregate),
            status: status(event, counts, *is_supported, scale),
            enabled: mean_time(counts, |count| count.enabled),
            running: mean_time(counts, |count| count.running),
            metric: mean_count(counts).and_then(computed),
            second_metric: match event.metric_choice {
                MetricChoice::Own => second_metric(event.kind, beside),
                MetricChoice::None | MetricChoice::Named(..) => None,
            },
        });
    }
    result
}

/// Returns the values of the runs that have one.
fn values(counts: &[TimedCount], scale: bool) -> Vec<f64> {
    counts.iter().filter_map(|count| value(count, scale)).map(|value| value as f64).collect()
}

fn value(count: &TimedCount, scale: bool) -> Option<u64> {
    if scale { count.scaled() } else { count.unscaled() }
}

fn status(event: &CountedEvent, counts: &[TimedCount], is_supported: bool, scale: bool) -> CountStatus {
    if !is_supported {
        return CountStatus::NotSupported;
    }
    let Some(mean) = RunMean::of(&values(counts, scale)) else { return CountStatus::NotCounted };
    let exact = match counts {
        [count] if !event.has_scale() => value(count, scale),
        _ => None,
    };
    let value = exact.map_or(CountValue::Real(event.in_units(mean.value)), CountValue::Whole);
    CountStatus::Counted { value, deviation_percent: mean.error_percent() }
}

fn mean_time(counts: &[TimedCount], time: impl Fn(&TimedCount) -> u64) -> u64 {
    let sum: u128 = counts.iter().map(|count| u128::from(time(count))).sum();
    let count = u128::try_from(counts.len().max(1)).unwrap_or(1);
    u64::try_from(sum / count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
