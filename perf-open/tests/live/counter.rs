//! Counting: the results of reads, inheritance, and `enable_task` and `disable_task`.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Command, Stdio};

use crate::support::{call_getppid, getppid, software, touch};
use perf_open::abi::attr::Attr;
use perf_open::abi::breakpoint::BreakpointType;
use perf_open::abi::event::{EventType, SwId};
use perf_open::abi::read_format::ReadFormat;
use perf_open::user_read::UserReader;
use perf_open::{Builder, Counter, EventSpec, Ring, Target, disable_task, enable_task};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    every_shape_of_a_read,
    a_buffer_that_is_too_small,
    a_received_descriptor_is_read_with_its_attr,
    what_is_no_event_is_not_received,
    an_event_that_never_ran_is_not_scaled,
    a_tracepoint_counts,
    a_breakpoint_counts_accesses,
    children_inherit_where_asked,
    an_exec_enables,
    the_task_switches_its_events,
    the_task_does_not_switch_the_events_of_other_threads,
    the_clocks_count_nanoseconds,
    user_space_asks_the_kernel_about_software_events,
    user_space_reads_its_own_threads_events_alone,
];

fn here() -> Target<'static> {
    Target::this_thread()
}

fn every_format() -> impl Iterator<Item = ReadFormat> {
    (0..32).map(ReadFormat)
}

/// A descriptor of the same event, as another process would receive it.
fn a_received_descriptor_is_read_with_its_attr() {
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING | ReadFormat::ID;
    let opened = software(SwId::PAGE_FAULTS).read_format(times).sample_period(1).open(&here()).unwrap();
    let copy = opened.as_fd().try_clone_to_owned().unwrap();
    let received = Counter::from_fd(copy, *opened.attr()).unwrap();
    assert_ne!(received.as_raw_fd(), opened.as_raw_fd());
    assert_eq!(received.as_raw_fd(), received.as_fd().as_raw_fd());
    assert_eq!(received.id().unwrap(), opened.id().unwrap());
    opened.disable().unwrap();
    assert_eq!(received.read().unwrap(), opened.read().unwrap());
    // It can be mapped, and its records are those of the event.
    let mut ring = Ring::map(&received, 1).unwrap();
    received.enable().unwrap();
    touch(3);
    received.disable().unwrap();
    let mut drain = ring.read().unwrap();
    let mut samples = 0;
    while let Some(record) = drain.next_record() {
        record.unwrap();
        samples += 1;
    }
    assert!(samples >= 3, "{samples}");
}

fn what_is_no_event_is_not_received() {
    let file = std::fs::File::open("/dev/null").unwrap();
    let error = Counter::from_fd(OwnedFd::from(file), Attr::default()).unwrap_err();
    assert_eq!(error.errno_name(), Some("ENOTTY"), "{error}");
    assert!(error.to_string().contains("not an event"), "{error}");
}

fn every_shape_of_a_read() {
    for format in every_format() {
        let counter = software(SwId::PAGE_FAULTS).read_format(format).open(&here()).unwrap();
        touch(4);
        let count = if format.contains(ReadFormat::GROUP) {
            assert_eq!(counter.read().unwrap_err().fields(), ["read_format"]);
            let counts = counter.read_group().unwrap();
            assert_eq!(counts.len(), 1);
            counts[0]
        } else {
            assert_eq!(counter.read_group().unwrap_err().fields(), ["read_format"]);
            counter.read().unwrap()
        };
        let asked = |bit| format.contains(bit);
        assert!(count.value >= 4, "{format}");
        assert_eq!(count.time_enabled.is_some(), asked(ReadFormat::TOTAL_TIME_ENABLED), "{format}");
        assert_eq!(count.time_running.is_some(), asked(ReadFormat::TOTAL_TIME_RUNNING), "{format}");
        assert_eq!(count.id, asked(ReadFormat::ID).then(|| counter.id().unwrap()), "{format}");
        assert_eq!(count.lost, asked(ReadFormat::LOST).then_some(0), "{format}");
        let scaled = count.time_enabled.and(count.time_running).map(|_| count.value);
        assert_eq!(count.scaled(), scaled, "{format}");
    }
}

fn a_buffer_that_is_too_small() {
    let counter = software(SwId::DUMMY).read_format(ReadFormat::ID).open(&here()).unwrap();
    let error = counter.read_into(&mut [0; 8]).unwrap_err();
    assert_eq!((error.call(), error.errno_name()), ("read", Some("ENOSPC")), "{error}");
    assert!(error.advice().contains("too small"));
    assert_eq!(counter.read_into(&mut [0; 16]).unwrap().nr(), 1);
}

fn an_event_that_never_ran_is_not_scaled() {
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let counter = software(SwId::PAGE_FAULTS).disabled(true).read_format(times).open(&here()).unwrap();
    let count = counter.read().unwrap();
    assert_eq!((count.value, count.time_running, count.scaled()), (0, Some(0), None));
}

fn a_tracepoint_counts() {
    let counter = getppid();
    counter.enable().unwrap();
    call_getppid(9);
    assert_eq!(counter.read().unwrap().value, 9);
}

fn a_breakpoint_counts_accesses() {
    needs::all(&[needs::Need::Breakpoints]);
    let mut watched = 0_u64;
    let word = &raw mut watched;
    let event = |access| {
        Builder::from(Attr { kind: EventType::BREAKPOINT, ..Attr::default() })
            .bp_type(access)
            .bp_addr(word as u64)
            .bp_len(8)
            .exclude_kernel(true)
    };
    let writes = event(BreakpointType::W).open(&here()).unwrap();
    let accesses = event(BreakpointType::RW).open(&here()).unwrap();
    for _ in 0..3 {
        // SAFETY: `word` is that of the variable above, which nothing else refers to.
        let before = unsafe { word.read_volatile() };
        // SAFETY: as above.
        unsafe { word.write_volatile(before + 1) };
    }
    assert_eq!((writes.read().unwrap().value, accesses.read().unwrap().value), (3, 6));
}

fn children_inherit_where_asked() {
    let faults = |inherit| software(SwId::PAGE_FAULTS).inherit(inherit).open(&here()).unwrap();
    let (alone, family) = (faults(false), faults(true));
    std::thread::spawn(|| touch(512)).join().unwrap();
    assert!(family.read().unwrap().value >= alone.read().unwrap().value + 512);
}

fn an_exec_enables() {
    let mut shell =
        Command::new("sh").args(["-c", "read go; exec true"]).stdin(Stdio::piped()).spawn().unwrap();
    let times = ReadFormat::TOTAL_TIME_ENABLED;
    let clock = software(SwId::TASK_CLOCK).disabled(true).enable_on_exec(true).read_format(times);
    // The child may not have executed the shell yet. Wait until it has.
    let name = format!("/proc/{}/comm", shell.id());
    while std::fs::read_to_string(&name).unwrap().trim() != "sh" {
        std::thread::yield_now();
    }
    let counter = clock.open(&Target::pid(shell.id())).unwrap();
    assert_eq!(counter.read().unwrap().time_enabled, Some(0));
    shell.stdin.take().unwrap().write_all(b"\n").unwrap();
    shell.wait().unwrap();
    let count = counter.read().unwrap();
    assert!(count.value > 0 && count.time_enabled > Some(0));
    // The task has ended, and `poll` reports it.
    assert!(counter.poll(None).unwrap().hangup);
}

fn the_task_switches_its_events() {
    // The test needs its own thread, because `enable_task` acts on all events that a thread opened.
    let test = || {
        let leader = software(SwId::PAGE_FAULTS).disabled(true).open(&here()).unwrap();
        let member = software(SwId::PAGE_FAULTS).disabled(true).open_in(&leader, &here()).unwrap();
        let value = || leader.read().unwrap().value;
        touch(16);
        assert_eq!(value(), 0);
        enable_task().unwrap();
        touch(16);
        assert!(member.read().unwrap().value >= 16, "members are enabled too, whatever the manual says");
        disable_task().unwrap();
        let counted = value();
        assert!(counted >= 16);
        touch(16);
        assert_eq!(value(), counted);
    };
    std::thread::spawn(test).join().unwrap();
}

fn the_task_does_not_switch_the_events_of_other_threads() {
    let counter = software(SwId::PAGE_FAULTS).disabled(true).open(&here()).unwrap();
    std::thread::spawn(|| enable_task().unwrap()).join().unwrap();
    touch(16);
    assert_eq!(counter.read().unwrap().value, 0);
}

fn the_clocks_count_nanoseconds() {
    let wall = std::time::Instant::now();
    let counter =
        Builder::new(EventSpec::software(SwId::TASK_CLOCK)).exclude_kernel(true).open(&here()).unwrap();
    touch(64);
    let counted = counter.read().unwrap().value;
    assert!(counted > 0 && u128::from(counted) <= wall.elapsed().as_nanos());
}

fn user_space_asks_the_kernel_about_software_events() {
    let counter = software(SwId::PAGE_FAULTS).open(&here()).unwrap();
    let reader = UserReader::map(&counter).unwrap();
    touch(8);
    assert_eq!(reader.try_read(), None);
    assert!(reader.read().unwrap().value >= 8);
}

fn user_space_reads_its_own_threads_events_alone() {
    let of = |builder: Builder, target: &Target<'_>| builder.open(target).unwrap();
    let by_number = of(software(SwId::DUMMY), &Target::pid(std::process::id()));
    assert_eq!(UserReader::map(&by_number).unwrap_err().fields(), ["pid"]);
    let group = of(software(SwId::DUMMY).read_format(ReadFormat::GROUP), &here());
    assert_eq!(UserReader::map(&group).unwrap_err().fields(), ["read_format"]);
    let own = of(software(SwId::DUMMY), &here());
    let elsewhere =
        std::thread::scope(|scope| scope.spawn(|| UserReader::map(&own).is_err()).join().unwrap());
    assert!(elsewhere);
    assert!(UserReader::map(&own).is_ok());
}
