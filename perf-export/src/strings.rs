//! Interned strings.

use core::hash::BuildHasher;

use perf_profile::{
    table::interner::Interner,
    text::{OneLine, plain},
};

/// Interned strings, in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct Strings(Interner<Box<str>>);

impl Strings {
    /// Interns a string and returns its index. The string is escaped as by [`OneLine`], since protobuf and JSON only have UTF-8.
    pub(crate) fn number(&mut self, bytes: &[u8]) -> u32 {
        match plain(bytes) {
            Some(text) => self.number_of(text),
            None => self.number_of(&OneLine(bytes).to_string()),
        }
    }

    /// Interns a text and returns its index.
    pub(crate) fn number_of(&mut self, text: &str) -> u32 {
        let hash = self.0.hash(text);
        self.0.number_by(hash, |it| **it == *text, |hasher, it| hasher.hash_one(&**it), || text.into())
    }

    /// Returns a string by its index.
    #[cfg(any(feature = "otlp", feature = "perfetto", feature = "pprof"))]
    pub(crate) fn get(&self, number: u32) -> &str {
        self.list().get(number as usize).map_or("", |text| text)
    }

    /// Returns the strings by their indices.
    pub(crate) fn list(&self) -> &[Box<str>] {
        self.0.list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_kept_once_and_are_text() {
        let mut strings = Strings::default();
        assert_eq!([&b"a"[..], b"", b"a", b"\xff", b"\\xff"].map(|it| strings.number(it)), [0, 1, 0, 2, 2]);
        assert!(strings.list().iter().map(|it| &**it).eq(["a", "", "\\xff"]));
    }
}
