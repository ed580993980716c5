//! What a decoder reports, and records over several buffers.

use perf_aux::spe::{
    Decoder, EventFlags, Operation, RecordEnd, SampleKind, SampleKinds, SampleOptions, SpeCpu, SpeRecord,
    Synthesis,
};
use testdata::arm_spe::RandomPackets;

#[test]
fn a_record_has_what_its_packets_say() {
    #[rustfmt::skip]
    let bytes = [
        0, 0,                                      // padding
        0xb0, 1, 2, 3, 4, 5, 6, 7, 0xc0,           // the instruction, at level 2
        0x4a, 0x0b,                                // a conditional indirect branch with link
        0x62, 0x42, 0, 0, 0,                       // retired, not taken
        0x98, 5, 1, 0x99, 4, 0, 0x9a, 3, 0,        // latencies
        0x20, 0x9c, 9, 9,                          // of the alternate clock, which a record does not have
        0xb1, 8, 0, 0, 0, 0, 0, 0, 0,              // the target
        0xb2, 9, 0, 0, 0, 0, 0, 0, 0xaa,           // the data, with a tag
        0xb3, 10, 0, 0, 0, 0, 0, 0, 0x9f,          // its physical address, with flags
        0xb4, 11, 0, 0, 0, 0, 0, 0, 0,             // the target before
        0x65, 1, 0, 0, 0,                          // a context of level 2
        0x53, 0x34, 0x12,                          // the source
        0x71, 1, 0, 0, 0, 0, 0, 0, 0x80,           // the time
    ];
    let mut decoder = Decoder::new();
    let record = decoder.records(100, &bytes).next().unwrap();
    let mut expected = SpeRecord::default();
    expected.offset = 102;
    expected.end = RecordEnd::Timestamp;
    expected.from_ip = 0xff07_0605_0403_0201;
    expected.to_ip = 8;
    expected.virt_addr = 9;
    expected.phys_addr = 10;
    expected.prev_br_tgt = 11;
    expected.timestamp = 1 << 63 | 1;
    expected.events = EventFlags::RETIRED | EventFlags::NOT_TAKEN;
    expected.op = Operation::BRANCH_ERET | Operation::BR_COND | Operation::BR_INDIRECT | Operation::BR_CR_BL;
    expected.source = 0x1234;
    (expected.latency, expected.issue_latency, expected.translation_latency) = (0x105, 4, 3);
    expected.context_id = Some(1);
    expected.exception_level = Some(2);
    assert_eq!(record, expected);
    assert!(!record.is_damaged());
    assert_eq!(decoder.account().bytes, bytes.len() as u64);
}

#[test]
fn faults_are_counted() {
    let mut decoder = Decoder::new();
    // A bad byte, a reserved operation, an operation, and a time that is cut: its header and two of its bytes are bad.
    let bytes = [0xff, 0x4b, 0, 0x49, 0, 1, 0x71, 0xff, 0xff];
    let ends: Vec<_> = decoder.records(0, &bytes).map(|record| (record.offset, record.end)).collect();
    use RecordEnd::{BadOperation, BadPacket, End};
    assert_eq!(
        ends,
        [(0, BadPacket), (1, BadOperation), (3, End), (6, BadPacket), (7, BadPacket), (8, BadPacket)]
    );
    let account = *decoder.account();
    assert_eq!((account.records, account.damaged, account.bytes), (6, 5, 9));
    assert_eq!((account.bad_bytes, account.bad_operations, account.truncated), (4, 1, 1));
    assert!(!account.is_unfinished);

    // A record that is not complete, dropped at a gap.
    assert_eq!(decoder.records(9, &[0x98, 1, 0, 0x20]).map(|record| record.latency).collect::<Vec<_>>(), [1]);
    assert_eq!(decoder.account().truncated, 2);
    assert_eq!(decoder.records(13, &[0x98, 2, 0]).count(), 0);
    assert!(decoder.account().is_unfinished);
    decoder.start_over();
    assert!(!decoder.account().is_unfinished);
    let record = decoder.records(20, &[1]).next().unwrap();
    assert_eq!((record.offset, record.latency), (20, 0));
}

/// The buffers of a trace may be cut at any packet.
#[test]
fn records_over_buffers_are_the_same() {
    let data = RandomPackets::new(1).records(60).out;
    let whole: Vec<_> = Decoder::new().records(0, &data).collect();
    let cuts: Vec<usize> =
        perf_aux::spe::Packets::new(0, &data).map(|packet| packet.offset as usize).collect();
    for &cut in &cuts {
        let mut decoder = Decoder::new();
        let (first, second) = data.split_at(cut);
        let mut records: Vec<_> = decoder.records(0, first).collect();
        records.extend(decoder.records(cut as u64, second));
        assert_eq!(records, whole, "cut at {cut}");
        assert_eq!(decoder.account().bytes, data.len() as u64);
    }
}

#[test]
fn a_period_and_kinds_select() {
    let data = RandomPackets::new(2).records(100).out;
    let cpu = SpeCpu::default();
    let kinds_of = |options: SampleOptions| {
        let (mut decoder, mut synthesis) = (Decoder::new(), Synthesis::new(options));
        let records = decoder.records(0, &data);
        records.map(|record| synthesis.samples(&record, &cpu).map(|sample| sample.kind).collect()).collect()
    };
    let all: Vec<Vec<SampleKind>> = kinds_of(SampleOptions::default());
    assert!(all.iter().all(|kinds| kinds.is_sorted() && kinds.last() == Some(&SampleKind::Instructions)));
    let third: Vec<Vec<_>> = kinds_of(SampleOptions { period: 3, ..SampleOptions::default() });
    for (index, (kinds, all)) in third.iter().zip(&all).enumerate() {
        assert_eq!(kinds.as_slice(), if index % 3 == 2 { all.as_slice() } else { &[] });
    }
    for kind in SampleKind::ALL {
        let kinds = SampleKinds(1 << kind as u16);
        let one: Vec<Vec<_>> = kinds_of(SampleOptions { kinds, ..SampleOptions::default() });
        for (one, all) in one.iter().zip(&all) {
            assert_eq!(one.first(), all.iter().find(|other| **other == kind));
            assert!(one.len() <= 1 && kinds.has(kind) && !kind.name().is_empty());
        }
    }
}
