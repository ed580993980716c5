//! Interned texts in one buffer.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use perf_profile::table::numbering::Numbering;

/// Interned texts, in one buffer.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    numbering: Numbering,
    /// The texts, one after the other.
    bytes: String,
    /// End of each text.
    ends: Vec<i32>,
    hasher: DefaultHashBuilder,
}

impl TextTable {
    /// Interns a text and returns its index.
    #[inline]
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        let Self { numbering, bytes, ends, hasher } = self;
        let of = |number: u32| text_of(bytes, ends, number);
        let hash = hasher.hash_one(text);
        let number = numbering.number(hash, |it| of(it) == text, |it| hasher.hash_one(of(it)));
        if number as usize == ends.len() {
            bytes.push_str(text);
            ends.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        }
        number
    }

    /// Returns a text by its index; empty for an index out of range.
    pub(crate) fn get(&self, number: u32) -> &str {
        text_of(&self.bytes, &self.ends, number)
    }

    /// Returns the number of texts.
    #[cfg(feature = "parquet")]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of bytes of all texts.
    #[cfg(feature = "parquet")]
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns all texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.get(number))
    }

    /// Forgets all texts.
    pub(crate) fn clear(&mut self) {
        self.numbering.clear();
        self.bytes.clear();
        self.ends.clear();
    }
}

fn text_of<'a>(bytes: &'a str, ends: &[i32], number: u32) -> &'a str {
    let end = |index: Option<usize>| index.and_then(|it| ends.get(it)).map(|&end| end as usize);
    let index = number as usize;
    end(Some(index)).and_then(|to| bytes.get(end(index.checked_sub(1)).unwrap_or(0)..to)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once() {
        let mut texts = TextTable::default();
        let all: Vec<String> = (0..100).map(|number| "ä".repeat(number)).collect();
        for _ in 0..2 {
            assert!(all.iter().map(|text| texts.number(text)).eq(0..100));
        }
        assert_eq!((texts.get(0), texts.get(1), texts.get(100)), ("", "ä", ""));
        assert!(texts.iter().eq(all.iter().map(String::as_str)));
        texts.clear();
        assert_eq!((texts.number("b"), texts.iter().count()), (0, 1));
    }
}
