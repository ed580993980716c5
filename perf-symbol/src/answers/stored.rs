//! The format of a file with functions by address.
//!
//! All numbers are little endian. A header: [`MAGIC`]; the CRC-32 of all that follows it; 1 if the mapped file has no symbols; the number of
//! bytes of the key, of answers, of functions, of texts and of bytes of texts. Then the key; the answers by ascending keys, each with
//! its offset, its first function and its bits; the functions; where each text begins, and where the last one ends; the bytes
//! of the texts.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::key::AnswerKey;
use crate::function::Function;
use crate::names::may_be_cut;
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
        self.source.is_none_or(|source| SOURCES.contains(&source))
            && ![self.name, self.raw_name, self.file].into_iter().flatten().any(may_be_cut)
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
