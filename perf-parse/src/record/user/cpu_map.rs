//! Sets of CPUs.

use core::ops::RangeInclusive;

use perf_abi::endian::{Endian, Endianness};
use perf_abi::record::{self as wire, CpuMapType};

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, ListIter};

/// The recorded CPUs.
///
/// perf: `struct perf_record_cpu_map`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CpuMap<'a> {
    /// The set of CPUs.
    pub data: CpuMapData<'a>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> CpuMap<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { data: CpuMapData::parse::<O>(at)?, rest: at.take_rest() })
    }
}

/// A set of CPUs in its recorded encoding. [`cpus`](Self::cpus) returns its members.
///
/// perf: `struct perf_record_cpu_map_data`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CpuMapData<'a> {
    /// A list; 65535 means any CPU.
    Cpus(List<'a, u16>),
    /// A bitmap of 32-bit words: bit n of word i is CPU 32 i + n.
    Mask32(List<'a, u32>),
    /// A bitmap of 64-bit words: bit n of word i is CPU 64 i + n.
    Mask64(List<'a, u64>),
    /// A range that includes both ends.
    Range {
        /// Whether the set also has "any CPU".
        any_cpu: bool,
        /// The first CPU.
        start_cpu: u16,
        /// The last CPU.
        end_cpu: u16,
    },
    /// An unknown encoding: another type, or a bitmap with another word size.
    Other {
        /// The type.
        #[cfg_attr(feature = "serde", serde(rename = "type"))]
        kind: CpuMapType,
        /// The bytes from the end of the type to the end of the record.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
        data: &'a [u8],
    },
}

impl<'a> CpuMapData<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let kind = CpuMapType(at.fixed::<wire::RawCpuMap<O>>("type")?.kind.get());
        let start = *at;
        match kind {
            CpuMapType::CPUS => {
                let nr = at.fixed::<wire::CpuMapCpus<O>>("nr")?.nr.get();
                return at.list(O::ENDIANNESS, u64::from(nr), "cpu").map(Self::Cpus);
            }
            CpuMapType::MASK => {
                let wire::CpuMapMask { nr, long_size } = at.fixed::<wire::CpuMapMask<O>>("nr")?;
                let nr = u64::from(nr.get());
                match long_size.get() {
                    4 => return at.list(O::ENDIANNESS, nr, "mask").map(Self::Mask32),
                    8 => {
                        at.bytes(4, "__pad")?;
                        return at.list(O::ENDIANNESS, nr, "mask").map(Self::Mask64);
                    }
                    _ => {}
                }
            }
            CpuMapType::RANGE_CPUS => {
                let it = at.fixed::<wire::CpuMapRange<O>>("any_cpu")?;
                let (start_cpu, end_cpu) = (it.start_cpu.get(), it.end_cpu.get());
                return Ok(Self::Range { any_cpu: it.any_cpu != 0, start_cpu, end_cpu });
            }
            _ => {}
        }
        *at = start;
        Ok(Self::Other { kind, data: at.take_rest() })
    }

    /// Returns the type of the encoding. C: `type`.
    #[must_use]
    pub const fn kind(&self) -> CpuMapType {
        match self {
            Self::Cpus(_) => CpuMapType::CPUS,
            Self::Mask32(_) | Self::Mask64(_) => CpuMapType::MASK,
            Self::Range { .. } => CpuMapType::RANGE_CPUS,
            Self::Other { kind, .. } => *kind,
        }
    }

    /// Returns the CPUs of the set in their recorded order, with -1 for any CPU.
    ///
    /// A list or a range has at most 65537 members, and a bitmap at most as many as it has bits. Returns none for an
    /// unknown encoding, and for a range that ends before it starts, which perf rejects.
    #[must_use]
    pub fn cpus(&self) -> Cpus<'a> {
        let (any, members) = match *self {
            Self::Cpus(list) => (false, CpuMembers::List(list.iter())),
            Self::Mask32(words) => (false, CpuMembers::Mask(Mask::new(MaskWords::U32(words.iter())))),
            Self::Mask64(words) => (false, CpuMembers::Mask(Mask::new(MaskWords::U64(words.iter())))),
            Self::Range { any_cpu, start_cpu, end_cpu } => (any_cpu, CpuMembers::Range(start_cpu..=end_cpu)),
            Self::Other { .. } => (false, CpuMembers::List(List::empty(Endianness::NATIVE).iter())),
        };
        Cpus { any, members }
    }
}

/// An iterator over the CPUs of a set, with -1 for any CPU; made by [`CpuMapData::cpus`].
#[derive(Clone, Debug)]
pub struct Cpus<'a> {
    /// Whether -1 is still to be returned.
    any: bool,
    members: CpuMembers<'a>,
}

#[derive(Clone, Debug)]
enum CpuMembers<'a> {
    List(ListIter<'a, u16>),
    Mask(Mask<'a>),
    Range(RangeInclusive<u16>),
}

impl Iterator for Cpus<'_> {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        if core::mem::take(&mut self.any) {
            return Some(-1);
        }
        match &mut self.members {
            CpuMembers::List(list) => list.next().map(|cpu| match cpu {
                u16::MAX => -1,
                cpu => i32::from(cpu),
            }),
            CpuMembers::Mask(mask) => mask.next(),
            CpuMembers::Range(range) => range.next().map(i32::from),
        }
    }
}

impl core::iter::FusedIterator for Cpus<'_> {}

/// The iteration over the set bits of a bitmap.
#[derive(Clone, Debug)]
struct Mask<'a> {
    words: MaskWords<'a>,
    /// The bits of the current word that are still to be returned.
    word: u64,
    /// Bit 0 of the current word and, as `following`, of the next word.
    first: i32,
    following: i32,
}

#[derive(Clone, Debug)]
enum MaskWords<'a> {
    U32(ListIter<'a, u32>),
    U64(ListIter<'a, u64>),
}

impl<'a> Mask<'a> {
    const fn new(words: MaskWords<'a>) -> Self {
        Self { words, word: 0, first: 0, following: 0 }
    }

    fn next(&mut self) -> Option<i32> {
        while self.word == 0 {
            let (word, bits) = match &mut self.words {
                MaskWords::U32(words) => (u64::from(words.next()?), 32),
                MaskWords::U64(words) => (words.next()?, 64),
            };
            self.word = word;
            self.first = self.following;
            self.following = self.first.saturating_add(bits);
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word.wrapping_sub(1);
        Some(self.first.saturating_add_unsigned(bit))
    }
}
