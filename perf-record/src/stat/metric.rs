//! Metrics: values computed from a count and from other counts.

use core::time::Duration;
use std::collections::HashMap;

use perf_open::EventSpec;
use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::{EventType, HW_EVENT_MASK, HwId, SwId};

use super::topdown::TopdownEvent;

/// The role of an event in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MetricRole {
    /// Counts nanoseconds of a cpu.
    Clock,
    Cycles,
    Instructions,
    Branches,
    BranchMisses,
    CacheReferences,
    CacheMisses,
    /// An event of the top-down method.
    Topdown(TopdownEvent),
    /// Counts occurrences of something else.
    Other,
    /// Has a unit of its own, so a rate would need another unit.
    Measure,
}

/// The role of an event, and the cpu modes that it excludes. Only events that exclude the same modes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MetricKind {
    pub(super) role: MetricRole,
    excluded: AttrFlags,
}

/// A value that is computed from a count and from other counts: instructions per cycle, page faults per second.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a value, its unit, and the value without the prefix of the unit"
)]
pub struct MetricValue {
    /// The value in the unit.
    pub value: f64,
    /// The unit, as perf prints it: `CPUs utilized`, `K/sec`.
    pub unit: String,
    /// Of a rate, the number per second; `value` is that in the unit, whose prefix leaves few digits. `None` for others.
    pub per_second: Option<f64>,
}

impl MetricValue {
    /// The unit of [`per_second`](Self::per_second).
    pub const RATE: &str = "/sec";
}

impl MetricKind {
    pub(super) fn of(event: &EventSpec) -> Self {
        let attr = &event.attr;
        let topdown = TopdownEvent::of(&event.name);
        // The upper bits are the type of the PMU on machines with several kinds of cpus.
        let hardware = u32::try_from(attr.config & HW_EVENT_MASK).map(HwId);
        let role = match (attr.kind, hardware, SwId(attr.config)) {
            (EventType::SOFTWARE, _, SwId::CPU_CLOCK | SwId::TASK_CLOCK) => MetricRole::Clock,
            (EventType::HARDWARE, Ok(HwId::CPU_CYCLES), _) => MetricRole::Cycles,
            (EventType::HARDWARE, Ok(HwId::INSTRUCTIONS), _) => MetricRole::Instructions,
            (EventType::HARDWARE, Ok(HwId::BRANCH_INSTRUCTIONS), _) => MetricRole::Branches,
            (EventType::HARDWARE, Ok(HwId::BRANCH_MISSES), _) => MetricRole::BranchMisses,
            (EventType::HARDWARE, Ok(HwId::CACHE_REFERENCES), _) => MetricRole::CacheReferences,
            (EventType::HARDWARE, Ok(HwId::CACHE_MISSES), _) => MetricRole::CacheMisses,
            _ if topdown.is_some() => topdown.map_or(MetricRole::Other, MetricRole::Topdown),
            _ if event.unit.is_some() => MetricRole::Measure,
            _ => MetricRole::Other,
        };
        let modes = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        Self { role, excluded: AttrFlags(attr.flags.0 & modes.0) }
    }
}

/// The values of the events that were counted in one place, of the first event of each kind; those of clocks are nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct SiblingCounts {
    /// That of the first clock. A clock measures time, whatever modes it excludes.
    clock: Option<f64>,
    of_kinds: HashMap<MetricKind, f64>,
}

impl SiblingCounts {
    /// Adds the value of an event.
    pub(super) fn add(&mut self, kind: MetricKind, value: f64) {
        if kind.role == MetricRole::Clock {
            self.clock.get_or_insert(value);
        }
        self.of_kinds.entry(kind).or_insert(value);
    }

    fn of_kind(&self, kind: MetricKind) -> Option<f64> {
        self.of_kinds.get(&kind).copied()
    }
}

/// Computes the metric of `value`, which an event of `kind` counted in `elapsed`, with the counts of the same place.
pub(super) fn metric(
    kind: MetricKind,
    value: f64,
    elapsed: Duration,
    beside: &SiblingCounts,
) -> Option<MetricValue> {
    let clock = beside.clock.filter(|&value| value > 0.0);
    let same_modes = |role| beside.of_kind(MetricKind { role, ..kind }).filter(|&value| value > 0.0);
    let metric = |value, unit: &str| Some(MetricValue { value, unit: unit.to_owned(), per_second: None });
    let share = |whole, unit: &str| same_modes(whole).map(|whole| (100.0 * value / whole, unit.to_owned()));
    let of_kind = match kind.role {
        MetricRole::Clock if elapsed.is_zero() => return None,
        MetricRole::Clock => return metric(value / elapsed.as_nanos() as f64, "CPUs utilized"),
        MetricRole::Measure => return None,
        MetricRole::Topdown(event) => {
            let [first, _] = topdown(event, kind, beside);
            return first;
        }
        MetricRole::Cycles => clock.map(|clock| (value / clock, "GHz".to_owned())),
        MetricRole::Instructions => {
            same_modes(MetricRole::Cycles).map(|cycles| (value / cycles, "insn per cycle".to_owned()))
        }
        MetricRole::BranchMisses => share(MetricRole::Branches, "% of all branches"),
        MetricRole::CacheMisses => share(MetricRole::CacheReferences, "% of all cache refs"),
        MetricRole::Branches | MetricRole::CacheReferences | MetricRole::Other => None,
    };
    match of_kind {
        Some((value, unit)) => metric(value, &unit),
        None => Some(per_second(value / (clock? / 1e9))),
    }
}

/// Computes the second metric of an event of the top-down method, which is the rest of what the first is a part of.
pub(super) fn second_metric(kind: MetricKind, beside: &SiblingCounts) -> Option<MetricValue> {
    let MetricRole::Topdown(event) = kind.role else { return None };
    let [_, second] = topdown(event, kind, beside);
    second
}

fn topdown(event: TopdownEvent, kind: MetricKind, beside: &SiblingCounts) -> [Option<MetricValue>; 2] {
    let shares =
        event.shares(&|other| beside.of_kind(MetricKind { role: MetricRole::Topdown(other), ..kind }));
    shares.map(|share| {
        share.map(|(value, name)| MetricValue { value, unit: format!("%  {name}"), per_second: None })
    })
}

/// Returns a rate with the unit prefix that leaves few digits.
fn per_second(rate: f64) -> MetricValue {
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "K")];
    let (scale, prefix) = prefixes.into_iter().find(|&(scale, _)| rate >= scale).unwrap_or((1.0, ""));
    MetricValue {
        value: rate / scale,
        unit: format!("{prefix}{}", MetricValue::RATE),
        per_second: Some(rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn hardware(id: HwId) -> MetricKind {
        MetricKind::of(&EventSpec::hardware(id))
    }

    fn software(id: SwId) -> MetricKind {
        MetricKind::of(&EventSpec::software(id))
    }

    fn siblings(counts: &[(MetricKind, f64)]) -> SiblingCounts {
        let mut siblings = SiblingCounts::default();
        counts.iter().for_each(|&(kind, value)| siblings.add(kind, value));
        siblings
    }

    fn computed(kind: MetricKind, value: f64, beside: &[(MetricKind, f64)]) -> Option<(f64, String)> {
        metric(kind, value, SECOND, &siblings(beside)).map(|metric| (metric.value, metric.unit))
    }

    fn is(value: f64, unit: &str) -> Option<(f64, String)> {
        Some((value, unit.to_owned()))
    }

    #[test]
    fn a_clock_tells_how_many_cpus_were_busy() {
        assert_eq!(computed(software(SwId::TASK_CLOCK), 2.5e9, &[]), is(2.5, "CPUs utilized"));
        assert_eq!(metric(software(SwId::CPU_CLOCK), 1.0, Duration::ZERO, &siblings(&[])), None);
    }

    #[test]
    fn ratios_need_both_events() {
        let cycles = (hardware(HwId::CPU_CYCLES), 4e9);
        let branches = (hardware(HwId::BRANCH_INSTRUCTIONS), 200.0);
        let references = (hardware(HwId::CACHE_REFERENCES), 50.0);
        let instructions = hardware(HwId::INSTRUCTIONS);
        assert_eq!(computed(instructions, 6e9, &[cycles]), is(1.5, "insn per cycle"));
        assert_eq!(computed(instructions, 6e9, &[branches]), None);
        assert_eq!(computed(instructions, 6e9, &[(cycles.0, 0.0)]), None);
        assert_eq!(computed(hardware(HwId::BRANCH_MISSES), 5.0, &[branches]), is(2.5, "% of all branches"));
        assert_eq!(
            computed(hardware(HwId::CACHE_MISSES), 5.0, &[references]),
            is(10.0, "% of all cache refs")
        );
        let clock = (software(SwId::TASK_CLOCK), 2e9);
        assert_eq!(computed(cycles.0, 4e9, &[clock]), is(2.0, "GHz"));
    }

    #[test]
    fn the_kernels_instructions_are_not_divided_by_the_cycles_of_user_space() {
        let mut user = EventSpec::hardware(HwId::CPU_CYCLES);
        user.attr.flags |= AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        let cycles = (MetricKind::of(&user), 100.0);
        assert_eq!(computed(hardware(HwId::INSTRUCTIONS), 100.0, &[cycles]), None);
    }

    #[test]
    fn anything_else_is_a_rate_of_the_time_on_a_cpu() {
        let faults = software(SwId::PAGE_FAULTS);
        let clock = (software(SwId::TASK_CLOCK), 5e8);
        assert_eq!(computed(faults, 12.0, &[clock]), is(24.0, "/sec"));
        assert_eq!(computed(faults, 1200.0, &[clock]), is(2.4, "K/sec"));
        assert_eq!(computed(faults, 1.2e6, &[clock]), is(2.4, "M/sec"));
        assert_eq!(computed(faults, 1.2e9, &[clock]), is(2.4, "G/sec"));
        assert_eq!(computed(faults, 12.0, &[]), None);
        assert_eq!(computed(hardware(HwId::BRANCH_INSTRUCTIONS), 12.0, &[clock]), is(24.0, "/sec"));
        // Without the event that the percentage needs.
        assert_eq!(computed(hardware(HwId::BRANCH_MISSES), 12.0, &[clock]), is(24.0, "/sec"));
        let mut joules = EventSpec::raw(2);
        joules.unit = Some("Joules".to_owned());
        assert_eq!(computed(MetricKind::of(&joules), 12.0, &[clock]), None);
    }
}
