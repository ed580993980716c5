//! KSYMBOL and BPF_EVENT with bytes after their trailer, which the kernel left there.

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;

use crate::{Walk, read, read_by_time};
use testdata::Bytes;
use testdata::file::Builder;

/// Returns a capture of two events. The second one has these two records between two samples, with stale bytes that look like
/// the trailer of the first event, long after the capture.
fn capture(big: bool, stale: usize) -> Vec<u8> {
    let sample_type = SampleType::IDENTIFIER | SampleType::TIME;
    let attr = Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let sample = |time: u64| Bytes::new(big).u64s(&[7, time]).record(9, 0);
    let trailer = |bytes: Bytes, time: u64| bytes.u64s(&[time, 8]).u64s(&[1 << 60, 7].repeat(stale));
    let symbol = Bytes::new(big).u64(0x1000).u32(64).u16(1).u16(0).raw(b"bpf_prog\0\0\0\0\0\0\0\0");
    let program = Bytes::new(big).u16(1).u16(0).u32(77).raw(&[5; 8]);
    let data = [
        sample(10),
        trailer(symbol, 40).record(RecordType::KSYMBOL.0, 0),
        trailer(program, 30).record(RecordType::BPF_EVENT.0, 0),
        sample(20),
    ];
    Builder::new(big).event(attr, &[7]).event(attr, &[8]).data(data.concat()).build().bytes
}

fn events_and_times(walk: &Walk) -> Vec<(Option<usize>, Option<u64>)> {
    assert!(walk.account.is_clean() && walk.seen.iter().all(|it| it.decodes), "{:?}", walk.errors);
    walk.seen.iter().map(|it| (it.event, it.time)).collect()
}

#[test]
fn the_trailer_is_found_by_the_fields() {
    for big in [false, true] {
        for stale in [0, 1, 5] {
            let capture = capture(big, stale);
            let [first, last] = [(Some(0), Some(10)), (Some(0), Some(20))];
            let [symbol, program] = [(Some(1), Some(40)), (Some(1), Some(30))];
            assert_eq!(events_and_times(&read(&capture)), [first, symbol, program, last]);
            assert_eq!(events_and_times(&read_by_time(&capture)), [first, last, program, symbol]);
            let reader = Reader::new(&capture).unwrap();
            let bytes: Vec<_> = reader.records().map(|record| record.unwrap().stale_bytes()).collect();
            assert_eq!(bytes, [0, 16 * stale, 16 * stale, 0]);
        }
    }
}
