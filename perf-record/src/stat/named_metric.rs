//! The metrics that every cpu has: a count in relation to another, or to the time.
//!
//! perf: `tools/perf/pmu-events/arch/common/common/metrics.json`.

use core::str::FromStr;

use perf_open::EventSpec;
use perf_open::abi::event::SwId;
use perf_open::event::EventParser;

use super::error::StatError;
use crate::Targets;

/// The divisor of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricDivisor {
    /// The time for which was counted, in nanoseconds.
    Elapsed,
    /// The time on a cpu, in nanoseconds.
    Clock,
    Event(&'static str),
}

/// A metric that every cpu has. It is parsed from perf's name of it.
///
/// # Examples
///
/// ```
/// use perf_record::stat::NamedMetric;
///
/// let metric: NamedMetric = "page_faults_per_second".parse()?;
/// assert_eq!(metric.name(), "page_faults_per_second");
/// assert!("no_such_metric".parse::<NamedMetric>().is_err());
/// # Ok::<(), perf_record::stat::StatError>(())
/// ```
///
/// perf: `tools/perf/pmu-events/arch/common/common/metrics.json`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedMetric {
    name: &'static str,
    /// The event that is divided; `None` for the time on a cpu.
    event: Option<&'static str>,
    pub(super) divisor: MetricDivisor,
    /// The factor that makes units.
    scale: f64,
    unit: &'static str,
}

const fn named(
    name: &'static str,
    event: Option<&'static str>,
    divisor: MetricDivisor,
    scale: f64,
    unit: &'static str,
) -> NamedMetric {
    NamedMetric { name, event, divisor, scale, unit }
}

const METRICS: &[NamedMetric] = &[
    named("CPUs_utilized", None, MetricDivisor::Elapsed, 1.0, "CPUs"),
    named("cs_per_second", Some("context-switches"), MetricDivisor::Clock, 1e9, "cs/sec"),
    named("migrations_per_second", Some("cpu-migrations"), MetricDivisor::Clock, 1e9, "migrations/sec"),
    named("page_faults_per_second", Some("page-faults"), MetricDivisor::Clock, 1e9, "faults/sec"),
    named("cycles_frequency", Some("cpu-cycles"), MetricDivisor::Clock, 1.0, "GHz"),
    named("branch_frequency", Some("branches"), MetricDivisor::Clock, 1000.0, "M/sec"),
    named("insn_per_cycle", Some("instructions"), MetricDivisor::Event("cpu-cycles"), 1.0, "instructions"),
    named("branch_miss_rate", Some("branch-misses"), MetricDivisor::Event("branches"), 100.0, "%"),
    named(
        "frontend_cycles_idle",
        Some("stalled-cycles-frontend"),
        MetricDivisor::Event("cpu-cycles"),
        1.0,
        "",
    ),
    named("backend_cycles_idle", Some("stalled-cycles-backend"), MetricDivisor::Event("cpu-cycles"), 1.0, ""),
    named(
        "l1d_miss_rate",
        Some("L1-dcache-load-misses"),
        MetricDivisor::Event("L1-dcache-loads"),
        100.0,
        "%",
    ),
    named("llc_miss_rate", Some("LLC-load-misses"), MetricDivisor::Event("LLC-loads"), 100.0, "%"),
    named(
        "l1i_miss_rate",
        Some("L1-icache-load-misses"),
        MetricDivisor::Event("L1-icache-loads"),
        100.0,
        "%",
    ),
    named("dtlb_miss_rate", Some("dTLB-load-misses"), MetricDivisor::Event("dTLB-loads"), 100.0, "%"),
    named("itlb_miss_rate", Some("iTLB-load-misses"), MetricDivisor::Event("iTLB-loads"), 100.0, "%"),
    named(
        "l1_prefetch_miss_rate",
        Some("L1-dcache-prefetch-misses"),
        MetricDivisor::Event("L1-dcache-prefetches"),
        100.0,
        "%",
    ),
];

impl FromStr for NamedMetric {
    type Err = StatError;

    fn from_str(name: &str) -> Result<Self, StatError> {
        let metric = METRICS.iter().find(|metric| metric.name == name);
        metric.copied().ok_or_else(|| StatError::UnknownMetric {
            name: name.to_owned(),
            known: METRICS.iter().map(|metric| metric.name).collect(),
        })
    }
}

impl NamedMetric {
    /// Returns perf's name of the metric.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the events that the metric needs: the one that is divided, and the one it is divided by. Each is several
    /// events on a machine with several kinds of cpus.
    pub(super) fn events(
        &self,
        targets: &Targets,
        parser: &EventParser,
    ) -> Result<(Vec<EventSpec>, Vec<EventSpec>), StatError> {
        let event = |name: Option<&str>| -> Result<Vec<EventSpec>, StatError> {
            let Some(name) = name else { return Ok(vec![clock(targets)]) };
            Ok(parser.parse(name)?.into_iter().flat_map(|group| group.events).collect())
        };
        let divisor = match self.divisor {
            MetricDivisor::Elapsed => Vec::new(),
            MetricDivisor::Clock => event(None)?,
            MetricDivisor::Event(name) => event(Some(name))?,
        };
        Ok((event(self.event)?, divisor))
    }

    /// Returns the value; `None` if the divisor is 0.
    pub(super) fn value(&self, count: f64, divisor: f64) -> Option<f64> {
        (divisor > 0.0).then(|| self.scale * count / divisor)
    }

    /// Returns the unit and the name, as perf prints them.
    pub(super) fn label(&self) -> String {
        format!("{}  {}", self.unit, self.name).trim_start().to_owned()
    }
}

/// Returns the clock of the targets.
pub(super) fn clock(targets: &Targets) -> EventSpec {
    let clock = if matches!(targets, Targets::Cpus(_)) { SwId::CPU_CLOCK } else { SwId::TASK_CLOCK };
    EventSpec::software(clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_events_and_a_label() {
        for metric in METRICS {
            assert_eq!(metric.name.parse::<NamedMetric>().unwrap(), *metric);
            for targets in [Targets::Command, Targets::Cpus(vec![0])] {
                let (events, divisors) = metric.events(&targets, &EventParser::new()).unwrap();
                assert!(!events.is_empty(), "{}", metric.name);
                assert_eq!(divisors.is_empty(), metric.divisor == MetricDivisor::Elapsed, "{}", metric.name);
            }
            assert!(metric.label().ends_with(metric.name));
        }
        assert!("IPC".parse::<NamedMetric>().unwrap_err().to_string().contains("insn_per_cycle"));
    }

    #[test]
    fn a_value_is_in_units() {
        let metric = |name: &str| name.parse::<NamedMetric>().unwrap();
        let faults = metric("page_faults_per_second");
        assert_eq!(faults.value(49.0, 5e8), Some(98.0));
        assert_eq!(faults.value(49.0, 0.0), None);
        assert_eq!(faults.label(), "faults/sec  page_faults_per_second");
        assert_eq!(metric("branch_miss_rate").value(1.0, 4.0), Some(25.0));
        assert_eq!(metric("backend_cycles_idle").label(), "backend_cycles_idle");
    }
}
