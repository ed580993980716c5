//! Captures that end within the data of a trace, or are damaged.

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;

use crate::capture::{Recorder, Trailer, noise, of_cpu};
use crate::slices_of;

#[test]
fn a_capture_that_ends_within_data() {
    for big in [false, true] {
        let make = Recorder { big };
        let data = noise(0, 4096);
        let whole = make.piece(of_cpu(0), 0, 0, &data[..1024]);
        let records = [make.intel_pt(false), whole, make.piece(of_cpu(0), 1024, 7, &data[1024..])];
        let built = make.builder(0, &records).build();
        let end = built.data + records.concat().len();
        for left_out in [1, 8, 1000, 3071, 3072] {
            let capture = &built.bytes[..end - left_out];
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("perf.data");
            std::fs::write(&path, capture).unwrap();
            let check = |reader: &Reader<'_>| {
                let trace = AuxTrace::of(reader);
                let account = trace.account();
                assert_eq!((account.cut_off, account.buffers), (left_out as u64, 2), "{left_out}");
                assert!(!account.capture.is_clean());
                assert_eq!(trace.queues()[0].buffers()[1].cut_off, left_out as u64);
                let bytes: Vec<u8> = slices_of(reader).into_iter().flat_map(|it| it.bytes).collect();
                assert_eq!(bytes, data[..4096 - left_out], "{left_out}");
            };
            check(&Reader::new(capture).unwrap());
            check(&Reader::open(&path).unwrap());
        }
        // Within the record.
        let capture = &built.bytes[..end - 3072 - 1];
        let trace = AuxTrace::of(&Reader::new(capture).unwrap());
        assert_eq!((trace.account().cut_off, trace.account().buffers), (0, 1));
    }
}

/// A record with a wrong size has the data up to the next record that can be proved.
#[test]
fn a_size_beyond_the_capture() {
    let make = Recorder { big: false };
    let mut wrong = make.piece(of_cpu(0), 0, 0, &[0x59; 64]);
    wrong[8..16].copy_from_slice(&(u64::MAX - 100).to_le_bytes());
    let at = |time| Trailer { pid: 1, tid: 1, time, cpu: 0 };
    let more: Vec<Vec<u8>> = (0..200).map(|time| make.switch(time % 2 == 0, at(1000 + time))).collect();
    let capture = make.file(0, &[make.intel_pt(false), wrong, more.concat()]);
    let reader = Reader::new(&capture).unwrap();
    let trace = AuxTrace::of(&reader);
    assert_eq!(trace.account().buffers, 1);
    assert_eq!(trace.account().cut_off, u64::MAX - 100 - 64);
    assert_eq!(trace.switches().len(), 200);
    assert_eq!(slices_of(&reader)[0].bytes, [0x59; 64]);
}

/// A record that cannot be decoded is left out, and the others are not.
#[test]
fn a_record_that_is_too_short() {
    let make = Recorder { big: false };
    let short = make.bytes().u64(0).record(71, 0);
    let capture = make.file(0, &[make.intel_pt(false), short, make.piece(of_cpu(0), 0, 0, &noise(0, 8))]);
    let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
    assert_eq!(trace.account().buffers, 1);
}
