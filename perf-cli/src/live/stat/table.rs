//! From readings to the rows of a report: means, scales, metrics.

use alloc::collections::BTreeSet;
use core::time::Duration;

use perf_open::EventSpec;

use super::mean::Mean;
use super::metric::{Kind, Metric, Role, metric, second_metric};
use super::named::Named;
use super::tally::{Place, Reading, Tally};
use super::topology::{Label, Labels};

/// An event as the report shows it.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
    /// The name of the cgroup whose tasks are counted.
    pub(crate) cgroup: Option<String>,
    /// Whether the counts are added to those of an earlier event of the same name, so that this one has no row.
    pub(crate) is_merged: bool,
    /// The metric to show instead of the one that the event has by itself.
    pub(crate) shown_metric: ShownMetric,
    /// The conversion of a count to the unit.
    scale: Option<Scale>,
    kind: Kind,
}

/// The conversion of a count to a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Multiply by this factor from sysfs.
    Times(f64),
    /// Divide by this number.
    By(f64),
}

/// Nanoseconds, which clocks count, in a millisecond, in which they are shown.
const NANOSECONDS_IN_MILLISECOND: f64 = 1e6;

impl Shown {
    /// Returns whether the shown value has decimals.
    pub(crate) fn has_scale(&self) -> bool {
        self.scale.is_some()
    }

    /// Returns the factor by which a count is multiplied to have the unit; `None` for a plain count.
    pub(crate) fn factor(&self) -> Option<f64> {
        match self.scale? {
            Scale::Times(scale) => Some(scale),
            Scale::By(scale) => Some(1.0 / scale),
        }
    }

    fn in_units(&self, count: f64) -> f64 {
        match self.scale {
            None => count,
            Some(Scale::Times(scale)) => count * scale,
            Some(Scale::By(scale)) => count / scale,
        }
    }
}

impl From<&EventSpec> for Shown {
    fn from(event: &EventSpec) -> Self {
        let kind = Kind::of(event);
        let (unit, scale) = match kind.role {
            Role::Clock => (Some("msec".to_owned()), Some(Scale::By(NANOSECONDS_IN_MILLISECOND))),
            _ => (event.unit.clone(), event.scale.map(Scale::Times)),
        };
        Self {
            name: event.name.clone(),
            unit,
            cgroup: None,
            is_merged: false,
            shown_metric: ShownMetric::Own,
            scale,
            kind,
        }
    }
}

/// The metric of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum ShownMetric {
    /// The one that its kind has.
    #[default]
    Own,
    /// None, because others were asked for.
    None,
    /// One of `-M`, and the event that it is divided by, by its number; `None` for the time that passed.
    Named(Named, Option<usize>),
}

/// A count in the unit of the event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// A count, exact or estimated from the part of the time for which the event ran.
    Whole(u64),
    /// The count of an event with a scale, or the mean of several runs.
    Real(f64),
}

/// Whether an event has a value, and why not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Status {
    Counted {
        value: Value,
        /// The standard error of the mean, in percent.
        deviation_percent: f64,
    },
    /// The event was open, but never ran.
    NotCounted,
    /// Nothing on this machine counts the event.
    NotSupported,
}

/// An event at a place.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) event: &'a Shown,
    /// What the place is called; `None` for the sum of everything.
    pub(crate) label: Option<&'a Label>,
    #[cfg(test)]
    pub(crate) place: Place,
    pub(crate) status: Status,
    /// Nanoseconds for which the event was enabled and for which it ran, the means of the runs.
    pub(crate) enabled: u64,
    pub(crate) running: u64,
    pub(crate) metric: Option<Metric>,
    /// A second one, of an event of `--topdown`.
    pub(crate) second_metric: Option<Metric>,
}

impl Row<'_> {
    /// Returns whether nothing was counted.
    pub(crate) fn is_zero(&self) -> bool {
        match self.status {
            Status::Counted { value: Value::Whole(value), .. } => value == 0,
            Status::Counted { value: Value::Real(value), .. } => value == 0.0,
            Status::NotCounted | Status::NotSupported => true,
        }
    }

    /// Returns the percentage of the enabled time for which the event ran; `None` if it was never enabled.
    pub(crate) fn running_percent(&self) -> Option<f64> {
        (self.enabled > 0).then(|| 100.0 * self.running as f64 / self.enabled as f64)
    }
}

/// Returns the rows of several runs, which took `elapsed` in the mean: for each event, its places.
///
/// Counts are extrapolated if `scale` is set.
pub(crate) fn rows<'a>(
    events: &'a [Shown],
    labels: &'a Labels,
    runs: &[Reading],
    elapsed: Duration,
    scale: bool,
) -> Vec<Row<'a>> {
    // An event that nothing counts also has a row for each place.
    let all_places: BTreeSet<Place> =
        runs.iter().flatten().flatten().flat_map(|tallies| tallies.keys().copied()).collect();
    let all_places = if all_places.is_empty() { BTreeSet::from([Place::Everywhere]) } else { all_places };
    let mut rows = Vec::new();
    for (index, event) in events.iter().enumerate().filter(|(_, event)| !event.is_merged) {
        let readings: Vec<_> = runs.iter().filter_map(|run| run.get(index)?.as_ref()).collect();
        let is_supported = !readings.is_empty();
        let own: BTreeSet<Place> = readings.iter().flat_map(|tallies| tallies.keys().copied()).collect();
        for &place in if own.is_empty() { &all_places } else { &own } {
            let tallies: Vec<Tally> =
                readings.iter().filter_map(|places| places.get(&place).copied()).collect();
            rows.push((index, event, place, tallies, is_supported));
        }
    }
    let mean_count = |tallies: &[Tally]| Mean::of(&counts(tallies, scale)).map(|mean| mean.value);
    let mut result = Vec::with_capacity(rows.len());
    for (_, event, place, tallies, is_supported) in &rows {
        let beside: Vec<(Kind, f64)> = rows
            .iter()
            .filter(|(_, other, at, ..)| at == place && other.cgroup == event.cgroup)
            .filter_map(|(_, event, _, tallies, _)| Some((event.kind, mean_count(tallies)?)))
            .collect();
        let count_of = |number: usize| {
            let (.., tallies, _) = rows.iter().find(|(index, _, at, ..)| *index == number && at == place)?;
            mean_count(tallies)
        };
        let computed = |value| match event.shown_metric {
            ShownMetric::Own => metric(event.kind, value, elapsed, &beside),
            ShownMetric::None => None,
            ShownMetric::Named(named, divisor) => {
                let divisor = match divisor {
                    Some(number) => count_of(number)?,
                    None => elapsed.as_nanos() as f64,
                };
                let value = named.value(value, divisor)?;
                Some(Metric { value, unit: named.label(), per_second: None })
            }
        };
        result.push(Row {
            event,
            label: labels.get(place),
            #[cfg(test)]
            place: *place,
            status: status(event, tallies, *is_supported, scale),
            enabled: mean_time(tallies, |tally| tally.enabled),
            running: mean_time(tallies, |tally| tally.running),
            metric: mean_count(tallies).and_then(computed),
            second_metric: match event.shown_metric {
                ShownMetric::Own => second_metric(event.kind, &beside),
                ShownMetric::None | ShownMetric::Named(..) => None,
            },
        });
    }
    result
}

/// Returns the counts of the runs that have one.
fn counts(tallies: &[Tally], scale: bool) -> Vec<f64> {
    tallies.iter().filter_map(|tally| count(tally, scale)).map(|value| value as f64).collect()
}

fn count(tally: &Tally, scale: bool) -> Option<u64> {
    if scale { tally.scaled() } else { tally.unscaled() }
}

fn status(event: &Shown, tallies: &[Tally], is_supported: bool, scale: bool) -> Status {
    if !is_supported {
        return Status::NotSupported;
    }
    let Some(mean) = Mean::of(&counts(tallies, scale)) else { return Status::NotCounted };
    let exact = match tallies {
        [tally] if event.scale.is_none() => count(tally, scale),
        _ => None,
    };
    let value = exact.map_or(Value::Real(event.in_units(mean.value)), Value::Whole);
    Status::Counted { value, deviation_percent: mean.error_percent() }
}

fn mean_time(tallies: &[Tally], time: impl Fn(&Tally) -> u64) -> u64 {
    let sum: u128 = tallies.iter().map(|tally| u128::from(time(tally))).sum();
    let count = u128::try_from(tallies.len().max(1)).unwrap_or(1);
    u64::try_from(sum / count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
