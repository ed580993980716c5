//! A jitdump: what is found at an address and a time covers the address, and was loaded by then; the name without a time is the only one.

use perf_symbol::{FileBytes, Jitdump, SymbolLimits};

/// `data` is the file.
pub fn run(data: &[u8]) -> bool {
    let Ok(dump) = Jitdump::parse(FileBytes::new(data.to_vec()), &SymbolLimits::default()) else {
        return false;
    };
    let words = data.chunks_exact(8).filter_map(|word| word.first_chunk().copied());
    for word in words.flat_map(|word| [u64::from_le_bytes(word), u64::from_be_bytes(word)]).take(256) {
        let last = dump.find(word, Some(u64::MAX));
        let sole = dump.find(word, None);
        for time in [0, word, u64::MAX] {
            let found = dump.find(word, Some(time));
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
