//! Numbers of values, in the order in which they came.

use core::hash::BuildHasher;

use crate::seeded::Seeded;

/// Numbers of values, found by their hashes. The values are kept elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// A number plus one; 0 where there is none. Twice as many as there are numbers, a power of two.
    slots: Vec<u32>,
    len: u32,
}

impl Numbering {
    /// Returns the number of the value with this hash for which `is` holds; otherwise adds the next number.
    #[inline]
    pub(crate) fn number(
        &mut self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
    ) -> u32 {
        if self.slots.len() <= 2 * self.len as usize {
            self.grow(hash_of);
        }
        let mut at = self.first(hash);
        // At least half of the slots are empty.
        while let Some(slot) = self.slots.get_mut(at) {
            match slot.checked_sub(1) {
                None => {
                    self.len += 1;
                    *slot = self.len;
                    break;
                }
                Some(number) if is(number) => return number,
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
            }
        }
        self.len - 1
    }

    /// Returns the first slot for a hash.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        let slots = (4 * self.len as usize).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(slots, 0);
        for number in 0..self.len {
            let mut at = self.first(hash_of(number));
            while let Some(slot) = self.slots.get_mut(at) {
                if *slot == 0 {
                    *slot = number + 1;
                    break;
                }
                at = (at + 1) & (self.slots.len() - 1);
            }
        }
    }

    /// Forgets all numbers.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(0);
        self.len = 0;
    }
}

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    numbering: Numbering,
    /// The texts, one after the other.
    bytes: String,
    /// Where each text ends.
    ends: Vec<i32>,
    hasher: Seeded,
}

impl Texts {
    /// Returns the number of a text.
    #[inline]
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        let Self { numbering, bytes, ends, hasher } = self;
        let of = |number: u32| text_of(bytes, ends, number);
        let hash = hasher.hash_one(text.as_bytes());
        let number = numbering.number(hash, |it| of(it) == text, |it| hasher.hash_one(of(it).as_bytes()));
        if number as usize == ends.len() {
            bytes.push_str(text);
            ends.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        }
        number
    }

    /// Returns a text; an empty one for a number that is none.
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
        let mut texts = Texts::default();
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
