//! Data that cannot be written is rejected, with an error that states what to do.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use perf_parse::abi::attr::AttrVersion;
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::feature::{BuildId, CpuPlace, CpuTopology, Dies, Entries, FeatureData, PmuMapping};
use perf_parse::file::write::{
    EventFields, FeaturePayloads, FileWriter, PipeWriter, RecordFault, WriteFileError, WriteOptions,
    ZstdOptions,
};
use perf_parse::{ByteStr, RawRecord};

use compare::rewrite::{File, event, finish, options, record, records, writer};

fn file_error(events: &[EventFields], options: &WriteOptions) -> String {
    let refused = FileWriter::new(Cursor::new(Vec::new()), events, options);
    refused.unwrap_err().to_string()
}

fn pipe_error(events: &[EventFields], features: &FeaturePayloads) -> String {
    let mut out = Vec::new();
    let refused = PipeWriter::new(&mut out, events, features, &options::<BigEndian>());
    let error = refused.unwrap_err().to_string();
    assert_eq!(out, b"", "nothing is written before all of it can be");
    error
}

fn of_version(version: AttrVersion) -> WriteOptions {
    WriteOptions { attr_version: Some(version), ..WriteOptions::default() }
}

#[test]
fn attrs_that_do_not_fit() {
    let mut second = event(2, &[2], Some("b"));
    second.attr.clockid = 1;
    assert_eq!(
        file_error(&[event(1, &[1], Some("a")), second], &of_version(AttrVersion::VER2)),
        "event 1: attr.clockid: is set, but needs an attr of at least 96 bytes, not 80: choose a newer \
         attr_version, or none"
    );
    assert_eq!(
        file_error(&[], &of_version(AttrVersion(100))),
        "attr_version: must be one of AttrVersion::ALL"
    );
    let mut newer = event(1, &[1], None);
    newer.attr_tail = vec![0; 8];
    let zeros = FileWriter::new(Cursor::new(Vec::new()), &[newer.clone()], &of_version(AttrVersion::VER9));
    assert!(zeros.is_ok());
    let mut huge = newer.clone();
    huge.attr_tail = vec![0; 65393];
    assert_eq!(
        file_error(&[newer.clone(), huge], &WriteOptions::default()),
        "event 1: attr_tail: must be at most 65392 bytes, as an attr has 65536"
    );
    newer.attr_tail[7] = 1;
    assert_eq!(
        file_error(&[newer], &of_version(AttrVersion::VER9)),
        "event 0: attr_tail: must be zeros, as the chosen attr_version has no room for it: leave attr_version out"
    );
}

#[test]
fn events_that_cannot_be_told() {
    assert_eq!(
        file_error(&[event(1, &[1], Some("a")), event(2, &[2], None)], &WriteOptions::default()),
        "event 1: name: must be given, as another event has one: a file names all of its events or none"
    );
    assert_eq!(
        file_error(&[event(1, &[1], Some("a\0b"))], &WriteOptions::default()),
        "event 0: name: must be free of NULs"
    );
    let mut strange = event(1, &[], None);
    strange.unit = Some(b"\0".to_vec());
    assert_eq!(file_error(&[strange], &WriteOptions::default()), "event 0: unit: must be free of NULs");
    let mut far = event(1, &[], None);
    far.cpus = Some(vec![65536]);
    assert_eq!(
        file_error(&[far], &WriteOptions::default()),
        "event 0: cpus: must be at most 65535, and as many"
    );
    let mut many = event(1, &[], None);
    many.cpus = Some(vec![1; 40000]);
    assert_eq!(
        file_error(&[many], &WriteOptions::default()),
        "event 0: cpus: must be shorter than a record, whose 65535 bytes it has to fit into"
    );
    let none = FeaturePayloads::new_in(Endianness::Big);
    assert_eq!(
        pipe_error(&[event(1, &[], Some("a")), event(2, &[], Some("b"))], &none),
        "event 1: ids: must be one at least, by which its name, unit, scale or cpus refer to it"
    );
    assert_eq!(
        pipe_error(&[event(1, &vec![1; 8192], None)], &none),
        "event 0: ids: must be so few that they fit into a record of 65535 bytes with the attr: write a file instead"
    );
}

#[test]
fn features_of_another_byte_order() {
    assert_eq!(
        pipe_error(&[], &FeaturePayloads::new_in(Endianness::Little)),
        "endianness: must be that of the features"
    );
    let order = |features: FeaturePayloads| features.endianness();
    assert_eq!(order(FeaturePayloads::new()), Endianness::NATIVE);
    assert_eq!(order(FeaturePayloads::default()), Endianness::NATIVE);
    assert_eq!(*writer::<BigEndian>(&[]).features(), FeaturePayloads::new_in(Endianness::Big));
}

fn a_record_of_another_byte_order_in<O: Endian, Other: Endian>(name: &str) {
    let mut writer = writer::<O>(&[]);
    let bytes = record::<Other>(RecordType::SAMPLE, &[1; 24]);
    let (raw, _) = RawRecord::<Other>::parse(&bytes).unwrap();
    for refused in [writer.raw(&raw, &[]), writer.raw(&raw.untyped(), &[])] {
        let refused = refused.unwrap_err();
        let fault = RecordFault::ByteOrder { endianness: Other::ENDIANNESS };
        assert!(matches!(&refused, WriteFileError::Record { fault: found, .. } if *found == fault));
        assert_eq!(
            refused.to_string(),
            format!(
                "record 0: SAMPLE: is {name}-endian, unlike the capture: decode it and encode its fields, or write a \
                 {name}-endian capture"
            )
        );
    }
    let bytes = record::<O>(RecordType::SAMPLE, &[1; 24]);
    writer.raw(&RawRecord::<O>::parse(&bytes).unwrap().0.untyped(), &[]).unwrap();
}

#[test]
fn a_record_of_another_byte_order() {
    a_record_of_another_byte_order_in::<LittleEndian, BigEndian>("big");
    a_record_of_another_byte_order_in::<BigEndian, LittleEndian>("little");
}

#[test]
fn features_that_cannot_be_told() {
    let features = &mut FeaturePayloads::new_in(Endianness::Little);
    let error = |result: Result<(), WriteFileError>| result.unwrap_err().to_string();
    for number in [0, 256, u32::MAX] {
        let refused = error(features.raw(Feature(number), b""));
        assert!(refused.ends_with(": must be a number from 1 to 255"), "{refused}");
    }
    let nul = b"a\0b";
    assert_eq!(
        error(features.set(&FeatureData::Arch(nul.into()))),
        "feature ARCH: string: must be free of NULs"
    );
    assert_eq!(
        error(features.set(&FeatureData::CmdLine(Entries::from(&[ByteStr::new(b""), nul.into()])))),
        "feature CMDLINE: string: must be free of NULs"
    );
    let pmu = PmuMapping { kind: EventType::RAW, name: nul.into() };
    assert_eq!(
        error(features.set(&FeatureData::PmuMappings(Entries::from(&[pmu])))),
        "feature PMU_MAPPINGS: name: must be free of NULs"
    );
    fn build_ids<'a>(ids: &'a [BuildId<'a>]) -> FeatureData<'a> {
        FeatureData::BuildId(Entries::from(ids))
    }
    let build_id =
        |build_id, filename| BuildId { misc: Misc(2), pid: 0, build_id, filename: ByteStr::new(filename) };
    assert_eq!(
        error(features.set(&build_ids(&[build_id(&[0; 21], b"")]))),
        "feature BUILD_ID: build_id: must be at most 20 bytes"
    );
    assert_eq!(
        error(features.set(&build_ids(&[build_id(&[0; 20], nul)]))),
        "feature BUILD_ID: filename: must be free of NULs"
    );
    assert_eq!(
        error(features.set(&build_ids(&[build_id(&[0; 20], &[b'x'; 65500])]))),
        "feature BUILD_ID: filename: must be so short that the entry has at most 65535 bytes"
    );
    let places = [CpuPlace { core_id: 0, socket_id: 0 }; 2];
    for (cpus, die_ids) in [(2, 1), (0, 1), (1, 0)] {
        let none = Entries::default();
        let dies = Dies { die_siblings: none, die_ids: Entries::from(&[1][..die_ids]) };
        let cpus = Entries::from(&places[..cpus]);
        let topology = CpuTopology { core_siblings: none, thread_siblings: none, cpus, dies: Some(dies) };
        assert_eq!(
            error(features.set(&FeatureData::CpuTopology(topology))),
            "feature CPU_TOPOLOGY: die_id: must be given for every cpu, and for no other"
        );
    }
    assert_eq!(features.iter().count(), 0);
}

#[test]
fn a_big_endian_file_whose_features_would_be_taken_for_others() {
    let finish = |with: &[Feature]| {
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[], &options::<BigEndian>()).unwrap();
        for &feature in with {
            writer.features().raw(feature, b"x").unwrap();
        }
        writer.finish().map(drop).map_err(|error| error.to_string())
    };
    let refused =
        Err("feature HOSTNAME: must be given beside features from 32 on, or a reader of a big-endian file \
                       takes them for others"
            .to_owned());
    assert_eq!(finish(&[Feature(34)]), refused);
    assert_eq!(finish(&[Feature(2), Feature(35)]), refused);
    assert_eq!(finish(&[Feature(2), Feature(34)]), Ok(()));
    assert_eq!(finish(&[Feature::HOSTNAME, Feature(35)]), Ok(()));
}

#[test]
fn features_that_a_pipe_does_not_have() {
    for feature in [
        Feature::BRANCH_STACK,
        Feature::AUXTRACE,
        Feature::STAT,
        Feature::CACHE,
        Feature::DIR_FORMAT,
        Feature::HYBRID_TOPOLOGY,
    ] {
        let mut features = FeaturePayloads::new_in(Endianness::Big);
        features.raw(feature, &[1]).unwrap();
        assert_eq!(
            pipe_error(&[], &features),
            format!("feature {feature}: must be left out of a pipe: only files have it")
        );
    }
    let mut features = FeaturePayloads::new_in(Endianness::Big);
    features.raw(Feature(35), &[]).unwrap();
    assert_eq!(
        pipe_error(&[], &features),
        "feature 35: must be left out of a pipe: a reader would take it for the end of the features"
    );
    let mut features = FeaturePayloads::new_in(Endianness::Big);
    features.raw(Feature::BPF_BTF, &[0; 65520]).unwrap();
    assert_eq!(
        pipe_error(&[], &features),
        "feature BPF_BTF: must be so short that it fits into a record of 65535 bytes: write a file instead"
    );
    let mut features = FeaturePayloads::new_in(Endianness::Big);
    features.raw(Feature::BUILD_ID, &[0; 36]).unwrap();
    assert_eq!(
        pipe_error(&[], &features),
        "feature BUILD_ID: must be entries that are whole and fit into a record each, as build_ids makes them"
    );
}

#[test]
fn records_that_do_not_fit_their_header() {
    type O = LittleEndian;
    let mut writer = writer::<O>(&[]);
    let sample = record::<O>(RecordType::SAMPLE, &[1; 24]);
    writer.record(&sample).unwrap();

    let long = [&sample[..], &[0; 8]].concat();
    let kernel_odd = record::<O>(RecordType::LOST, &[0; 17]);
    let auxtrace = record::<O>(RecordType::AUXTRACE, &[16, 0, 0, 0, 0, 0, 0, 0]);
    let tracing = record::<O>(RecordType::HEADER_TRACING_DATA, &[8, 0, 0, 0]);
    let cases: [(&[u8], &[u8], RecordFault, &str); 11] = [
        (
            &sample[..7],
            b"",
            RecordFault::Header { len: 7 },
            "record 1: has 7 bytes, fewer than the header's 8: give a whole record",
        ),
        (
            &sample[..24],
            b"",
            RecordFault::Size { size: 32, len: 24 },
            "record 1: SAMPLE: header.size is 32, but 24 bytes are given: give one record, and all of it",
        ),
        (
            &long,
            b"",
            RecordFault::Size { size: 32, len: 40 },
            "record 1: SAMPLE: header.size is 32, but 40 bytes are given: give one record, and all of it",
        ),
        (
            b"\x09\0\0\0\0\0\x07\0",
            b"",
            RecordFault::Size { size: 7, len: 8 },
            "record 1: SAMPLE: header.size is 7, but 8 bytes are given: give one record, and all of it",
        ),
        (
            &kernel_odd,
            b"",
            RecordFault::Unaligned { size: 25 },
            "record 1: LOST: header.size is 25, not a multiple of 8: pad the record's last field",
        ),
        (
            &record::<O>(RecordType::COMPRESSED, &[0; 3]),
            b"",
            RecordFault::Compressed,
            "record 1: COMPRESSED: holds compressed records: decompress them, write those, and let the writer compress",
        ),
        (
            &record::<O>(RecordType::COMPRESSED2, &[0; 16]),
            b"",
            RecordFault::Compressed,
            "record 1: COMPRESSED2: holds compressed records: decompress them, write those, and let the writer compress",
        ),
        (
            &auxtrace,
            b"",
            RecordFault::Data { needed: 16, given: 0 },
            "record 1: AUXTRACE: says that 16 bytes of data stand behind it, but 0 are given: give these",
        ),
        (
            &tracing,
            &[0; 9],
            RecordFault::Data { needed: 8, given: 9 },
            "record 1: HEADER_TRACING_DATA: says that 8 bytes of data stand behind it, but 9 are given: give these",
        ),
        (
            &sample,
            &[0; 8],
            RecordFault::Data { needed: 0, given: 8 },
            "record 1: SAMPLE: no data stands behind this record, but 8 bytes are given: leave them out",
        ),
        (
            &record::<O>(RecordType::AUXTRACE, &[0; 4]),
            b"",
            RecordFault::Payload { size: 12 },
            "record 1: AUXTRACE: header.size is 12, too small for the size of the data behind it: give all of it",
        ),
    ];
    for (bytes, data, expected, message) in cases {
        let refused = writer.record_with_data(bytes, data).unwrap_err();
        assert_eq!(refused.to_string(), message);
        let WriteFileError::Record { index: 1, fault, .. } = refused else { panic!("{refused}") };
        assert_eq!(fault, expected);
    }
    writer.record(&sample).unwrap();
    // Nothing rejected is in the file.
    let bytes = finish(writer);
    let read = records(&File::open(&bytes).unwrap());
    assert_eq!(read, [(sample.clone(), vec![]), (sample, vec![])]);
}

#[test]
fn a_header_of_the_other_byte_order() {
    let mut writer = writer::<BigEndian>(&[]);
    let little = record::<LittleEndian>(RecordType::FINISHED_ROUND, &[]);
    let refused = writer.record(&little).unwrap_err();
    assert!(matches!(
        refused,
        WriteFileError::Record { fault: RecordFault::Size { size: 0x800, len: 8 }, .. }
    ));
}

#[cfg(not(feature = "zstd"))]
#[test]
fn compression_without_the_library() {
    let options = WriteOptions { zstd: Some(ZstdOptions::default()), ..WriteOptions::default() };
    assert_eq!(
        file_error(&[], &options),
        "zstd: must be None: perf-parse is built without its feature `zstd`, which compresses"
    );
}

#[test]
fn compression_that_there_is_not() {
    let error = |zstd| file_error(&[], &WriteOptions { zstd: Some(zstd), ..WriteOptions::default() });
    for level in [0, 23] {
        assert_eq!(error(ZstdOptions { level, ..ZstdOptions::default() }), "zstd.level: must be 1 to 22");
    }
    assert_eq!(
        error(ZstdOptions { record: RecordType::SAMPLE, ..ZstdOptions::default() }),
        "zstd.record: must be COMPRESSED or COMPRESSED2"
    );
}

/// An output with room for `left` bytes.
#[derive(Debug)]
struct Full {
    left: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn nothing_follows_a_write_that_failed() {
    let sample = record::<LittleEndian>(RecordType::SAMPLE, &[1; 24]);
    let options = options::<LittleEndian>();
    let refused = FileWriter::new(Full { left: 100 }, &[], &options).unwrap_err();
    assert!(matches!(&refused, WriteFileError::Io(error) if error.kind() == io::ErrorKind::StorageFull));
    assert_eq!(refused.to_string(), "full");

    // The second record fails halfway. If room became free later, it would only hide the failure.
    let mut writer = FileWriter::new(Full { left: 104 + 32 + 10 }, &[], &options).unwrap();
    writer.record(&sample).unwrap();
    assert!(matches!(writer.record(&sample), Err(WriteFileError::Io(_))));
    assert!(matches!(writer.record(&sample), Err(WriteFileError::Broken)));
    assert!(matches!(writer.flush(), Err(WriteFileError::Broken)));
    let broken = writer.finish().unwrap_err();
    assert_eq!(broken.to_string(), "the output failed before: write the capture again, from the start");
}

#[cfg(feature = "zstd")]
#[test]
fn nothing_waits_to_be_compressed_after_a_write_that_failed() {
    let sample = record::<LittleEndian>(RecordType::SAMPLE, &[1; 24]);
    let options = WriteOptions { zstd: Some(ZstdOptions::default()), ..options::<LittleEndian>() };
    let mut writer = FileWriter::new(Full { left: 104 + 4 }, &[], &options).unwrap();
    writer.record(&sample).unwrap();
    assert!(matches!(writer.flush(), Err(WriteFileError::Io(_))));
    assert!(matches!(writer.record(&sample), Err(WriteFileError::Broken)));
}
