//! Memory: NUMA nodes, caches, memory blocks.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, U64};

use super::FeatureSection;
use super::fields::{STRING, items, list, number, string};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::file::error::FileError;

impl<'a> FeatureSection<'a> {
    /// `NUMA_TOPOLOGY`: memory and cpus of each NUMA node.
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

    /// `CACHE`: the caches of the cpus.
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

    /// `MEM_TOPOLOGY`: which blocks of memory belong to which NUMA node.
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
    /// Its number.
    pub node: u32,
    /// KiB of memory.
    pub mem_total: u64,
    /// KiB of memory that were free.
    pub mem_free: u64,
    /// The list of its cpus.
    pub cpus: &'a [u8],
}

/// A cache of some cpus.
///
/// perf: `struct cpu_cache_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache<'a> {
    /// Its level, 1 the nearest to the cpu.
    pub level: u32,
    /// Bytes of a line.
    pub line_size: u32,
    /// Sets.
    pub sets: u32,
    /// Ways of associativity.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: &'a [u8],
    /// Its size with its unit, as `32K`.
    pub size: &'a [u8],
    /// The list of the cpus that share it.
    pub map: &'a [u8],
}

/// Which blocks of memory belong to which NUMA node.
#[derive(Clone, Debug)]
pub struct MemTopology<'a, O: Endian> {
    /// Bytes of a block.
    pub block_size_bytes: u64,
    /// The nodes.
    pub nodes: Vec<MemNode<'a, O>>,
}

/// The blocks of memory of a NUMA node.
///
/// perf: `struct memory_node`.
#[derive(Clone, Copy, Debug)]
pub struct MemNode<'a, O: Endian> {
    /// Its number.
    pub node: u64,
    /// One past its highest block; what [`Bitmap::nbits`] says too.
    pub size: u64,
    /// Its blocks.
    pub blocks: Bitmap<'a, O>,
}

/// A set of numbers, as a bit each. Borrows.
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

    /// How many bits it has.
    #[must_use]
    pub fn nbits(&self) -> u64 {
        self.nbits
    }

    /// Its words: number `n` is bit `n % 64` of word `n / 64`.
    #[must_use]
    pub fn words(&self) -> &'a [U64<O>] {
        self.words
    }

    /// How many numbers are in it.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.masked().map(|(_, word)| u64::from(word.count_ones())).fold(0, u64::saturating_add)
    }

    /// The numbers in it, rising.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a, O> {
        self.masked().flat_map(|(first, word)| {
            // Each step clears the lowest bit that is set.
            let rest = core::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)));
            rest.take_while(|&rest| rest != 0)
                .map(move |rest| first.saturating_add(u64::from(rest.trailing_zeros())))
        })
    }

    /// Each word without the bits past the last, and the number of its first bit.
    fn masked(&self) -> impl Iterator<Item = (u64, u64)> + use<'a, O> {
        let nbits = self.nbits;
        (0_u64..).step_by(64).zip(self.words).map(move |(first, word)| {
            let used = nbits.saturating_sub(first);
            let mask = if used < 64 { (1_u64 << used).wrapping_sub(1) } else { u64::MAX };
            (first, word.get() & mask)
        })
    }
}
