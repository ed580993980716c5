//! A fast hash of what captures have, with a seed.

use core::hash::{BuildHasher, Hasher};
use std::collections::HashMap;
use std::hash::RandomState;

/// A map that hashes fast.
pub(crate) type FastMap<K, V> = HashMap<K, V, Seeded>;

/// Hashes with a seed of its own, so that no capture can be made whose keys all have one hash.
#[derive(Clone, Debug)]
pub(crate) struct Seeded {
    seed: u64,
    factor: u64,
}

impl Default for Seeded {
    fn default() -> Self {
        let random = RandomState::new();
        Self { seed: random.hash_one(0), factor: random.hash_one(1) | 1 }
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folded;

    #[inline]
    fn build_hasher(&self) -> Folded {
        Folded { hash: self.seed, factor: self.factor }
    }
}

impl Seeded {
    /// Returns the hash of words.
    #[cfg(feature = "arrow")]
    #[inline]
    pub(crate) fn hash_of_words(&self, words: &[u64]) -> u64 {
        let mut hash = self.build_hasher();
        words.iter().for_each(|&word| hash.add(word));
        hash.finish()
    }
}

/// The hash of the words up to now. Each is multiplied, and both halves of the product are put together.
#[derive(Clone, Debug)]
pub(crate) struct Folded {
    hash: u64,
    factor: u64,
}

impl Folded {
    #[inline]
    fn add(&mut self, word: u64) {
        let product = u128::from(self.hash ^ word) * u128::from(self.factor);
        self.hash = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        // The first byte says how many there are.
        let rest = rest.iter().fold(rest.len() as u64, |word, &byte| word << 8 | u64::from(byte));
        self.add(rest);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.add(value.into());
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.add(value.into());
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_differs_hashes_differently() {
        let seeded = Seeded::default();
        let texts = ["", "\0", "\0\0", "a", "b", "abcdefgh", "abcdefgh\0", "abcdefghi", "hgfedcba"];
        let hashes: HashSet<u64> = texts.iter().map(|text| seeded.hash_one(text.as_bytes())).collect();
        assert_eq!(hashes.len(), texts.len());
        // Neither half of the bits has few values for numbers that are alike.
        for shift in [0, 16, 32, 48] {
            let hashes = (0_u64..4096).map(|number| seeded.hash_one(number << shift));
            let halves: HashSet<u32> = hashes.clone().map(|hash| hash as u32).collect();
            assert!(halves.len() > 4000, "{}", halves.len());
            let halves: HashSet<u32> = hashes.map(|hash| (hash >> 32) as u32).collect();
            assert!(halves.len() > 4000, "{}", halves.len());
        }
        assert_ne!(Seeded::default().hash_one(0_u64), Seeded::default().hash_one(0_u64));
    }
}
