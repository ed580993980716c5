//! Byte order: the types that carry it, and what a plain swap of bytes gets wrong.
//!
//! A capture is in the byte order of the machine that made it. [`Endian`] is that order as a type parameter,
//! fixed once when a source is opened; [`U16`], [`U32`], [`U64`] and their signed kin are integers in that order
//! with alignment 1, so records need no alignment and no copy.
//!
//! C bit-fields are the exception to swapping: a big-endian compiler fills them from the other end of the word.
//! [`bitfields_from_be`] and [`bitfields_to_be`] move them.

pub use zerocopy::byteorder::{BigEndian, F64, I16, I32, I64, LittleEndian, U16, U32, U64};

/// The order of the bytes of an integer, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endianness {
    /// Least significant byte first: x86, arm64, riscv, loongarch, powerpc64le.
    Little,
    /// Most significant byte first: s390, sparc, parisc, powerpc64, older mips.
    Big,
}

impl Endianness {
    /// The order of the machine this code runs on.
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

/// The order of the bytes of an integer, as a type: [`LittleEndian`] or [`BigEndian`].
///
/// Sealed: zerocopy's `ByteOrder`, which it extends, has no other implementors.
pub trait Endian: zerocopy::byteorder::ByteOrder + 'static {
    /// This order as a value.
    const ENDIANNESS: Endianness;
}

impl Endian for LittleEndian {
    const ENDIANNESS: Endianness = Endianness::Little;
}

impl Endian for BigEndian {
    const ENDIANNESS: Endianness = Endianness::Big;
}

/// The order of the machine this code runs on, as a type.
#[cfg(target_endian = "little")]
pub type NativeEndian = LittleEndian;
/// The order of the machine this code runs on, as a type.
#[cfg(target_endian = "big")]
pub type NativeEndian = BigEndian;

/// A word of C bit-fields as a big-endian compiler laid it out, turned into the little-endian layout.
///
/// `word` is the value of the word read as a big-endian integer. In it the field that a little-endian compiler
/// puts at bit `lsb` with `width` bits stands at bit `64 - lsb - width`. `fields` names the fields of more than
/// one bit; single bits need no mention.
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

/// The inverse of [`bitfields_from_be`].
#[must_use]
pub const fn bitfields_to_be(word: u64, fields: &[(u32, u32)]) -> u64 {
    mirror_fields(word, fields).reverse_bits()
}

/// Reverses the bits within each field, leaving the field where it is.
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
