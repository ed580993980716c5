//! Sets of CPUs.

use core::ops::RangeInclusive;
use core::slice::Iter;

use perf_abi::endian::{Endian, U16, U32, U64};
use perf_abi::record::{self as wire, CpuMapRange, CpuMapType};

use crate::cursor::Cursor;
use crate::error::Error;

/// The recorded CPUs.
///
/// perf: `struct perf_record_cpu_map`.
#[derive(Clone, Copy, Debug)]
pub struct CpuMap<'a, O: Endian> {
    /// The set of CPUs.
    pub data: CpuMapData<'a, O>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> CpuMap<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { data: CpuMapData::parse(at)?, rest: at.take_rest() })
    }
}

/// A set of CPUs in its recorded encoding. [`cpus`](Self::cpus) returns its members.
///
/// perf: `struct perf_record_cpu_map_data`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CpuMapData<'a, O: Endian> {
    /// A list; 65535 means any CPU.
    Cpus(&'a [U16<O>]),
    /// A bitmap of 32-bit words: bit n of word i is CPU 32 i + n.
    Mask32(&'a [U32<O>]),
    /// A bitmap of 64-bit words: bit n of word i is CPU 64 i + n.
    Mask64(&'a [U64<O>]),
    /// A range that includes both ends.
    Range(&'a CpuMapRange<O>),
    /// An unknown encoding: another type, or a bitmap with another word size.
    Other {
        /// The type.
        kind: CpuMapType,
        /// The bytes from the end of the type to the end of the record.
        data: &'a [u8],
    },
}

impl<'a, O: Endian> CpuMapData<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let kind = CpuMapType(at.fixed::<wire::RawCpuMap<O>>("type")?.kind.get());
        let start = *at;
        match kind {
            CpuMapType::CPUS => {
                let nr = at.fixed::<wire::CpuMapCpus<O>>("nr")?.nr.get();
                return at.array(u64::from(nr), "cpu").map(Self::Cpus);
            }
            CpuMapType::MASK => {
                let wire::CpuMapMask { nr, long_size } = at.fixed::<wire::CpuMapMask<O>>("nr")?;
                let nr = u64::from(nr.get());
                match long_size.get() {
                    4 => return at.array(nr, "mask").map(Self::Mask32),
                    8 => {
                        at.bytes(4, "__pad")?;
                        return at.array(nr, "mask").map(Self::Mask64);
                    }
                    _ => {}
                }
            }
            CpuMapType::RANGE_CPUS => return at.fixed("any_cpu").map(Self::Range),
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
            Self::Range(_) => CpuMapType::RANGE_CPUS,
            Self::Other { kind, .. } => *kind,
        }
    }

    /// Returns the CPUs of the set in their recorded order, with -1 for any CPU.
    ///
    /// A list or a range has at most 65537 members, and a bitmap at most as many as it has bits. Returns none for an
    /// unknown encoding, and for a range that ends before it starts, which perf rejects.
    #[must_use]
    pub fn cpus(&self) -> Cpus<'a, O> {
        let (any, members) = match *self {
            Self::Cpus(list) => (false, Members::List(list.iter())),
            Self::Mask32(words) => (false, Members::Mask(Mask::new(Words::U32(words.iter())))),
            Self::Mask64(words) => (false, Members::Mask(Mask::new(Words::U64(words.iter())))),
            Self::Range(range) => {
                (range.any_cpu != 0, Members::Range(range.start_cpu.get()..=range.end_cpu.get()))
            }
            Self::Other { .. } => (false, Members::List([].iter())),
        };
        Cpus { any, members }
    }
}

/// An iterator over the CPUs of a set, with -1 for any CPU; made by [`CpuMapData::cpus`].
#[derive(Clone, Debug)]
pub struct Cpus<'a, O: Endian> {
    /// Whether -1 is still to be returned.
    any: bool,
    members: Members<'a, O>,
}

#[derive(Clone, Debug)]
enum Members<'a, O: Endian> {
    List(Iter<'a, U16<O>>),
    Mask(Mask<'a, O>),
    Range(RangeInclusive<u16>),
}

impl<O: Endian> Iterator for Cpus<'_, O> {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        if core::mem::take(&mut self.any) {
            return Some(-1);
        }
        match &mut self.members {
            Members::List(list) => list.next().map(|cpu| match cpu.get() {
                u16::MAX => -1,
                cpu => i32::from(cpu),
            }),
            Members::Mask(mask) => mask.next(),
            Members::Range(range) => range.next().map(i32::from),
        }
    }
}

impl<O: Endian> core::iter::FusedIterator for Cpus<'_, O> {}

/// The iteration over the set bits of a bitmap.
#[derive(Clone, Debug)]
struct Mask<'a, O: Endian> {
    words: Words<'a, O>,
    /// The bits of the current word that are still to be returned.
    word: u64,
    /// Bit 0 of the current word and, as `following`, of the next word.
    first: i32,
    following: i32,
}

#[derive(Clone, Debug)]
enum Words<'a, O: Endian> {
    U32(Iter<'a, U32<O>>),
    U64(Iter<'a, U64<O>>),
}

impl<'a, O: Endian> Mask<'a, O> {
    const fn new(words: Words<'a, O>) -> Self {
        Self { words, word: 0, first: 0, following: 0 }
    }

    fn next(&mut self) -> Option<i32> {
        while self.word == 0 {
            let (word, bits) = match &mut self.words {
                Words::U32(words) => (u64::from(words.next()?.get()), 32),
                Words::U64(words) => (words.next()?.get(), 64),
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
