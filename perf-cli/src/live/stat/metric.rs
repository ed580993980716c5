//! Metrics: values computed from a count and from other counts.

use core::time::Duration;

use perf_open::EventSpec;
use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::{EventType, HW_EVENT_MASK, HwId, SwId};

use super::topdown::Topdown;

/// The role of an event in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Counts nanoseconds of a cpu.
    Clock,
    Cycles,
    Instructions,
    Branches,
    BranchMisses,
    CacheReferences,
    CacheMisses,
    /// An event of `--topdown`.
    Topdown(Topdown),
    /// Counts occurrences of something else.
    Other,
    /// Has a unit of its own, so a rate would need another unit.
    Measure,
}

/// The role of an event, and the cpu modes that it excludes. Only events that exclude the same modes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) role: Role,
    excluded: AttrFlags,
}

/// A computed value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// Of a rate, the number in a second; `value` is that in the unit, whose prefix leaves few digits.
    pub(crate) per_second: Option<f64>,
}

impl Metric {
    /// The unit of `per_second`.
    pub(crate) const RATE: &str = "/sec";
}

impl Kind {
    pub(crate) fn of(event: &EventSpec) -> Self {
        let attr = &event.attr;
        let topdown = Topdown::of(&event.name);
        // The upper bits are the type of the PMU on machines with several kinds of cpus.
        let hardware = u32::try_from(attr.config & HW_EVENT_MASK).map(HwId);
        let role = match (attr.kind, hardware, SwId(attr.config)) {
            (EventType::SOFTWARE, _, SwId::CPU_CLOCK | SwId::TASK_CLOCK) => Role::Clock,
            (EventType::HARDWARE, Ok(HwId::CPU_CYCLES), _) => Role::Cycles,
            (EventType::HARDWARE, Ok(HwId::INSTRUCTIONS), _) => Role::Instructions,
            (EventType::HARDWARE, Ok(HwId::BRANCH_INSTRUCTIONS), _) => Role::Branches,
            (EventType::HARDWARE, Ok(HwId::BRANCH_MISSES), _) => Role::BranchMisses,
            (EventType::HARDWARE, Ok(HwId::CACHE_REFERENCES), _) => Role::CacheReferences,
            (EventType::HARDWARE, Ok(HwId::CACHE_MISSES), _) => Role::CacheMisses,
            _ if topdown.is_some() => topdown.map_or(Role::Other, Role::Topdown),
            _ if event.unit.is_some() => Role::Measure,
            _ => Role::Other,
        };
        let modes = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        Self { role, excluded: AttrFlags(attr.flags.0 & modes.0) }
    }
}

/// Computes the metric of `value`, which an event of `kind` counted in `elapsed`. `beside` has the events that were
/// counted in the same place, with their values; the values of clocks are nanoseconds.
pub(crate) fn metric(kind: Kind, value: f64, elapsed: Duration, beside: &[(Kind, f64)]) -> Option<Metric> {
    let find = |wanted: &dyn Fn(&Kind) -> bool| {
        beside.iter().find(|(kind, _)| wanted(kind)).map(|&(_, value)| value).filter(|&value| value > 0.0)
    };
    // A clock measures time, whatever modes it excludes.
    let clock = find(&|other| other.role == Role::Clock);
    let same_modes = |role| find(&|other| other.role == role && other.excluded == kind.excluded);
    let metric = |value, unit: &str| Some(Metric { value, unit: unit.to_owned(), per_second: None });
    let share = |whole, unit: &str| same_modes(whole).map(|whole| (100.0 * value / whole, unit.to_owned()));
    let of_kind = match kind.role {
        Role::Clock if elapsed.is_zero() => return None,
        Role::Clock => return metric(value / elapsed.as_nanos() as f64, "CPUs utilized"),
        Role::Measure => return None,
        Role::Topdown(event) => {
            let [first, _] = topdown(event, kind, beside);
            return first;
        }
        Role::Cycles => clock.map(|clock| (value / clock, "GHz".to_owned())),
        Role::Instructions => {
            same_modes(Role::Cycles).map(|cycles| (value / cycles, "insn per cycle".to_owned()))
        }
        Role::BranchMisses => share(Role::Branches, "% of all branches"),
        Role::CacheMisses => share(Role::CacheReferences, "% of all cache refs"),
        Role::Branches | Role::CacheReferences | Role::Other => None,
    };
    match of_kind {
        Some((value, unit)) => metric(value, &unit),
        None => Some(per_second(value / (clock? / 1e9))),
    }
}

/// Computes the second metric of an event of `--topdown`, which is the rest of what the first is a part of.
pub(crate) fn second_metric(kind: Kind, beside: &[(Kind, f64)]) -> Option<Metric> {
    let Role::Topdown(event) = kind.role else { return None };
    let [_, second] = topdown(event, kind, beside);
    second
}

fn topdown(event: Topdown, kind: Kind, beside: &[(Kind, f64)]) -> [Option<Metric>; 2] {
    let shares = event.shares(&|other| {
        let wanted = Kind { role: Role::Topdown(other), ..kind };
        beside.iter().find(|(kind, _)| *kind == wanted).map(|&(_, value)| value)
    });
    shares.map(|share| {
        share.map(|(value, name)| Metric { value, unit: format!("%  {name}"), per_second: None })
    })
}

/// Returns a rate with the unit prefix that leaves few digits.
fn per_second(rate: f64) -> Metric {
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "K")];
    let (scale, prefix) = prefixes.into_iter().find(|&(scale, _)| rate >= scale).unwrap_or((1.0, ""));
    Metric { value: rate / scale, unit: format!("{prefix}{}", Metric::RATE), per_second: Some(rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn hardware(id: HwId) -> Kind {
        Kind::of(&EventSpec::hardware(id))
    }

    fn software(id: SwId) -> Kind {
        Kind::of(&EventSpec::software(id))
    }

    fn computed(kind: Kind, value: f64, beside: &[(Kind, f64)]) -> Option<(f64, String)> {
        metric(kind, value, SECOND, beside).map(|metric| (metric.value, metric.unit))
    }

    fn is(value: f64, unit: &str) -> Option<(f64, String)> {
        Some((value, unit.to_owned()))
    }

    #[test]
    fn a_clock_tells_how_many_cpus_were_busy() {
        assert_eq!(computed(software(SwId::TASK_CLOCK), 2.5e9, &[]), is(2.5, "CPUs utilized"));
        assert_eq!(metric(software(SwId::CPU_CLOCK), 1.0, Duration::ZERO, &[]), None);
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
        let cycles = (Kind::of(&user), 100.0);
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
        assert_eq!(computed(Kind::of(&joules), 12.0, &[clock]), None);
    }
}
