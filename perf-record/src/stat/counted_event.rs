//! Counted events: name, unit, metric.

use perf_open::EventSpec;

use super::metric::{MetricKind, MetricRole};
use super::named_metric::NamedMetric;

/// An event that is counted, with the unit of its counts.
#[derive(Clone, Debug)]
pub struct CountedEvent {
    /// The name, with the modifiers with which it was opened.
    pub name: String,
    /// The unit of the counts, such as `msec` of clocks; `None` for plain numbers.
    pub unit: Option<String>,
    /// The name of the cgroup whose tasks are counted; `None` for all tasks.
    pub cgroup: Option<String>,
    /// Whether the counts are added to those of an earlier event of the same name, so that this one has no row.
    pub(super) is_merged: bool,
    /// The metric that is computed.
    pub(super) metric_choice: MetricChoice,
    /// The conversion of a count to the unit.
    scale: Option<UnitScale>,
    pub(super) kind: MetricKind,
}

/// The conversion of a count to a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum UnitScale {
    /// Multiply by this factor from sysfs.
    Times(f64),
    /// Divide by this number.
    By(f64),
}

/// The metric that is computed for an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum MetricChoice {
    /// The one that its kind has.
    #[default]
    Own,
    /// None, because others were asked for.
    None,
    /// This one, with the index of the event that it is divided by; `None` for the time that passed.
    Named(NamedMetric, Option<usize>),
}

/// Nanoseconds, which clocks count, in a millisecond, in which they are shown.
const NANOSECONDS_IN_MILLISECOND: f64 = 1e6;

impl CountedEvent {
    /// Returns whether a count in the unit has decimals.
    #[must_use]
    pub fn has_scale(&self) -> bool {
        self.scale.is_some()
    }

    /// Returns the factor by which a count is multiplied to have the unit; `None` for a plain count.
    #[must_use]
    pub fn factor(&self) -> Option<f64> {
        match self.scale? {
            UnitScale::Times(scale) => Some(scale),
            UnitScale::By(scale) => Some(1.0 / scale),
        }
    }

    pub(super) fn in_units(&self, count: f64) -> f64 {
        match self.scale {
            None => count,
            Some(UnitScale::Times(scale)) => count * scale,
            Some(UnitScale::By(scale)) => count / scale,
        }
    }
}

impl From<&EventSpec> for CountedEvent {
    /// Clocks are shown in milliseconds; other events have the unit and the scale of their PMU.
    fn from(event: &EventSpec) -> Self {
        let kind = MetricKind::of(event);
        let (unit, scale) = match kind.role {
            MetricRole::Clock => (Some("msec".to_owned()), Some(UnitScale::By(NANOSECONDS_IN_MILLISECOND))),
            _ => (event.unit.clone(), event.scale.map(UnitScale::Times)),
        };
        Self {
            name: event.name.clone(),
            unit,
            cgroup: None,
            is_merged: false,
            metric_choice: MetricChoice::Own,
            scale,
            kind,
        }
    }
}
