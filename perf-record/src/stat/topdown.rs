//! The top-down method: what the issue slots of the pipeline are used for, on Intel's cpus.
//!
//! A cpu either counts the slots of each use, or events of a core from which these are computed. The events are those that
//! the PMU lists. perf: `topdown_run` in `tools/perf/builtin-stat.c`, `perf_stat__print_shadow_stats`.

use perf_open::EventSpec;
use perf_open::event::EventParser;

use super::error::StatError;

/// An event of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TopdownEvent {
    // Of a core.
    TotalSlots,
    SlotsIssued,
    SlotsRetired,
    FetchBubbles,
    RecoveryBubbles,
    // The uses of slots.
    Retiring,
    BadSpec,
    FeBound,
    BeBound,
    // Parts of these, on the second level.
    HeavyOps,
    BrMispredict,
    FetchLat,
    MemBound,
}

use TopdownEvent::*;

/// The names in sysfs.
const NAMES: [(&str, TopdownEvent); 13] = [
    ("topdown-total-slots", TotalSlots),
    ("topdown-slots-retired", SlotsRetired),
    ("topdown-recovery-bubbles", RecoveryBubbles),
    ("topdown-fetch-bubbles", FetchBubbles),
    ("topdown-slots-issued", SlotsIssued),
    ("topdown-retiring", Retiring),
    ("topdown-bad-spec", BadSpec),
    ("topdown-fe-bound", FeBound),
    ("topdown-be-bound", BeBound),
    ("topdown-heavy-ops", HeavyOps),
    ("topdown-br-mispredict", BrMispredict),
    ("topdown-fetch-lat", FetchLat),
    ("topdown-mem-bound", MemBound),
];
/// The event that leads a group of the uses of slots.
const SLOTS: &str = "slots";
/// The uses of slots at the first level. The others are parts of these.
const USES: [TopdownEvent; 4] = [Retiring, FeBound, BeBound, BadSpec];

impl TopdownEvent {
    /// Returns the event of this method that has the name; `None` for others. PMU and modifiers are ignored.
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = name.split_once(':').map_or(name, |(name, _)| name);
        let name =
            name.strip_suffix('/').and_then(|name| name.split_once('/')).map_or(name, |(_, name)| name);
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }

    /// Returns whether the event is one of the second level.
    pub(super) fn is_second_level(self) -> bool {
        matches!(self, HeavyOps | BrMispredict | FetchLat | MemBound)
    }

    /// Computes the shares of the slots that this event is about, one or two; fewer if counts are missing: each in percent,
    /// and what it is. `count` returns the count of another event in the same place.
    pub(super) fn shares(self, count: &dyn Fn(Self) -> Option<f64>) -> [Option<(f64, &'static str)>; 2] {
        let share = |value: f64, name| Some((100.0 * value, name));
        // Differences of counts that were not taken at the same time may be below 0.
        let positive = |value: f64| value.max(0.0);
        let total = count(TotalSlots).filter(|&total| total > 0.0);
        let of_total = |value: f64| total.map_or(0.0, |total| value / total);
        let is_core =
            matches!(self, TotalSlots | SlotsIssued | SlotsRetired | FetchBubbles | RecoveryBubbles);
        if is_core {
            let number = |event| count(event).unwrap_or(0.0);
            let recovery = number(RecoveryBubbles);
            let retiring = of_total(number(SlotsRetired));
            let frontend = of_total(number(FetchBubbles));
            let bad = positive(of_total(number(SlotsIssued) - number(SlotsRetired) + recovery));
            let first = match self {
                FetchBubbles => share(frontend, "frontend bound"),
                SlotsRetired => share(retiring, "retiring"),
                RecoveryBubbles => share(bad, "bad speculation"),
                SlotsIssued => {
                    let sum = frontend + bad + retiring;
                    let backend = if sum == 0.0 { 0.0 } else { positive(1.0 - sum) };
                    let has_recovery = count(RecoveryBubbles).is_some();
                    share(backend, if has_recovery { "backend bound" } else { "backend bound/bad spec" })
                }
                _ => None,
            };
            return [first, None];
        }
        // The kernel returns shares of the slots; their sum is the whole.
        let uses = USES.map(|event| count(event).unwrap_or(0.0));
        let sum: f64 = uses.iter().sum();
        if uses.iter().filter(|&&slots| slots > 0.0).count() < 2 {
            return [None, None];
        }
        let of = |event| count(event).unwrap_or(0.0) / sum;
        let parts = |whole, name, rest| [share(of(self), name), share(of(whole) - of(self), rest)];
        match self {
            Retiring => [share(of(self), "Retiring"), None],
            BadSpec => [share(of(self), "Bad Speculation"), None],
            FeBound => [share(of(self), "Frontend Bound"), None],
            BeBound => [share(of(self), "Backend Bound"), None],
            HeavyOps => parts(Retiring, "Heavy Operations", "Light Operations"),
            BrMispredict => parts(BadSpec, "Branch Mispredict", "Machine Clears"),
            FetchLat => parts(FeBound, "Fetch Latency", "Fetch Bandwidth"),
            MemBound => parts(BeBound, "Memory Bound", "Core Bound"),
            _ => [None, None],
        }
    }
}

/// Returns the events of the method, a group: those of the second level too, if the cpu counts them. `level` is the highest
/// level that is asked for. `by_core` is whether all cpus are counted, and their counts are added up by core.
pub(super) fn events(
    level: Option<u32>,
    by_core: bool,
    parser: &EventParser,
) -> Result<Vec<EventSpec>, StatError> {
    let pmus = ["cpu_core", "cpu"];
    let pmu = pmus.iter().find_map(|name| parser.pmus().get(name).ok());
    let listed = |name: &str| pmu.as_ref().is_some_and(|pmu| pmu.named(name).is_some());
    let names = |is_chosen: &dyn Fn(TopdownEvent) -> bool| -> Vec<&str> {
        NAMES
            .iter()
            .filter(|(name, event)| is_chosen(*event) && listed(name))
            .map(|(name, _)| *name)
            .collect()
    };
    let of_uses = names(&|event| USES.contains(&event) || event.is_second_level());
    let of_core = names(&|event| !USES.contains(&event) && !event.is_second_level());
    let highest = if listed("topdown-heavy-ops") { 2 } else { 1 };
    if level.is_some_and(|level| level > highest) {
        return Err(StatError::TopdownLevel { highest });
    }
    let names: Vec<&str> = if !of_uses.is_empty() {
        let slots = Some(SLOTS).filter(|name| listed(name));
        slots.into_iter().chain(of_uses).collect()
    } else if of_core.is_empty() {
        return Err(StatError::NoTopdown);
    } else if !by_core {
        return Err(StatError::TopdownByCore);
    } else {
        of_core
    };
    let pmu = pmu.map(|pmu| pmu.name).filter(|name| name == pmus[0]);
    let in_pmu = |name: &&str| match &pmu {
        Some(pmu) => format!("{pmu}/{name}/"),
        None => (*name).to_owned(),
    };
    let list = names.iter().map(in_pmu).collect::<Vec<_>>().join(",");
    let groups = parser.parse(&format!("{{{list}}}"))?;
    Ok(groups.into_iter().flat_map(|group| group.events).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use perf_open::pmu::Pmus;
    use perf_open::tracepoint::Tracefs;

    use super::*;

    /// The events of a cpu since Sapphire Rapids, as sysfs lists them, in the order in which perf counts them.
    const GOLDEN: [(&str, u64); 9] = [
        ("slots", 0x400),
        ("topdown-retiring", 0x8000),
        ("topdown-bad-spec", 0x8100),
        ("topdown-fe-bound", 0x8200),
        ("topdown-be-bound", 0x8300),
        ("topdown-heavy-ops", 0x8400),
        ("topdown-br-mispredict", 0x8500),
        ("topdown-fetch-lat", 0x8600),
        ("topdown-mem-bound", 0x8700),
    ];

    /// Returns the events and their configs on a machine whose PMU lists these.
    fn planned(
        pmu: &str,
        listed: &[(&str, u64)],
        level: Option<u32>,
        by_core: bool,
    ) -> Result<Vec<(String, u64)>, String> {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(pmu);
        for name in ["events", "format"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("type"), "4\n").unwrap();
        fs::write(folder.join("format/event"), "config:0-7\n").unwrap();
        fs::write(folder.join("format/umask"), "config:8-15\n").unwrap();
        for (name, config) in listed {
            let terms = format!("event={:#04x},umask={:#x}\n", config & 0xff, config >> 8);
            fs::write(folder.join("events").join(name), terms).unwrap();
        }
        let parser = EventParser::at(Pmus::at(root.path()), Tracefs::at("/nowhere"));
        let events = events(level, by_core, &parser).map_err(|error| error.to_string())?;
        Ok(events.into_iter().map(|event| (event.name, event.attr.config)).collect())
    }

    fn named(events: &[(&str, u64)]) -> Vec<(String, u64)> {
        events.iter().map(|(name, config)| ((*name).to_owned(), *config)).collect()
    }

    #[test]
    fn the_uses_of_slots() {
        assert_eq!(planned("cpu", &GOLDEN, None, false), Ok(named(&GOLDEN)));
        assert_eq!(planned("cpu", &GOLDEN, Some(1), false), Ok(named(&GOLDEN)));
        // Ice Lake has one level.
        assert_eq!(planned("cpu", &GOLDEN[..5], None, false), Ok(named(&GOLDEN[..5])));
        let error = planned("cpu", &GOLDEN[..5], Some(2), false).unwrap_err();
        assert!(error.contains("levels up to 1"), "{error}");
        let hybrid = planned("cpu_core", &GOLDEN, None, false).unwrap();
        assert_eq!((&*hybrid[1].0, hybrid[1].1), ("cpu_core/topdown-retiring/", 0x8000));
    }

    #[test]
    fn events_of_a_core() {
        let listed = [
            ("topdown-total-slots", 0x3c),
            ("topdown-slots-retired", 0x2c2),
            ("topdown-recovery-bubbles", 0x30d),
            ("topdown-fetch-bubbles", 0x19c),
            ("topdown-slots-issued", 0x10e),
        ];
        assert_eq!(planned("cpu", &listed, None, true), Ok(named(&listed)));
        let error = planned("cpu", &listed, None, false).unwrap_err();
        assert!(error.contains("by core"), "{error}");
        let error = planned("cpu", &[("cycles", 0x3c)], None, false).unwrap_err();
        assert!(error.contains("does not count"), "{error}");
    }

    /// Returns the shares of an event, with the counts of others.
    fn shares(event: TopdownEvent, counts: &[(TopdownEvent, f64)]) -> Vec<(String, f64)> {
        let count = |of| counts.iter().find(|(event, _)| *event == of).map(|(_, count)| *count);
        let shares = event.shares(&count).into_iter().flatten();
        shares.map(|(value, name)| (name.to_owned(), (value * 10.0).round() / 10.0)).collect()
    }

    fn is(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
        expected.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn shares_of_the_slots() {
        let counts = [
            (Retiring, 400.0),
            (BadSpec, 100.0),
            (FeBound, 200.0),
            (BeBound, 300.0),
            (HeavyOps, 100.0),
            (BrMispredict, 90.0),
            (FetchLat, 150.0),
            (MemBound, 250.0),
        ];
        let one = |event| shares(event, &counts);
        assert_eq!(one(Retiring), is(&[("Retiring", 40.0)]));
        assert_eq!(one(BeBound), is(&[("Backend Bound", 30.0)]));
        assert_eq!(one(HeavyOps), is(&[("Heavy Operations", 10.0), ("Light Operations", 30.0)]));
        assert_eq!(one(BrMispredict), is(&[("Branch Mispredict", 9.0), ("Machine Clears", 1.0)]));
        assert_eq!(one(FetchLat), is(&[("Fetch Latency", 15.0), ("Fetch Bandwidth", 5.0)]));
        assert_eq!(one(MemBound), is(&[("Memory Bound", 25.0), ("Core Bound", 5.0)]));
        assert_eq!(shares(Retiring, &[(Retiring, 5.0)]), []);
        assert_eq!(shares(Retiring, &[(Retiring, 5.0), (BeBound, 5.0)]), is(&[("Retiring", 50.0)]));
    }

    #[test]
    fn shares_of_a_core() {
        let mut counts = vec![
            (TotalSlots, 1000.0),
            (SlotsRetired, 400.0),
            (RecoveryBubbles, 50.0),
            (FetchBubbles, 200.0),
            (SlotsIssued, 450.0),
        ];
        assert_eq!(shares(TotalSlots, &counts), []);
        assert_eq!(shares(SlotsRetired, &counts), is(&[("retiring", 40.0)]));
        assert_eq!(shares(RecoveryBubbles, &counts), is(&[("bad speculation", 10.0)]));
        assert_eq!(shares(FetchBubbles, &counts), is(&[("frontend bound", 20.0)]));
        assert_eq!(shares(SlotsIssued, &counts), is(&[("backend bound", 30.0)]));
        counts.remove(2);
        assert_eq!(shares(SlotsIssued, &counts), is(&[("backend bound/bad spec", 35.0)]));
        counts.remove(0);
        assert_eq!(shares(SlotsIssued, &counts), is(&[("backend bound/bad spec", 0.0)]));
    }

    #[test]
    fn names_with_their_pmu_and_modifiers() {
        for name in ["topdown-retiring", "topdown-retiring:u", "cpu_core/topdown-retiring/"] {
            assert_eq!(TopdownEvent::of(name), Some(Retiring), "{name}");
        }
        assert_eq!(TopdownEvent::of("slots"), None);
    }
}
