//! Captures made to cause as much memory and as many steps as possible.

use std::io::Cursor;

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{FileErrorKind, Limits};
use perf_parse::rewrite::{RepairOrder, repair};

use crate::drive::{Steps, drive, drive_within, limit};
use crate::peak;
use testdata::Bytes;
use testdata::file::Builder;

fn attr() -> Attr {
    Attr {
        sample_type: SampleType::TIME | SampleType::IDENTIFIER,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    }
}

fn builder() -> Builder {
    Builder { version: AttrVersion::VER0, ..Builder::new(false) }
}

fn le() -> Bytes {
    Bytes::new(false)
}

/// Makes a pipe of records.
fn pipe(records: &[u8]) -> Vec<u8> {
    le().raw(b"PERFILE2").u64(16).raw(records).out
}

/// Makes a record with the smallest attr and with `ids`.
fn header_attr(ids: &[u64]) -> Vec<u8> {
    let attr = attr();
    let words = [0, 64 << 32, 0, 0, attr.sample_type.0, 0, attr.flags.0, 0];
    le().u32(words[0] as u32).u32(64).u64s(&words[2..]).u64(0).u64s(ids).record(64, 0)
}

#[test]
fn as_many_events_as_there_may_be() {
    let one = builder().event(attr(), &[]).build();
    let entry = &one.bytes[one.attrs..one.attrs + one.stride];
    for count in [65_536, 65_537, 200_000] {
        let mut file = one.bytes[..one.attrs].to_vec();
        (0..count).for_each(|_| file.extend_from_slice(entry));
        let size = (count * one.stride) as u64;
        file[32..40].copy_from_slice(&size.to_le_bytes());
        file[40..48].copy_from_slice(&(one.attrs as u64 + size).to_le_bytes());
        drive(&file).unwrap();
    }
}

#[test]
fn as_many_ids_as_there_may_be() {
    let rising: Vec<u64> = (0..300_000).collect();
    let mixed: Vec<u64> = rising.iter().map(|id| id.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let same = vec![7; 300_000];
    for ids in [rising, mixed, same] {
        drive(&builder().event(attr(), &ids).event(attr(), &[]).build().bytes).unwrap();
    }
    // Events that share their ids have no more of them than the file has words.
    let ids: Vec<u64> = (0..10_000).collect();
    let shared = builder().event(attr(), &ids);
    let mut shared = (0..1000).fold(shared, |file, _| file.event(attr(), &[])).build();
    let (offset, size) = (104_u64.to_le_bytes(), 80_000_u64.to_le_bytes());
    for entry in shared.bytes[shared.attrs..shared.data].chunks_exact_mut(shared.stride) {
        entry[64..72].copy_from_slice(&offset);
        entry[72..80].copy_from_slice(&size);
    }
    drive(&shared.bytes).unwrap();
}

#[test]
fn as_many_runs_as_there_may_be() {
    // Descending times: each of the smallest records with a time is a run of its own.
    let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    for count in [100_000, 250_000] {
        let data: Vec<u8> = (1..=count).rev().flat_map(|time| le().u64(time).record(9, 0)).collect();
        drive(&builder().event(attr, &[]).data(data).build().bytes).unwrap();
    }
}

/// The records held for time order need no more memory than the limits permit, whatever the size of the capture.
#[test]
fn as_much_held_back_as_the_limits_allow() {
    let mut limits = Limits::default();
    (limits.held_records, limits.held_bytes) = (20_000, 1 << 20);
    let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    let falling: Vec<u8> = (1..=300_000).rev().flat_map(|time| le().u64(time).record(9, 0)).collect();
    let mixed: Vec<u8> = (1..=300_000_u64)
        .flat_map(|n| le().u64(1 + (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40)).record(9, 0))
        .collect();
    let equal = le().u64(5).record(9, 0).repeat(300_000);
    for data in [falling, mixed, equal] {
        let file = builder().event(attr, &[]).data(&data).build().bytes;
        let (count, taken) = peak(|| by_time(&Reader::new_within(&file, &limits).unwrap()));
        assert_eq!(count, 300_000);
        assert!(taken <= 40 * 20_000 + (64 << 10), "{taken} bytes");
        // Each copy has 40 bytes, so the limit of bytes is not reached first.
        let words = [64 << 32, 0, 0, attr.sample_type.0, 0, 0, 0, 0];
        let stream = pipe(&[le().u64s(&words).record(64, 0), data].concat());
        let (count, taken) = peak(|| by_time(&Reader::stream_within(stream.as_slice(), &limits).unwrap()));
        assert_eq!(count, 300_001);
        assert!(taken <= 40 * 20_000 + 3 * (1 << 20) + (256 << 10), "{taken} bytes");
    }
}

/// Reads to the end in time order; returns the number of records.
fn by_time(reader: &Reader<'_>) -> usize {
    reader.records().in_time_order().map(Result::unwrap).count()
}

#[test]
fn as_many_faults_as_there_may_be() {
    let faulty = Attr { sample_type: SampleType(1 << 60), ..attr() };
    let file = (0..20_000).fold(builder(), |file, _| file.event(faulty, &[])).build();
    drive(&file.bytes).unwrap();
    // Every other record has no event.
    let data = [le().u64(1).u64(9).record(14, 0), le().u64(1).u64(1).record(14, 0)].concat().repeat(20_000);
    let file = builder().event(attr(), &[1]).event(attr(), &[2]).data(data).build();
    assert_eq!(drive(&file.bytes).unwrap().records, 40_000);
}

#[test]
fn as_many_records_held_back_as_there_may_be() {
    // If several events have ids, a record with a time has at least 24 bytes; 16 for a single event.
    let single = Attr { sample_type: SampleType::TIME, ..attr() };
    let record = le().u64(5).record(14, 0);
    let file = builder().event(single, &[]).data(record.repeat(300_000)).build();
    assert_eq!(drive(&file.bytes).unwrap().records, 300_000);
    let round = le().record(68, 0);
    let rounds = [record.repeat(500), round].concat().repeat(400);
    let file = builder().event(single, &[]).data(rounds).build();
    assert_eq!(drive(&file.bytes).unwrap().records, 200_400);
}

#[test]
fn boundaries_lost_as_often_as_they_can_be() {
    // Data that seems to follow every fifth record, but does not.
    let chain =
        [le().u64(5).record(14, 0).repeat(4), le().u64s(&[1 << 40, 0, 0, 0, 0]).record(71, 0)].concat();
    for count in [100, 1000, 4000] {
        let data = chain.repeat(count);
        let len = data.len();
        let single = Attr { sample_type: SampleType::TIME, ..attr() };
        let Steps { calls, .. } = drive(&builder().event(single, &[]).data(data).build().bytes).unwrap();
        assert!(calls <= len / 16 + 16, "{calls} calls for {len} bytes");
    }
    // Bytes that are no record.
    for byte in [0, 1, 8, 9, 0xff] {
        let noise = builder().event(attr(), &[]).data(vec![byte; 100_000]).build();
        assert!(drive(&noise.bytes).unwrap().calls <= 100_000 / 8 + 16);
    }
}

#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[test]
fn payloads_of_nothing() {
    let file = builder().event(attr(), &[]).data(le().record(81, 0).repeat(200_000)).build();
    drive(&file.bytes).unwrap();
}

#[test]
fn features_of_the_shortest_items() {
    let string = le().u32(1).raw(&[0]).out;
    let file = |feature: Feature, head: &[u32], item: &[u8]| {
        let count = 200_000_u32;
        let head = head.iter().fold(le(), |bytes, &word| bytes.u32(word));
        let section = head.u32(count).raw(&item.repeat(count as usize)).out;
        let file = builder().event(attr(), &[]).feature(feature.0, section).build().bytes;
        // A decoded list needs up to 5 bytes for each byte of its section.
        drive_within(&file, 5 * file.len() + (1 << 20)).unwrap();
    };
    let zero = [0_u8; 4];
    file(Feature::CMDLINE, &[], &string);
    file(Feature::GROUP_DESC, &[], &[&string[..], &zero, &zero].concat());
    file(Feature::PMU_MAPPINGS, &[], &[&zero, &string[..]].concat());
    file(Feature::CPU_PMU_CAPS, &[], &string.repeat(2));
    file(Feature::PMU_CAPS, &[], &[&zero, &string[..]].concat());
    file(Feature::HYBRID_TOPOLOGY, &[], &string.repeat(2));
    file(Feature::CACHE, &[1], &[&[0; 16], &string.repeat(3)[..]].concat());
    file(Feature::CPU_DOMAIN_INFO, &[15, 3, 1], &[&zero, &string[..], &string].concat());
    file(Feature::BPF_BTF, &[], &[0; 8]);
    // CPUs without domains: the count is the number of the first CPU.
    file(Feature::CPU_DOMAIN_INFO, &[15, 3], &[0; 8]);
}

#[test]
fn sections_that_each_are_all_of_the_features() {
    // Features without a name, so that nothing is decoded and everything is kept.
    let file = (100..=255)
        .fold(builder().event(attr(), &[]).data(le().u64s(&[5, 0]).record(9, 0)), |file, number| {
            file.feature(number, vec![number as u8; if number == 100 { 1 << 20 } else { 1 }])
        });
    let mut built = file.build();
    let [offset, size] = [built.table, built.table + 8].map(|at| built.bytes[at..at + 8].to_vec());
    for entry in built.bytes[built.table..].chunks_exact_mut(16).take(156) {
        entry.copy_from_slice(&[&*offset, &*size].concat());
    }
    drive(&built.bytes).unwrap();
    let reader = Reader::new(&built.bytes).unwrap();
    let in_sections: usize = reader.features().iter().map(|it| it.bytes.len()).sum();
    assert_eq!(in_sections, 1 << 20);
    let overlaps = |kind| matches!(kind, FileErrorKind::Overlap { .. });
    assert_eq!(reader.account().diagnostics.iter().filter(|it| overlaps(it.kind)).count(), 155);
    let (repaired, taken) = peak(|| {
        repair(&reader, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
    });
    assert!(repaired.len() < built.bytes.len() + 4096, "{} bytes", repaired.len());
    assert!(taken < limit(built.bytes.len()), "{taken} bytes live");
}

#[test]
fn a_pipe_of_attrs_and_features() {
    // 1 KiB for each event. A file needs less, because it has the number of events.
    let count = 70_000;
    let events = pipe(&header_attr(&[]).repeat(count));
    drive_within(&events, limit(events.len()) + (count << 10)).unwrap();
    let ids: Vec<u64> = (0..8000).collect();
    let records: Vec<u8> = (0..100_u64)
        .flat_map(|event| header_attr(&ids.iter().map(|id| id * 100 + event).collect::<Vec<_>>()))
        .collect();
    let ids = pipe(&records);
    drive_within(&ids, 2 * limit(ids.len())).unwrap();
    // More features than possible.
    let features: Vec<u8> =
        (0..50_000).flat_map(|number| le().u64(number).raw(&[1; 8]).record(80, 0)).collect();
    drive(&pipe(&features)).unwrap();
    // A long name for each of many events.
    let events = header_attr(&[]).repeat(1000);
    let name = le().u64(0).raw(&[b'a'; 60_000]).record(65, 0);
    let named = pipe(&[events, name].concat());
    drive_within(&named, limit(named.len()) + (1000 << 10)).unwrap();
}
