//! Groups: opened, enabled, disabled and read together.
#![cfg(target_os = "linux")]

use crate::support::{software, touch};
use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::SwId;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::{CounterGroup, EventGroup, EventSpec, Target};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    counts_come_in_the_order_of_the_events,
    a_group_of_more_events_than_the_first_buffer_has_room_for,
    every_shape_of_a_groups_read,
    members_are_neither_pinned_nor_exclusive,
    a_group_of_events_in_which_the_leader_samples_alone,
    a_group_of_nothing,
];

fn here() -> Target<'static> {
    Target::this_thread()
}

fn counts_come_in_the_order_of_the_events() {
    let mut group = CounterGroup::open(software(SwId::TASK_CLOCK).disabled(true), &here()).unwrap();
    group.add(software(SwId::PAGE_FAULTS), &here()).unwrap();
    group.add(software(SwId::DUMMY), &here()).unwrap();
    group.enable().unwrap();
    touch(32);
    group.disable().unwrap();
    let counts = group.read().unwrap();
    let [clock, faults, dummy] = counts.as_slice() else { panic!("{counts:?}") };
    assert!(clock.value > 0 && faults.value >= 32);
    assert_eq!(dummy.value, 0);
    for (count, counter) in counts.iter().zip(group.counters()) {
        assert_eq!(count.id, Some(counter.id().unwrap()));
        // All events of the group have the same times, because they were counted together.
        assert_eq!((count.time_enabled, count.time_running), (clock.time_enabled, clock.time_running));
    }
    assert_eq!(faults.scaled(), Some(faults.value));
    group.reset().unwrap();
    assert!(group.read().unwrap().iter().all(|count| count.value == 0));
}

fn a_group_of_more_events_than_the_first_buffer_has_room_for() {
    let mut group = CounterGroup::open(software(SwId::PAGE_FAULTS), &here()).unwrap();
    for _ in 1..80 {
        group.add(software(SwId::PAGE_FAULTS), &here()).unwrap();
    }
    touch(16);
    let counts = group.read().unwrap();
    assert_eq!(counts.len(), 80);
    assert!(counts.iter().all(|count| count.value >= 16));
}

fn every_shape_of_a_groups_read() {
    for bits in 0..16 {
        let format = ReadFormat(bits & 7 | (bits & 8) << 1) | ReadFormat::GROUP;
        let event = || software(SwId::PAGE_FAULTS).read_format(format);
        let leader = event().open(&here()).unwrap();
        let member = event().open_in(&leader, &here()).unwrap();
        touch(4);
        let counts = leader.read_group().unwrap();
        let ids = [&leader, &member].map(|counter| counter.id().unwrap());
        assert_eq!(counts.len(), 2, "{format}");
        for (count, id) in counts.iter().zip(ids) {
            assert!(count.value >= 4, "{format}");
            assert_eq!(count.id, format.contains(ReadFormat::ID).then_some(id), "{format}");
            assert_eq!(count.lost, format.contains(ReadFormat::LOST).then_some(0), "{format}");
            assert_eq!(count.time_enabled.is_some(), format.contains(ReadFormat::TOTAL_TIME_ENABLED));
            assert_eq!(count.time_running.is_some(), format.contains(ReadFormat::TOTAL_TIME_RUNNING));
        }
    }
}

fn members_are_neither_pinned_nor_exclusive() {
    let mut group = CounterGroup::open(software(SwId::DUMMY).pinned(true), &here()).unwrap();
    let error = group.add(software(SwId::DUMMY).pinned(true), &here()).unwrap_err();
    assert_eq!((error.errno(), error.fields()), (None, ["pinned"].as_slice()), "{error}");
    let error = group.add(software(SwId::DUMMY).exclusive(true), &here()).unwrap_err();
    assert_eq!((error.errno(), error.fields()), (None, ["exclusive"].as_slice()), "{error}");
    assert_eq!(group.counters().len(), 1);
}

fn a_group_of_events_in_which_the_leader_samples_alone() {
    let events = [SwId::CPU_CLOCK, SwId::PAGE_FAULTS].map(EventSpec::software);
    let mut events = EventGroup::from(Vec::from(events));
    events.sample_leader_only = true;
    let group = CounterGroup::open_events(&events, &here(), |event, samples| {
        let event = event.exclude_kernel(true);
        if samples { event.sample_period(1_000_000).sample_type(SampleType::READ) } else { event }
    });
    let group = group.unwrap();
    let [leader, member] = group.counters() else { panic!("{group:?}") };
    assert!(leader.attr().flags.contains(AttrFlags::DISABLED));
    assert_eq!((leader.attr().sample_period, member.attr().sample_period), (1_000_000, 0));
    group.enable().unwrap();
    touch(32);
    assert!(group.read().unwrap()[1].value >= 32);
}

fn a_group_of_nothing() {
    let error = CounterGroup::open_events(&EventGroup::default(), &here(), |event, _| event).unwrap_err();
    assert_eq!(error.errno(), None, "{error}");
}
