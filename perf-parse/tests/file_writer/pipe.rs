//! Pipe-mode streams, record by record.

use std::io::Cursor;

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian, U32, U64};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMode, Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::{BuildId, Entries, FeatureData};
use perf_parse::file::write::{EventFields, FeaturePayloads, PipeWriter, WriteOptions};
use perf_parse::rewrite::Edit;
use zerocopy::IntoBytes;

use compare::rewrite::{Whole, event, kind, options, record, walk};

/// Returns the records of a stream with only these events, without its header.
fn stream<O: Endian>(events: &[EventFields], options: &WriteOptions) -> Vec<Whole> {
    let features = FeaturePayloads::new_in(O::ENDIANNESS);
    let writer = PipeWriter::new(Vec::new(), events, &features, options).unwrap();
    let bytes = writer.finish().unwrap();
    let magic = [U64::<O>::new(0x3245_4c49_4652_4550), U64::new(16)];
    assert_eq!(&bytes[..16], magic.as_bytes());
    walk::<O>(&bytes[16..])
}

fn words<O: Endian>(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|&word| U64::<O>::new(word).to_bytes()).collect()
}

fn everything_in_order_in<O: Endian>() {
    let mut one = event(1, &[7, 8], Some("joules"));
    one.unit = Some(b"Joules".to_vec());
    one.scale = Some(-2.5);
    one.cpus = Some(vec![3]);
    let two = event(2, &[9], Some("12345678"));
    let mut features = FeaturePayloads::new_in(O::ENDIANNESS);
    features.set(&FeatureData::Arch("riscv64".into())).unwrap();
    features.raw(Feature::TRACING_DATA, b"tracing data").unwrap();
    let misc = Misc::from(CpuMode::USER) | Misc::BUILD_ID_SIZE;
    let build_id = BuildId { misc, pid: -1, build_id: &[6; 20], filename: "/bin/true".into() };
    features.set(&FeatureData::BuildId(Entries::from(&[build_id, build_id]))).unwrap();

    let mut writer = PipeWriter::new(Vec::new(), &[one.clone(), two], &features, &options::<O>()).unwrap();
    let round = record::<O>(RecordType::FINISHED_ROUND, &[]);
    writer.record(&round).unwrap();
    let aux = record::<O>(RecordType::AUXTRACE, &words::<O>(&[8, 0, 0, 0, 0]));
    writer.record_with_data(&aux, &[4; 8]).unwrap();
    let bytes = writer.finish().unwrap();
    let records = walk::<O>(&bytes[16..]);

    let update = |kind, id, payload: &[u8]| {
        record::<O>(RecordType::EVENT_UPDATE, &[&words::<O>(&[kind, id]), payload].concat())
    };
    let attr = |event: &EventFields| {
        let attr = event.attr.write::<O>(AttrVersion::VER0).unwrap();
        record::<O>(RecordType::HEADER_ATTR, &[&attr[..], &words::<O>(&event.ids)].concat())
    };
    let feature = |feature: Feature, payload: &[u8]| {
        record::<O>(RecordType::HEADER_FEATURE, &[&words::<O>(&[u64::from(feature.0)]), payload].concat())
    };
    let tracing_data = [U32::<O>::new(16), U32::ZERO];
    let mut build_id = record::<O>(
        RecordType::HEADER_BUILD_ID,
        &[&features.get(Feature::BUILD_ID).unwrap()[8..100], &[0; 4]].concat(),
    );
    // The `misc` of the record's header is that of the entry.
    build_id[4..6].copy_from_slice(&features.get(Feature::BUILD_ID).unwrap()[4..6]);
    let events = [one, event(2, &[9], Some("12345678"))];
    let arch = features.get(Feature::ARCH).unwrap();
    let expected = [
        (attr(&events[0]), vec![]),
        (attr(&events[1]), vec![]),
        (update(0, 7, b"Joules\0\0"), vec![]),
        (update(1, 7, &words::<O>(&[(-2.5_f64).to_bits()])), vec![]),
        (update(3, 7, [0_u16, 1, 3, 0].map(zerocopy::byteorder::U16::<O>::new).as_bytes()), vec![]),
        (update(2, 7, b"joules\0\0"), vec![]),
        (update(2, 9, b"12345678\0\0\0\0\0\0\0\0"), vec![]),
        (feature(Feature::ARCH, arch), vec![]),
        records[8].clone(), // EVENT_DESC, checked below
        (
            record::<O>(RecordType::HEADER_TRACING_DATA, tracing_data.as_bytes()),
            b"tracing data\0\0\0\0".to_vec(),
        ),
        (build_id.clone(), vec![]),
        (build_id, vec![]),
        (round, vec![]),
        (aux, vec![4; 8]),
    ];
    assert_eq!(records.len(), expected.len());
    for (index, (read, expected)) in records.iter().zip(&expected).enumerate() {
        assert_eq!(read, expected, "record {index}");
    }
    let (desc, _) = &records[8];
    // Number, size of the header with the feature's number, count, size of the attrs.
    assert_eq!(desc[8..16], words::<O>(&[12]));
    assert_eq!(desc[16..24], *[U32::<O>::new(2), U32::new(64)].as_bytes());
    let described = Attr::read::<O>(&desc[24..]).unwrap().attr;
    assert_eq!(described, Attr { size: 64, ..events[0].attr });
}

#[test]
fn everything_in_order() {
    everything_in_order_in::<LittleEndian>();
    everything_in_order_in::<BigEndian>();
}

#[test]
fn the_first_event_needs_no_id_for_its_name() {
    type O = LittleEndian;
    let records = stream::<O>(&[event(1, &[], Some("a"))], &options::<O>());
    let update =
        record::<O>(RecordType::EVENT_UPDATE, &[&words::<O>(&[2, 0])[..], b"a\0\0\0\0\0\0\0"].concat());
    assert_eq!(records[1], (update, vec![]));
}

#[test]
fn a_stream_has_no_mark_after_its_features() {
    // `perf report` of a version that has another number for it would refuse the stream.
    let records = stream::<BigEndian>(&[], &options::<BigEndian>());
    assert_eq!(records, []);
}

#[test]
fn names_that_are_not_all_there_or_too_long_are_no_event_desc() {
    type O = LittleEndian;
    let some = [event(1, &[1], Some("a")), event(2, &[2], None)];
    let kinds = |events: &[EventFields]| -> Vec<_> {
        let records = stream::<O>(events, &options::<O>());
        records.iter().map(|(record, _)| kind::<O>(record)).collect()
    };
    let [attr, update, feature] =
        [RecordType::HEADER_ATTR, RecordType::EVENT_UPDATE, RecordType::HEADER_FEATURE];
    assert_eq!(kinds(&some), [attr, attr, update]);
    // Each list fits in a record of its own, but both together do not fit in one.
    let ids = vec![1; 5000];
    let many = [event(1, &ids, Some("a")), event(2, &ids, Some("b"))];
    assert_eq!(kinds(&many), [attr, attr, update, update]);
    assert_eq!(kinds(&many[..1]), [attr, update, feature]);
}

#[test]
fn the_size_of_the_attrs_can_be_chosen() {
    type O = LittleEndian;
    let options = WriteOptions { attr_version: Some(AttrVersion::NEWEST), ..options::<O>() };
    let records = stream::<O>(&[event(1, &[5], None)], &options);
    let (attr, _) = &records[0];
    assert_eq!(attr.len(), 8 + 144 + 8);
    assert_eq!(Attr::read::<O>(&attr[8..]).unwrap().attr, Attr { size: 144, ..event(1, &[], None).attr });
    assert_eq!(attr[152..], words::<O>(&[5]));
}

/// The names and ids that events get after their first record stay there.
#[test]
fn a_second_edit_writes_the_same_pipe() {
    let mut first = event(1, &[7], Some("first"));
    first.attr.sample_type = SampleType::IDENTIFIER;
    let words = words::<LittleEndian>;
    let of_kernel = |id: u64| record::<LittleEndian>(RecordType::SAMPLE, &words(&[id]));
    let update =
        record::<LittleEndian>(RecordType::EVENT_UPDATE, &[&words(&[2, 7])[..], b"second\0\0"].concat());
    let id = record::<LittleEndian>(RecordType::EVENT_ID, &words(&[1, 0, 8]));
    let features = FeaturePayloads::new_in(LittleEndian::ENDIANNESS);
    let mut writer = PipeWriter::new(Vec::new(), &[first], &features, &options::<LittleEndian>()).unwrap();
    let records = [of_kernel(7), update, id, of_kernel(8)];
    records.iter().for_each(|record| writer.record(record).unwrap());
    let bytes = writer.finish().unwrap();
    let edited =
        |bytes: &[u8]| Edit::new().write_pipe(&Reader::new(bytes).unwrap(), Vec::new(), |_| {}).unwrap();
    let once = edited(&bytes);
    assert_eq!((once.written, once.dropped), (records.len() as u64, 0));
    assert!(once.out == bytes && edited(&once.out).out == once.out);
    // A file has the same ids at its start, and the same name at its end.
    let file =
        Edit::new().write_file(&Reader::new(&bytes).unwrap(), Cursor::new(Vec::new()), |_| {}).unwrap();
    let file = file.out.into_inner();
    let reader = Reader::new(&file).unwrap();
    assert_eq!(*reader.events().iter().next().unwrap().ids, [7, 8]);
    let mut records = reader.records();
    records.by_ref().for_each(drop);
    let event = records.events().iter().next().unwrap();
    assert_eq!((event.name.as_deref(), &*event.ids), (Some(&b"second"[..]), &[7, 8][..]));
}
