//! Threads of captures that do not have each of their switches.

mod recording;

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::record::Misc;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::record::{Record, Task};
use perf_profile::sched::{Change, SchedModel};
use recording::Recording;

/// Returns the runs and waits of thread 7: with their starts and ends.
fn changes(capture: &[u8]) -> Vec<(&'static str, u64, u64)> {
    let reader = Reader::new(capture).unwrap();
    let mut model = SchedModel::<()>::new(&reader).unwrap();
    for record in reader.records().in_time_order() {
        model.record(&record.unwrap());
    }
    model.end();
    let mut all = Vec::new();
    while let Some(change) = model.next_change() {
        all.push(match change {
            Change::Run(run) if run.thread.tid == 7 => ("run", run.start, run.end),
            Change::Wait(wait) if wait.thread.tid == 7 => ("wait", wait.start, wait.end),
            _ => continue,
        });
    }
    all
}

fn recording() -> Recording {
    let mut recording = Recording::new(Attr {
        flags: AttrFlags::TASK | AttrFlags::CONTEXT_SWITCH | AttrFlags::SAMPLE_ID_ALL,
        sample_type: SampleType::TID | SampleType::TIME,
        ..Attr::default()
    });
    recording.tid = 7;
    recording
}

const OUT: Misc = Misc::SWITCH_OUT;
const IN: Misc = Misc(0);

fn task(tid: i32, time: u64) -> Task {
    Task { pid: 7, ppid: 1, tid, ptid: 1, time }
}

/// The event of a process has no switch away from a thread that ended, but may have one more to it.
#[test]
fn a_thread_ends_with_its_exit_record() {
    let mut recording = recording();
    recording.at(100).record(IN, Record::Switch);
    recording.at(200).record(OUT, Record::Switch);
    recording.at(300).record(IN, Record::Switch);
    recording.at(400).record(Misc(0), Record::Exit(task(7, 400)));
    recording.at(500).record(IN, Record::Switch);
    recording.tid = 8;
    recording.at(900).record(IN, Record::Switch);
    let changes = changes(&recording.finish());
    assert_eq!(changes, [("run", 101, 201), ("wait", 201, 301), ("run", 301, 401)]);
}

/// That of a CPU has all of them.
#[test]
fn a_thread_that_ends_may_be_preempted() {
    let mut recording = recording();
    recording.at(100).record(IN, Record::Switch);
    recording.at(400).record(Misc(0), Record::Exit(task(7, 400)));
    recording.at(450).record(OUT | Misc::SWITCH_OUT_PREEMPT, Record::Switch);
    recording.at(500).record(IN, Record::Switch);
    recording.at(600).record(OUT, Record::Switch);
    let changes = changes(&recording.finish());
    assert_eq!(changes, [("run", 101, 451), ("wait", 451, 501), ("run", 501, 601), ("wait", 601, 601)]);
}
