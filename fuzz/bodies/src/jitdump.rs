//! A jitdump: what is found at an address and a time covers the address, and was loaded by then; the name without a time is
//! the only one. A reader returns the same records as the file in memory, and so do its functions.

use perf_symbol::jitdump::{JitRecord, JitRecordBody, JitdumpHeader, JitdumpReader};
use perf_symbol::{FileBytes, Jitdump, SymbolLimits};

/// `data` is the file.
pub fn run(data: &[u8]) -> bool {
    let Ok(dump) = Jitdump::parse(FileBytes::new(data.to_vec()), &SymbolLimits::default()) else {
        return false;
    };
    let header = JitdumpHeader::parse(data).expect("it was parsed");
    let mut reader = JitdumpReader::new(data).with_max_record(u32::MAX);
    for expected in header.records(data) {
        match (reader.next_record(), expected) {
            (Ok(Some(record)), Ok(expected)) => {
                check_bounds(&record);
                assert_eq!(format!("{record:?}"), format!("{expected:?}"));
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected.to_string()),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }
    let mut again = Jitdump::default();
    // A record without an end ends both.
    let _ =
        again.read_more(&mut JitdumpReader::new(data).with_max_record(u32::MAX), &SymbolLimits::default());
    let words = data.chunks_exact(8).filter_map(|word| word.first_chunk().copied());
    for word in words.flat_map(|word| [u64::from_le_bytes(word), u64::from_be_bytes(word)]).take(256) {
        let last = dump.find(word, Some(u64::MAX));
        let sole = dump.find(word, None);
        for time in [0, word, u64::MAX] {
            let found = dump.find(word, Some(time));
            assert_eq!(again.find(word, Some(time)), found);
            assert!(found.is_none_or(|found| found.symbol.start <= word && word < found.symbol.end));
            // The last code at an address was loaded after any earlier one.
            assert!(found.map(|found| found.load) <= last.map(|last| last.load));
            // Without a time, the name is one that all code at the address had.
            let has_name = |name| found.is_none_or(|found| found.symbol.name == name);
            assert!(sole.is_none_or(|sole| has_name(sole.symbol.name)));
        }
    }
    true
}

/// What a record has is within its bytes.
fn check_bounds(record: &JitRecord<'_>) {
    let size = record.size as usize;
    match &record.body {
        JitRecordBody::Load(load) => assert!(load.name.len() + load.code.len() < size),
        JitRecordBody::UnwindingInfo(it) => assert!(it.eh_frame.len() + it.eh_frame_hdr.len() < size),
        JitRecordBody::DebugInfo(it) => assert!(it.lines().count() <= size / 17),
        _ => {}
    }
}
