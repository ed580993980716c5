//! Any bytes as a capture: opened, walked to the end in both orders, with everything decoded and every byte accounted
//! for.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{AnyReader, Mode, Reader, Source};

use super::features;
use super::walk::{decode, walk};

/// `data` is a file or a stream.
pub fn run(data: &[u8]) -> bool {
    match AnyReader::open(data) {
        Ok(AnyReader::Little(file)) => check(file, data),
        Ok(AnyReader::Big(file)) => check(file, data),
        Err(error) => {
            assert!(error.offset <= data.len() as u64 + 8, "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
    true
}

fn check<O: Endian>(mut file: Reader<'_, O>, bytes: &[u8]) {
    let mut places = in_file_order(&mut file, bytes);
    assert!(file.rewind());
    if file.mode() == &Mode::Pipe {
        // The reader now knows from the start the events that came late the first time. They may prove a lost
        // boundary.
        places = in_file_order(&mut file, bytes);
        assert!(file.rewind());
    }
    file.in_time_order();
    let mut by_time = walk(&mut file, bytes.len(), |record| (record.offset, record.inner));
    places.sort_unstable();
    by_time.sort_unstable();
    assert_eq!(places, by_time, "time order gives the same records");
    // Features have a target of their own.
    file.features().iter().take(2).for_each(|section| features::decode(&section, 4));
}

/// Walks in file order; returns the place of each record.
fn in_file_order<O: Endian>(file: &mut Reader<'_, O>, bytes: &[u8]) -> Vec<(u64, Option<u64>)> {
    let start = file.offset();
    let mut walked = 0;
    let mut behind = start;
    let places = walk(file, bytes.len(), |record| {
        decode(record);
        walked += 1;
        if record.inner.is_none() {
            assert!(record.offset >= behind, "records overlap");
            behind = record.offset + u64::from(record.raw.size()) + record.behind_size;
            assert!(behind <= bytes.len() as u64);
            assert_eq!(record.behind.len() as u64, record.behind_size);
        }
        (record.offset, record.inner)
    });
    let account = file.account();
    if !is_compressed(file) {
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

/// Returns whether the reader has found compressed records.
pub fn is_compressed<O: Endian, S: Source>(file: &Reader<'_, O, S>) -> bool {
    let compressed = [RecordType::COMPRESSED, RecordType::COMPRESSED2];
    file.account().by_type().any(|(kind, _)| compressed.contains(&kind))
}
