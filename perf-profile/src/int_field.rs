//! Integer fields of tracepoints.

use perf_abi::endian::Endianness;
use perf_parse::tracepoint::{ElementType, FieldPlacement, FormatField};

/// A field of a tracepoint that is one integer.
///
/// [`FormatField::value`] reads fields of any kind, which takes five times the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntField {
    offset: usize,
    size: IntSize,
    is_signed: bool,
}

/// The bytes of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntSize {
    One,
    Two,
    Four,
    Eight,
}

impl IntSize {
    /// Returns the number of bits of an `i64` that are not of the integer.
    const fn bits_above(self) -> u32 {
        match self {
            Self::One => 56,
            Self::Two => 48,
            Self::Four => 32,
            Self::Eight => 0,
        }
    }
}

impl IntField {
    /// `None` if the field is something else.
    pub(crate) fn new(field: &FormatField<'_>) -> Option<Self> {
        let ElementType::Integer { .. } = field.element else { return None };
        let size = match (field.place, field.size) {
            (FieldPlacement::Value, 1) => IntSize::One,
            (FieldPlacement::Value, 2) => IntSize::Two,
            (FieldPlacement::Value, 4) => IntSize::Four,
            (FieldPlacement::Value, 8) => IntSize::Eight,
            _ => return None,
        };
        Some(Self { offset: usize::try_from(field.offset).ok()?, size, is_signed: field.signed })
    }

    /// Returns the value in the raw data of a sample; `None` if the data ends before it, or if it is beyond an `i64`.
    #[inline]
    pub(crate) fn value(&self, raw: &[u8], endianness: Endianness) -> Option<i64> {
        let bytes = raw.get(self.offset..)?;
        let is_little = endianness == Endianness::Little;
        let number = match self.size {
            IntSize::One => bytes.first_chunk().copied().map(u8::from_le_bytes)?.into(),
            IntSize::Two if is_little => bytes.first_chunk().copied().map(u16::from_le_bytes)?.into(),
            IntSize::Two => bytes.first_chunk().copied().map(u16::from_be_bytes)?.into(),
            IntSize::Four if is_little => bytes.first_chunk().copied().map(u32::from_le_bytes)?.into(),
            IntSize::Four => bytes.first_chunk().copied().map(u32::from_be_bytes)?.into(),
            IntSize::Eight if is_little => bytes.first_chunk().copied().map(u64::from_le_bytes)?,
            IntSize::Eight => bytes.first_chunk().copied().map(u64::from_be_bytes)?,
        };
        if !self.is_signed {
            return i64::try_from(number).ok();
        }
        // The shifts up and down extend the sign.
        let above = self.size.bits_above();
        Some((number << above) as i64 >> above)
    }

    /// Returns the value if it is an `i32`, as the ids and priorities of threads are.
    #[inline]
    pub(crate) fn int(&self, raw: &[u8], endianness: Endianness) -> Option<i32> {
        i32::try_from(self.value(raw, endianness)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use perf_parse::tracepoint::{Format, Value};
    use proptest::prelude::*;

    use super::*;

    const FORMAT: &[u8] = b"name: made\nID: 7\nformat:\n\
        \tfield:int i4;\toffset:0;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned int u4;\toffset:4;\tsize:4;\tsigned:0;\n\
        \tfield:long i8;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield:unsigned long u8;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:short i2;\toffset:24;\tsize:2;\tsigned:1;\n\
        \tfield:u16 u2;\toffset:26;\tsize:2;\tsigned:0;\n\
        \tfield:s8 i1;\toffset:28;\tsize:1;\tsigned:1;\n\
        \tfield:u8 u1;\toffset:29;\tsize:1;\tsigned:0;\n\
        \tfield:char comm[4];\toffset:30;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc char[] text;\toffset:34;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

    proptest! {
        /// It reads what [`FormatField::value`] does, and nothing of strings and of data that ends before it.
        #[test]
        fn integers_are_those_of_the_format(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            let format = Format::parse(b"made", FORMAT, 8).unwrap();
            for endianness in [Endianness::Little, Endianness::Big] {
                for field in format.own_fields() {
                    let expected = match field.value(&raw, endianness) {
                        Ok(Value::Signed(number)) => Some(number),
                        Ok(Value::Unsigned(number)) => i64::try_from(number).ok(),
                        _ => None,
                    };
                    let number = IntField::new(field).and_then(|it| it.value(&raw, endianness));
                    prop_assert_eq!(number, expected);
                }
            }
        }
    }
}
