//! The attrs that options ask for, equal to what perf's own tests expect (`tools/perf/tests/attr`). No event is opened.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::event::{HwId, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_open::{EventGroup, EventSpec};

use crate::fallback::{self, EventChoices, FallbackNote, FallbackStep};
use crate::{CallGraphMode, RecordOptions, Targets, all_registers, shared_settings};

/// Returns the attr of an event of a group, as that of a command.
pub(super) fn attr_in(group: &EventGroup, place: usize, options: &RecordOptions) -> Attr {
    let choices = EventChoices { groups: vec![group.clone()], inherit_read: true, aux: None };
    let settings = shared_settings::of(&choices, &Targets::Command, options).unwrap();
    let is_tracking = place == 0 && !settings.tracker;
    *settings.builder(group, place, is_tracking).unwrap().attr()
}

fn attr(options: &RecordOptions) -> Attr {
    attr_in(&EventSpec::hardware(HwId::CPU_CYCLES).into(), 0, options)
}

/// The sample type without options: IP, TID, TIME and PERIOD. perf: `base-record`.
const BASE: SampleType = SampleType(263);

fn default() -> RecordOptions {
    RecordOptions::default()
}

#[test]
fn the_default() {
    let attr = attr(&default());
    assert_eq!((attr.sample_type, attr.sample_freq()), (BASE, Some(4000)));
    let set = AttrFlags::DISABLED | AttrFlags::INHERIT | AttrFlags::ENABLE_ON_EXEC | AttrFlags::SAMPLE_ID_ALL;
    let tracks = AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::COMM | AttrFlags::TASK;
    assert!(attr.flags.contains(set.union(tracks)) && !attr.flags.contains(AttrFlags::MMAP_DATA));
}

#[test]
fn fields_of_samples() {
    let with = |sample_type| attr(&RecordOptions { sample_type, ..default() }).sample_type;
    for field in [
        SampleType::CPU,
        SampleType::WEIGHT_STRUCT,
        SampleType::PHYS_ADDR,
        SampleType::DATA_PAGE_SIZE,
        SampleType::CODE_PAGE_SIZE,
        SampleType::TRANSACTION,
        SampleType::RAW,
    ] {
        assert_eq!(with(field), BASE | field);
    }
    // perf: `test-record-data`, `test-record-period`, `test-record-no-samples`.
    assert_eq!(attr(&RecordOptions { data: true, ..default() }).sample_type.0, 33039);
    let counted = attr(&RecordOptions { count: Some(100), ..default() });
    assert_eq!((counted.sample_type.0, counted.sample_period), (7, 100));
    let period = attr(&RecordOptions { count: Some(100), period: true, ..default() });
    assert_eq!(period.sample_type, BASE);
    let none = attr(&RecordOptions { no_samples: true, ..default() });
    assert_eq!((none.sample_period, none.flags.contains(AttrFlags::FREQ)), (0, false));
    assert!(
        attr(&RecordOptions { identifier: true, ..default() }).sample_type.contains(SampleType::IDENTIFIER)
    );
    assert!(
        !attr(&RecordOptions { no_timestamps: true, ..default() }).sample_type.contains(SampleType::TIME)
    );
    let cgroups = attr(&RecordOptions { cgroups: true, ..default() });
    assert!(cgroups.sample_type.contains(SampleType::CGROUP) && cgroups.flags.contains(AttrFlags::CGROUP));
}

#[test]
fn branches_registers_and_call_chains() {
    // perf: `test-record-branch-any`, `test-record-branch-filter-any_call`.
    let any = attr(&RecordOptions { branches: Some(BranchSampleType::ANY), ..default() });
    assert_eq!((any.sample_type.0, any.branch_sample_type.0), (2311, 8));
    let regs = attr(&RecordOptions { regs_intr: 3, regs_user: 5, ..default() });
    assert_eq!((regs.sample_regs_intr, regs.sample_regs_user), (3, 5));
    assert!(regs.sample_type.contains(SampleType::REGS_INTR | SampleType::REGS_USER));
    // perf: `test-record-graph-fp`, `test-record-graph-dwarf`.
    let fp = attr(&RecordOptions { call_graph: Some(CallGraphMode::Fp), ..default() });
    assert_eq!(fp.sample_type.0, 295);
    let deferred = attr(&RecordOptions { call_graph: Some(CallGraphMode::FpDeferred), ..default() });
    assert_eq!(deferred.sample_type.0, 295);
    assert!(deferred.flags.contains(AttrFlags::DEFER_CALLCHAIN | AttrFlags::DEFER_OUTPUT));
    assert!(!fp.flags.intersects(AttrFlags::DEFER_CALLCHAIN | AttrFlags::DEFER_OUTPUT));
    let mappings = attr(&RecordOptions { data_mmap: true, ..default() });
    assert!(mappings.flags.contains(AttrFlags::MMAP_DATA) && !fp.flags.contains(AttrFlags::MMAP_DATA));
    assert!(!mappings.sample_type.contains(SampleType::ADDR));
    let lbr = attr(&RecordOptions { call_graph: Some(CallGraphMode::Lbr), ..default() });
    assert_eq!(lbr.sample_type.0, 295 | 2048);
    assert_eq!(lbr.branch_sample_type.0, 1 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 17);
    assert!(lbr.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_USER));
    if all_registers() != 0 {
        let dwarf = attr(&RecordOptions { call_graph: Some(CallGraphMode::Dwarf(8192)), ..default() });
        assert_eq!((dwarf.sample_type.0, dwarf.sample_stack_user), (12583, 8192));
        assert_eq!(dwarf.sample_regs_user, all_registers());
        // Unwinders need the mappings of the tables.
        assert!(dwarf.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_USER | AttrFlags::MMAP_DATA));
    }
}

#[test]
fn whose_samples_and_how_they_are_read() {
    let flags = |options: RecordOptions| attr(&options).flags;
    assert!(flags(RecordOptions { all_user: true, ..default() }).contains(AttrFlags::EXCLUDE_KERNEL));
    assert!(flags(RecordOptions { all_kernel: true, ..default() }).contains(AttrFlags::EXCLUDE_USER));
    let kernel = flags(RecordOptions { kernel_callchains: true, ..default() });
    assert!(kernel.contains(AttrFlags::EXCLUDE_CALLCHAIN_USER));
    let user = flags(RecordOptions { user_callchains: true, ..default() });
    assert!(user.contains(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL));
    assert!(flags(RecordOptions { inherit_stat: true, ..default() }).contains(AttrFlags::INHERIT_STAT));
    assert!(flags(RecordOptions { buildid_mmap: true, ..default() }).contains(AttrFlags::BUILD_ID));
    assert!(
        !flags(RecordOptions { bpf_events: false, ..default() })
            .intersects(AttrFlags::KSYMBOL | AttrFlags::BPF_EVENT)
    );
    assert!(!flags(RecordOptions { inherit: false, ..default() }).contains(AttrFlags::INHERIT));
    assert!(!flags(RecordOptions { per_thread: true, ..default() }).contains(AttrFlags::INHERIT));
    assert!(!flags(RecordOptions { delayed: true, ..default() }).contains(AttrFlags::ENABLE_ON_EXEC));
    // perf: `test-record-no-buffering`.
    assert_eq!(attr(&RecordOptions { no_buffering: true, ..default() }).wakeup_events, 1);
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    assert!(attr(&RecordOptions { running_time: true, ..default() }).read_format.contains(times));
}

#[test]
fn events_that_sample_each_hit() {
    for event in
        [EventSpec::tracepoint("sched", "sched_switch").ok(), Some(EventSpec::software(SwId::BPF_OUTPUT))]
            .into_iter()
            .flatten()
    {
        let attr = attr_in(&event.into(), 0, &default());
        assert_eq!((attr.sample_period, attr.flags.contains(AttrFlags::FREQ)), (1, false));
        assert!(attr.sample_type.contains(SampleType::RAW | SampleType::CPU));
    }
}

/// perf: `test-record-group1`; and `evlist__config` for events whose samples differ.
#[test]
fn ids_of_several_events() {
    let mut group = sampled_by_leader();
    group.sample_leader_only = false;
    assert_eq!(attr_in(&group, 1, &default()).sample_type.0, 327);
    group.events[0].terms.period = Some(1);
    assert_eq!(attr_in(&group, 1, &default()).sample_type, BASE | SampleType::IDENTIFIER);
    let delayed = RecordOptions { delayed: true, ..default() };
    assert!(attr(&delayed).sample_type.contains(SampleType::IDENTIFIER));
}

/// perf: `system-wide-dummy`.
#[test]
fn on_cpus_an_event_of_its_own_records_tasks_from_the_start() {
    let cycles = EventGroup::from(EventSpec::hardware(HwId::CPU_CYCLES));
    let choices = EventChoices { groups: vec![cycles], inherit_read: true, aux: None };
    let options = default();
    let settings = shared_settings::of(&choices, &Targets::Cpus(vec![0]), &options).unwrap();
    assert!(settings.tracker);
    let tracker = *settings.tracker().attr();
    assert_eq!((tracker.sample_type.0, tracker.sample_period), (65671, 1));
    let set = AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK | AttrFlags::EXCLUDE_GUEST;
    assert!(tracker.flags.contains(set) && !tracker.flags.contains(AttrFlags::DISABLED));
}

fn sampled_by_leader() -> EventGroup {
    let mut group = EventGroup::from(vec![
        EventSpec::hardware(HwId::CPU_CYCLES).with_name("cycles"),
        EventSpec::hardware(HwId::INSTRUCTIONS).with_name("instructions"),
    ]);
    group.sample_leader_only = true;
    group
}

#[test]
fn a_group_that_is_read_with_its_leader() {
    let group = sampled_by_leader();
    let (leader, member) = (attr_in(&group, 0, &default()), attr_in(&group, 1, &default()));
    assert!(leader.read_format.contains(ReadFormat::GROUP | ReadFormat::ID));
    assert!(leader.sample_type.contains(SampleType::READ | SampleType::TID));
    // perf: `test-record-group-sampling`.
    assert_eq!((leader.sample_type.0, member.sample_type.0), (343, 343));
    assert_eq!(
        (member.sample_period, member.flags.contains(AttrFlags::FREQ | AttrFlags::DISABLED)),
        (0, false)
    );
}

/// What an older kernel, another machine or another user makes of a recording.
#[test]
fn refusals_and_what_follows() {
    let after = |choices: &mut EventChoices, errno: &str, targets: &Targets, options: &RecordOptions| {
        match fallback::after(errno, Some((0, 0)), choices, targets, options) {
            FallbackStep::Retry(note) => note,
            FallbackStep::GiveUp => None,
        }
    };
    // Linux before 6.12.
    let mut choices = EventChoices { groups: vec![sampled_by_leader()], inherit_read: true, aux: None };
    assert_eq!(
        after(&mut choices, "EINVAL", &Targets::Command, &default()),
        Some(FallbackNote::NotInherited)
    );
    assert!(!choices.inherit_read);
    assert_eq!(after(&mut choices, "EINVAL", &Targets::Command, &default()), None);
    // No PMU.
    let clock = after(&mut choices, "ENOENT", &Targets::Command, &default());
    assert_eq!(clock, Some(FallbackNote::Clock { event: "cycles".to_owned() }));
    assert_eq!(choices.groups[0].events[0].name, "cpu-clock");
    assert_eq!(after(&mut choices, "ENOENT", &Targets::Command, &default()), None);
    // The caller decides whether there are replacements.
    let strict = RecordOptions { fall_back: false, ..default() };
    let mut choices = EventChoices { groups: vec![sampled_by_leader()], inherit_read: false, aux: None };
    assert_eq!(after(&mut choices, "ENOENT", &Targets::Command, &strict), None);
    // Whoever may not record a cpu may not record its user space either.
    assert_eq!(after(&mut choices, "EACCES", &Targets::Cpus(vec![0]), &default()), None);
}
