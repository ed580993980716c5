//! The values of a tracepoint's fields.

use perf_abi::endian::{ByteOrder, Endianness};
use zerocopy::FromBytes;

use super::element::ElementType;
use crate::list::List;

/// The value of a field. Borrows from the raw data.
///
/// # Examples
///
/// ```
/// use perf_parse::tracepoint::Value;
///
/// let [number, text]: [Value<'_>; 2] = [Value::Signed(-1), Value::Str(b"sh")];
/// assert_eq!((number.as_i64(), number.as_u64(), number.as_str()), (Some(-1), None, None));
/// assert_eq!((text.as_i64(), text.as_str()), (None, Some(&b"sh"[..])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(bound = "", untagged))]
#[non_exhaustive]
pub enum Value<'r, O: ByteOrder = Endianness> {
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

/// The elements of an array, each of which is decoded when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array<'r, O: ByteOrder = Endianness> {
    /// A multiple of the element's size.
    bytes: &'r [u8],
    element: ElementType,
    signed: bool,
    order: O::Value,
}

impl<'r, O: ByteOrder> Array<'r, O> {
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

    /// Returns the elements as one list if they are unsigned integers of 8 bytes; `None` otherwise.
    #[inline]
    #[must_use]
    pub fn unsigned_words(&self) -> Option<List<'r, u64, O>> {
        match self.element {
            ElementType::Integer { bytes: 8 } if !self.signed => {
                <[[u8; 8]]>::ref_from_bytes(self.bytes).ok().map(|words| List::of(self.order, words))
            }
            _ => None,
        }
    }

    /// Returns the elements, each an integer, a pointer or a `bool`.
    #[inline]
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'r, O>> + Clone + use<'r, O> {
        let (element, signed, order) = (self.element, self.signed, self.order);
        self.bytes
            .chunks_exact(usize::from(element.bytes()))
            .map(move |bytes| Value::single(order, element, signed, bytes))
    }
}

/// A sequence of the elements.
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for Array<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.values())
    }
}

impl<'r, O: ByteOrder> Value<'r, O> {
    /// Returns a number that is not negative: an integer, a pointer, or 0 or 1 for a `bool`. `None` for a negative number
    /// and for every other value.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::Unsigned(number) | Self::Pointer(number) => Some(number),
            Self::Signed(number) => u64::try_from(number).ok(),
            Self::Bool(is_set) => Some(is_set.into()),
            Self::Str(_) | Self::Array(_) | Self::Bytes(_) => None,
        }
    }

    /// Returns a number: an integer, a pointer, or 0 or 1 for a `bool`. `None` for a number above [`i64::MAX`] and for
    /// every other value.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Signed(number) => Some(number),
            _ => i64::try_from(self.as_u64()?).ok(),
        }
    }

    /// Returns the bytes of a string, which need not be UTF-8, without its NUL; `None` for every other value.
    #[must_use]
    pub fn as_str(&self) -> Option<&'r [u8]> {
        match *self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the single value of a field. `bytes` has the size of the element.
    #[inline(always)]
    pub(super) fn single(order: O::Value, element: ElementType, signed: bool, bytes: &'r [u8]) -> Self {
        match element {
            ElementType::Bytes | ElementType::Char => Self::Bytes(bytes),
            ElementType::Pointer { .. } => Self::Pointer(unsigned::<O>(order, bytes)),
            ElementType::Integer { bytes: width } if signed => {
                // The shifts up and down extend the sign.
                let above = 64_u32.saturating_sub(u32::from(width).saturating_mul(8));
                Self::Signed((unsigned::<O>(order, bytes).wrapping_shl(above) as i64).wrapping_shr(above))
            }
            ElementType::Integer { .. } => Self::Unsigned(unsigned::<O>(order, bytes)),
            ElementType::Bool => match unsigned::<O>(order, bytes) {
                0 => Self::Bool(false),
                1 => Self::Bool(true),
                other => Self::Unsigned(other),
            },
        }
    }

    /// Returns the values of an array.
    #[inline]
    pub(super) fn several(order: O::Value, element: ElementType, signed: bool, bytes: &'r [u8]) -> Self {
        match element {
            ElementType::Bytes => Self::Bytes(bytes),
            ElementType::Char => Self::Str(bytes.split(|&byte| byte == 0).next().unwrap_or_default()),
            _ if bytes.len().checked_rem(usize::from(element.bytes())) != Some(0) => Self::Bytes(bytes),
            _ => Self::Array(Array { bytes, element, signed, order }),
        }
    }
}

/// Decodes an integer of 1, 2, 4 or 8 bytes. Other sizes do not occur and return 0.
#[inline(always)]
pub(super) fn unsigned<O: ByteOrder>(order: O::Value, bytes: &[u8]) -> u64 {
    match bytes.len() {
        1 => bytes.first().copied().map(u64::from),
        2 => bytes.first_chunk().map(|&bytes| u64::from(O::u16(order, bytes))),
        4 => bytes.first_chunk().map(|&bytes| u64::from(O::u32(order, bytes))),
        8 => bytes.first_chunk().map(|&bytes| O::u64(order, bytes)),
        _ => None,
    }
    .unwrap_or_default()
}
