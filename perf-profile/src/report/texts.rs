//! Texts that are kept once each.

use std::sync::Arc;

use hashbrown::HashMap;

/// Keeps texts once each, by their numbers, within a limit of bytes.
#[derive(Debug, Default)]
pub(super) struct TextInterner {
    numbers: HashMap<Arc<[u8]>, u32>,
    list: Vec<Arc<[u8]>>,
    /// Number of bytes that count against the limit.
    bytes: usize,
}

/// Number of bytes that a text counts in addition to its length.
const TEXT: usize = 64;

impl TextInterner {
    /// Returns the number of a text; `None` if it would not fit into `limit` bytes.
    pub(super) fn number(&mut self, text: &[u8], limit: usize) -> Option<u32> {
        if let Some(&number) = self.numbers.get(text) {
            return Some(number);
        }
        let bytes = self.bytes.saturating_add(text.len()).saturating_add(TEXT);
        if bytes > limit {
            return None;
        }
        self.bytes = bytes;
        let (text, number) = (Arc::<[u8]>::from(text), self.list.len() as u32);
        self.numbers.insert(Arc::clone(&text), number);
        self.list.push(text);
        Some(number)
    }

    /// Returns how many texts there are. They have the numbers from 0 on.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a text; empty for a number that is none.
    pub(super) fn get(&self, number: u32) -> &[u8] {
        self.list.get(number as usize).map_or(&[], |text| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_and_needs_room_once() {
        let mut texts = TextInterner::default();
        let limit = TEXT + 3;
        assert_eq!(texts.number(b"abcd", limit), None);
        assert_eq!(texts.number(b"abc", limit), Some(0));
        assert_eq!((texts.number(b"", limit), texts.number(b"abc", limit)), (None, Some(0)));
        assert_eq!(texts.number(b"", usize::MAX), Some(1));
        assert_eq!((texts.len(), texts.get(0), texts.get(2)), (2, &b"abc"[..], &b""[..]));
    }
}
