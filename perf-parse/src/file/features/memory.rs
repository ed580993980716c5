//! Memory: NUMA nodes, caches, memory blocks.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, U64};

use super::FeatureSection;
use super::fields::{STRING, items, list, number, string};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::error::FileError;

impl<'a> FeatureSection<'a> {
    /// Decodes `NUMA_TOPOLOGY`: memory and CPUs of each NUMA node.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn numa_topology<O: Endian>(&self) -> Result<Vec<NumaNode<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, "nr", 20 + STRING, |at| {
                Ok(NumaNode {
                    node: number::<O>(at, "node")?,
                    mem_total: at.word::<O>("mem_total")?,
                    mem_free: at.word::<O>("mem_free")?,
                    cpus: string::<O>(at, "cpus")?,
                })
            })
        })
    }

    /// Decodes `CACHE`: the caches of the CPUs.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string), and [`FileErrorKind::Invalid`](crate::file::FileErrorKind::Invalid) for a version
    /// other than 1.
    pub fn cache<O: Endian>(&self) -> Result<Vec<Cache<'a>>, FileError> {
        self.version_1(
            "cache.version",
            |at| number::<O>(at, "version").map(u64::from),
            |at| {
                list::<O, _>(at, "nr", 16 + 3 * STRING, |at| {
                    Ok(Cache {
                        level: number::<O>(at, "level")?,
                        line_size: number::<O>(at, "line_size")?,
                        sets: number::<O>(at, "sets")?,
                        ways: number::<O>(at, "ways")?,
                        kind: string::<O>(at, "type")?,
                        size: string::<O>(at, "size")?,
                        map: string::<O>(at, "map")?,
                    })
                })
            },
        )
    }

    /// Decodes `MEM_TOPOLOGY`: the blocks of memory of each NUMA node.
    ///
    /// # Errors
    ///
    /// As [`cache`](Self::cache).
    pub fn mem_topology<O: Endian>(&self) -> Result<MemTopology<'a, O>, FileError> {
        self.version_1(
            "mem_topology.version",
            |at| at.word::<O>("version"),
            |at| {
                let block_size_bytes = at.word::<O>("block_size_bytes")?;
                let nr = at.word::<O>("nr")?;
                let nodes = items(at, nr, 24, |at| {
                    Ok(MemNode {
                        node: at.word::<O>("node")?,
                        size: at.word::<O>("size")?,
                        blocks: Bitmap::parse(at)?,
                    })
                })?;
                Ok(MemTopology { block_size_bytes, nodes })
            },
        )
    }
}

/// A NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaNode<'a> {
    /// Number of the node.
    pub node: u32,
    /// Size of its memory in KiB.
    pub mem_total: u64,
    /// Size of its free memory in KiB.
    pub mem_free: u64,
    /// The list of its CPUs.
    pub cpus: &'a [u8],
}

/// A cache, and the CPUs that share it.
///
/// perf: `struct cpu_cache_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache<'a> {
    /// Level of the cache; 1 is nearest to the CPU.
    pub level: u32,
    /// Size of a line in bytes.
    pub line_size: u32,
    /// Number of sets.
    pub sets: u32,
    /// Number of ways of associativity.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: &'a [u8],
    /// Size of the cache with its unit, such as `32K`.
    pub size: &'a [u8],
    /// The list of the CPUs that share the cache.
    pub map: &'a [u8],
}

/// The blocks of memory of each NUMA node.
#[derive(Clone, Debug)]
pub struct MemTopology<'a, O: Endian> {
    /// Size of a block in bytes.
    pub block_size_bytes: u64,
    /// The nodes.
    pub nodes: Vec<MemNode<'a, O>>,
}

/// The blocks of memory of one NUMA node.
///
/// perf: `struct memory_node`.
#[derive(Clone, Copy, Debug)]
pub struct MemNode<'a, O: Endian> {
    /// Number of the node.
    pub node: u64,
    /// Number of its highest block plus one; the same as [`Bitmap::nbits`].
    pub size: u64,
    /// Its blocks.
    pub blocks: Bitmap<'a, O>,
}

/// A set of numbers, one bit each. Borrows.
#[derive(Clone, Copy, Debug)]
pub struct Bitmap<'a, O: Endian> {
    nbits: u64,
    words: &'a [U64<O>],
}

impl<'a, O: Endian> Bitmap<'a, O> {
    fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nbits = at.word::<O>("bitmap.nbits")?;
        Ok(Self { nbits, words: at.array(nbits.div_ceil(64), "bitmap")? })
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn nbits(&self) -> u64 {
        self.nbits
    }

    /// Returns the words: number `n` is bit `n % 64` of word `n / 64`.
    #[must_use]
    pub fn words(&self) -> &'a [U64<O>] {
        self.words
    }

    /// Returns how many numbers are in the set.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.masked().map(|(_, word)| u64::from(word.count_ones())).fold(0, u64::saturating_add)
    }

    /// Returns the numbers in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a, O> {
        self.masked().flat_map(|(first, word)| {
            // Each step clears the lowest bit that is set.
            let rest = core::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)));
            rest.take_while(|&rest| rest != 0)
                .map(move |rest| first.saturating_add(u64::from(rest.trailing_zeros())))
        })
    }

    /// Returns each word without the bits after the last, and the number of its first bit.
    fn masked(&self) -> impl Iterator<Item = (u64, u64)> + use<'a, O> {
        let nbits = self.nbits;
        (0_u64..).step_by(64).zip(self.words).map(move |(first, word)| {
            let used = nbits.saturating_sub(first);
            let mask = if used < 64 { (1_u64 << used).wrapping_sub(1) } else { u64::MAX };
            (first, word.get() & mask)
        })
    }
}
