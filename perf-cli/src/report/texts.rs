//! Texts that are kept once each.

use alloc::sync::Arc;

use hashbrown::HashMap;

/// Texts that are kept once each, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: HashMap<Arc<[u8]>, u32>,
    list: Vec<Arc<[u8]>>,
    taken: usize,
}

/// Number of bytes that a text counts in addition to its length.
const TEXT: usize = 64;

impl Texts {
    /// Returns the number of a text; `None` if it would not fit into `limit` bytes.
    pub(super) fn number(&mut self, text: &[u8], limit: usize) -> Option<u32> {
        if let Some(&number) = self.numbers.get(text) {
            return Some(number);
        }
        let taken = self.taken.saturating_add(text.len()).saturating_add(TEXT);
        if taken > limit {
            return None;
        }
        self.taken = taken;
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
