//! The walk over records and the views of a record. The comparison with the oracle covers the fields.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::record::Comm;
use perf_parse::sample::Read;
use perf_parse::write::{self, ReadFields, SampleFields, SampleIdFields};
use perf_parse::{RawRecord, Record, Records, SampleLayout};

/// Returns the layout of samples with leading fields and a call chain, and of records with a trailer.
fn layout() -> SampleLayout {
    let sample_type = SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::CALLCHAIN;
    SampleLayout::new(&Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() }).unwrap()
}

const SAMPLE_ID: SampleIdFields =
    SampleIdFields { pid: 1, tid: -2, time: 3 << 32, id: 4, stream_id: 5, cpu: 6 };

/// Returns a sample and a COMM.
fn records<O: Endian>(layout: &SampleLayout) -> Vec<u8> {
    let mut bytes = Vec::new();
    let fields = SampleFields {
        pid_tid: Some((1, -2)),
        time: Some(3 << 32),
        cpu: Some(6),
        callchain: Some(vec![1, 2 << 40, 3]),
        ..SampleFields::default()
    };
    write::sample::<O>(&mut bytes, layout, Misc(1), &fields).unwrap();
    let comm = Record::Comm(Comm { pid: 7, tid: 8, comm: b"cat" });
    write::record::<O>(&mut bytes, layout, Misc(2), &comm, &SAMPLE_ID).unwrap();
    bytes
}

/// Returns all that the debug output shows of the records, and of what they decode to.
fn shown(layout: &SampleLayout, raw: RawRecord<'_>) -> String {
    let decoded = raw.decode(layout).unwrap();
    let tail = match &decoded {
        Record::Sample(sample) => format!("{:?}", sample.tail().unwrap()),
        _ => String::new(),
    };
    let (kind, misc, size) = (raw.kind(), raw.misc(), raw.size());
    format!(
        "{kind:?} {misc:?} {size} {tail} {:?}",
        raw.sample_id(layout).unwrap().map(|id| (id.tid(), id.time()))
    )
}

fn check<O: Endian>() -> Vec<String> {
    let layout = layout();
    let bytes = records::<O>(&layout);
    let typed: Vec<_> = Records::<O>::new(&bytes).map(Result::unwrap).collect();
    let walk = Records::<Endianness>::new_in(O::ENDIANNESS, &bytes);
    let by_value: Vec<_> = walk.map(Result::unwrap).collect();
    assert_eq!((typed.len(), by_value.len()), (2, 2));
    for (typed, by_value) in typed.iter().zip(&by_value) {
        assert_eq!((typed.endianness(), by_value.endianness()), (O::ENDIANNESS, O::ENDIANNESS));
        assert_eq!(typed.untyped().endianness(), O::ENDIANNESS);
        assert_eq!(format!("{typed:?}"), format!("{by_value:?}"));
        assert_eq!(format!("{typed:?}"), format!("{:?}", typed.untyped()));
        assert_eq!(typed.payload(), by_value.payload());
        let decoded = format!("{:?}", typed.decode(&layout).unwrap());
        assert_eq!(decoded, format!("{:?}", by_value.decode(&layout).unwrap()));
        assert_eq!(decoded, format!("{:?}", typed.untyped().decode(&layout).unwrap()));
    }
    by_value.into_iter().map(|raw| shown(&layout, raw)).collect()
}

#[test]
fn a_walk_finds_the_same_records_in_each_type_of_byte_order() {
    assert_eq!(check::<LittleEndian>(), check::<BigEndian>());
}

#[test]
fn call_chains_are_equal_across_byte_orders() {
    let layout = layout();
    let (little, big) = (records::<LittleEndian>(&layout), records::<BigEndian>(&layout));
    let (little, _) = RawRecord::<LittleEndian>::parse(&little).unwrap();
    let (big, _) = RawRecord::<Endianness>::parse_in(Endianness::Big, &big).unwrap();
    let little = little.sample(&layout).unwrap().callchain().unwrap().unwrap();
    let big = big.sample(&layout).unwrap().callchain().unwrap().unwrap();
    assert_eq!(little.words(), big.words());
    assert!(little.frames().eq(big.frames()));
}

#[test]
fn the_wrong_byte_order_is_a_fault_of_the_size() {
    let record = *b"\x44\0\0\0\0\0\x08\0";
    let (raw, rest) = RawRecord::<Endianness>::parse_in(Endianness::Little, &record).unwrap();
    assert_eq!((raw.kind(), rest.len()), (RecordType::FINISHED_ROUND, 0));
    let typed = RawRecord::<BigEndian>::parse(&record).unwrap_err();
    assert_eq!(RawRecord::<Endianness>::parse_in(Endianness::Big, &record).unwrap_err(), typed);
    let mut walk = Records::<Endianness>::new_in(Endianness::Big, &record);
    assert_eq!(walk.next().unwrap().unwrap_err(), typed);
    assert!(walk.next().is_none());
    assert_eq!(walk.rest(), record);
}

#[test]
fn header_faults_are_the_same_in_each_type_of_byte_order() {
    for len in 0..12 {
        for size in [0, 7, 8, 11, 12, 13] {
            let mut bytes = vec![0; len];
            bytes.iter_mut().skip(6).zip([size, 0]).for_each(|(byte, value)| *byte = value);
            let typed = RawRecord::<LittleEndian>::parse(&bytes).map(|(raw, rest)| (raw.size(), rest));
            let by_value = RawRecord::<Endianness>::parse_in(Endianness::Little, &bytes);
            assert_eq!(by_value.map(|(raw, rest)| (raw.size(), rest)), typed, "{bytes:?}");
        }
    }
}

#[test]
fn counter_values_are_equal_across_byte_orders() {
    let format = ReadFormat::GROUP | ReadFormat::ID | ReadFormat::TOTAL_TIME_ENABLED;
    // nr, time_enabled, and the value and id of two events.
    let words = [2_u64, 9, 100, 1, 200, 2];
    let little: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let big: Vec<_> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let fields = |read: ReadFields| {
        (read.time_enabled, read.values.iter().map(|it| (it.value, it.id)).collect::<Vec<_>>())
    };
    let expected = (Some(9), vec![(100, Some(1)), (200, Some(2))]);
    let typed = Read::<BigEndian>::from_bytes(&big, format).unwrap();
    assert_eq!(fields(ReadFields::from(&typed)), expected);
    for (order, bytes) in [(Endianness::Little, &little), (Endianness::Big, &big)] {
        let read = Read::<Endianness>::from_bytes_in(order, bytes, format).unwrap();
        assert_eq!(fields(ReadFields::from(&read)), expected);
        let fault = Read::<Endianness>::from_bytes_in(order, &bytes[..47], format).unwrap_err();
        assert_eq!((fault.kind.field(), fault.offset), ("read.values", 16));
    }
}
