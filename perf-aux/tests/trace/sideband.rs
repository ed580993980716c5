//! What other records report about a trace.

use perf_aux::trace::{AuxTrace, sideband};
use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;

use crate::capture::{Recorder, Trailer};

const fn at(tid: i32, time: u64, cpu: u32) -> Trailer {
    Trailer { pid: tid - tid % 10, tid, time, cpu }
}

#[test]
fn the_thread_on_a_cpu() {
    for big in [false, true] {
        let make = Recorder { big };
        let records = [
            // Rings are read one after another, so that times are not in order.
            make.switch_cpu_wide(true, 22, at(11, 100, 0)),
            make.switch_cpu_wide(false, 11, at(22, 101, 0)),
            make.itrace_start(30, 31, at(31, 50, 1)),
            make.switch(true, at(31, 70, 1)),
            make.switch(false, at(32, 90, 1)),
            make.switch_cpu_wide(true, 11, at(22, 60, 0)),
        ];
        let capture = make.file(0, &records);
        let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
        let thread = |cpu, time| trace.switches().thread_at(cpu, time).map(|(_, tid)| tid);
        assert_eq!(
            [thread(0, 59), thread(0, 60), thread(0, 99), thread(0, 101)].map(Option::unwrap),
            [22, 11, 11, 22]
        );
        assert_eq!(
            [thread(1, 49), thread(1, 50), thread(1, 69), thread(1, 80)],
            [None, Some(31), Some(31), None]
        );
        assert_eq!((thread(1, 90), thread(2, 90)), (Some(32), None));
        assert_eq!(trace.switches().thread_at(1, 55), Some((30, 31)));
        assert_eq!(trace.switches().len(), 6);
    }
}

/// The thread that a switch leaves ran since the switch before.
#[test]
fn samples_of_sched_switch() {
    let make = Recorder { big: false };
    let sample_type = SampleType::TID | SampleType::TIME | SampleType::CPU;
    let sample = |tid: i32, time| make.bytes().i32(tid).i32(tid).u64(time).u32(3).u32(0).record(9, 0);
    let name = b"sched:sched_switch\0";
    let attr = Attr { sample_type, ..Attr::default() };
    let description = make.bytes().u32(1).u32(136).attr(&attr, 136).u32(0).string("sched:sched_switch");
    let capture = testdata::file::Builder::new(false)
        .event(attr, &[])
        .data([sample(5, 10), sample(6, 20)].concat())
        .feature(12, description.out)
        .build()
        .bytes;
    let reader = Reader::new(&capture).unwrap();
    assert_eq!(reader.events()[0].name.as_deref(), Some(&name[..name.len() - 1]));
    let trace = AuxTrace::of(&reader);
    let threads = [9, 10, 19, 20].map(|time| trace.switches().thread_at(3, time));
    assert_eq!(threads, [Some((5, 5)), Some((6, 6)), Some((6, 6)), None]);
}

#[test]
fn hardware_ids_and_errors() {
    let make = Recorder { big: true };
    let records = [make.hardware_id(0x1_0000_0010, at(4, 77, 2)), make.error(5, -1, 9, 0x1234, "Bad packet")];
    let capture = make.file(0, &records);
    let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
    let [id] = trace.hardware_ids() else { panic!("{:?}", trace.hardware_ids()) };
    assert_eq!(
        (id.id, id.event_index, id.cpu, id.tid, id.time),
        (0x1_0000_0010, Some(0), Some(2), Some(4), Some(77))
    );
    let [error] = trace.errors() else { panic!("{:?}", trace.errors()) };
    assert_eq!((error.kind.0, error.code, error.cpu, error.tid), (1, 5, None, Some(9)));
    assert_eq!((error.ip, error.time, &*error.message), (0x1234, Some(77), &b"Bad packet"[..]));
}

#[test]
fn records_for_a_decoder_in_time_order() {
    let make = Recorder { big: false };
    let records = [
        make.intel_pt(false),
        make.switch(true, at(1, 30, 0)),
        make.aux(0, 0, 0, at(1, 10, 0)),
        make.hardware_id(1, at(1, 20, 0)),
        make.piece(crate::capture::of_cpu(0), 0, 0, &[0; 8]),
    ];
    let capture = make.file(0, &records);
    let reader = Reader::new(&capture).unwrap();
    let found: Vec<_> = sideband(&reader).map(|it| it.unwrap().kind()).collect();
    assert_eq!(found, [RecordType::AUX, RecordType::AUX_OUTPUT_HW_ID, RecordType::SWITCH]);
}
