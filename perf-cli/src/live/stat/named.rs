//! The metrics of `-M` that every cpu has: a count in relation to another, or to the time.
//!
//! perf: `tools/perf/pmu-events/arch/common/common/metrics.json`.

use perf_open::EventSpec;
use perf_open::abi::event::SwId;
use perf_open::event::Parser;

use crate::Failure;
use crate::live::observed::Observed;

/// What a count is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Divisor {
    /// The time for which was counted, in nanoseconds.
    Elapsed,
    /// The time on a cpu, in nanoseconds.
    Clock,
    Event(&'static str),
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    /// The event that is divided; `None` for the time on a cpu.
    event: Option<&'static str>,
    pub(crate) divisor: Divisor,
    /// The factor that makes units.
    scale: f64,
    unit: &'static str,
}

const fn named(
    name: &'static str,
    event: Option<&'static str>,
    divisor: Divisor,
    scale: f64,
    unit: &'static str,
) -> Named {
    Named { name, event, divisor, scale, unit }
}

const METRICS: &[Named] = &[
    named("CPUs_utilized", None, Divisor::Elapsed, 1.0, "CPUs"),
    named("cs_per_second", Some("context-switches"), Divisor::Clock, 1e9, "cs/sec"),
    named("migrations_per_second", Some("cpu-migrations"), Divisor::Clock, 1e9, "migrations/sec"),
    named("page_faults_per_second", Some("page-faults"), Divisor::Clock, 1e9, "faults/sec"),
    named("cycles_frequency", Some("cpu-cycles"), Divisor::Clock, 1.0, "GHz"),
    named("branch_frequency", Some("branches"), Divisor::Clock, 1000.0, "M/sec"),
    named("insn_per_cycle", Some("instructions"), Divisor::Event("cpu-cycles"), 1.0, "instructions"),
    named("branch_miss_rate", Some("branch-misses"), Divisor::Event("branches"), 100.0, "%"),
    named("frontend_cycles_idle", Some("stalled-cycles-frontend"), Divisor::Event("cpu-cycles"), 1.0, ""),
    named("backend_cycles_idle", Some("stalled-cycles-backend"), Divisor::Event("cpu-cycles"), 1.0, ""),
    named("l1d_miss_rate", Some("L1-dcache-load-misses"), Divisor::Event("L1-dcache-loads"), 100.0, "%"),
    named("llc_miss_rate", Some("LLC-load-misses"), Divisor::Event("LLC-loads"), 100.0, "%"),
    named("l1i_miss_rate", Some("L1-icache-load-misses"), Divisor::Event("L1-icache-loads"), 100.0, "%"),
    named("dtlb_miss_rate", Some("dTLB-load-misses"), Divisor::Event("dTLB-loads"), 100.0, "%"),
    named("itlb_miss_rate", Some("iTLB-load-misses"), Divisor::Event("iTLB-loads"), 100.0, "%"),
    named(
        "l1_prefetch_miss_rate",
        Some("L1-dcache-prefetch-misses"),
        Divisor::Event("L1-dcache-prefetches"),
        100.0,
        "%",
    ),
];

impl Named {
    /// Returns the metric of a name.
    pub(crate) fn of(name: &str) -> Result<Self, Failure> {
        METRICS.iter().find(|metric| metric.name == name).copied().ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            let names = names.join(", ");
            Failure(format!(
                "-M {name}: not a metric that all cpus have, which are {names}; perf has tables of others for some cpus"
            ))
        })
    }

    /// Returns the events that the metric needs: the one that is divided, and the one it is divided by.
    pub(crate) fn events(
        &self,
        observed: &Observed,
        parser: &Parser,
    ) -> Result<(Vec<EventSpec>, Vec<EventSpec>), Failure> {
        let event = |name: Option<&str>| -> Result<Vec<EventSpec>, Failure> {
            let Some(name) = name else { return Ok(vec![clock(observed)]) };
            let groups = parser.parse(name).map_err(|error| error.to_string())?;
            Ok(groups.into_iter().flat_map(|group| group.events).collect())
        };
        let divisor = match self.divisor {
            Divisor::Elapsed => Vec::new(),
            Divisor::Clock => event(None)?,
            Divisor::Event(name) => event(Some(name))?,
        };
        Ok((event(self.event)?, divisor))
    }

    /// Returns the value; `None` if the divisor is 0.
    pub(crate) fn value(&self, count: f64, divisor: f64) -> Option<f64> {
        (divisor > 0.0).then(|| self.scale * count / divisor)
    }

    /// Returns the unit and the name, as perf prints them.
    pub(crate) fn label(&self) -> String {
        format!("{}  {}", self.unit, self.name).trim_start().to_owned()
    }
}

/// Returns the clock of the targets.
pub(crate) fn clock(observed: &Observed) -> EventSpec {
    let clock = if matches!(observed, Observed::Cpus(_)) { SwId::CPU_CLOCK } else { SwId::TASK_CLOCK };
    EventSpec::software(clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_events_and_a_label() {
        for metric in METRICS {
            assert_eq!(Named::of(metric.name).unwrap(), *metric);
            for observed in [Observed::Command, Observed::Cpus(vec![0])] {
                let (events, divisors) = metric.events(&observed, &Parser::new()).unwrap();
                assert!(!events.is_empty(), "{}", metric.name);
                assert_eq!(divisors.is_empty(), metric.divisor == Divisor::Elapsed, "{}", metric.name);
            }
            assert!(metric.label().ends_with(metric.name));
        }
        assert!(Named::of("IPC").unwrap_err().0.contains("insn_per_cycle"));
    }

    #[test]
    fn a_value_is_in_units() {
        let faults = Named::of("page_faults_per_second").unwrap();
        assert_eq!(faults.value(49.0, 5e8), Some(98.0));
        assert_eq!(faults.value(49.0, 0.0), None);
        assert_eq!(faults.label(), "faults/sec  page_faults_per_second");
        assert_eq!(Named::of("branch_miss_rate").unwrap().value(1.0, 4.0), Some(25.0));
        assert_eq!(Named::of("backend_cycles_idle").unwrap().label(), "backend_cycles_idle");
    }
}
