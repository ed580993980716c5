//! Written files are read back unchanged.

use std::io::{Cursor, Seek, SeekFrom, Write};

use perf_parse::abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian, U64};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::{ByteStr, Reader};
use zerocopy::IntoBytes;

use compare::rewrite::{File, event, finish, kind, options, record, records, writer};

/// Returns an attr that needs this version and no newer one.
fn attr_of(version: AttrVersion) -> Attr {
    let base = event(1, &[], None).attr;
    // `precise_ip` straddles two bytes of the flag word, which big-endian files mirror.
    let base = Attr { flags: base.flags.with_precise_ip(1) | AttrFlags::DISABLED, ..base };
    match version {
        AttrVersion::VER0 => Attr { config1: 1, ..base },
        AttrVersion::VER1 => Attr { config2: 2, ..base },
        AttrVersion::VER2 => Attr { branch_sample_type: BranchSampleType::ANY, ..base },
        AttrVersion::VER3 => Attr { sample_regs_user: 3, sample_stack_user: 8, clockid: -1, ..base },
        AttrVersion::VER4 => Attr { sample_regs_intr: 4, ..base },
        AttrVersion::VER5 => Attr { aux_watermark: 5, sample_max_stack: 6, ..base },
        AttrVersion::VER6 => Attr { aux_sample_size: 6, ..base },
        AttrVersion::VER7 => Attr { sig_data: 7, ..base },
        AttrVersion::VER8 => Attr { config3: 8, ..base },
        AttrVersion::VER9 => Attr { config4: 9, ..base },
        version => panic!("{version} has no attr"),
    }
}

fn every_attr_version_in<O: Endian>() {
    for &version in AttrVersion::ALL {
        let attr = attr_of(version);
        assert_eq!(attr.oldest_version(), version);
        let events = [
            EventFields { attr, ..event(0, &[1, 2, u64::MAX], Some("one")) },
            event(3, &[], Some("a name, with everything: (+\"\\é)")),
        ];
        for chosen in [None, Some(version), Some(AttrVersion::NEWEST)] {
            let options = WriteOptions { attr_version: chosen, ..options::<O>() };
            let writer = FileWriter::new(Cursor::new(Vec::new()), &events, &options).unwrap();
            let bytes = finish(writer);
            let size = chosen.unwrap_or(version).size();
            let file = File::open(&bytes).unwrap();
            assert_eq!(file.endianness(), O::ENDIANNESS);
            assert_eq!(file.account().diagnostics, []);
            assert_eq!(file.header().attr_size, u64::from(size) + 16);
            assert_eq!(file.events().len(), 2);
            for (read, given) in file.events().iter().zip(&events) {
                assert_eq!(read.attr, Attr { size, ..given.attr });
                assert_eq!(*read.attr_tail, [0_u8; 0]);
                let ids: Vec<_> = read.ids.clone();
                assert_eq!(ids, given.ids);
                assert_eq!(read.name, given.name);
            }
            let described = file.features().event_desc().unwrap().unwrap().events;
            assert_eq!(described.len(), 2);
            assert_eq!(described.iter().next().unwrap().attr, Attr { size, ..attr });
        }
    }
}

#[test]
fn every_attr_version() {
    every_attr_version_in::<LittleEndian>();
    every_attr_version_in::<BigEndian>();
}

#[test]
fn an_attr_is_no_shorter_than_it_was_read() {
    let sized = |size| {
        let mut event = event(1, &[], None);
        event.attr.size = size;
        event
    };
    // The largest size among the events is used. A size between two versions is rounded up.
    for (sizes, expected) in
        [([0, 64], 64), ([64, 112], 112), ([65, 64], 72), ([144, 0], 144), ([9999, 0], 144)]
    {
        let bytes = finish(writer::<LittleEndian>(&sizes.map(sized)));
        let file = File::open(&bytes).unwrap();
        assert_eq!(file.header().attr_size, expected + 16);
    }
    let bytes = finish(writer::<LittleEndian>(&[]));
    assert_eq!(File::open(&bytes).unwrap().header().attr_size, 80);
}

#[test]
fn what_a_newer_kernel_added_is_kept() {
    let mut long = event(1, &[1], Some("long"));
    long.attr_tail = (1..=16).collect();
    let mut odd = event(2, &[2], Some("odd"));
    odd.attr_tail = vec![9; 3];
    let bytes = finish(writer::<BigEndian>(&[long.clone(), odd, event(3, &[3], Some("short"))]));
    let file = File::open(&bytes).unwrap();
    assert_eq!(file.header().attr_size, 144 + 16 + 16);
    let tails: Vec<_> = file.events().iter().map(|event| event.attr_tail.to_vec()).collect();
    assert_eq!(tails[0], long.attr_tail);
    assert_eq!(tails[1], [&[9; 3][..], &[0; 13]].concat());
    assert_eq!(tails[2], [0; 16]);
    assert!(file.events().iter().all(|event| event.attr.size == 160 && event.name.is_some()));

    let again: Vec<_> = file.events().iter().map(|event| EventFields::from(&**event)).collect();
    assert_eq!(finish(writer::<BigEndian>(&again)), bytes);
}

#[test]
fn big_endian_files_begin_with_the_magic_backwards() {
    let bytes = finish(writer::<BigEndian>(&[]));
    assert!(bytes.starts_with(b"2ELIFREP\0\0\0\0\0\0\0\x68"));
    assert_eq!(Reader::new(&bytes).unwrap().endianness(), Endianness::Big);
    let bytes = finish(writer::<LittleEndian>(&[]));
    assert!(bytes.starts_with(b"PERFILE2\x68\0\0\0\0\0\0\0"));
}

#[test]
fn the_bits_of_features_are_those_of_64_bit_words() {
    let mut writer = writer::<BigEndian>(&[]);
    for feature in [3, 63, 64, 200] {
        writer.features().raw(Feature(feature), &[u8::try_from(feature).unwrap()]).unwrap();
    }
    let bytes = finish(writer);
    let words = [1_u64 << 3 | 1 << 63, 1, 0, 1 << (200 - 192)];
    assert_eq!(bytes[72..104], words.map(u64::to_be_bytes).concat());
    let file = File::open(&bytes).unwrap();
    let read: Vec<_> = file.features().iter().map(|section| (section.feature.0, section.bytes)).collect();
    assert_eq!(read, [(3, &[3][..]), (63, &[63]), (64, &[64]), (200, &[200])]);
}

fn records_in<O: Endian>() {
    let mut writer = writer::<O>(&[event(1, &[1], None)]);
    let sample = record::<O>(RecordType::SAMPLE, &[1; 32]);
    let round = record::<O>(RecordType::FINISHED_ROUND, &[]);
    // Records of perf itself need not be a multiple of 8 bytes.
    let odd = record::<O>(RecordType(99), &[7; 3]);
    let large = record::<O>(RecordType(9999), &[8; 65520]);
    let data = [5; 24];
    let aux_payload = [U64::<O>::new(24), U64::ZERO, U64::ZERO, U64::ZERO, U64::ZERO];
    let aux = record::<O>(RecordType::AUXTRACE, aux_payload.as_bytes());

    writer.record(&sample).unwrap();
    writer.record(&round).unwrap();
    writer.record(&odd).unwrap();
    writer.record_with_data(&aux, &data).unwrap();
    writer.record_with_data(&large, &[]).unwrap();
    let (raw, _) = perf_parse::RawRecord::<O>::parse(&aux).unwrap();
    writer.raw(&raw, &data).unwrap();
    // A feature of another capture, whose offsets are not valid in this file.
    writer.features().raw(Feature::AUXTRACE, b"stale").unwrap();
    writer.features().raw(Feature::COMPRESSED, b"stale").unwrap();
    let bytes = finish(writer);

    let file = File::open(&bytes).unwrap();
    let with_data = (aux.clone(), data.to_vec());
    let plain = |record: &Vec<u8>| (record.clone(), Vec::new());
    let expected = [plain(&sample), plain(&round), plain(&odd), with_data.clone(), plain(&large), with_data];
    assert_eq!(records(&file), expected);

    assert_eq!(
        file.features().iter().map(|section| section.feature).collect::<Vec<_>>(),
        [Feature::AUXTRACE]
    );
    let index = file.feature(Feature::AUXTRACE).unwrap().bytes;
    let first = file.header().data.offset + 40 + 8 + 11;
    let second = first + 72 + 65528;
    // perf, `auxtrace_queues__add_indexed_event`, refuses a size other than that of the record without its data.
    assert_eq!(index, [2, first, 48, second, 48].map(U64::<O>::new).as_bytes());
}

#[test]
fn records_and_the_data_behind_them() {
    records_in::<LittleEndian>();
    records_in::<BigEndian>();
}

#[test]
fn a_file_without_records_is_not_taken_for_an_unfinished_one() {
    let mut writer = writer::<LittleEndian>(&[event(1, &[1], None)]);
    writer.features().set(&FeatureData::Arch(ByteStr::new(b"s390x"))).unwrap();
    let bytes = finish(writer);
    let file = File::open(&bytes).unwrap();
    assert_eq!(file.account().diagnostics, []);
    let [(only, _)] = &records(&file)[..] else { panic!("one record is expected") };
    assert_eq!(kind::<LittleEndian>(only), RecordType::FINISHED_ROUND);
    assert_eq!(file.features().arch(), Ok(Some(ByteStr::new(b"s390x"))));
}

#[test]
fn a_writer_that_is_killed_leaves_events_and_records() {
    let mut out = Cursor::new(Vec::new());
    let events = [event(1, &[1, 2], Some("a")), event(2, &[3], Some("b"))];
    let mut writer = FileWriter::new(&mut out, &events, &options::<LittleEndian>()).unwrap();
    writer.features().set(&FeatureData::Hostname("never written".into())).unwrap();
    let sample = record::<LittleEndian>(RecordType::SAMPLE, &[1; 32]);
    writer.record(&sample).unwrap();
    drop(writer);

    let bytes = out.into_inner();
    let file = File::open(&bytes).unwrap();
    assert_eq!(file.header().data.size, 0);
    assert_eq!(file.header().features, [0; 4]);
    let ids: Vec<_> = file.events().iter().map(|event| event.ids.len()).collect();
    assert_eq!(ids, [2, 1]);
    let data = usize::try_from(file.header().data.offset).unwrap();
    assert_eq!(bytes[data..], sample);
}

#[test]
fn the_file_begins_where_the_output_does() {
    let mut out = Cursor::new(vec![0xff; 4]);
    out.seek(SeekFrom::End(0)).unwrap();
    out.write_all(b"junk").unwrap();
    let writer = FileWriter::new(out, &[], &options::<LittleEndian>()).unwrap();
    assert_eq!(finish(writer), finish(compare::rewrite::writer::<LittleEndian>(&[])));
}

#[test]
fn unit_scale_and_cpus_are_the_first_records() {
    let mut scaled = event(1, &[7], Some("energy"));
    scaled.unit = Some(b"Joules".to_vec());
    scaled.scale = Some(0.25);
    scaled.cpus = Some(vec![0, 65535]);
    let mut writer = writer::<BigEndian>(&[scaled]);
    let round = record::<BigEndian>(RecordType::FINISHED_ROUND, &[]);
    writer.record(&round).unwrap();
    let bytes = finish(writer);
    let file = File::open(&bytes).unwrap();
    let update = |kind: u64, payload: [u8; 8]| {
        let words = [kind.to_be_bytes(), 7_u64.to_be_bytes(), payload].concat();
        (record::<BigEndian>(RecordType::EVENT_UPDATE, &words), Vec::new())
    };
    let expected = [
        update(0, *b"Joules\0\0"),
        update(1, 0.25_f64.to_be_bytes()),
        update(3, [0, 0, 0, 2, 0, 0, 0xff, 0xff]),
        (round, Vec::new()),
    ];
    assert_eq!(records(&file), expected);
}

/// Records of different sizes and types.
fn several<O: Endian>() -> Vec<Vec<u8>> {
    let kinds = [RecordType::SAMPLE, RecordType::COMM, RecordType::FINISHED_ROUND, RecordType::LOST];
    (0..4000_usize).map(|at| record::<O>(kinds[at % 4], &vec![at as u8; 8 * (at % 7)])).collect()
}

fn records_at_once_in<O: Endian>(options: &WriteOptions) {
    let begin = || FileWriter::new(Cursor::new(Vec::new()), &[event(1, &[1], None)], options).unwrap();
    let (mut one_by_one, mut at_once) = (begin(), begin());
    for record in several::<O>() {
        one_by_one.record(&record).unwrap();
    }
    for records in several::<O>().chunks(999) {
        at_once.records(&records.concat()).unwrap();
    }
    assert!(one_by_one.finish().unwrap() == at_once.finish().unwrap(), "{options:?}");
    // Those before a fault are written.
    let (mut before, mut cut) = (begin(), begin());
    let good = several::<O>();
    good.iter().for_each(|record| before.record(record).unwrap());
    let mut bytes = good.concat();
    bytes.extend(record::<O>(RecordType::COMPRESSED, &[0; 8]));
    bytes.extend(record::<O>(RecordType::COMM, &[0; 8]));
    let error = cut.records(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("record 4000: COMPRESSED"), "{error}");
    assert!(before.finish().unwrap() == cut.finish().unwrap());
}

#[test]
fn records_at_once_are_the_same_as_one_by_one() {
    records_at_once_in::<LittleEndian>(&options::<LittleEndian>());
    records_at_once_in::<BigEndian>(&options::<BigEndian>());
    #[cfg(feature = "zstd")]
    {
        let zstd = Some(perf_parse::file::write::ZstdOptions::default());
        records_at_once_in::<LittleEndian>(&WriteOptions { zstd, ..options::<LittleEndian>() });
    }
}
