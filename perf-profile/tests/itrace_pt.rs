//! Samples of Intel PT of any content: their order, raw data, threads and errors.

use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::{EventType, SynthId};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_aux::pt::RawEvent;
use perf_parse::record::UserRecord;
use perf_parse::{Reader, Record};
use perf_profile::edit::{ItraceError, ItraceOptions, TraceAccount, TraceSamples};
use testdata::Bytes;
use testdata::file::Builder;
use testdata::intel_pt::{self, PMU, PSB, REFERENCE, WITHOUT_BRANCHES};

/// A capture with Intel PT data.
struct Capture {
    config: u64,
    info: [u64; 18],
    sample_type: SampleType,
    /// CPU, thread and buffers of each AUX area.
    areas: Vec<(i32, i32, Vec<Vec<u8>>)>,
    /// Records before the data.
    records: Vec<u8>,
}

const SAMPLE_TYPE: SampleType = SampleType(
    SampleType::IDENTIFIER.0 | SampleType::IP.0 | SampleType::TID.0 | SampleType::TIME.0 | SampleType::CPU.0,
);

impl Default for Capture {
    fn default() -> Self {
        Self {
            config: WITHOUT_BRANCHES,
            info: intel_pt::info(),
            sample_type: SAMPLE_TYPE,
            areas: Vec::new(),
            records: Vec::new(),
        }
    }
}

impl Capture {
    fn of(buffers: &[Vec<u8>]) -> Self {
        Self { areas: vec![(0, -1, buffers.to_vec())], ..Self::default() }
    }

    fn build(&self) -> Vec<u8> {
        let bytes = || Bytes::new(false);
        let attr = Attr {
            kind: EventType(PMU),
            config: self.config,
            sample_period: 1,
            sample_type: self.sample_type,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..Attr::default()
        };
        let info = bytes().u32(1).u32(0).u64s(&self.info).record(70, 0);
        let mut file = Builder::new(false).event(attr, &[77]).data(info).data(self.records.clone());
        for (index, (cpu, tid, buffers)) in self.areas.iter().enumerate() {
            let mut offset = 0;
            for trace in buffers {
                let padded = trace.len().next_multiple_of(8);
                let record = bytes().u64s(&[padded as u64, offset, REFERENCE]).u32(index as u32);
                file = file
                    .data(record.i32(*tid).i32(*cpu).u32(0).record(71, 0))
                    .data(bytes().padded(trace, padded).out);
                offset += padded as u64;
            }
        }
        file.build().bytes
    }
}

/// A record with the trailer of a thread on CPU 0.
fn trailer(record: Bytes, tid: i32, time: u64) -> Bytes {
    record.i32(7).i32(tid).u64(time).u32(0).u32(0).u64(77)
}

/// PSB, a TSC packet and PSBEND.
fn psb(tsc: u64) -> Vec<u8> {
    let mut trace = PSB.to_vec();
    trace.push(0x19);
    trace.extend_from_slice(&tsc.to_le_bytes()[..7]);
    trace.extend_from_slice(&[0x02, 0x23]);
    trace
}

fn write(payload: u32) -> Vec<u8> {
    [&[0x02, 0x12][..], &payload.to_le_bytes()].concat()
}

const OVERFLOW: [u8; 2] = [0x02, 0xf3];

/// Nanoseconds of a TSC of 2 GHz that started at 1 ms.
fn time(tsc: u64) -> u64 {
    tsc / 2 + 1_000_000
}

fn written(bytes: &[u8], letters: &str) -> (Vec<u8>, TraceAccount) {
    let reader = Reader::new(bytes).unwrap();
    let options: ItraceOptions = letters.parse().unwrap();
    let samples = TraceSamples::of(&reader, &options).unwrap().expect("a trace");
    let (edited, account) = samples.write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap();
    assert!(edited.account.is_clean());
    (edited.out.into_inner(), account)
}

/// A sample or an error, in the order in which readers get them.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    text: String,
    tid: i32,
    time: Option<u64>,
    cpu: Option<u32>,
}

fn shown(bytes: &[u8]) -> Vec<Shown> {
    let reader = Reader::new(bytes).unwrap();
    let record = |record: perf_parse::EventRecord<'_>| match record.decode().unwrap() {
        Record::Sample(sample) => {
            let event = record.event().unwrap();
            assert_eq!(event.attr.kind, EventType::SYNTH);
            let raw = sample.tail().unwrap().raw.unwrap();
            // The size of 4 bytes and the data are whole words.
            assert_eq!(raw.len() % 8, 4);
            let text = RawEvent::parse(SynthId(event.attr.config), raw).unwrap();
            let name = String::from_utf8(event.name.as_deref().unwrap().to_vec()).unwrap();
            Some(Shown {
                text: format!("{name}: {text}"),
                tid: sample.tid().unwrap(),
                time: sample.time(),
                cpu: sample.cpu(),
            })
        }
        Record::User(UserRecord::AuxtraceError(error), _) => Some(Shown {
            text: format!("{} {}", error.code, String::from_utf8_lossy(error.msg)),
            tid: error.tid,
            time: error.time,
            cpu: u32::try_from(error.cpu).ok(),
        }),
        _ => None,
    };
    reader.records().in_time_order().map(Result::unwrap).filter_map(record).collect()
}

fn texts(bytes: &[u8]) -> Vec<String> {
    shown(bytes).into_iter().map(|it| it.text).collect()
}

/// Whatever the data is, each sample is written once, and the data is left out.
#[test]
fn any_data_makes_a_capture_that_can_be_read() {
    for seed in 0..20 {
        let trace = if seed % 2 == 0 { intel_pt::packets(seed, 1500) } else { intel_pt::events(seed, 300) };
        let (first, second) = trace.split_at(trace.len() / 16 * 8);
        let mut capture = Capture::of(&[first.to_vec(), second.to_vec()]);
        if seed % 3 == 0 {
            capture.sample_type = capture.sample_type.without(SampleType::TIME);
        }
        let (made, account) = written(&capture.build(), "pwIe");
        let all = shown(&made);
        let errors = account.bad_bytes + account.overflows;
        assert!(account.samples > 0 && all.len() as u64 >= account.samples, "{seed}");
        assert!(all.len() as u64 <= account.samples + errors, "{seed}");
        let reader = Reader::new(&made).unwrap();
        let kinds: Vec<_> = reader.records().map(|record| record.unwrap().kind()).collect();
        assert!([RecordType::AUXTRACE, RecordType::AUXTRACE_INFO].iter().all(|kind| !kinds.contains(kind)));
        assert_eq!(reader.events().len(), 9);
        assert!(TraceSamples::of(&reader, &ItraceOptions::default()).unwrap().is_none());
        // Nothing is made without being asked for.
        assert!(!TraceSamples::are_in(&Reader::new(&capture.build()).unwrap()));
    }
}

/// The events of a trace are those of perf-aux, also if buffers cut packets.
#[test]
fn buffers_that_cut_packets() {
    let trace = intel_pt::events(5, 200);
    let trace = &trace[..trace.len() / 8 * 8];
    let whole = texts(&written(&Capture::of(&[trace.to_vec()]).build(), "pwe").0);
    assert!(whole.len() > 150);
    for size in [16, 24, 200] {
        let buffers: Vec<_> = trace.chunks(size).map(<[u8]>::to_vec).collect();
        assert_eq!(texts(&written(&Capture::of(&buffers).build(), "pwe").0), whole, "{size}");
    }
}

/// More events than are decoded at once, of two CPUs, in order of time.
#[test]
fn many_samples_in_order_of_time() {
    let area = |first: u64| {
        let mut trace = Vec::new();
        for number in 0..10_000 {
            let tsc = REFERENCE - 0x100_0000 + number * 20 + first;
            if number % 100 == 0 {
                trace.extend(psb(tsc));
            } else {
                trace.push(0x19);
                trace.extend_from_slice(&tsc.to_le_bytes()[..7]);
            }
            trace.extend(write((number * 2 + first / 10) as u32));
        }
        trace
    };
    let areas = vec![(0, -1, vec![area(0)]), (1, -1, vec![area(10)])];
    let (made, account) = written(&Capture { areas, ..Capture::default() }.build(), "w");
    assert_eq!((account.samples, account.is_clean()), (20_000, true));
    let all = shown(&made);
    assert_eq!(all.len(), 20_000);
    for (number, it) in all.iter().enumerate() {
        let hex = if number == 0 { "0".into() } else { format!("{number:#x}") };
        assert!(it.text.starts_with(&format!("ptwrite: IP: 0 payload: {hex}")), "{it:?}");
        assert_eq!(it.cpu, Some(number as u32 % 2));
        assert_eq!(it.time, Some(time(REFERENCE - 0x100_0000 + number as u64 * 10)));
    }
}

/// Errors are where the decoder found them, though readers do not order them.
#[test]
fn errors_are_among_the_samples() {
    let trace = [psb(REFERENCE - 4000), write(1), OVERFLOW.to_vec(), write(2), vec![0xc9], write(3)].concat();
    let lost = trailer(Bytes::new(false).u64s(&[0, 64, 1]), 7, time(REFERENCE - 100)).record(11, 0);
    let bytes = Capture { records: lost, ..Capture::of(&[trace]) }.build();
    let (made, account) = written(&bytes, "we");
    let payload = |number: u32| format!("ptwrite: IP: 0 payload: {number:#x}");
    let all = [payload(1), "7 Overflow packet".into(), payload(2), "3 Bad packet".into(), payload(3)];
    let lost = "8 Lost trace data".to_owned();
    assert_eq!(texts(&made), [&all[..], &[lost]].concat());
    assert_eq!((account.bad_bytes, account.overflows, account.samples, account.lost), (1, 1, 3, 1));
    assert!(!account.is_clean());
    let notes: Vec<_> = account.notes().map(|(_, count)| count).collect();
    assert_eq!(notes, [1, 1, 1]);
    assert_eq!(texts(&written(&bytes, "we-o").0).len(), 5);
    assert_eq!(texts(&written(&bytes, "we-l-o").0).len(), 4);
    assert_eq!(texts(&written(&bytes, "w").0), [payload(1), payload(2), payload(3)]);
    assert_eq!(texts(&written(&bytes, "e").0).len(), 3);
}

/// Samples are of the thread that context switches put on the CPU, and in the area of a thread of that one.
#[test]
fn threads() {
    let start = REFERENCE - 100_000;
    let tsc = |tsc: u64| [&[0x19][..], &tsc.to_le_bytes()[..7]].concat();
    let trace = [psb(start), write(1), tsc(start + 2000), write(2), tsc(start + 4000), write(3)].concat();
    let begin = trailer(Bytes::new(false).i32(7).i32(8), 8, time(start) - 1).record(12, 0);
    let come = |tid, at, out| {
        let record = Bytes::new(false).i32(7).i32(tid);
        trailer(record, 99, time(start + at)).record(15, if out { 1 << 13 } else { 0 })
    };
    let tids = |info: [u64; 18], area_tid, records: Vec<u8>| -> Vec<i32> {
        let areas = vec![(0, area_tid, vec![trace.clone()])];
        let bytes = Capture { info, areas, records, ..Capture::default() }.build();
        shown(&written(&bytes, "w").0).iter().map(|it| it.tid).collect()
    };
    let with = |have_sched_switch, per_cpu| {
        let mut info = intel_pt::info();
        (info[7], info[9]) = (have_sched_switch, per_cpu);
        info
    };
    let records = [begin.clone(), come(9, 500, true), come(4, 1500, false)].concat();
    assert_eq!(tids(with(3, 1), -1, records.clone()), [8, 99, 99]);
    // Records of the threads that leave do not say who comes.
    assert_eq!(tids(with(2, 1), -1, records.clone()), [8, 99, 99]);
    assert_eq!(tids(with(2, 1), -1, [begin.clone(), come(9, 500, true)].concat()), [8, 8, 8]);
    assert_eq!(tids(with(3, 1), -1, [begin.clone(), come(9, 500, true)].concat()), [8, 9, 9]);
    // Without context switches, that of the area, or that of the start.
    assert_eq!(tids(with(0, 1), 5, begin.clone()), [5, 5, 5]);
    assert_eq!(tids(with(0, 1), -1, begin), [8, 8, 8]);
    assert_eq!(tids(with(0, 1), -1, Vec::new()), [-1, -1, -1]);
}

#[test]
fn areas_of_threads_have_no_cpu() {
    let mut info = intel_pt::info();
    info[9] = 0;
    let trace = [psb(REFERENCE - 4000), write(1)].concat();
    let areas = vec![(-1, 7, vec![trace])];
    let all = shown(&written(&Capture { info, areas, ..Capture::default() }.build(), "w").0);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].tid, all[0].cpu, all[0].time), (7, None, Some(time(REFERENCE - 4000))));
}

/// perf decodes without times if an event has none, or the trace or the conversion lacks them.
#[test]
fn captures_without_times() {
    let trace = [psb(REFERENCE - 4000), write(1)].concat();
    let areas = vec![(0, -1, vec![trace])];
    let mut no_conversion = intel_pt::info();
    no_conversion[4] = 0;
    let captures = [
        Capture { info: no_conversion, areas: areas.clone(), ..Capture::default() },
        Capture { config: WITHOUT_BRANCHES & !(1 << 10), areas: areas.clone(), ..Capture::default() },
        Capture {
            sample_type: SAMPLE_TYPE.without(SampleType::TIME),
            areas: areas.clone(),
            ..Capture::default()
        },
    ];
    for capture in captures {
        let all = shown(&written(&capture.build(), "w").0);
        assert_eq!(all.iter().map(|it| it.time).collect::<Vec<_>>(), [None]);
    }
    let capture = Capture { areas, ..Capture::default() };
    assert!(shown(&written(&capture.build(), "w").0)[0].time.is_some());
    assert!(shown(&written(&capture.build(), "wZ").0)[0].time.is_none());
}

/// A snapshot that repeats the one before.
#[test]
fn snapshots_overlap() {
    let mut info = intel_pt::info();
    info[8] = 1;
    let first: Vec<u8> = (0..20)
        .flat_map(|number| {
            [psb(REFERENCE - 40_000 + number * 200), write(number as u32), vec![0; 24]].concat()
        })
        .collect();
    let second: Vec<u8> = [&first[first.len() / 2..], &psb(REFERENCE - 1000), &write(99)].concat();
    let areas = vec![(0, -1, vec![first, second])];
    let all = texts(&written(&Capture { info, areas, ..Capture::default() }.build(), "w").0);
    let expected: Vec<_> = (0..20)
        .chain([99])
        .map(|number| match number {
            0 => "ptwrite: IP: 0 payload: 0".into(),
            _ => format!("ptwrite: IP: 0 payload: {number:#x}"),
        })
        .collect();
    let starts: Vec<_> = all
        .iter()
        .map(|text| {
            text.rsplit_once(' ')
                .filter(|(start, _)| start.contains("0x"))
                .map_or(text.as_str(), |(start, _)| start)
        })
        .collect();
    assert_eq!(starts, expected);
}

/// Events exist for what was traced alone.
#[test]
fn events_of_what_was_traced() {
    let names = |config, letters: &str| {
        let capture = Capture { config, ..Capture::of(&[psb(REFERENCE - 4000)]) };
        let made = written(&capture.build(), letters).0;
        let reader = Reader::new(&made).unwrap();
        let events: Vec<_> = reader.events().iter().skip(1).cloned().collect();
        for (event, id) in events.iter().zip(77 + 1_000_000_000_u64..) {
            assert_eq!(*event.ids, [id]);
            assert_eq!((event.attr.kind, event.attr.sample_period), (EventType::SYNTH, 1));
            assert_eq!(event.attr.sample_type, SAMPLE_TYPE | SampleType::RAW);
        }
        let names =
            events.iter().map(|event| String::from_utf8(event.name.as_deref().unwrap().to_vec()).unwrap());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(WITHOUT_BRANCHES, "pwI"), "ptwrite cbr psb mwait pwre exstop pwrx evt");
    assert_eq!(names(WITHOUT_BRANCHES & !(1 << 4 | 1 << 31), "pwI"), "ptwrite cbr psb");
    assert_eq!(names(WITHOUT_BRANCHES, "I"), "evt");
    assert_eq!(names(WITHOUT_BRANCHES, "bi"), "");
}

#[test]
fn captures_of_which_no_samples_are_made() {
    let trace = Capture::of(&[psb(REFERENCE - 4000)]);
    let options = ItraceOptions::default();
    let no_ids = Capture { sample_type: SampleType::IP, ..trace };
    let error = TraceSamples::of(&Reader::new(&no_ids.build()).unwrap(), &options).expect_err("no ids");
    assert_eq!(error, ItraceError::NoIds);
    // An event of another PMU.
    let mut info = intel_pt::info();
    info[0] = u64::from(PMU) + 1;
    let other = Capture { info, ..Capture::default() }.build();
    assert!(TraceSamples::of(&Reader::new(&other).unwrap(), &options).unwrap().is_none());
    let info = Bytes::new(false).u32(1).u32(0).u64s(&[PMU.into()]).record(70, 0);
    let short = Builder::new(false).event(Attr::default(), &[]).data(info).build().bytes;
    let error = TraceSamples::of(&Reader::new(&short).unwrap(), &options).expect_err("too few words");
    assert!(matches!(error, ItraceError::PtInfo(_)));
    assert!(error.to_string().starts_with("AUXTRACE_INFO: 1 words"), "{error}");
}
