//! Any bytes as a capture: opened, walked to the end in both orders, in blocks and with a thread that decompresses, with
//! everything decoded and every byte accounted for.

use perf_abi::record::RecordType;
use perf_parse::event::RecordPosition;
use perf_parse::file::{Account, Mode};
use perf_parse::{EventRecord, Reader};

use super::features;
use super::walk::{decode, walk};

/// `data` is a file or a stream.
pub fn run(data: &[u8]) -> bool {
    match Reader::new(data) {
        Ok(reader) => check(&reader, data),
        Err(error) => {
            assert!(error.offset <= data.len() as u64 + 8, "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
    true
}

fn check(reader: &Reader<'_>, bytes: &[u8]) {
    let (mut places, account) = in_file_order(reader, bytes);
    in_blocks(reader, bytes, &places, &account);
    compare::batch::check(true, || reader.records());
    if is_compressed(&account) {
        ahead(reader, bytes, &places, &account);
    }
    let mut by_time = walk(&mut reader.records().in_time_order(), bytes.len(), EventRecord::position);
    places.sort_unstable();
    by_time.sort_unstable();
    assert_eq!(places, by_time, "time order gives the same records");
    // Features have a separate target.
    reader.features().iter().take(2).for_each(|section| features::decode(&section, 4));
}

/// Walks in file order; returns the place of each record, and the account.
fn in_file_order(reader: &Reader<'_>, bytes: &[u8]) -> (Vec<RecordPosition>, Account) {
    let mut records = reader.records();
    let start = records.reached().offset;
    let mut walked = 0;
    let mut end = start;
    let places = walk(&mut records, bytes.len(), |record| {
        decode(record);
        walked += 1;
        let place = record.position();
        if place.decompressed.is_none() {
            assert!(place.offset >= end, "records overlap");
            end = place.offset + u64::from(record.raw().size()) + record.trailing_size();
            assert!(end <= bytes.len() as u64);
            assert_eq!(record.trailing().len() as u64, record.trailing_size());
        }
        place
    });
    let (account, end) = (records.account(), records.reached().offset);
    if !is_compressed(account) {
        assert_eq!(account.records, walked);
        assert_eq!(start + account.bytes + account.bytes_skipped, end);
    }
    assert!(account.by_type().map(|(_, count)| count).sum::<u64>() <= account.records);
    assert!(end <= bytes.len() as u64);
    if let Mode::Pipe = reader.mode() {
        assert_eq!(end, bytes.len() as u64);
    }
    (places, account.clone())
}

/// Walks block by block: the same records and the same account.
fn in_blocks(reader: &Reader<'_>, bytes: &[u8], expected: &[RecordPosition], whole: &Account) {
    let (mut places, mut account) = (Vec::new(), None::<Account>);
    for mut block in reader.blocks(1 + bytes.len() % 7) {
        places.extend(walk(&mut block, bytes.len(), EventRecord::position));
        match &mut account {
            Some(account) => account.add(block.account()),
            None => account = Some(block.account().clone()),
        }
    }
    assert_eq!(places, expected, "blocks have the same records");
    assert_eq!(account.as_ref(), Some(whole), "blocks have the same account");
}

/// Walks while a thread of its own decompresses: the same records and the same account.
fn ahead(reader: &Reader<'_>, bytes: &[u8], expected: &[RecordPosition], whole: &Account) {
    let mut records = reader.records().decompress_ahead();
    let places = walk(&mut records, bytes.len(), EventRecord::position);
    assert_eq!(places, expected, "a thread that decompresses gives the same records");
    assert_eq!(records.account(), whole, "a thread that decompresses gives the same account");
}

/// Returns whether a walk has found compressed records.
pub fn is_compressed(account: &Account) -> bool {
    let compressed = [RecordType::COMPRESSED, RecordType::COMPRESSED2];
    account.by_type().any(|(kind, _)| compressed.contains(&kind))
}
