//! The list of a machine's events.

use perf_open::event::{EventParser, ListedEventKind};
use perf_open::pmu::Pmus;
use perf_open::tracepoint::Tracefs;

use crate::fake::{INTEL, parser};

#[test]
fn a_machine_of_intel() {
    let parser = parser(INTEL);
    let list = parser.list();
    assert!(list.errors.is_empty());
    let count = |kind| list.events.iter().filter(|event| event.kind == kind).count();
    let counts = [
        (ListedEventKind::Hardware, 10),
        (ListedEventKind::Software, 12),
        (ListedEventKind::Cache, 32),
        (ListedEventKind::Pmu, 8),
        (ListedEventKind::Terms, 6),
        (ListedEventKind::Raw, 1),
        (ListedEventKind::Breakpoint, 1),
        (ListedEventKind::Tracepoint, 4),
    ];
    for (kind, expected) in counts {
        assert_eq!(count(kind), expected, "{kind:?}");
    }
    let find = |name: &str| list.events.iter().find(|event| event.name == name).unwrap();
    let energy = find("power/energy-pkg/");
    assert_eq!((energy.pmu.as_deref(), energy.unit.as_deref()), (Some("power"), Some("Joules")));
    assert_eq!(energy.terms.as_deref(), Some("event=0x02"));
    assert_eq!(energy.scale, Some(2.328_306_436_538_696_3e-10));
    assert_eq!(find("cpu-cycles").aliases, ["cycles"]);
    assert_eq!(
        find("uprobe/path='FILE',offset=N,ref_ctr_offset=0..0xffffffff,retprobe/").kind,
        ListedEventKind::Terms
    );
    assert!(list.events.is_sorted_by_key(|event| (event.kind, event.name.clone())));
    let broken = ["cpu/broken/", "cpu/wrong/", "cpu/parametrised/", "syscalls:sys_enter_read"];
    for event in list.events {
        let is_syntax =
            matches!(event.kind, ListedEventKind::Terms | ListedEventKind::Raw | ListedEventKind::Breakpoint);
        if !is_syntax && !broken.contains(&event.name.as_str()) {
            parser.parse(&event.name).unwrap_or_else(|error| panic!("{error:#}"));
        }
    }
}

#[test]
fn an_event_matches_by_each_of_its_names() {
    let list = EventParser::at(Pmus::at("/nowhere"), Tracefs::at("/nowhere")).list();
    let matching = |pattern| -> Vec<&str> {
        list.events.iter().filter(|event| event.matches(pattern)).map(|event| event.name.as_str()).collect()
    };
    assert_eq!(matching("cpu-c*"), ["cpu-cycles", "cpu-clock"]);
    assert_eq!(matching("Faults"), ["page-faults"]);
    assert_eq!(matching("l1-dcache-?????"), ["L1-dcache-loads"]);
    assert!(matching("fault").is_empty());
}

#[test]
fn what_cannot_be_read_is_told() {
    let list = EventParser::at(Pmus::at("/nowhere"), Tracefs::at("/nowhere")).list();
    let kinds: Vec<_> = list.errors.iter().map(|(kind, _)| *kind).collect();
    assert_eq!((&*kinds, list.events.len()), (&[ListedEventKind::Pmu, ListedEventKind::Tracepoint][..], 56));
}

#[test]
fn the_events_of_tools_are_listed_on_request() {
    let list = EventParser::at(Pmus::at("/nowhere"), Tracefs::at("/nowhere")).with_tools().list();
    let tools = list.events.iter().filter(|event| event.kind == ListedEventKind::Tool);
    let tools: Vec<_> = tools.map(|event| event.name.as_str()).collect();
    // Those of perf 7.2 on x86.
    assert_eq!(
        tools,
        [
            "core_wide",
            "duration_time",
            "has_pmem",
            "num_cores",
            "num_cpus",
            "num_cpus_online",
            "num_dies",
            "num_packages",
            "smt_on",
            "system_time",
            "system_tsc_freq",
            "target_cpu",
            "user_time"
        ]
    );
}
