//! The format of a file with functions by address.
//!
//! All numbers are little endian. A header: [`MAGIC`]; the CRC-32 of all that follows it; 1 if the mapped file has no symbols; the number of
//! bytes of the key, of answers, of functions, of texts and of bytes of texts. Then the key; the answers by ascending keys, each with
//! its offset, its first function and its bits; the functions; where each text begins, and where the last one ends; the bytes
//! of the texts.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::key::AnswerKey;
use crate::function::Function;
use crate::symtab::{LONGEST_NAME, NameSource};

/// The start of each file. The last byte is the version of the format.
const MAGIC: [u8; 8] = *b"symbols\x01";

/// Size of the header.
const HEADER: usize = 8 + 7 * 4;
/// Size of an answer.
const ANSWER: usize = 16;
/// Size of a function.
const FUNCTION: usize = 40;
/// The number of a text that is not there.
const NO_TEXT: u32 = u32::MAX;

/// The bits of an answer.
const IS_CALLER: u32 = 1;
const IS_EXECUTABLE: u32 = 2;

/// The bits of a function. The source is above them.
const IS_INLINED: u32 = 1;
const HAS_OFFSET: u32 = 2;
const HAS_SIZE: u32 = 4;
const HAS_LINE: u32 = 8;
const HAS_COLUMN: u32 = 16;
const SOURCE: u32 = 8;

/// Names of this size that end in a mark may have been cut because the names before them took the room.
const SHORT: usize = 512;

/// The sources that a file has names from, by their numbers in the format less one.
const SOURCES: [NameSource; 6] = [
    NameSource::Symtab,
    NameSource::MiniDebugInfo,
    NameSource::Dynsym,
    NameSource::Plt,
    NameSource::Dwarf,
    NameSource::GoPclntab,
];

/// A function as it is stored. See [`Function`] for the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredFunction<'a> {
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) raw_name: Option<&'a [u8]>,
    pub(crate) offset: Option<u64>,
    pub(crate) size: Option<u64>,
    pub(crate) file: Option<&'a [u8]>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    pub(crate) is_inlined: bool,
    pub(crate) source: Option<NameSource>,
}

impl<'a> StoredFunction<'a> {
    fn of(function: &'a Function) -> Self {
        let Function { name, raw_name, offset, size, file, line, column, is_inlined, source, .. } = function;
        Self {
            name: name.as_deref(),
            raw_name: raw_name.as_deref(),
            offset: *offset,
            size: *size,
            file: file.as_deref(),
            line: *line,
            column: *column,
            is_inlined: *is_inlined,
            source: *source,
        }
    }

    /// Returns whether it can be stored: its source has a number, and its texts may not have been cut.
    fn is_whole(&self) -> bool {
        let is_cut =
            |text: Option<&[u8]>| text.is_some_and(|text| text.len() >= SHORT && text.ends_with(b"..."));
        self.source.is_none_or(|source| SOURCES.contains(&source))
            && ![self.name, self.raw_name, self.file].into_iter().any(is_cut)
    }
}

/// A file that was read and checked.
#[derive(Debug)]
pub(super) struct StoredAnswers {
    bytes: Vec<u8>,
    has_no_symbols: bool,
    answers: Range<usize>,
    functions: Range<usize>,
    starts: Range<usize>,
    texts: Range<usize>,
}

impl StoredAnswers {
    /// Reads a file; `None` if it is damaged, or has the answers to another key. Keys, first functions and starts of texts ascend, so
    /// that all answers together have no more functions than the file.
    pub(super) fn parse(bytes: Vec<u8>, key: &[u8]) -> Option<Self> {
        let word = |number: usize| u32_at(&bytes, MAGIC.len().checked_add(number.checked_mul(4)?)?);
        let count = |number: usize| usize::try_from(word(number)?).ok();
        if bytes.get(..MAGIC.len())? != MAGIC || word(0)? != crc(bytes.get(MAGIC.len().checked_add(4)?..)?) {
            return None;
        }
        let mut end = HEADER;
        let mut next = |number: usize, size: usize| {
            let start = end;
            end = start.checked_add(count(number)?.checked_mul(size)?)?;
            Some(start..end)
        };
        let of_key = next(2, 1)?;
        let answers = next(3, ANSWER)?;
        let functions = next(4, FUNCTION)?;
        let mut starts = next(5, 4)?;
        // One more than there are texts.
        starts.end = starts.end.checked_add(4)?;
        let start = starts.end;
        let texts = start..start.checked_add(count(6)?)?;
        let has_no_symbols = word(1)? != 0;
        let is_whole = texts.end == bytes.len() && bytes.get(of_key)? == key;
        let it = is_whole.then_some(Self { bytes, has_no_symbols, answers, functions, starts, texts })?;
        it.is_in_order().then_some(it)
    }

    fn is_in_order(&self) -> bool {
        let answers = || (0..self.len()).filter_map(|number| self.answer(number));
        let firsts = answers().map(|(_, first)| first).chain([self.functions.len() / FUNCTION]);
        let starts = self.bytes.get(self.starts.clone()).unwrap_or_default();
        let starts = starts.chunks_exact(4).map(|start| u32_at(start, 0));
        answers().map(|(key, _)| key).is_sorted_by(|before, after| before < after)
            && firsts.is_sorted()
            && starts.is_sorted()
    }

    /// Returns whether the mapped file has no symbols.
    pub(super) fn has_no_symbols(&self) -> bool {
        self.has_no_symbols
    }

    /// Returns the number of answers.
    fn len(&self) -> usize {
        self.answers.len() / ANSWER
    }

    /// Returns an answer: its key, and the number of its first function.
    fn answer(&self, number: usize) -> Option<(AnswerKey, usize)> {
        let at = self
            .answers
            .start
            .checked_add(number.checked_mul(ANSWER)?)
            .filter(|at| *at < self.answers.end)?;
        let bits = u32_at(&self.bytes, at.checked_add(12)?)?;
        let key = AnswerKey {
            offset: u64_at(&self.bytes, at)?,
            is_caller: bits & IS_CALLER != 0,
            is_executable: bits & IS_EXECUTABLE != 0,
        };
        Some((key, usize::try_from(u32_at(&self.bytes, at.checked_add(8)?)?).ok()?))
    }

    /// Returns the functions at an address; `None` if they are not stored.
    pub(super) fn find(&self, key: AnswerKey) -> Option<Vec<StoredFunction<'_>>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let (at, _) = self.answer(middle)?;
            match at.cmp(&key) {
                std::cmp::Ordering::Less => low = middle.checked_add(1)?,
                std::cmp::Ordering::Equal => return self.functions_of(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn functions_of(&self, answer: usize) -> Option<Vec<StoredFunction<'_>>> {
        let (_, first) = self.answer(answer)?;
        let all = self.functions.len() / FUNCTION;
        let end = self.answer(answer.checked_add(1)?).map_or(all, |(_, first)| first);
        if end > all {
            return None;
        }
        (first..end).map(|number| self.function(number)).collect()
    }

    fn function(&self, number: usize) -> Option<StoredFunction<'_>> {
        let at = self.functions.start.checked_add(number.checked_mul(FUNCTION)?)?;
        let fields = self.bytes.get(at..at.checked_add(FUNCTION)?)?;
        let word = |at: usize| u32_at(fields, at);
        let bits = word(36)?;
        let if_set = |bit: u32| (bits & bit != 0).then_some(());
        let source = match bits >> SOURCE {
            0 => None,
            number => Some(*SOURCES.get(usize::try_from(number).ok()?.checked_sub(1)?)?),
        };
        Some(StoredFunction {
            name: self.text(word(16)?)?,
            raw_name: self.text(word(20)?)?,
            offset: if_set(HAS_OFFSET).and_then(|()| u64_at(fields, 0)),
            size: if_set(HAS_SIZE).and_then(|()| u64_at(fields, 8)),
            file: self.text(word(24)?)?,
            line: if_set(HAS_LINE).and_then(|()| word(28)),
            column: if_set(HAS_COLUMN).and_then(|()| word(32)),
            is_inlined: bits & IS_INLINED != 0,
            source,
        })
    }

    /// Returns a text, or that there is none; `None` if the number is wrong.
    fn text(&self, number: u32) -> Option<Option<&[u8]>> {
        if number == NO_TEXT {
            return Some(None);
        }
        let at = self.starts.start.checked_add(usize::try_from(number).ok()?.checked_mul(4)?)?;
        if at.checked_add(8)? > self.starts.end {
            return None;
        }
        let place = |at: usize| usize::try_from(u32_at(&self.bytes, at)?).ok();
        let texts = self.bytes.get(self.texts.clone())?;
        let text = texts.get(place(at)?..place(at.checked_add(4)?)?)?;
        (text.len() <= LONGEST_NAME).then_some(Some(text))
    }
}

/// What is written of the answers.
#[derive(Default)]
struct AnswerWriter<'a> {
    answers: Vec<u8>,
    functions: Vec<u8>,
    starts: Vec<u8>,
    texts: Vec<u8>,
    numbers: HashMap<&'a [u8], u32>,
}

impl<'a> AnswerWriter<'a> {
    fn text(&mut self, text: Option<&'a [u8]>) -> Option<u32> {
        let Some(text) = text else { return Some(NO_TEXT) };
        if let Some(&number) = self.numbers.get(text) {
            return Some(number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.starts.extend(u32::try_from(self.texts.len()).ok()?.to_le_bytes());
        self.texts.extend(text);
        self.numbers.insert(text, number);
        Some(number)
    }

    fn push(
        &mut self,
        key: AnswerKey,
        functions: impl IntoIterator<Item = StoredFunction<'a>>,
    ) -> Option<()> {
        let first = u32::try_from(self.functions.len() / FUNCTION).ok()?;
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let bits = bit(key.is_caller, IS_CALLER) | bit(key.is_executable, IS_EXECUTABLE);
        self.answers.extend(key.offset.to_le_bytes());
        self.answers.extend(first.to_le_bytes());
        self.answers.extend(bits.to_le_bytes());
        for it in functions {
            let texts = [self.text(it.name)?, self.text(it.raw_name)?, self.text(it.file)?];
            let source = it.source.and_then(|source| SOURCES.iter().position(|it| *it == source));
            let source = source
                .and_then(|number| u32::try_from(number).ok())
                .map_or(0, |number| number.saturating_add(1));
            let bits = bit(it.is_inlined, IS_INLINED)
                | bit(it.offset.is_some(), HAS_OFFSET)
                | bit(it.size.is_some(), HAS_SIZE)
                | bit(it.line.is_some(), HAS_LINE)
                | bit(it.column.is_some(), HAS_COLUMN)
                | source << SOURCE;
            self.functions.extend(it.offset.unwrap_or_default().to_le_bytes());
            self.functions.extend(it.size.unwrap_or_default().to_le_bytes());
            texts.into_iter().for_each(|text| self.functions.extend(text.to_le_bytes()));
            self.functions.extend(it.line.unwrap_or_default().to_le_bytes());
            self.functions.extend(it.column.unwrap_or_default().to_le_bytes());
            self.functions.extend(bits.to_le_bytes());
        }
        Some(())
    }
}

/// Returns a file with the answers to a key: those that were stored, and those that are new. If they have more than `limit` bytes, those
/// that are new alone. `None` if these have more, too, or if none of them can be stored.
pub(super) fn encode(
    key: &[u8],
    has_no_symbols: bool,
    stored: Option<&StoredAnswers>,
    fresh: &BTreeMap<AnswerKey, Vec<Function>>,
    limit: u64,
) -> Option<Vec<u8>> {
    let fresh = fresh.iter().map(|(key, it)| (*key, it.iter().map(StoredFunction::of).collect::<Vec<_>>()));
    let fresh: BTreeMap<_, _> = fresh.filter(|(_, it)| it.iter().all(StoredFunction::is_whole)).collect();
    if fresh.is_empty() {
        return None;
    }
    let mut all = fresh.clone();
    for number in 0..stored.map_or(0, StoredAnswers::len) {
        if let Some(((key, _), functions)) = stored?.answer(number).zip(stored?.functions_of(number)) {
            all.entry(key).or_insert(functions);
        }
    }
    let file = |answers| {
        let mut writer = AnswerWriter::default();
        for (key, functions) in answers {
            writer.push(key, functions)?;
        }
        finish(key, has_no_symbols, &writer).filter(|bytes| bytes.len() as u64 <= limit)
    };
    file(all).or_else(|| file(fresh))
}

/// Puts the parts of a file together.
fn finish(key: &[u8], has_no_symbols: bool, writer: &AnswerWriter<'_>) -> Option<Vec<u8>> {
    let AnswerWriter { answers, functions, starts, texts, numbers } = writer;
    let counts = [
        usize::from(has_no_symbols),
        key.len(),
        answers.len() / ANSWER,
        functions.len() / FUNCTION,
        numbers.len(),
        texts.len(),
    ];
    let mut body = Vec::new();
    for count in counts {
        body.extend(u32::try_from(count).ok()?.to_le_bytes());
    }
    body.extend(key);
    [answers, functions, starts].into_iter().for_each(|part| body.extend(part));
    body.extend(u32::try_from(texts.len()).ok()?.to_le_bytes());
    body.extend(texts);
    Some([&MAGIC[..], &crc(&body).to_le_bytes(), &body].concat())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

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
            for other in
                [key(1, false), key(0x1234, true), AnswerKey { is_executable: false, ..key(0, false) }]
            {
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
        let of =
            |bytes: &[u8], less: u64| encode(b"key", false, Some(&stored), &new, bytes.len() as u64 - less);
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
                body.extend(
                    [key.to_le_bytes().as_slice(), &first.to_le_bytes(), &0_u32.to_le_bytes()].concat(),
                );
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
}
