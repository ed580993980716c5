//! The values of a tracepoint's fields.

use core::marker::PhantomData;

use perf_abi::endian::{Endian, U16, U32, U64};
use zerocopy::FromBytes;

use super::element::Element;

/// The value of a field. Borrows from the raw data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(bound = "", untagged))]
#[non_exhaustive]
pub enum Value<'r, O: Endian> {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A pointer.
    Pointer(u64),
    /// A `bool`. A value other than 0 and 1 is returned as [`Unsigned`](Self::Unsigned).
    Bool(bool),
    /// A string: an array of `char` up to its first NUL.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    Str(&'r [u8]),
    /// An array of integers, pointers or `bool`s.
    Array(Array<'r, O>),
    /// Uninterpreted bytes: structures, arrays of unsigned bytes, and arrays whose elements are unknown or do not
    /// fill the field.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    Bytes(&'r [u8]),
}

/// The elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array<'r, O: Endian> {
    /// A multiple of the element's size.
    bytes: &'r [u8],
    element: Element,
    signed: bool,
    order: PhantomData<O>,
}

impl<'r, O: Endian> Array<'r, O> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values().len()
    }

    /// Returns whether the array is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the elements as one slice if they are unsigned integers of 8 bytes; `None` otherwise.
    #[inline]
    #[must_use]
    pub fn unsigned_words(&self) -> Option<&'r [U64<O>]> {
        match self.element {
            Element::Integer { bytes: 8 } if !self.signed => <[U64<O>]>::ref_from_bytes(self.bytes).ok(),
            _ => None,
        }
    }

    /// Returns the elements, each an integer, a pointer or a `bool`.
    #[inline]
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'r, O>> + Clone + use<'r, O> {
        let (element, signed) = (self.element, self.signed);
        self.bytes
            .chunks_exact(usize::from(element.bytes()))
            .map(move |bytes| Value::single(element, signed, bytes))
    }
}

/// A sequence of the elements.
#[cfg(feature = "serde")]
impl<O: Endian> serde::Serialize for Array<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.values())
    }
}

impl<'r, O: Endian> Value<'r, O> {
    /// Returns the single value of a field. `bytes` has the size of the element.
    #[inline(always)]
    pub(super) fn single(element: Element, signed: bool, bytes: &'r [u8]) -> Self {
        match element {
            Element::Bytes | Element::Char => Self::Bytes(bytes),
            Element::Pointer { .. } => Self::Pointer(unsigned::<O>(bytes)),
            Element::Integer { bytes: width } if signed => {
                // The shifts up and down extend the sign.
                let above = 64_u32.saturating_sub(u32::from(width).saturating_mul(8));
                Self::Signed((unsigned::<O>(bytes).wrapping_shl(above) as i64).wrapping_shr(above))
            }
            Element::Integer { .. } => Self::Unsigned(unsigned::<O>(bytes)),
            Element::Bool => match unsigned::<O>(bytes) {
                0 => Self::Bool(false),
                1 => Self::Bool(true),
                other => Self::Unsigned(other),
            },
        }
    }

    /// Returns the values of an array.
    #[inline]
    pub(super) fn several(element: Element, signed: bool, bytes: &'r [u8]) -> Self {
        match element {
            Element::Bytes => Self::Bytes(bytes),
            Element::Char => Self::Str(bytes.split(|&byte| byte == 0).next().unwrap_or_default()),
            _ if bytes.len().checked_rem(usize::from(element.bytes())) != Some(0) => Self::Bytes(bytes),
            _ => Self::Array(Array { bytes, element, signed, order: PhantomData }),
        }
    }
}

/// Decodes an integer of 1, 2, 4 or 8 bytes. Other sizes do not occur and return 0.
#[inline(always)]
pub(super) fn unsigned<O: Endian>(bytes: &[u8]) -> u64 {
    match bytes.len() {
        1 => bytes.first().copied().map(u64::from),
        2 => U16::<O>::read_from_bytes(bytes).ok().map(|number| u64::from(number.get())),
        4 => U32::<O>::read_from_bytes(bytes).ok().map(|number| u64::from(number.get())),
        8 => U64::<O>::read_from_bytes(bytes).ok().map(|number| number.get()),
        _ => None,
    }
    .unwrap_or_default()
}
