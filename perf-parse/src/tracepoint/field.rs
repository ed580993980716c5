//! The fields of a tracepoint: where their values are in the raw data, and what they are.

use alloc::vec::Vec;

use perf_abi::endian::{ByteOrder, Endianness};

use super::element::{ElementType, ValueExtent, classify};
use super::error::FieldError;
use super::grammar::{self, FieldLine};
use super::value::{Value, unsigned};

/// A field of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatField<'a> {
    /// C type as the kernel writes it, without the brackets after the name.
    pub c_type: &'a [u8],
    /// Name of the field.
    pub name: &'a [u8],
    /// Start of the field, in bytes from the start of the raw data.
    pub offset: u32,
    /// Bytes of the field; 0 for an array that extends to the end of the raw data. For a dynamic array, the bytes of
    /// its location word, not of its elements.
    pub size: u32,
    /// Whether the integer, or each integer of an array, is signed.
    pub signed: bool,
    /// Place of the value.
    pub place: FieldPlacement,
    /// Type of the value, or of each element.
    pub element: ElementType,
}

/// The place of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldPlacement {
    /// In the field: a single value.
    Value,
    /// In the field: an array.
    Array {
        /// Number of elements; `None` if the length is not written as a number.
        len: Option<u32>,
    },
    /// From the field's offset to the end of the raw data, which the kernel pads.
    Rest,
    /// `__data_loc`: elsewhere in the raw data. The low 16 bits of the field are the offset from the start of the raw
    /// data; the next 16 bits are the size.
    DataLoc,
    /// `__rel_loc`: elsewhere in the raw data. Like [`DataLoc`](Self::DataLoc), but the offset is from the end of the
    /// field.
    RelLoc,
}

impl<'a> FormatField<'a> {
    pub(super) fn new(line: &FieldLine<'a>, long_size: u8) -> Self {
        let declaration = line.declaration;
        let is = |word: &[u8]| grammar::words(declaration.c_type).next() == Some(word);
        let (place, extent) = match declaration.brackets {
            _ if is(b"__data_loc") => (FieldPlacement::DataLoc, ValueExtent::Elsewhere),
            _ if is(b"__rel_loc") => (FieldPlacement::RelLoc, ValueExtent::Elsewhere),
            None => (FieldPlacement::Value, ValueExtent::Value),
            Some(brackets) if brackets.first.is_empty() && line.size == 0 => {
                (FieldPlacement::Rest, ValueExtent::Elsewhere)
            }
            Some(brackets) => (FieldPlacement::Array { len: brackets.len }, ValueExtent::Field(brackets.len)),
        };
        let (element, signed) = classify(line, extent, long_size);
        let (c_type, name) = (declaration.c_type, declaration.name);
        Self { c_type, name, offset: line.offset, size: line.size, signed, place, element }
    }

    /// Returns the end of the field in the raw data; `None` if it depends on the raw data.
    pub(super) fn end(&self) -> Option<u64> {
        let start = u64::from(self.offset);
        match self.place {
            FieldPlacement::Value | FieldPlacement::Array { .. } => {
                Some(start.saturating_add(u64::from(self.size)))
            }
            FieldPlacement::Rest => Some(start),
            FieldPlacement::DataLoc | FieldPlacement::RelLoc => None,
        }
    }

    /// Returns the field's value in the raw data of a sample, which is in the byte order `order` of the capture. Takes
    /// constant time, except for the search for a string's NUL.
    ///
    /// # Errors
    ///
    /// The part of the field that is missing from `raw`.
    #[inline]
    pub fn value<'r>(&self, raw: &'r [u8], order: Endianness) -> Result<Value<'r>, FieldError<'a>> {
        self.value_in(raw, order)
    }

    /// Returns the field's value as [`value`](Self::value) does, in a byte order that may be known when the program is
    /// compiled: `value_in::<LittleEndian>(raw, ())`.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value).
    #[inline(always)]
    pub fn value_in<'r, O: ByteOrder>(
        &self,
        raw: &'r [u8],
        order: O::Value,
    ) -> Result<Value<'r, O>, FieldError<'a>> {
        let (start, size) = (u64::from(self.offset), u64::from(self.size));
        match self.place {
            FieldPlacement::Value => {
                Ok(Value::single(order, self.element, self.signed, self.bytes(raw, start, size)?))
            }
            FieldPlacement::Array { .. } => {
                Ok(Value::several(order, self.element, self.signed, self.bytes(raw, start, size)?))
            }
            FieldPlacement::Rest => {
                let size = (raw.len() as u64).saturating_sub(start);
                Ok(Value::several(order, self.element, self.signed, self.bytes(raw, start, size)?))
            }
            FieldPlacement::DataLoc => self.dynamic(raw, order, 0),
            FieldPlacement::RelLoc => self.dynamic(raw, order, start.saturating_add(size)),
        }
    }

    /// Returns the bytes of the elements to which the field points.
    #[inline(never)]
    fn dynamic<'r, O: ByteOrder>(
        &self,
        raw: &'r [u8],
        order: O::Value,
        base: u64,
    ) -> Result<Value<'r, O>, FieldError<'a>> {
        Ok(Value::several(order, self.element, self.signed, self.pointed::<O>(raw, order, base)?))
    }

    fn pointed<'r, O: ByteOrder>(
        &self,
        raw: &'r [u8],
        order: O::Value,
        base: u64,
    ) -> Result<&'r [u8], FieldError<'a>> {
        // Old synthetic events have 8 bytes here and use the first 4.
        let place = self.bytes(raw, u64::from(self.offset), 4)?;
        let place = unsigned::<O>(order, place);
        let (start, size) = (base.saturating_add(place & 0xffff), place >> 16);
        self.bytes(raw, start, size)
    }

    /// Returns the bytes of the field's value or of its elements.
    pub(super) fn extent<'r>(&self, raw: &'r [u8], order: Endianness) -> Result<&'r [u8], FieldError<'a>> {
        let (start, size) = (u64::from(self.offset), u64::from(self.size));
        match self.place {
            FieldPlacement::Value | FieldPlacement::Array { .. } => self.bytes(raw, start, size),
            FieldPlacement::Rest => self.bytes(raw, start, (raw.len() as u64).saturating_sub(start)),
            FieldPlacement::DataLoc => self.pointed::<Endianness>(raw, order, 0),
            FieldPlacement::RelLoc => self.pointed::<Endianness>(raw, order, start.saturating_add(size)),
        }
    }

    #[inline(always)]
    fn bytes<'r>(&self, raw: &'r [u8], start: u64, size: u64) -> Result<&'r [u8], FieldError<'a>> {
        let end = usize::try_from(start.saturating_add(size));
        let bytes = usize::try_from(start).ok().zip(end.ok()).and_then(|(start, end)| raw.get(start..end));
        bytes.ok_or(FieldError { field: self.name, offset: start, needed: size, available: raw.len() as u64 })
    }
}

/// Returns whether fields share bytes. A field without bytes counts as 1 byte, so that a format cannot have many of
/// them.
pub(super) fn share_bytes(fields: &[FormatField<'_>]) -> bool {
    let range = |field: &FormatField<'_>| {
        let start = u64::from(field.offset);
        (start, start.saturating_add(field.size.max(1).into()))
    };
    let mut ranges: Vec<_> = fields.iter().map(range).collect();
    ranges.sort_unstable();
    let mut end_before = 0;
    ranges.iter().any(|&(start, end)| {
        let shares = start < end_before;
        end_before = end.max(end_before);
        shares
    })
}
