//! A prepared count: events, targets, cgroups and aggregates, for one or more runs.

use alloc::collections::BTreeMap;
use core::time::Duration;

use perf_open::EventSpec;

use super::aggregates::aggregates;
use super::aggregation::{Aggregate, AggregateLabels};
use super::counted_event::{CountedEvent, MetricChoice};
use super::counter_set::CounterSet;
use super::error::StatError;
use super::group::{self, StatGroup};
use super::options::{StatCgroups, StatOptions};
use super::readout::Readout;
use super::rows::{self, CountRow};
use super::topdown::TopdownEvent;
use crate::{CgroupDirectory, Targets};

/// A prepared count: events on targets. [`open`](Self::open) begins a run; there can be several. The [module](super) has
/// examples.
#[derive(Debug)]
pub struct StatPlan {
    pub(super) groups: Vec<StatGroup>,
    pub(super) targets: Targets,
    pub(super) options: StatOptions,
    pub(super) cgroups: Vec<CgroupDirectory>,
    pub(super) domains: BTreeMap<u32, Aggregate>,
    labels: AggregateLabels,
}

impl StatPlan {
    /// Prepares a count of `groups` and of the events that the options add. Without groups, metrics and top-down, the events
    /// are the defaults of `perf stat`. Opens no event.
    ///
    /// # Errors
    ///
    /// If an event cannot be counted, such as one with a term about samples; if an aggregation or cgroups do not fit the
    /// targets; if this machine lacks an event of the top-down method, a cgroup, or a file about its topology.
    pub fn new(
        groups: impl IntoIterator<Item = impl Into<StatGroup>>,
        targets: Targets,
        options: StatOptions,
    ) -> Result<Self, StatError> {
        let (domains, labels) = aggregates(options.aggregation, &targets)?;
        let names = match &options.cgroups {
            StatCgroups::All => &Vec::new(),
            _ if !matches!(targets, Targets::Cpus(_)) => return Err(StatError::CgroupTargets),
            StatCgroups::PerEvent(names) | StatCgroups::ForEach(names) => names,
        };
        let groups = group::all(groups.into_iter().map(Into::into).collect(), &targets, &options)?;
        let cgroups = names.iter().map(|name| CgroupDirectory::open(name)).collect::<Result<_, _>>()?;
        Ok(Self { groups, targets, options, cgroups, domains, labels })
    }

    /// Returns the targets.
    #[must_use]
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &StatOptions {
        &self.options
    }

    /// Returns the labels of the aggregates; empty for [`Aggregation::Total`](super::Aggregation::Total).
    #[must_use]
    pub fn labels(&self) -> &AggregateLabels {
        &self.labels
    }

    /// Returns the rows of one or more runs, which took `elapsed` in the mean, or of an interval of that length: for each
    /// event, its aggregates in ascending order. An event that nothing counts has a row for each aggregate too. `readouts`
    /// are those of the runs, and `events` the events of one of them. The value of several runs is their mean.
    #[must_use]
    pub fn rows<'a>(
        &'a self,
        events: &'a [CountedEvent],
        readouts: &[Readout],
        elapsed: Duration,
    ) -> Vec<CountRow<'a>> {
        rows::rows(events, &self.labels, readouts, elapsed, self.options.scale)
    }

    pub(super) fn counted_event(
        &self,
        index: usize,
        event: &EventSpec,
        counters: &CounterSet,
    ) -> CountedEvent {
        let cgroup = counters.cgroups.get(index).copied().flatten();
        let mut counted = CountedEvent::from(event);
        counted.cgroup =
            cgroup.and_then(|number| self.cgroups.get(number)).map(|cgroup| cgroup.name().to_owned());
        counted.metric_choice = self.metric_choice(index, counters);
        counted.is_merged = counters.merged_into.get(index).is_some_and(|&into| into != index);
        counted
    }

    /// Returns which metric of the event at this index is computed.
    fn metric_choice(&self, index: usize, counters: &CounterSet) -> MetricChoice {
        if self.options.metrics.is_empty() {
            let event = counters.events.get(index).and_then(|event| TopdownEvent::of(&event.name));
            let is_hidden =
                self.options.topdown_level == Some(1) && event.is_some_and(TopdownEvent::is_second_level);
            return if is_hidden { MetricChoice::None } else { MetricChoice::Own };
        }
        let mut firsts = self.groups.iter().scan(0_usize, |next, group| {
            let first = *next;
            *next = next.saturating_add(group.events().len());
            Some((first, group))
        });
        let metric = firsts.find(|(first, _)| *first == index).and_then(|(_, group)| group.metric.as_ref());
        let Some((named, divisor)) = metric else { return MetricChoice::None };
        let Some(divisor) = divisor else { return MetricChoice::Named(*named, None) };
        let cgroup = counters.cgroups.get(index);
        let mut others = counters.events.iter().zip(&counters.cgroups);
        let at = others.position(|(event, of)| group::is_same(event, divisor) && Some(of) == cgroup);
        at.map_or(MetricChoice::None, |at| MetricChoice::Named(*named, Some(at)))
    }
}

#[cfg(test)]
mod tests {
    use perf_open::event::parse;

    use super::super::{Aggregation, CpuDomain};
    use super::*;

    fn error(targets: Targets, options: StatOptions) -> StatError {
        StatPlan::new(parse("faults").unwrap(), targets, options).unwrap_err()
    }

    #[test]
    fn options_must_fit_the_targets() {
        for aggregation in [Aggregation::Cpu, Aggregation::Thread, Aggregation::Domain(CpuDomain::Core)] {
            let options = StatOptions { aggregation, ..StatOptions::default() };
            assert!(matches!(error(Targets::Command, options), StatError::Aggregation));
        }
        let cgroups = StatCgroups::ForEach(vec!["a".to_owned()]);
        let options = StatOptions { cgroups, ..StatOptions::default() };
        assert!(matches!(error(Targets::Threads(vec![1]), options), StatError::CgroupTargets));
    }

    #[test]
    fn a_plan_has_the_labels_of_its_aggregates() {
        let options = StatOptions { aggregation: Aggregation::Cpu, ..StatOptions::default() };
        let plan = StatPlan::new(parse("faults").unwrap(), Targets::Cpus(vec![0]), options).unwrap();
        assert_eq!(plan.labels()[&Aggregate::Cpu(0)].text, "CPU0");
        assert_eq!((plan.targets(), plan.options().inherit), (&Targets::Cpus(vec![0]), true));
    }
}
