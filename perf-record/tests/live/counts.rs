//! Counts of events, at the end and at intervals, and in captures.

use core::ops::ControlFlow;
use core::time::Duration;
use std::io::Cursor;

use perf_record::open::event::parse;
use perf_record::open::workload::Workload;
use perf_record::parse::event::Event;
use perf_record::parse::{Reader, Record};
use perf_record::stat::{
    Aggregate, CountStatus, RecordedCounts, StatCapture, StatCaptureOptions, StatEnd, StatError, StatOptions,
    StatPlan,
};
use perf_record::{FileSink, PipeSink, RecordingSink, Targets};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    a_command_is_counted_from_its_exec,
    intervals_add_up_to_the_whole,
    events_wait_for_the_end_of_a_delay,
    threads_are_counted_one_by_one,
    the_counts_of_a_capture_are_those_of_the_run,
    refused_events_and_threads,
];

fn plan(list: &str, targets: Targets, options: StatOptions) -> StatPlan {
    StatPlan::new(parse(list).unwrap(), targets, options).unwrap()
}

fn command(words: &[&str]) -> Workload {
    Workload::prepare(words[0].as_ref(), words[1..].iter().map(Into::into)).unwrap()
}

/// Returns the values of all rows of a whole run.
fn values(plan: &StatPlan, result: &perf_record::stat::StatResult) -> Vec<f64> {
    let rows = plan.rows(&result.events, core::slice::from_ref(&result.readout), result.elapsed);
    rows.iter().map(|row| row.value().unwrap()).collect()
}

fn a_command_is_counted_from_its_exec() {
    let plan = plan("page-faults:u,task-clock:u", Targets::Command, StatOptions::default());
    let mut command = command(&["true"]);
    let mut run = plan.open(Some(command.pid())).unwrap();
    run.start().unwrap();
    let before = run.interval().unwrap();
    command.start().unwrap();
    command.wait().unwrap();
    let result = run.finish(Some(&command)).unwrap();
    let rows = plan.rows(&result.events, core::slice::from_ref(&before.readout), before.lasted);
    assert!(rows.iter().all(|row| row.status == CountStatus::NotCounted), "{rows:?}");
    assert!(values(&plan, &result).iter().all(|value| *value > 0.0), "{result:?}");
    assert!(result.cpu_time.is_some());
}

fn intervals_add_up_to_the_whole() {
    let interval = Some(Duration::from_millis(20));
    let plan = plan("page-faults:u", Targets::Command, StatOptions { interval, ..StatOptions::default() });
    let mut command = command(&["sh", "-c", "for i in 1 2 3; do sleep 0.03; ls >/dev/null; done"]);
    let mut run = plan.open(Some(command.pid())).unwrap();
    run.start().unwrap();
    command.start().unwrap();
    let (mut sum, mut end, mut intervals) = (0.0, Duration::ZERO, 0);
    let mut each = |events: &[_], interval: &perf_record::stat::StatInterval| {
        let rows = plan.rows(events, core::slice::from_ref(&interval.readout), interval.lasted);
        sum += rows[0].value().unwrap_or(0.0);
        assert_eq!(interval.at.saturating_sub(interval.lasted), end);
        (end, intervals) = (interval.at, intervals + 1);
        ControlFlow::Continue(())
    };
    let ended = run.wait(Some(&mut command), &mut each).unwrap();
    assert!(matches!(ended, Some(StatEnd::Command(status)) if status.success()), "{ended:?}");
    let result = run.finish(Some(&command)).unwrap();
    let _ = each(&result.events, &result.last);
    assert!(intervals >= 3, "{intervals}");
    assert_eq!(values(&plan, &result), [sum]);
    assert!(result.cpu_time.is_some() && result.elapsed == end);
}

fn events_wait_for_the_end_of_a_delay() {
    let options = StatOptions { delayed: true, ..StatOptions::default() };
    let tid = std::fs::read_link("/proc/thread-self").unwrap();
    let tid = tid.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let plan = plan("page-faults:u,cs:u", Targets::Threads(vec![tid]), options);
    let mut run = plan.open(None).unwrap();
    run.start().unwrap();
    let touch = || drop(core::hint::black_box(vec![1_u8; 4 << 20]));
    touch();
    let rows = |run: &mut perf_record::stat::StatRun<'_>| {
        let interval = run.interval().unwrap();
        let rows = plan.rows(run.events(), core::slice::from_ref(&interval.readout), interval.lasted);
        rows.iter().map(|row| row.status).collect::<Vec<_>>()
    };
    assert_eq!(rows(&mut run), [CountStatus::NotCounted, CountStatus::NotCounted]);
    run.end_delay().unwrap();
    assert!(run.disable(Some("cs:u")).unwrap() && !run.disable(Some("nothing")).unwrap());
    touch();
    assert!(matches!(rows(&mut run)[0], CountStatus::Counted { .. }));
    assert!(run.enable(Some("cs:u")).unwrap());
}

fn threads_are_counted_one_by_one() {
    let this = std::process::id();
    let aggregation = perf_record::stat::Aggregation::Thread;
    let options = StatOptions { aggregation, ..StatOptions::default() };
    let plan = plan("page-faults:u", Targets::tasks(&[this], &[]).unwrap(), options);
    let mut run = plan.open(None).unwrap();
    run.start().unwrap();
    let result = run.finish(None).unwrap();
    let rows = plan.rows(&result.events, core::slice::from_ref(&result.readout), result.elapsed);
    let of_this = rows.iter().find(|row| row.aggregate == Aggregate::Thread(this)).unwrap();
    assert!(of_this.label.unwrap().text.ends_with(&format!("-{this}")));
    assert_eq!(result.cpu_time, None);
}

/// Counts into a capture. Returns the values and the capture.
fn captured<S: RecordingSink>(sink: S, is_stream: bool) -> (Vec<f64>, S) {
    let plan = plan("page-faults:u,task-clock:u", Targets::Command, StatOptions::default());
    let mut command = command(&["true"]);
    let mut run = plan.open(Some(command.pid())).unwrap();
    let options =
        StatCaptureOptions { is_stream, version: "test".to_owned(), ..StatCaptureOptions::default() };
    let mut capture = StatCapture::begin(sink, &run, &options).unwrap();
    run.start().unwrap();
    command.start().unwrap();
    command.wait().unwrap();
    let result = run.finish(Some(&command)).unwrap();
    capture.round(&result.last, true).unwrap();
    (values(&plan, &result), capture.finish().unwrap())
}

fn recorded(capture: &[u8]) -> Vec<f64> {
    let reader = Reader::new(capture).unwrap();
    let mut counts = RecordedCounts::default();
    let mut records = reader.records();
    while let Some(record) = records.next() {
        if let Record::User(record, _) = record.unwrap().decode().unwrap() {
            let name = |event: &Event| String::from_utf8(event.name.clone().unwrap()).unwrap();
            assert!(counts.apply(&record, records.events(), name).is_none());
        }
    }
    assert!(counts.interval().is_zero() && !counts.is_by_domain());
    let names: Vec<_> = counts.events().iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["page-faults:u", "task-clock:u"]);
    counts.rows(&counts.total()).iter().map(|row| row.value().unwrap()).collect()
}

fn the_counts_of_a_capture_are_those_of_the_run() {
    let (values, file) = captured(FileSink::new(Cursor::new(Vec::new())), false);
    assert_eq!(recorded(&file.into_inner().unwrap().into_inner()), values);
    let (values, stream) = captured(PipeSink::new(Vec::new()), true);
    assert_eq!(recorded(&stream.into_inner().unwrap()), values);
}

fn refused_events_and_threads() {
    let gone = plan("page-faults:u", Targets::Threads(vec![4_194_305]), StatOptions::default());
    assert!(matches!(gone.open(None), Err(StatError::NoThread)));
    // Nothing counts it here, which is no error.
    let unknown = plan("4294967280:0x1", Targets::Command, StatOptions::default());
    let command = command(&["true"]);
    let result = unknown.open(Some(command.pid())).unwrap().finish(None).unwrap();
    let rows = unknown.rows(&result.events, core::slice::from_ref(&result.readout), result.elapsed);
    assert_eq!(rows[0].status, CountStatus::NotSupported);
}
