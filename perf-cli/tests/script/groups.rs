//! Periods of the events of a group that is read with each sample (`:S`).

use std::fs;
use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::LittleEndian;
use perf_abi::event::{EventType, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Task;
use perf_parse::sample::ReadValue;
use perf_parse::write::{self, ReadFields, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};

use crate::perfdata;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![threads_count_alone_if_inherited, threads_count_together_if_not_inherited];

/// What happens to a thread: a sample with the values of both counters, or its start or end.
enum Step {
    Sample(i32, [u64; 2]),
    Fork(i32),
    Exit(i32),
}

use Step::{Exit, Fork, Sample};

/// Returns thread, period and event of each sample that the script prints.
fn periods(name: &str, flags: AttrFlags, steps: &[Step]) -> Vec<String> {
    let sample_type =
        SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::READ;
    let attr = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::CPU_CLOCK.0,
        sample_type,
        read_format: ReadFormat::GROUP | ReadFormat::ID,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::TASK | flags,
        sample_period: 1000,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).unwrap();
    let event = |config, name: &str, id| EventFields {
        attr: Attr { config, ..attr },
        name: Some(name.as_bytes().to_vec()),
        ids: vec![id],
        ..EventFields::default()
    };
    let events = [event(SwId::CPU_CLOCK.0, "clock", 1), event(SwId::PAGE_FAULTS.0, "faults", 2)];
    let out = Cursor::new(Vec::new());
    let mut writer = FileWriter::new(out, &events, &WriteOptions::default()).unwrap();
    for (time, step) in (1_000_000_u64..).step_by(1000).zip(steps) {
        let mut bytes = Vec::new();
        let trailer = |tid| SampleIdFields { pid: 5, tid, time, id: 1, ..SampleIdFields::default() };
        let task = |tid| Task { pid: 5, ppid: 5, tid, ptid: 5, time };
        match *step {
            Sample(tid, values) => {
                let value = |(index, value)| ReadValue { value, id: Some(index), lost: None };
                let read =
                    ReadFields { values: (1..).zip(values).map(value).collect(), ..ReadFields::default() };
                let fields = SampleFields {
                    identifier: Some(1),
                    ip: Some(0x1234),
                    pid_tid: Some((5, tid)),
                    time: Some(time),
                    read: Some(read),
                    ..SampleFields::default()
                };
                write::sample::<LittleEndian>(&mut bytes, &layout, Misc(2), &fields).unwrap();
            }
            Fork(tid) => {
                let record = Record::Fork(task(tid));
                write::record::<LittleEndian>(&mut bytes, &layout, Misc(0), &record, &trailer(tid)).unwrap();
            }
            Exit(tid) => {
                let record = Record::Exit(task(tid));
                write::record::<LittleEndian>(&mut bytes, &layout, Misc(0), &record, &trailer(tid)).unwrap();
            }
        }
        writer.record(&bytes).unwrap();
    }
    let path = needs::folder().join(name);
    fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
    let path = path.to_str().unwrap();
    let run = perfdata("script", path, &["-F", "tid,period,event"]);
    assert_eq!(run.status, 0, "{run:?}");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    run.out.lines().map(words).collect()
}

/// As in perf since 6.12. perf 6.1 prints 18446744073709550916 for the second sample. A thread whose number is used again
/// starts at 0.
fn threads_count_alone_if_inherited() {
    let steps = [
        Sample(5, [1000, 10]),
        Fork(6),
        Sample(6, [300, 4]),
        Sample(5, [1500, 12]),
        Sample(6, [900, 4]),
        Exit(6),
        Fork(6),
        Sample(6, [50, 1]),
        Sample(6, [70, 1]),
    ];
    let script = periods("inherited.data", AttrFlags::INHERIT, &steps);
    assert_eq!(
        script,
        [
            "5 1000 clock:",
            "5 10 faults:",
            "6 300 clock:",
            "6 4 faults:",
            "5 500 clock:",
            "5 2 faults:",
            "6 600 clock:",
            "6 50 clock:",
            "6 1 faults:",
            "6 20 clock:",
        ]
    );
}

fn threads_count_together_if_not_inherited() {
    let steps = [Sample(5, [1000, 10]), Fork(6), Sample(6, [1300, 10]), Sample(5, [1500, 12])];
    let script = periods("not_inherited.data", AttrFlags::NONE, &steps);
    let expected = ["5 1000 clock:", "5 10 faults:", "6 300 clock:", "5 200 clock:", "5 2 faults:"];
    assert_eq!(script, expected);
}
