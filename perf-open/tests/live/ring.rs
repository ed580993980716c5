//! Rings that the running kernel writes.
#![cfg(target_os = "linux")]

use core::time::Duration;
use std::process::{Command, Stdio};
use std::time::Instant;

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::endian::NativeEndian;
use perf_open::abi::event::SwId;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::parse::Record;
use perf_open::parse::ring::{Buffer, Direction, Dump};
use perf_open::ring::page_bytes;
use perf_open::{AuxMapping, AuxSnapshot, Builder, Counter, EventSpec, Overwrite, Ring, Target};

use crate::support::touch;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    page_faults_are_sampled_one_by_one,
    clocks_sample_a_busy_thread_and_a_dump_decodes_to_the_same,
    wakeups_come_by_events_and_by_bytes,
    what_does_not_fit_is_told_lost,
    two_events_share_a_ring_and_their_ids_tell_them,
    a_ring_has_one_reader,
    the_ring_outlives_the_counter,
    the_end_of_a_process_is_told_and_its_records_are_left,
    context_switches_are_sampled,
    tracepoints_are_sampled,
    the_newest_records_of_a_running_event,
    an_inherited_event_of_any_cpu_has_no_ring,
    a_pmu_without_an_area_says_so,
];

fn open(builder: &Builder) -> Counter {
    builder.open(&Target::this_thread()).unwrap()
}

/// Returns a sampling software event of user space.
fn event(id: SwId, period: u64) -> Builder {
    let fields = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
    Builder::new(EventSpec::software(id))
        .exclude_kernel(true)
        .sample_period(period)
        .sample_type(fields)
        .sample_id_all(true)
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        core::hint::black_box(0);
    }
}

/// Returns the number of samples in a drain.
fn samples(ring: &mut Ring) -> u64 {
    let mut drain = ring.read().unwrap();
    let mut samples = 0;
    while let Some(record) = drain.next_with_event() {
        samples += u64::from(matches!(record.unwrap().decode().unwrap(), Record::Sample(_)));
    }
    samples
}

fn page_faults_are_sampled_one_by_one() {
    let builder = event(SwId::PAGE_FAULTS, 1).read_format(ReadFormat::LOST);
    let counter = open(&builder);
    let mut ring = Ring::map(&counter, 64).unwrap();
    touch(1000);
    counter.disable().unwrap();
    let counted = counter.read().unwrap();
    let mut drain = ring.read().unwrap();
    let (mut sampled, mut last) = (0, 0);
    while let Some(record) = drain.next_with_event() {
        let Record::Sample(sample) = record.unwrap().decode().unwrap() else { continue };
        assert_eq!(sample.pid(), Some(std::process::id() as i32));
        assert_eq!(sample.identifier(), Some(counter.id().unwrap()));
        assert!(sample.time().unwrap() >= last);
        last = sample.time().unwrap();
        sampled += 1;
    }
    drop(drain);
    assert!(sampled >= 900, "{sampled}");
    // Faults before the ring was mapped are counted, not sampled.
    assert!(sampled <= counted.value, "{sampled} of {}", counted.value);
    assert_eq!(ring.account().lost, 0);
    let page = ring.page();
    assert_eq!((page.data_head, page.data_tail), (ring.account().bytes, ring.account().bytes));
    assert!(page.capabilities.is_reliable());
    assert!(page.time_enabled > 0);
}

fn clocks_sample_a_busy_thread_and_a_dump_decodes_to_the_same() {
    for id in [SwId::CPU_CLOCK, SwId::TASK_CLOCK] {
        let chains = SampleType::IP | SampleType::TIME | SampleType::CALLCHAIN;
        let builder = event(id, 250_000).sample_type(chains);
        let counter = open(&builder);
        let mut ring = Ring::map(&counter, 16).unwrap();
        spin(Duration::from_millis(60));
        let dump = ring.dump(); // while the event runs
        spin(Duration::from_millis(20));
        counter.disable().unwrap();

        let mut offline = Dump::<NativeEndian>::open(&dump, Direction::Forward, None).unwrap();
        let layout = ring.events()[0].layout;
        let mut buffer = Buffer::new();
        let mut drain = ring.read().unwrap();
        let mut compared = 0;
        while let Some(recorded) = offline.next(&mut buffer) {
            let recorded = recorded.unwrap();
            let live = drain.next_record().unwrap().unwrap();
            assert_eq!((live.kind(), live.misc()), (recorded.kind(), recorded.misc()));
            assert_eq!(live.payload(), recorded.payload());
            if let Record::Sample(sample) = recorded.decode(&layout).unwrap() {
                let chain = sample.tail().unwrap().callchain.unwrap();
                assert!(chain.frames().count() > 0);
            }
            compared += 1;
        }
        assert!(compared > 5, "{compared}");
        assert!(drain.next_record().is_some(), "more came after the dump");
    }
}

fn wakeups_come_by_events_and_by_bytes() {
    let by_events = event(SwId::PAGE_FAULTS, 1).wakeup_events(10);
    let by_bytes = event(SwId::PAGE_FAULTS, 1).wakeup_watermark(400); // samples have 40 bytes
    for builder in [by_events, by_bytes] {
        let counter = open(&builder.disabled(true));
        let mut ring = Ring::map(&counter, 64).unwrap();
        counter.enable().unwrap();
        assert!(!ring.wait(Some(Duration::ZERO)).unwrap().records);
        touch(100);
        let ready = ring.wait(Some(Duration::from_secs(5))).unwrap();
        assert!(ready.records && !ready.hangup && !ready.error, "{ready:?}");
        assert_eq!(ring.account().wakeups, 1);
        assert!(samples(&mut ring) >= 10);
    }
}

fn what_does_not_fit_is_told_lost() {
    let builder = event(SwId::PAGE_FAULTS, 1).read_format(ReadFormat::LOST);
    let counter = open(&builder);
    let mut ring = Ring::map(&counter, 1).unwrap();
    touch(1000);
    counter.disable().unwrap();
    let kept = samples(&mut ring);
    assert!(kept <= page_bytes() as u64 / 40);
    let Some(lost) = counter.read().unwrap().lost else {
        needs::skip("lost-counts", "this kernel, before 6.0, does not count lost samples");
    };
    assert!(lost > 500, "{lost}");
    assert_eq!(ring.account().unreported(lost), lost, "no record has reported it yet");
    counter.enable().unwrap();
    touch(10);
    counter.disable().unwrap();
    samples(&mut ring);
    assert_eq!(ring.account().lost, lost);
    assert_eq!(ring.account().unreported(lost), 0);
}

fn two_events_share_a_ring_and_their_ids_tell_them() {
    let (all, minor) = (event(SwId::PAGE_FAULTS, 1), event(SwId::PAGE_FAULTS_MIN, 2));
    let all = open(&all);
    let minor = open(&minor);
    let mut ring = Ring::map(&all, 64).unwrap();
    assert_eq!(ring.add(&minor).unwrap(), 1);
    let error = Ring::map(&minor, 64).unwrap_err();
    // Newer kernels refuse the second mapping. On older kernels, the claim refuses it.
    let said = [error.to_string(), error.advice().to_owned()].concat();
    assert!(said.contains("another"), "{error}");
    touch(400);
    let ids = [all.id().unwrap(), minor.id().unwrap()];
    let mut drain = ring.read().unwrap();
    let mut counts = [0; 2];
    while let Some(record) = drain.next_with_event() {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode().unwrap() else { continue };
        assert_eq!(sample.identifier(), Some(ids[record.event]));
        counts[record.event] += 1;
    }
    assert!(counts[0] >= 300 && counts[1] >= 150, "{counts:?}");
}

fn a_ring_has_one_reader() {
    let counter = open(&event(SwId::PAGE_FAULTS, 1));
    let ring = Ring::map(&counter, 2).unwrap();
    let error = Ring::map(&counter, 2).unwrap_err();
    assert_eq!((error.errno(), error.fields()), (None, &["data_tail"][..]), "{error}");
    let error = Ring::map(&counter, 4).unwrap_err();
    assert_eq!(error.errno_name(), Some("EINVAL"), "{error}");
    assert!(error.advice().contains("another size"), "{error}");
    drop(ring);
    drop(Ring::map(&counter, 4).unwrap());
    let error = Overwrite::map(&counter, 4).unwrap_err();
    assert_eq!(error.fields(), ["write_backward"]);
}

fn the_ring_outlives_the_counter() {
    let counter = open(&event(SwId::PAGE_FAULTS, 1));
    let mut ring = Ring::map(&counter, 64).unwrap();
    drop(counter);
    samples(&mut ring);
    touch(100);
    assert!(samples(&mut ring) >= 90);
}

fn the_end_of_a_process_is_told_and_its_records_are_left() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let builder = event(SwId::DUMMY, 0).task(true).comm(true);
    let counter = builder.open(&Target::pid(child.id())).unwrap();
    let mut ring = Ring::map(&counter, 8).unwrap();
    assert!(!ring.wait(Some(Duration::ZERO)).unwrap().hangup);
    drop(child.stdin.take()); // cat ends
    child.wait().unwrap();
    let start = Instant::now();
    while !ring.wait(Some(Duration::from_secs(5))).unwrap().hangup {
        assert!(start.elapsed() < Duration::from_secs(5), "no POLLHUP");
    }
    let mut drain = ring.read().unwrap();
    let mut ended = false;
    while let Some(record) = drain.next_with_event() {
        if let Record::Exit(task) = record.unwrap().decode().unwrap() {
            ended |= task.pid == child.id() as i32;
        }
    }
    assert!(ended);
}

/// Samples 20 switches of this thread.
fn switches_are_sampled(event: EventSpec) {
    let fields = SampleType::TIME | SampleType::RAW;
    let counter = open(&Builder::new(event).sample_period(1).sample_type(fields));
    let mut ring = Ring::map(&counter, 16).unwrap();
    for _ in 0..20 {
        std::thread::sleep(Duration::from_micros(100));
    }
    assert!(samples(&mut ring) >= 20);
}

fn context_switches_are_sampled() {
    needs::all(&[needs::Need::KernelEvents]);
    switches_are_sampled(EventSpec::software(SwId::CONTEXT_SWITCHES));
}

fn tracepoints_are_sampled() {
    needs::all(&[needs::Need::Tracepoints]);
    switches_are_sampled(perf_open::event::EventSpec::tracepoint("sched", "sched_switch").unwrap());
}

fn the_newest_records_of_a_running_event() {
    let builder = event(SwId::PAGE_FAULTS, 1).write_backward(true);
    let counter = open(&builder);
    assert!(counter.attr().flags.contains(AttrFlags::WRITE_BACKWARD));
    assert!(Ring::map(&counter, 1).unwrap_err().to_string().contains("Overwrite"));
    let mut ring = Overwrite::map(&counter, 1).unwrap();
    touch(1000);
    let mut paused = ring.pause().unwrap();
    touch(10); // not recorded
    let mut records = paused.records().unwrap();
    let (mut kept, mut newer) = (0, u64::MAX);
    while let Some(record) = records.next_with_event() {
        if let Record::Sample(sample) = record.unwrap().decode().unwrap() {
            assert!(sample.time().unwrap() <= newer);
            newer = sample.time().unwrap();
            kept += 1;
        }
    }
    assert_eq!(kept, page_bytes() / 40);
    let head = ring_head(&paused.dump());
    touch(10);
    assert_eq!(ring_head(&paused.dump()), head, "nothing is written while it is paused");
    paused.resume().unwrap();

    touch(5);
    let mut paused = ring.pause().unwrap();
    let mut news = paused.news().unwrap();
    let mut told_lost = false;
    while let Some(record) = news.next_with_event() {
        told_lost |= matches!(record.unwrap().decode().unwrap(), Record::Lost(lost) if lost.lost >= 10);
    }
    assert!(told_lost);
}

fn ring_head(dump: &[u8]) -> u64 {
    u64::from_ne_bytes(dump[1024..1032].try_into().unwrap())
}

fn an_inherited_event_of_any_cpu_has_no_ring() {
    let builder = event(SwId::PAGE_FAULTS, 1).inherit(true);
    let counter = open(&builder);
    let error = Ring::map(&counter, 1).unwrap_err();
    assert_eq!(error.errno_name(), Some("EINVAL"));
    assert!(error.advice().contains("inherited"), "{error}");
}

fn a_pmu_without_an_area_says_so() {
    let builder = Builder::new(EventSpec::software(SwId::PAGE_FAULTS)).exclude_kernel(true).sample_period(1);
    let counter = open(&builder);
    let ring = Ring::map(&counter, 1).unwrap();
    for _ in 0..2 {
        let reads = [AuxMapping::map(&ring, 4).unwrap_err(), AuxSnapshot::map(&ring, 4).unwrap_err()];
        for error in reads {
            assert_eq!((error.call(), error.errno_name()), ("mmap", Some("EOPNOTSUPP")), "{error}");
            assert!(error.advice().contains("has no AUX area"), "{error}");
        }
        assert_eq!((ring.page().aux_offset, ring.page().aux_size), (0, 0), "the page is as before");
    }
    assert_eq!(AuxMapping::map(&ring, 3).unwrap_err().errno(), None);
}
