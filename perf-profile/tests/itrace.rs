//! Samples of AUX data of any content, and captures of which none are made.

use std::io::Cursor;

use perf_abi::attr::Attr;
use perf_abi::event::EventType;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::Reader;
use perf_profile::edit::{ItraceError, ItraceOptions, PeriodUnit, TraceAccount, TraceSamples};
use testdata::Bytes;
use testdata::arm_spe::{Capture, PMU_TYPE, RandomPackets};
use testdata::file::Builder;

const CONVERSION: Option<[u64; 3]> = Some([1, 2, 0]);

fn written(bytes: &[u8], options: ItraceOptions) -> (Vec<u8>, TraceAccount) {
    let reader = Reader::new(bytes).unwrap();
    let samples = TraceSamples::of(&reader, &options).unwrap().expect("a trace");
    let (edited, account) = samples.write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap();
    (edited.out.into_inner(), account)
}

/// Returns the numbers of the records of a type.
fn count(bytes: &[u8], kind: RecordType) -> u64 {
    Reader::new(bytes).unwrap().records().map(Result::unwrap).filter(|it| it.kind() == kind).count() as u64
}

/// Whatever the data is, each sample is written once, and the data is left out.
#[test]
fn any_data_makes_a_capture_that_can_be_read() {
    for seed in 0..20 {
        let random = RandomPackets::new(seed);
        let data = if seed % 2 == 0 { random.any(3000).out } else { random.records(500).out };
        let time_conv = if seed % 3 == 0 { None } else { CONVERSION };
        let bytes = Capture { data, time_conv, ..Capture::default() }.build();
        assert!(TraceSamples::are_in(&Reader::new(&bytes).unwrap()));
        let options = ItraceOptions { branch_stack: 2, ..ItraceOptions::default() };
        let (made, account) = written(&bytes, options);
        assert_eq!(count(&made, RecordType::SAMPLE), account.samples, "{seed}");
        assert!(account.samples > 0 && account.records > 0, "{seed}");
        for kind in [RecordType::AUXTRACE, RecordType::AUXTRACE_INFO, RecordType::AUX] {
            assert_eq!(count(&made, kind), 0, "{seed}: {kind}");
        }
        let reader = Reader::new(&made).unwrap();
        assert_eq!(reader.events().len(), 11);
        assert_eq!(reader.events()[10].name.as_deref(), Some(&b"instructions"[..]));
        // There is no trace of which samples could be made again.
        assert!(!TraceSamples::are_in(&reader));
        assert!(TraceSamples::of(&reader, &options).unwrap().is_none());
    }
}

/// More samples than are written at once, and more than a round.
#[test]
fn many_samples_in_order_of_time() {
    let mut out = Vec::new();
    for number in 0..20_000_u64 {
        out.extend_from_slice(&[0xb0]);
        out.extend_from_slice(&(0x1000 + number).to_le_bytes());
        out.extend_from_slice(&[0x71]);
        out.extend_from_slice(&(1000 + number).to_le_bytes());
    }
    for time_conv in [None, CONVERSION] {
        let bytes = Capture { data: out.clone(), time_conv, ..Capture::default() }.build();
        let (made, account) = written(&bytes, "i1i".parse().unwrap());
        // perf makes a sample of no record if there are no times.
        let first = u64::from(time_conv.is_none());
        assert_eq!((account.records, account.samples), (20_000, 20_000 + first));
        let reader = Reader::new(&made).unwrap();
        let ips: Vec<_> =
            reader.records().in_time_order().filter_map(|record| record.unwrap().sample()?.ip()).collect();
        assert!(ips.iter().copied().skip(usize::from(first == 1)).eq(0x1000..0x1000 + 20_000));
        assert_eq!(count(&made, RecordType::FINISHED_ROUND), u64::from(time_conv.is_some()));
    }
}

#[test]
fn faults_are_counted() {
    // A record, a byte that is no packet, and a packet that is cut off.
    let data = vec![0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x71];
    let bytes = Capture { data, ..Capture::default() }.build();
    let (_, account) = written(&bytes, ItraceOptions::default());
    assert!(!account.is_clean());
    assert_eq!((account.records, account.damaged, account.bad_bytes, account.truncated), (8, 7, 7, 1));
    let notes: Vec<_> = account.notes().collect();
    let all = [
        ("records that a fault ended", 7),
        ("bytes at which there is no packet", 7),
        ("buffers that end within a packet", 1),
    ];
    assert_eq!(notes, all);
}

#[test]
fn every_record_is_given_once() {
    for time_conv in [None, CONVERSION] {
        let data = RandomPackets::new(7).records(300).out;
        let bytes = Capture { data, time_conv, ..Capture::default() }.build();
        let reader = Reader::new(&bytes).unwrap();
        let samples = TraceSamples::of(&reader, &ItraceOptions::default()).unwrap().expect("a trace");
        let mut records = 0;
        let account = samples.for_each_record(&reader, |record| {
            assert_eq!(record.time.is_some(), time_conv.is_some());
            records += 1;
        });
        assert_eq!(account.samples, 0);
        // Those before the first whole one make no samples if there are times.
        assert!(records <= account.records && account.records - records < 20, "{records}");
    }
}

#[test]
fn captures_of_which_no_samples_are_made() {
    let attr = Attr { kind: EventType::SOFTWARE, sample_type: SampleType::IP, ..Attr::default() };
    let plain = Builder::new(false).event(attr, &[]).build().bytes;
    let reader = Reader::new(&plain).unwrap();
    assert!(!TraceSamples::are_in(&reader));
    assert!(TraceSamples::of(&reader, &ItraceOptions::default()).unwrap().is_none());

    let bytes = Capture { data: vec![1], ..Capture::default() }.build();
    let reader = Reader::new(&bytes).unwrap();
    let error = |letters: &str| {
        let options = letters.parse().unwrap();
        TraceSamples::of(&reader, &options).expect_err("no samples are possible")
    };
    assert_eq!(error("i"), ItraceError::Unit(PeriodUnit::Nanoseconds));
    assert_eq!(error("i5t"), ItraceError::Unit(PeriodUnit::Ticks));
    assert!(error("i").to_string().contains("i1i"));

    let info = Bytes::new(false).u32(4).u32(0).u64s(&[PMU_TYPE.into(), 0]).record(70, 0);
    let attr = Attr { kind: EventType(PMU_TYPE), ..attr };
    let without_ids = Builder::new(false).event(attr, &[]).data(info).build().bytes;
    let reader = Reader::new(&without_ids).unwrap();
    let samples = TraceSamples::of(&reader, &ItraceOptions::default());
    assert_eq!(samples.expect_err("no ids"), ItraceError::NoIds);

    let info = Bytes::new(false).u32(4).u32(0).u64s(&[PMU_TYPE.into()]).record(70, 0);
    let short = Builder::new(false).event(attr, &[]).data(info).build().bytes;
    let reader = Reader::new(&short).unwrap();
    let samples = TraceSamples::of(&reader, &ItraceOptions::default());
    assert!(matches!(samples, Err(ItraceError::Info(_))));
}

/// perf's own bit comes after the kernel's fields, which a big-endian machine fills from the highest bit.
#[test]
fn branches_that_were_not_taken_in_both_byte_orders() {
    // The address, a conditional branch, its events, its target, and the end.
    let record = |events: u8| {
        let packets = Bytes::new(false).u8(0xb0).u64(0x1000).u8(0x4a).u8(1).u8(0x52).u8(events).u8(0);
        packets.u8(0xb1).u64(0x2000).u8(1).out
    };
    let data = [record(1 << 1), record(1 << 1 | 1 << 6)].concat();
    for big in [false, true] {
        let bytes = || Bytes::new(big);
        let sample_type = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::CPU;
        let attr = Attr { kind: EventType(PMU_TYPE), sample_period: 1, sample_type, ..Attr::default() };
        let info = bytes().u32(4).u32(0).u64s(&[PMU_TYPE.into(), 0]).record(70, 0);
        let padded = data.len().next_multiple_of(8);
        let area = bytes().u64s(&[padded as u64, 0, 0]).u32(0).i32(7).i32(0).u32(0).record(71, 0);
        let file = Builder::new(big).event(attr, &[5]).data(info).data(area);
        let capture = file.data(Bytes::new(false).padded(&data, padded).out).build().bytes;
        let (made, account) = written(&capture, "bl1".parse().unwrap());
        assert!(account.is_clean(), "{account:?}");
        let reader = Reader::new(&made).unwrap();
        let mut taken = Vec::new();
        for record in reader.records().map(Result::unwrap) {
            let Some(sample) = record.sample() else { continue };
            let stack = sample.tail().unwrap().branch_stack.unwrap();
            taken.extend(stack.entries.iter().map(|branch| (branch.from, branch.to, !branch.not_taken)));
        }
        assert_eq!(taken, [(0x1000, 0x2000, true), (0x1000, 0x2000, false)], "big: {big}");
    }
}
