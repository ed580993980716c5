//! Any bytes as a capture: opened, walked to the end in both orders, everything decoded and every byte accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::Record;
use perf_parse::file::{AnyReader, FileRecord, Mode, Reader};

fuzz_target!(|bytes: &[u8]| {
    match (AnyReader::open(bytes), AnyReader::open(bytes)) {
        (Ok(AnyReader::Little(file)), Ok(AnyReader::Little(again))) => check(file, again, bytes),
        (Ok(AnyReader::Big(file)), Ok(AnyReader::Big(again))) => check(file, again, bytes),
        (Err(error), Err(again)) => {
            assert_eq!(error, again);
            assert!(!error.to_string().is_empty());
        }
        _ => panic!("the same bytes open differently"),
    }
});

fn check<O: Endian>(file: Reader<'_, O>, mut again: Reader<'_, O>, bytes: &[u8]) {
    again.in_time_order();
    let mut places = in_file_order(file, bytes);
    let mut by_time = walk(&mut again, bytes.len(), |record| record.offset);
    places.sort_unstable();
    by_time.sort_unstable();
    assert_eq!(places, by_time, "time order gives the same records");
    features(&again);
}

/// Walks in the order of the file; where each record is.
fn in_file_order<O: Endian>(mut file: Reader<'_, O>, bytes: &[u8]) -> Vec<u64> {
    let start = file.offset();
    let mut walked = 0;
    let mut behind = start;
    let places = walk(&mut file, bytes.len(), |record| {
        walked += 1;
        if record.inner.is_none() {
            assert!(record.offset >= behind, "records overlap");
            behind = record.offset + u64::from(record.raw.size()) + record.behind_size;
            assert!(behind <= bytes.len() as u64);
            assert_eq!(record.behind.len() as u64, record.behind_size);
        }
        record.offset
    });
    let account = file.account();
    let compressed: u64 = account
        .by_type()
        .filter(|(kind, _)| matches!(*kind, RecordType::COMPRESSED | RecordType::COMPRESSED2))
        .map(|(_, count)| count)
        .sum();
    if compressed == 0 {
        assert_eq!(account.records, walked);
        assert_eq!(start + account.bytes + account.bytes_skipped, file.offset());
    }
    assert!(account.by_type().map(|(_, count)| count).sum::<u64>() <= account.records);
    assert!(file.offset() <= bytes.len() as u64);
    if let Mode::Pipe = file.mode() {
        assert_eq!(file.offset(), bytes.len() as u64);
    }
    places
}

/// Walks to the end, decodes everything, and asks `f` about each record.
fn walk<O: Endian, T>(
    file: &mut Reader<'_, O>,
    len: usize,
    mut f: impl FnMut(&FileRecord<'_, O>) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    let mut errors = 0;
    loop {
        match file.next() {
            Ok(Some(record)) => {
                decode(&record);
                all.push(f(&record));
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                errors += 1;
                // A lost boundary and what was skipped for it, or a record: each takes a byte at least.
                assert!(errors <= 2 * len, "no end");
            }
        }
    }
    assert!(matches!(file.next(), Ok(None)), "the end stays the end");
    assert!(errors == 0 || !file.account().is_clean());
    all
}

fn decode<O: Endian>(record: &FileRecord<'_, O>) {
    // Of a record that was compressed there is but the place of its COMPRESSED record.
    let end = match record.inner {
        Some(_) => u64::MAX,
        None => record.offset + u64::from(record.raw.size()),
    };
    let inside = record.offset..=end;
    if let Err(error) = record.sample_id() {
        assert!(inside.contains(&error.offset), "{error}");
    }
    let _ = record.time();
    assert_eq!(record.event().is_some(), record.event_index.is_some());
    match record.decode() {
        Ok(Record::Sample(sample)) => {
            let _ = sample.callchain().map(|chain| chain.map(|chain| chain.frames().count()));
            match sample.tail() {
                Ok(tail) => assert!(format!("{sample:?} {tail:?}").len() > 1),
                Err(error) => {
                    let error = record.error(error);
                    assert!(inside.contains(&error.offset), "{error}");
                }
            }
        }
        Ok(decoded) => assert!(!format!("{decoded:?}").is_empty()),
        Err(error) => assert!(inside.contains(&error.offset), "{error}"),
    }
}

/// Decodes every feature section in every way there is: a section may hold anything.
fn features<O: Endian>(file: &Reader<'_, O>) {
    for section in file.features() {
        let _ = section.string::<O>();
        let _ = section.strings::<O>();
        let _ = section.nr_cpus::<O>();
        let _ = section.total_mem::<O>();
        let _ = section.cpu_topology::<O>(4);
        let _ = section.pmu_mappings::<O>();
        let _ = section.group_desc::<O>();
        let _ = section.hybrid_topology::<O>();
        let _ = section.sample_time::<O>();
        let _ = section.clockid::<O>();
        let _ = section.clock_data::<O>();
        // Each event takes some of the section, so there are fewer than it has bytes.
        assert!(section.event_desc::<O>().count() <= section.bytes.len() + 1);
        assert!(section.build_ids::<O>().count() <= section.bytes.len() + 1);
    }
}
