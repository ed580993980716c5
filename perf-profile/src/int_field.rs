//! Integer fields of tracepoints.

use perf_abi::endian::{ByteOrder, Endianness};
use perf_parse::tracepoint::{ElementType, FieldPlacement, FormatField};

/// A field of a tracepoint that is one integer.
///
/// [`FormatField::value`] reads fields of any kind, which takes 2.6 times the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntField {
    offset: usize,
    /// The number of bytes: 1, 2, 4 or 8.
    size: u8,
    is_signed: bool,
}

impl IntField {
    /// `None` if the field is something else.
    pub(crate) fn new(field: &FormatField<'_>) -> Option<Self> {
        let (FieldPlacement::Value, ElementType::Integer { bytes: size @ (1 | 2 | 4 | 8) }) =
            (field.place, field.element)
        else {
            return None;
        };
        Some(Self { offset: usize::try_from(field.offset).ok()?, size, is_signed: field.signed })
    }

    /// Returns the value in the raw data of a sample; `None` if the data ends before it, or if it is beyond an `i64`.
    #[inline]
    pub(crate) fn value(&self, raw: &[u8], endianness: Endianness) -> Option<i64> {
        let bytes = raw.get(self.offset..)?;
        let number = match self.size {
            1 => u64::from(*bytes.first()?),
            2 => Endianness::u16(endianness, *bytes.first_chunk()?).into(),
            4 => Endianness::u32(endianness, *bytes.first_chunk()?).into(),
            _ => Endianness::u64(endianness, *bytes.first_chunk()?),
        };
        if !self.is_signed {
            return i64::try_from(number).ok();
        }
        // The shifts up and down extend the sign.
        let above = 64 - 8 * u32::from(self.size);
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
        \tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;\n\n\
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
            let integers = format.own_fields().iter().filter(|field| IntField::new(field).is_some());
            prop_assert_eq!((integers.count(), format.own_fields().len()), (8, 10));
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
