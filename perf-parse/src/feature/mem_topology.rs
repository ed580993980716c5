//! `MEM_TOPOLOGY`: the blocks of memory of each NUMA node.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;

use super::codec::{Fault, SectionField, put_word};
use super::{EncodeError, Entries, FeatureSection, FieldValue, Fields};
use crate::cursor::Cursor;
use crate::error::{Error, FileError};

/// The blocks of memory of each NUMA node.
///
/// perf: `write_mem_topology`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemTopology<'a> {
    /// Size of a block in bytes.
    pub block_size_bytes: u64,
    /// The nodes.
    pub nodes: Entries<'a, MemNode<'a>>,
}

/// The blocks of memory of one NUMA node.
///
/// perf: `struct memory_node`, `tools/perf/util/env.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemNode<'a> {
    /// Number of the node.
    pub node: u64,
    /// Number of its highest block plus one; the same as [`Bitmap::nbits`].
    pub size: u64,
    /// Its blocks.
    pub blocks: Bitmap<'a>,
}

/// A set of numbers, one bit each. Borrows.
///
/// perf: `do_write_bitmap`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bitmap<'a> {
    /// Number of bits.
    pub nbits: u64,
    /// The words: number `n` is bit `n % 64` of word `n / 64`.
    pub words: Entries<'a, u64>,
}

/// Maximum number of bits: perf reads the number of bits as an `int`.
const MAX_BITS: u64 = i32::MAX as u64;

/// The fault of a block whose number is too high.
const TOO_HIGH: Fault = ("blocks", "below 2147483647");

pub(super) fn decode<'a, O: Endian>(section: &FeatureSection<'a>) -> Result<MemTopology<'a>, FileError> {
    section.check_version("mem_topology.version", |at| at.word::<O>("version"))?;
    section.whole(|at| {
        at.word::<O>("version")?;
        let block_size_bytes = at.word::<O>("block_size_bytes")?;
        let nr = at.word::<O>("nr")?;
        Ok(MemTopology { block_size_bytes, nodes: Entries::of::<O>(at, nr, "", 0)? })
    })
}

pub(super) fn encode<O: Endian>(topology: &MemTopology<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let words = [1, topology.block_size_bytes, topology.nodes.len() as u64];
    words.into_iter().for_each(|word| put_word::<O>(out, word));
    topology.nodes.put_all::<O>(out, "")
}

impl MemTopology<'_> {
    pub(super) fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for MemTopology<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("block_size_bytes", FieldValue::Number(self.block_size_bytes));
        to("nodes", self.nodes.value());
    }
}

impl<'a> MemNode<'a> {
    /// Creates a node with these blocks.
    #[must_use]
    pub fn new(node: u64, blocks: Bitmap<'a>) -> Self {
        Self { node, size: blocks.nbits, blocks }
    }
}

impl<'a> SectionField<'a> for MemNode<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, _: u32) -> Result<Self, Error> {
        let (node, size) = (at.word::<O>("node")?, at.word::<O>("size")?);
        let nbits = at.word::<O>("bitmap.nbits")?;
        let words = Entries::array::<O, 8>(at, nbits.div_ceil(64), "bitmap")?;
        Ok(Self { node, size, blocks: Bitmap { nbits, words } })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        let Bitmap { nbits, words } = self.blocks;
        if nbits > MAX_BITS {
            return Err(TOO_HIGH);
        }
        if words.len() as u64 != nbits.div_ceil(64) {
            return Err(("bitmap", "one word for 64 bits"));
        }
        [self.node, self.size, nbits].into_iter().for_each(|word| put_word::<O>(out, word));
        words.put_all::<O>(out, "")
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for MemNode<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("node", FieldValue::Number(self.node));
        to("size", FieldValue::Number(self.size));
        to("nbits", FieldValue::Number(self.blocks.nbits));
        // The words, because the list of numbers may be far larger than the section.
        to("bitmap", self.blocks.words.value());
    }
}

impl<'a> Bitmap<'a> {
    /// Returns the words of the set of these numbers, with one bit for each number up to the highest.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] for a number of 2^31 - 1 or more, which perf does not read.
    pub fn words_of(numbers: &[u32]) -> Result<Vec<u64>, EncodeError> {
        let nbits = nbits(numbers);
        if nbits > MAX_BITS {
            return Err(EncodeError::new(Feature::MEM_TOPOLOGY, TOO_HIGH));
        }
        let mut words = alloc::vec![0_u64; usize::try_from(nbits.div_ceil(64)).unwrap_or(0)];
        for &number in numbers {
            if let Some(word) = words.get_mut((number / 64) as usize) {
                *word |= 1 << (number % 64);
            }
        }
        Ok(words)
    }

    /// Returns the set of these words, with one bit for each number up to the highest.
    #[must_use]
    pub fn new(words: &'a [u64]) -> Self {
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last.saturating_add(1));
        let words = words.get(..used).unwrap_or_default();
        let unused = words.last().map_or(0, |last| u64::from(last.leading_zeros()));
        Self { nbits: (words.len() as u64).saturating_mul(64).saturating_sub(unused), words: words.into() }
    }

    /// Returns how many numbers are in the set.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.masked().map(|(_, word)| u64::from(word.count_ones())).fold(0, u64::saturating_add)
    }

    /// Returns the numbers in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.masked().flat_map(|(first, word)| {
            // Each step clears the lowest bit that is set.
            let rest = core::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)));
            rest.take_while(|&rest| rest != 0)
                .map(move |rest| first.saturating_add(u64::from(rest.trailing_zeros())))
        })
    }

    /// Returns each word without the bits after the last, and the number of its first bit.
    fn masked(&self) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let nbits = self.nbits;
        (0_u64..).step_by(64).zip(self.words).map(move |(first, word)| {
            let used = nbits.saturating_sub(first);
            let mask = if used < 64 { (1_u64 << used).wrapping_sub(1) } else { u64::MAX };
            (first, word & mask)
        })
    }
}

/// Returns the highest number plus one; 0 without numbers.
fn nbits(numbers: &[u32]) -> u64 {
    numbers.iter().max().map_or(0, |&highest| u64::from(highest).saturating_add(1))
}
