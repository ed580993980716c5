//! What is written is read, and nothing else.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::names::SHORT;

fn key(offset: u64, is_caller: bool) -> AnswerKey {
    AnswerKey { offset, is_caller, is_executable: true }
}

fn text(text: &str) -> Option<Arc<[u8]>> {
    Some(text.as_bytes().into())
}

fn function(name: &str) -> Function {
    Function {
        name: text(name),
        raw_name: text("_Z4mainv"),
        offset: Some(7),
        size: Some(u64::MAX),
        file: None,
        line: Some(0),
        column: None,
        is_inlined: false,
        source: Some(NameSource::Symtab),
        origin: None,
        guess: None,
    }
}

fn inlined(name: &str) -> Function {
    Function {
        raw_name: None,
        offset: None,
        size: None,
        file: text("/src/a.c"),
        line: Some(12),
        column: Some(u32::MAX),
        is_inlined: true,
        source: Some(NameSource::Dwarf),
        ..function(name)
    }
}

fn answers() -> BTreeMap<AnswerKey, Vec<Function>> {
    let nameless = Function { name: None, raw_name: None, source: None, ..inlined("") };
    BTreeMap::from([
        (key(0, false), vec![function("main")]),
        (key(0, true), vec![inlined("f"), inlined(""), function("main")]),
        (key(0x1234, false), Vec::new()),
        (key(u64::MAX, true), vec![nameless]),
    ])
}

fn assert_has(stored: &StoredAnswers, all: &BTreeMap<AnswerKey, Vec<Function>>) {
    assert_eq!(stored.len(), all.len());
    for (key, functions) in all {
        let expected: Vec<_> = functions.iter().map(StoredFunction::of).collect();
        assert_eq!(stored.find(*key), Some(expected), "{key:?}");
    }
}

#[test]
fn what_is_written_is_found() {
    for has_no_symbols in [false, true] {
        let bytes = encode(b"key", has_no_symbols, None, &answers(), 1 << 20).unwrap();
        let stored = StoredAnswers::parse(bytes, b"key").unwrap();
        assert_has(&stored, &answers());
        assert_eq!(stored.has_no_symbols(), has_no_symbols);
        for other in [key(1, false), key(0x1234, true), AnswerKey { is_executable: false, ..key(0, false) }] {
            assert_eq!(stored.find(other), None);
        }
    }
}

#[test]
fn another_key_and_a_damaged_file_have_nothing() {
    let bytes = encode(b"key", false, None, &answers(), 1 << 20).unwrap();
    for other in [&b"kex"[..], b"ke", b"keys", b""] {
        assert!(StoredAnswers::parse(bytes.clone(), other).is_none());
    }
    for at in 0..bytes.len() {
        assert!(StoredAnswers::parse(bytes[..at].to_vec(), b"key").is_none(), "cut at {at}");
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        assert!(StoredAnswers::parse(damaged, b"key").is_none(), "{at}");
    }
    assert!(StoredAnswers::parse([&bytes[..], &[0]].concat(), b"key").is_none());
}

/// Below the limit, at it, and above it; with what was stored before, and without.
#[test]
fn the_size_is_limited() {
    let first = encode(b"key", false, None, &answers(), 1 << 20).unwrap();
    let stored = StoredAnswers::parse(first.clone(), b"key").unwrap();
    let new = BTreeMap::from([(key(5, false), vec![function("new")])]);
    let both = encode(b"key", false, Some(&stored), &new, 1 << 20).unwrap();
    let alone = encode(b"key", false, None, &new, 1 << 20).unwrap();
    let of = |bytes: &[u8], less: u64| encode(b"key", false, Some(&stored), &new, bytes.len() as u64 - less);
    assert_eq!(of(&both, 0).unwrap(), both);
    let mut all = answers();
    all.extend(new.clone());
    assert_has(&StoredAnswers::parse(both.clone(), b"key").unwrap(), &all);
    assert_eq!(of(&both, 1).unwrap(), alone, "the older ones make room");
    assert_eq!(of(&alone, 0).unwrap(), alone);
    assert_eq!(of(&alone, 1), None);
    assert_eq!(encode(b"key", false, Some(&stored), &BTreeMap::new(), 1 << 20), None, "nothing is new");
}

/// Answers that share functions, and texts that overlap, would be far more than the file.
#[test]
fn what_is_not_in_order_is_damaged() {
    let file = |firsts: [u32; 2], keys: [u64; 2], starts: [u32; 3]| {
        let mut body: Vec<u8> = [0_u32, 0, 2, 2, 2, 4].into_iter().flat_map(u32::to_le_bytes).collect();
        for (first, key) in firsts.into_iter().zip(keys) {
            body.extend([key.to_le_bytes().as_slice(), &first.to_le_bytes(), &0_u32.to_le_bytes()].concat());
        }
        body.extend([0; 2 * FUNCTION]);
        body.extend(starts.into_iter().flat_map(u32::to_le_bytes));
        body.extend(b"text");
        StoredAnswers::parse([&MAGIC[..], &crc(&body).to_le_bytes(), &body].concat(), b"").is_some()
    };
    assert!(file([0, 1], [1, 2], [0, 2, 4]) && file([2, 2], [1, 2], [4, 4, 4]));
    for (firsts, keys, starts) in [
        ([1, 0], [1, 2], [0, 2, 4]),
        ([0, 3], [1, 2], [0, 2, 4]),
        ([0, 1], [2, 1], [0, 2, 4]),
        ([0, 1], [1, 1], [0, 2, 4]),
        ([0, 1], [1, 2], [2, 0, 4]),
    ] {
        assert!(!file(firsts, keys, starts), "{firsts:?} {keys:?} {starts:?}");
    }
}

#[test]
fn what_may_have_been_cut_is_not_stored() {
    let cut = |len: usize| format!("{}...", "n".repeat(len - 3));
    for (name, is_stored) in [(cut(SHORT - 1), true), (cut(SHORT), false), ("n".repeat(SHORT), true)] {
        for function in [function(&name), Function { file: text(&name), ..inlined("f") }] {
            let all = BTreeMap::from([(key(1, false), vec![function])]);
            assert_eq!(encode(b"key", false, None, &all, 1 << 20).is_some(), is_stored);
        }
    }
    let kallsyms = Function { source: Some(NameSource::Kallsyms), ..function("f") };
    assert_eq!(
        encode(b"key", false, None, &BTreeMap::from([(key(1, false), vec![kallsyms])]), 1 << 20),
        None
    );
}

proptest! {
    /// A file with any numbers, whose checksum is right.
    #[test]
    fn hostile_files(words in prop::collection::vec(prop_oneof![0_u32..40, any::<u32>()], 6..80), counts in [0_u32..3, 0..4, 0..5, 0..6, 0..7]) {
        let mut body: Vec<u8> = [0, counts[0], counts[1], counts[2], counts[3], counts[4]].into_iter().flat_map(u32::to_le_bytes).collect();
        let len = counts[0] as usize + counts[1] as usize * ANSWER + counts[2] as usize * FUNCTION + (counts[3] as usize + 1) * 4 + counts[4] as usize;
        body.extend(words.into_iter().cycle().flat_map(u32::to_le_bytes).take(len));
        let key_bytes = body[24..][..counts[0] as usize].to_vec();
        let bytes = [&MAGIC[..], &crc(&body).to_le_bytes(), &body].concat();
        let Some(stored) = StoredAnswers::parse(bytes, &key_bytes) else { return Ok(()) };
        for number in 0..stored.len() + 2 {
            if let Some((key, _)) = stored.answer(number) {
                let _ = (stored.find(key), stored.functions_of(number));
            }
        }
        let new = BTreeMap::from([(key(5, false), vec![function("new")])]);
        let written = StoredAnswers::parse(encode(&key_bytes, false, Some(&stored), &new, 1 << 20).unwrap(), &key_bytes).unwrap();
        let found = written.find(key(5, false)).unwrap();
        prop_assert_eq!(found[0].name, Some(&b"new"[..]));
    }
}
