//! The records of the perf tool itself in the captures.

use alloc::collections::BTreeMap;
use std::path::Path;

use perf_parse::Reader;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMapType, CpuMode, Misc};

use super::*;

fn capture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/captures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the records of a little-endian capture; for a file, those of its data section.
fn raw_records(bytes: &[u8]) -> Vec<RawRecord<'_, LittleEndian>> {
    if bytes[8] != 16 {
        let reader = match Reader::new(bytes) {
            Ok(reader) if reader.endianness() == Endianness::Little => reader,
            _ => return Vec::new(),
        };
        let mut records: Vec<RawRecord<'_, LittleEndian>> = Vec::new();
        let mut last = 0;
        for record in reader.records() {
            // Compressed records are represented once, by the record that holds them.
            let offset = record.unwrap().offset();
            if offset != last {
                last = offset;
                records.push(RawRecord::parse(&bytes[usize::try_from(last).unwrap()..]).unwrap().0);
            }
        }
        return records;
    }
    assert_eq!(bytes[..16], *b"PERFILE2\x10\0\0\0\0\0\0\0");
    let mut rest = &bytes[16..];
    let mut out = Vec::new();
    while !rest.is_empty() {
        let (raw, behind) = RawRecord::parse(rest).unwrap();
        rest = match raw.decode_user().unwrap() {
            // The formats follow the record.
            Record::User(UserRecord::HeaderTracingData(it), _) => &behind[it.size as usize..],
            _ => behind,
        };
        out.push(raw);
    }
    out
}

/// Returns the records of the perf tool itself, all of which must decode.
fn user_records<'a>(raw: &[RawRecord<'a, LittleEndian>]) -> Vec<(RecordType, UserRecord<'a>)> {
    let mut out = Vec::new();
    for raw in raw.iter().filter(|raw| raw.kind().is_user()) {
        match raw.decode_user().unwrap() {
            Record::User(record, kind) => out.push((kind, record)),
            other => panic!("{other:?}"),
        }
    }
    out
}

/// Returns the number of records of each type.
fn histogram(records: &[(RecordType, UserRecord<'_>)]) -> Vec<(u32, usize)> {
    let mut out = BTreeMap::new();
    records.iter().for_each(|(kind, _)| *out.entry(kind.0).or_default() += 1);
    out.into_iter().collect()
}

/// In every capture every record of a user type is known, and perf 6.1 padded only with zeros.
#[test]
fn all_captures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/captures");
    let mut captures = 0;
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".data") {
            continue;
        }
        captures += 1;
        let bytes = capture(&name);
        for (kind, record) in user_records(&raw_records(&bytes)) {
            touch(&record);
            assert!(!matches!(record, UserRecord::Other(_)), "{name}: {kind}");
            assert!(record.rest().iter().all(|&byte| byte == 0), "{name}: {record:?}");
            *all.entry(kind.0).or_insert(0) += 1;
        }
    }
    assert!(captures >= 32, "of {captures} captures");
    let kinds: Vec<_> = all.into_keys().collect();
    assert_eq!(kinds, [64, 66, 67, 68, 69, 73, 74, 75, 76, 77, 78, 80, 81, 82]);
}

#[test]
fn perf_stat_capture() {
    let bytes = capture("perf_stat.data");
    let records = user_records(&raw_records(&bytes));
    assert_eq!(histogram(&records), [(73, 1), (74, 1), (75, 1), (76, 8), (77, 3), (78, 2)]);
    let mut counts = Vec::new();
    let mut rounds = Vec::new();
    for (_, record) in &records {
        match record {
            UserRecord::CpuMap(it) => {
                assert_eq!(it.data.kind(), CpuMapType::CPUS);
                assert_eq!(it.data.cpus().collect::<Vec<_>>(), [-1]);
            }
            UserRecord::StatConfig(it) => {
                let entries = it.entries.iter().map(|entry| (entry.tag.0, entry.val));
                assert_eq!(entries.collect::<Vec<_>>(), [(0, 1), (1, 20), (2, 1)]);
            }
            UserRecord::Stat(it) => {
                assert_eq!((it.cpu, it.thread), (-1, 0));
                counts.push((it.id, it.val));
            }
            UserRecord::StatRound(it) => rounds.push((it.kind.0, it.time)),
            UserRecord::ThreadMap(it) => {
                assert_eq!((it.entries.len(), it.entries.first().map(|entry| entry.pid)), (1, Some(9026)));
            }
            UserRecord::EventUpdate(it) => assert_eq!(it.id, 856),
            other => panic!("{other:?}"),
        }
    }
    let expected = [
        (855, 50),
        (856, 19_718_754),
        (855, 50),
        (856, 39_972_557),
        (855, 51),
        (856, 51_588_916),
        (855, 51),
        (856, 51_588_916),
    ];
    assert_eq!(counts, expected);
    assert_eq!(rounds, [(0, 20_103_924), (0, 40_355_233), (0, 52_223_001)]);
}

#[test]
fn callchain_capture() {
    let bytes = capture("callchain.data");
    let records = user_records(&raw_records(&bytes));
    assert_eq!(histogram(&records), [(68, 1), (69, 1), (73, 1), (74, 1), (78, 2), (82, 1)]);
    let updates: Vec<_> = records
        .iter()
        .filter_map(|(_, record)| match record {
            UserRecord::EventUpdate(it) => Some(it),
            _ => None,
        })
        .collect();
    assert!(matches!(updates[0].data, EventUpdateData::Unit(b"msec")));
    // perf gives a scale the size of the largest update: padding of more than 8 bytes.
    assert!(matches!(updates[1].data, EventUpdateData::Scale(scale) if scale == 1e-6));
    assert_eq!((updates[0].id, updates[1].id, updates[1].rest), (530, 530, &[0; 16][..]));
    let range = records.iter().find_map(|(_, record)| match record {
        UserRecord::CpuMap(it) => Some(it.data.cpus().collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(range.unwrap(), [0, 1]);
}

#[test]
fn tracing_pipe_capture() {
    let bytes = capture("tracing.pipe.data");
    let records = user_records(&raw_records(&bytes));
    let expected = [(64, 1), (66, 1), (68, 1), (69, 1), (73, 1), (74, 1), (78, 1), (80, 19), (82, 1)];
    assert_eq!(histogram(&records), expected);
    let mut ids = None;
    let mut features = Vec::new();
    for (_, record) in &records {
        match record {
            UserRecord::HeaderAttr(it) => {
                let attr = it.attr().attr;
                assert_eq!((attr.kind, attr.size), (EventType::TRACEPOINT, 128));
                ids = Some(it.ids.iter().collect::<Vec<_>>());
            }
            // The update has the first id of the attr.
            UserRecord::EventUpdate(it) => {
                assert!(matches!(it.data, EventUpdateData::Name(b"raw_syscalls:sys_enter")));
                assert_eq!(it.id, ids.as_ref().unwrap()[0]);
            }
            UserRecord::IdIndex(it) => {
                let index: Vec<_> = it.entries.iter().map(|entry| entry.id).collect();
                assert_eq!((Some(index), it.guests), (ids.clone(), None));
            }
            UserRecord::HeaderFeature(it) => features.push((it.feature().unwrap(), it.data)),
            _ => {}
        }
    }
    // The length of the string, and the string.
    let hostname = features.iter().find(|(feature, _)| *feature == Feature::HOSTNAME).unwrap().1;
    let len = u32::from_le_bytes(hostname[..4].try_into().unwrap()) as usize;
    assert_eq!(hostname.len(), 4 + len);
    // The mark that ends the features is one past the writer's last feature, which in perf 6.1 was PMU_CAPS.
    assert_eq!(*features.last().unwrap(), (Feature(Feature::PMU_CAPS.0 + 1), &[][..]));
}

#[test]
fn buildid_pipe_capture() {
    let bytes = capture("buildid.pipe.data");
    let records = user_records(&raw_records(&bytes));
    let names = records.iter().filter_map(|(_, record)| match record {
        UserRecord::HeaderBuildId(it) => {
            // Among the tools of perf 6.1, inject does not write the length.
            assert_eq!((it.misc.contains(Misc::BUILD_ID_SIZE), it.build_id.len()), (false, 20));
            Some((it.pid, it.cpumode(), it.filename.to_str().unwrap()))
        }
        _ => None,
    });
    let names: Vec<_> = names.collect();
    assert_eq!(names.len(), 3);
    assert_eq!(names[1], (-1, CpuMode::USER, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
}
