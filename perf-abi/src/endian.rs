//! Byte order: the types that carry it, and the conversion of C bit-fields.
//!
//! A capture is in the byte order of the machine that recorded it. [`Endian`] is that order as a type
//! parameter, chosen once when a source is opened. [`U16`], [`U32`], [`U64`] and their signed counterparts
//! are integers in that order with alignment 1, so that records need no alignment and no copy.
//!
//! A byte swap does not convert C bit-fields: a big-endian compiler allocates them from the highest bit of
//! the word. [`bitfields_from_be`] and [`bitfields_to_be`] convert them.

pub use zerocopy::byteorder::{BigEndian, F64, I16, I32, I64, LittleEndian, U16, U32, U64};

/// A byte order, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
// The size of a pointer. A view that consists of a pointer, a length and a byte order is then three whole words, and
// moving the view copies no padding.
#[repr(usize)]
pub enum Endianness {
    /// Least significant byte first: x86, arm64, riscv, loongarch, powerpc64le.
    Little,
    /// Most significant byte first: s390, sparc, parisc, powerpc64, older mips.
    Big,
}

impl Endianness {
    /// The byte order of the machine that this code runs on.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };
}

impl core::fmt::Display for Endianness {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(match self {
            Self::Little => "little",
            Self::Big => "big",
        })
    }
}

/// A byte order, as a type: [`LittleEndian`] or [`BigEndian`].
///
/// The trait is sealed: it extends zerocopy's `ByteOrder`, which has no other implementors.
pub trait Endian: zerocopy::byteorder::ByteOrder + Send + Sync + 'static {
    /// This byte order as a value.
    const ENDIANNESS: Endianness;
}

impl Endian for LittleEndian {
    const ENDIANNESS: Endianness = Endianness::Little;
}

impl Endian for BigEndian {
    const ENDIANNESS: Endianness = Endianness::Big;
}

/// The byte order of a view of recorded bytes: [`LittleEndian`] or [`BigEndian`] if it is known when the program is
/// compiled, [`Endianness`] if it is known when a capture is opened.
///
/// A view has this type as a parameter and stores a [`Value`](Self::Value). For [`LittleEndian`] and [`BigEndian`] the
/// value is `()`, which takes no space.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::{ByteOrder, Endianness, LittleEndian};
///
/// assert_eq!(LittleEndian::u16((), [1, 0]), 1);
/// assert_eq!(Endianness::u16(Endianness::Big, [1, 0]), 256);
/// ```
pub trait ByteOrder:
    sealed::Sealed + Copy + core::fmt::Debug + Eq + core::hash::Hash + Send + Sync + 'static
{
    /// The part of the byte order that is known only at run time; `()` if the type alone gives the order.
    type Value: Copy + core::fmt::Debug + Eq + core::hash::Hash + Send + Sync + 'static;

    /// Returns the order.
    fn endianness(order: Self::Value) -> Endianness;

    /// Returns the number in these bytes.
    #[inline(always)]
    fn u16(order: Self::Value, bytes: [u8; 2]) -> u16 {
        match Self::endianness(order) {
            Endianness::Little => u16::from_le_bytes(bytes),
            Endianness::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Returns the number in these bytes.
    #[inline(always)]
    fn u32(order: Self::Value, bytes: [u8; 4]) -> u32 {
        match Self::endianness(order) {
            Endianness::Little => u32::from_le_bytes(bytes),
            Endianness::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Returns the number in these bytes.
    #[inline(always)]
    fn u64(order: Self::Value, bytes: [u8; 8]) -> u64 {
        match Self::endianness(order) {
            Endianness::Little => u64::from_le_bytes(bytes),
            Endianness::Big => u64::from_be_bytes(bytes),
        }
    }
}

impl<O: Endian> ByteOrder for O {
    type Value = ();

    #[inline(always)]
    fn endianness((): ()) -> Endianness {
        O::ENDIANNESS
    }
}

impl ByteOrder for Endianness {
    type Value = Self;

    #[inline(always)]
    fn endianness(order: Self) -> Endianness {
        order
    }

    #[inline(always)]
    fn u16(order: Self, bytes: [u8; 2]) -> u16 {
        let native = u16::from_ne_bytes(bytes);
        if order == Self::NATIVE {
            return native;
        }
        foreign();
        native.swap_bytes()
    }

    #[inline(always)]
    fn u32(order: Self, bytes: [u8; 4]) -> u32 {
        let native = u32::from_ne_bytes(bytes);
        if order == Self::NATIVE {
            return native;
        }
        foreign();
        native.swap_bytes()
    }

    #[inline(always)]
    fn u64(order: Self, bytes: [u8; 8]) -> u64 {
        let native = u64::from_ne_bytes(bytes);
        if order == Self::NATIVE {
            return native;
        }
        foreign();
        native.swap_bytes()
    }
}

/// Marks the path for the byte order that is not this machine's as unlikely. Without the mark, the compiler swaps the
/// bytes of every number and then selects one of the two values.
#[cold]
#[inline]
const fn foreign() {}

mod sealed {
    pub trait Sealed {}
    impl<O: super::Endian> Sealed for O {}
    impl Sealed for super::Endianness {}
}

/// The byte order of the machine that this code runs on, as a type.
#[cfg(target_endian = "little")]
pub type NativeEndian = LittleEndian;
/// The byte order of the machine that this code runs on, as a type.
#[cfg(target_endian = "big")]
pub type NativeEndian = BigEndian;

/// Converts a word of C bit-fields from the layout of a big-endian compiler to the little-endian layout.
///
/// `word` is the value of the word, read as a big-endian integer. A big-endian compiler puts a field of
/// `width` bits at bit `64 - lsb - width` if a little-endian compiler puts it at bit `lsb`. `fields` lists
/// the fields of more than one bit, as (`lsb`, `width`); it need not list single bits.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::bitfields_from_be;
/// // The bytes 00 00 80 00 00 00 00 00 in a big-endian attr: precise_ip (bits 15 and 16) is 1.
/// let word = u64::from_be_bytes([0, 0, 0x80, 0, 0, 0, 0, 0]);
/// assert_eq!(bitfields_from_be(word, &[(15, 2)]), 1 << 15);
/// ```
#[must_use]
pub const fn bitfields_from_be(word: u64, fields: &[(u32, u32)]) -> u64 {
    mirror_fields(word.reverse_bits(), fields)
}

/// Converts a word of C bit-fields to the layout of a big-endian compiler: the inverse of
/// [`bitfields_from_be`].
#[must_use]
pub const fn bitfields_to_be(word: u64, fields: &[(u32, u32)]) -> u64 {
    mirror_fields(word, fields).reverse_bits()
}

/// Reverses the bits within each field and leaves the fields in their places.
const fn mirror_fields(word: u64, mut fields: &[(u32, u32)]) -> u64 {
    let mut mirrored = word;
    while let [(lsb, width), rest @ ..] = fields {
        let mask = (u64::MAX >> 64_u32.saturating_sub(*width)) << *lsb;
        let reversed =
            (word & mask).reverse_bits() >> 64_u32.saturating_sub(*lsb).saturating_sub(*width) << *lsb;
        mirrored = mirrored & !mask | reversed & mask;
        fields = rest;
    }
    mirrored
}
