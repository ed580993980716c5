//! The terms of events: that they are applied as perf applies them, or refused. No event is opened.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_open::event::parse;

use super::attrs::attr_in;
use crate::call_graph::all_registers;
use crate::fallback::EventChoices;
use crate::{CallGraphMode, RecordOptions, Targets, ring_plan, shared_settings, terms};

/// Returns the attrs of the first group of a list of events.
fn attrs(list: &str, options: &RecordOptions) -> Vec<Attr> {
    let groups = parse(list).unwrap();
    terms::check(&groups, options).unwrap();
    (0..groups[0].events.len()).map(|place| attr_in(&groups[0], place, options)).collect()
}

fn attr(list: &str) -> Attr {
    attrs(list, &RecordOptions::default())[0]
}

/// Returns why a list of events is refused.
fn refusal(list: &str, options: &RecordOptions) -> String {
    terms::check(&parse(list).unwrap(), options).unwrap_err().to_string()
}

#[test]
fn without_times() {
    assert!(attr("cpu-clock/time=1/").sample_type.contains(SampleType::TIME));
    assert!(!attr("cpu-clock/time=0/").sample_type.contains(SampleType::TIME));
    let no_times = RecordOptions { no_timestamps: true, ..RecordOptions::default() };
    assert!(attrs("cpu-clock/time=1/", &no_times)[0].sample_type.contains(SampleType::TIME));
}

/// perf: `evsel__config_leader_sampling` keeps the rate of a member that has a term for it.
#[test]
fn members_with_a_rate_of_their_own() {
    let rates = |list: &str| -> Vec<_> {
        let attrs = attrs(list, &RecordOptions::default());
        assert!(attrs.iter().all(|attr| attr.read_format.contains(ReadFormat::GROUP)));
        attrs.iter().map(|attr| (attr.sample_period, attr.flags.contains(AttrFlags::FREQ))).collect()
    };
    assert_eq!(rates("{cpu-clock,page-faults}:S"), [(4000, true), (0, false)]);
    assert_eq!(rates("{cpu-clock,page-faults/period=5/}:S"), [(4000, true), (5, false)]);
    assert_eq!(rates("{cpu-clock/period=9/,page-faults/freq=5/}:S"), [(9, false), (5, true)]);
}

#[test]
fn inheritance_by_event() {
    let without = RecordOptions { inherit: false, ..RecordOptions::default() };
    let inherits = |list: &str, options| -> Vec<_> {
        attrs(list, options).iter().map(|attr| attr.flags.contains(AttrFlags::INHERIT)).collect()
    };
    assert_eq!(inherits("cpu-clock/inherit/", &without), [true]);
    assert_eq!(inherits("cpu-clock", &without), [false]);
    assert_eq!(inherits("cpu-clock/no-inherit/", &RecordOptions::default()), [false]);
    // Inherited events need rings of cpus. Those whose first event is not inherited need another for names.
    let settings = |list: &str, options| {
        let choices = EventChoices { groups: parse(list).unwrap(), inherit_read: true, aux: None };
        let settings = shared_settings::of(&choices, &Targets::Command, options).unwrap();
        let rings = ring_plan::of(&Targets::Command, Some(1), options, &settings).unwrap();
        (
            rings[0].cpu.is_some(),
            settings.tracker,
            settings.tracker().attr().flags.contains(AttrFlags::INHERIT),
        )
    };
    assert_eq!(settings("cpu-clock/inherit/", &without), (true, false, true));
    assert_eq!(settings("cpu-clock", &without), (false, false, false));
    assert_eq!(settings("page-faults,cpu-clock/inherit/", &without), (true, true, true));
    let per_thread = RecordOptions { per_thread: true, ..RecordOptions::default() };
    assert!(refusal("cpu-clock/inherit/", &per_thread).contains("inherit"));
}

#[test]
fn call_chains_by_event() {
    // As for perf, it asks for call chains.
    let deep = attr("cpu-clock/max-stack=5/");
    assert_eq!((deep.sample_type.contains(SampleType::CALLCHAIN), deep.sample_max_stack), (true, 5));
    if all_registers() != 0 {
        let dwarf =
            RecordOptions { call_graph: Some(CallGraphMode::Dwarf(1024)), ..RecordOptions::default() };
        assert_eq!(attrs("cpu-clock/stack-size=512/", &dwarf)[0].sample_stack_user, 512);
        assert_eq!(attr("cpu-clock/call-graph=dwarf,stack-size=256/").sample_stack_user, 256);
    }
    let why = refusal("page-faults/stack-size=512/", &RecordOptions::default());
    let ends = ": the term stack-size is for copies of the stack; add call-graph=dwarf";
    assert!(why.ends_with(ends), "{why}");
    assert!(
        refusal("page-faults/max-stack=5,call-graph=no/", &RecordOptions::default()).contains("max-stack")
    );
}

#[test]
fn rates_without_samples_and_rings_of_two_kinds() {
    let no_samples = RecordOptions { no_samples: true, ..RecordOptions::default() };
    assert!(refusal("page-faults/period=1/", &no_samples).contains("no_samples"));
    assert!(refusal("page-faults/overwrite/,cpu-clock", &RecordOptions::default()).contains("overwrite"));
    let overwrite = RecordOptions { overwrite: true, ..RecordOptions::default() };
    assert!(refusal("page-faults,cpu-clock/no-overwrite/", &overwrite).contains("no-overwrite"));
    assert!(
        attrs("page-faults/overwrite/", &RecordOptions::default())[0]
            .flags
            .contains(AttrFlags::WRITE_BACKWARD)
    );
    assert!(!attrs("page-faults/no-overwrite/", &overwrite)[0].flags.contains(AttrFlags::WRITE_BACKWARD));
}
