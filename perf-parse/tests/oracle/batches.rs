//! Batches have what the samples have, and end where a sample has a fault: see `compare::batch`.

use std::fs;

use compare::batch;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::{Reader, SampleBatch, SampleLayout};
use proptest::prelude::*;

use crate::Random;
use crate::arbitrary::config;
use crate::fields::{Made, bits, shapes};
use crate::samples::{made, sample_type};

/// A record that is not a sample.
const ROUND: [[u8; 8]; 2] = [[68, 0, 0, 0, 0, 0, 8, 0], [0, 0, 0, 68, 0, 0, 0, 8]];

/// Returns the number of samples of `made` in batches: among them are samples with a changed byte or another size, and other
/// records.
fn check_mixed(made: &Made, seed: u64, big: bool) -> usize {
    let mut random = Random::new(seed);
    let mut bytes = Vec::new();
    for _ in 0..100 {
        let mut record = made.write(big, 1 + random.below(2) as u16);
        match random.below(12) {
            0 => {
                let at = random.below(record.len());
                record[at] ^= random.u64() as u8;
            }
            1 => {
                let size = record.len() as u16 + 8 * (1 + random.below(2) as u16);
                record[6..8].copy_from_slice(&if big { size.to_be_bytes() } else { size.to_le_bytes() });
                record.resize(size.into(), 0);
            }
            2 => record = ROUND[usize::from(big)].to_vec(),
            _ => {}
        }
        bytes.extend(record);
    }
    let layout = SampleLayout::new(&made.attr).unwrap();
    let cut = bytes.len() - random.below(40).min(bytes.len());
    let (order, bytes) = (if big { Endianness::Big } else { Endianness::Little }, &bytes[..cut]);
    let count = batch::check_records::<Endianness>(order, &layout, bytes);
    let typed = if big {
        batch::check_records::<BigEndian>((), &layout, bytes)
    } else {
        batch::check_records::<LittleEndian>((), &layout, bytes)
    };
    assert_eq!(typed, count);
    count
}

#[test]
fn of_every_field_alone() {
    let mut random = Random::new(1);
    let mut count = 0;
    for bit in bits() {
        for shape in 0..shapes(bit) {
            let mut made = Made::default();
            made.add(bit, shape, &mut random);
            count += check_mixed(&made, random.u64(), false) + check_mixed(&made, random.u64(), true);
        }
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn of_captures() {
    let (mut count, mut captures) = (0, 0);
    for path in testdata::captures() {
        let bytes = fs::read(&path).unwrap();
        let Ok(reader) = Reader::new(&bytes) else { continue };
        count += batch::check(true, || reader.records());
        for block in 0..reader.blocks(3).count() {
            batch::check(true, || reader.blocks(3).nth(block).unwrap());
        }
        batch::check(false, || reader.records().in_time_order());
        // The walk passes the records of other types one at a time.
        batch::check(false, || reader.records().only(&[perf_parse::abi::record::RecordType::SAMPLE]));
        captures += 1;
    }
    assert!(count > 10_000 && captures > 50, "{count} samples of {captures} captures");
}

#[test]
fn of_streams() {
    let mut count = 0;
    for path in testdata::captures() {
        let bytes = fs::read(&path).unwrap();
        if Reader::stream(&bytes[..]).is_err() {
            continue;
        }
        // A stream has one walk, so each walk has a reader of its own.
        count += batch::check(false, || {
            Box::leak(Box::new(Reader::stream(Box::leak(bytes.clone().into_boxed_slice()) as &[u8]).unwrap()))
                .records()
        });
    }
    assert!(count > 500, "{count}");
}

/// Most samples of compressed records are in batches: all but those at the ends of what was decompressed.
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[test]
fn of_compressed_records() {
    let bytes = fs::read(testdata::path("touch.zstd.data")).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let samples =
        reader.records().filter(|record| record.as_ref().is_ok_and(|it| it.sample().is_some())).count();
    let count = batch::check(true, || reader.records());
    assert!(count > samples / 2, "{count} of {samples}");
    assert_eq!(batch::check(true, || reader.records().decompress_ahead()), count);
}

/// Returns a capture of events whose samples differ: records with the ids of events, with an unknown id, and with the id 0.
fn events(sample_types: &[SampleType], seed: u64, big: bool) -> (Events, Vec<u8>) {
    let mut random = Random::new(seed);
    let mut all: Vec<Made> =
        sample_types.iter().map(|&fields| made(fields | SampleType::IDENTIFIER, random.u64())).collect();
    let events = all.iter().enumerate().map(|(index, made)| (made.attr, vec![10 + index as u64])).collect();
    let mut bytes = Vec::new();
    for _ in 0..300 {
        let index = random.below(all.len());
        let id = match random.below(40) {
            0 => 0,
            1 => 9999,
            _ => 10 + index as u64,
        };
        all[index].fields.identifier = Some(id);
        let mut record = all[index].write(big, 2);
        if random.below(30) == 0 {
            let at = random.below(record.len());
            record[at] ^= random.u64() as u8;
        }
        bytes.extend(record);
    }
    (events, bytes)
}

fn check_events(sample_types: &[SampleType], seed: u64) -> usize {
    let mut count = 0;
    for (big, endianness) in [(false, Endianness::Little), (true, Endianness::Big)] {
        let (events, bytes) = events(sample_types, seed, big);
        let reader = Reader::from_records(events, endianness, &bytes);
        count += batch::check(true, || reader.records());
    }
    count
}

#[test]
fn of_several_events() {
    let plain = SampleType::IP | SampleType::TID | SampleType::TIME;
    let more = plain | SampleType::CPU | SampleType::PERIOD;
    let chain = more | SampleType::CALLCHAIN;
    let raw = plain | SampleType::ADDR | SampleType::RAW;
    let regs = more | SampleType::REGS_USER | SampleType::STACK_USER;
    let unlike = [plain, more, chain, raw, regs, SampleType::ID | SampleType::STREAM_ID];
    for (sample_types, at_least) in [
        (&[more; 10][..], 400),
        (&[more, chain, more | SampleType::RAW][..], 400),
        // A sample of the other event ends a batch and is read on its own.
        (&[plain, more][..], 200),
        (&unlike[..], 200),
        (&[plain][..], 400),
    ] {
        let count: usize = (0..5).map(|seed| check_events(sample_types, seed)).sum();
        assert!(count > at_least * 5, "{sample_types:?}: {count}");
    }
}

/// The samples of an event that cannot be decoded are left to the walk.
#[test]
fn of_an_unknown_layout() {
    let attr = |bits| Attr {
        sample_type: SampleType::IDENTIFIER | SampleType::IP | SampleType(bits),
        ..Attr::default()
    };
    let events: Events = [(attr(0), vec![7]), (attr(1 << 40), vec![8])].into_iter().collect();
    let mut bytes = Vec::new();
    for id in [7, 7, 8, 7_u64] {
        bytes.extend([9, 0, 0, 0, 2, 0, 24, 0]);
        bytes.extend([id, 1].map(u64::to_le_bytes).as_flattened());
    }
    let reader = Reader::from_records(events, Endianness::Little, &bytes);
    assert_eq!(batch::check(true, || reader.records()), 3);
}

/// A run of samples of equal size may end anywhere: before, at and after the room of a batch and the steps in which it is read.
#[test]
fn of_long_runs() {
    let attr = Attr { sample_type: SampleType::IDENTIFIER | SampleType::IP, ..Attr::default() };
    let events: Events = [(attr, vec![0]), (attr, vec![1])].into_iter().collect();
    for run in [1, 127, 128, 129, 255, 256, 257, 300, 301] {
        let mut bytes = Vec::new();
        for ip in 0..run {
            bytes.extend([9, 0, 0, 0, 2, 0, 24, 0]);
            bytes.extend([ip % 2, ip].map(u64::to_le_bytes).as_flattened());
        }
        bytes.extend(ROUND[0]);
        let len = run.min(300);
        let mut batch = SampleBatch::<300>::new(SampleType::IP | SampleType::ID);
        let mut records = perf_parse::Records::<LittleEndian>::new(&bytes);
        assert_eq!(events.next_batch(&mut records, &mut batch), &bytes[..24 * len as usize]);
        assert!(batch.ip().unwrap().iter().copied().eq(0..len), "{run}");
        assert!(batch.id().unwrap().iter().copied().eq((0..len).map(|ip| ip % 2)), "{run}");
        assert!(batch.events().unwrap().iter().copied().eq((0..len as u32).map(|ip| ip % 2)), "{run}");
        let mut records = perf_parse::Records::<LittleEndian>::new(&bytes);
        assert_eq!(records.next_batch(&events[0].layout, &mut batch).len(), 24 * len as usize);
        assert!(batch.ip().unwrap().iter().copied().eq(0..len), "{run}");
        assert_eq!((batch.is_full(), batch.offset(run as usize)), (run >= 300, None));
    }
}

/// A batch that was filled with a list of events has their indices, whatever it held before.
#[test]
fn a_batch_is_filled_again() {
    let layout = Attr { sample_type: SampleType::IDENTIFIER | SampleType::IP, ..Attr::default() };
    let several: Events = [(layout, vec![1]), (layout, vec![2])].into_iter().collect();
    let one: Events = [(layout, vec![2])].into_iter().collect();
    let mut bytes = Vec::new();
    for ip in [5, 6_u64] {
        bytes.extend([9, 0, 0, 0, 2, 0, 24, 0]);
        bytes.extend([2, ip].map(u64::to_le_bytes).as_flattened());
    }
    let mut batch = SampleBatch::<8>::new(SampleType::IP | SampleType::ID);
    for (events, index) in [(&several, 1), (&one, 0)] {
        let mut records = perf_parse::Records::<LittleEndian>::new(&bytes);
        assert_eq!(events.next_batch(&mut records, &mut batch), bytes);
        assert_eq!(batch.events(), Some(&[index; 2][..]));
        assert_eq!((batch.ip(), batch.id()), (Some(&[5, 6][..]), Some(&[2, 2][..])));
        assert!(records.rest().is_empty());
    }
    let mut records = perf_parse::Records::<LittleEndian>::new(&bytes[..20]);
    assert!(records.next_batch(&one[0].layout, &mut batch).is_empty());
    assert_eq!((batch.len(), batch.ip(), batch.events()), (0, None, None));
    assert!(records.next().unwrap().is_err());
    assert!(records.next_batch(&one[0].layout, &mut batch).is_empty(), "a walk ends after an error");
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn of_any_fields(sample_type in sample_type(), seed: u64, big: bool) {
        check_mixed(&made(sample_type, seed), seed, big);
    }

    #[test]
    fn of_any_events(sample_types in prop::collection::vec(sample_type(), 1..6), seed: u64) {
        check_events(&sample_types, seed);
    }
}
