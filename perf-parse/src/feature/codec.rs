//! The parts that sections consist of: numbers, strings, and the entries of lists.

use alloc::vec::Vec;
use core::fmt::Debug;

use perf_abi::endian::{Endian, U32, U64};
use perf_abi::event::EventType;
use perf_abi::file::{CompressType, DirVersion};
use zerocopy::IntoBytes;

use super::value::FieldValue;
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::Error;

/// The reason why a value cannot be encoded: the field, and the requirement that the field does not meet.
pub(crate) type Fault = (&'static str, &'static str);

/// A value that sections consist of.
pub(crate) trait SectionField<'a>: Copy + Debug {
    /// Takes the value. `name` is the name of a number or string. `context` is an earlier number of the section, on
    /// which the layout of the value depends; most values do not need it.
    fn take<O: Endian>(at: &mut Cursor<'a>, name: &'static str, context: u32) -> Result<Self, Error>;

    /// Appends the value.
    fn put<O: Endian>(&self, out: &mut Vec<u8>, name: &'static str) -> Result<(), Fault>;

    /// Returns the value for printing.
    fn value(&self) -> FieldValue<'_>;
}

/// Takes a 32-bit number.
pub(crate) fn number<O: Endian>(at: &mut Cursor<'_>, name: &'static str) -> Result<u32, Error> {
    at.fixed::<U32<O>>(name).map(|number| number.get())
}

/// Appends a 32-bit number.
pub(crate) fn put_number<O: Endian>(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(U32::<O>::new(number).as_bytes());
}

/// Appends a 64-bit number.
pub(crate) fn put_word<O: Endian>(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(U64::<O>::new(word).as_bytes());
}

/// Appends a 32-bit count.
pub(crate) fn put_count<O: Endian>(out: &mut Vec<u8>, count: usize, name: &'static str) -> Result<(), Fault> {
    put_number::<O>(out, u32::try_from(count).map_err(|_| (name, "fewer than 2^32"))?);
    Ok(())
}

/// perf pads names to a multiple of this number of bytes.
///
/// perf: `NAME_ALIGN`, `tools/perf/util/header.c`.
const NAME_ALIGN: usize = 64;

/// Appends a name and its NUL, padded as perf pads names.
pub(crate) fn put_name(out: &mut Vec<u8>, text: &[u8], name: &'static str) -> Result<(), Fault> {
    if text.contains(&0) {
        return Err((name, "free of NULs"));
    }
    let padded = padded(text);
    out.extend_from_slice(text);
    out.extend(core::iter::repeat_n(0, padded.saturating_sub(text.len())));
    Ok(())
}

/// Returns the number of bytes of a name with its NUL and padding.
fn padded(text: &[u8]) -> usize {
    text.len().saturating_add(1).next_multiple_of(NAME_ALIGN)
}

/// A string: its length, which includes NUL and padding, and its bytes. `HOSTNAME`, `OSRELEASE`, `VERSION`, `ARCH`,
/// `CPUDESC` and `CPUID` are one string.
///
/// perf: `do_read_string` and `do_write_string`, `tools/perf/util/header.c`.
impl<'a> SectionField<'a> for ByteStr<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, name: &'static str, _: u32) -> Result<Self, Error> {
        let len = number::<O>(at, name)?;
        let offset = at.offset();
        let padded = at.bytes(u64::from(len), name)?;
        Cursor::new(padded, offset).string(name).map(ByteStr::new)
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, name: &'static str) -> Result<(), Fault> {
        let len = u32::try_from(padded(self)).map_err(|_| (name, "shorter than 4 GiB"))?;
        put_number::<O>(out, len);
        put_name(out, self, name)
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Text(*self)
    }
}

/// Implements [`SectionField`] for numbers and for codes. Each line has the type, the number as recorded, the conversion from
/// that number, and the conversion to it.
macro_rules! numbers {
    ($($Type:ty: $number:ident, |$of:ident| $made:expr, |$it:ident| $taken:expr;)*) => {$(
        impl SectionField<'_> for $Type {
            fn take<O: Endian>(at: &mut Cursor<'_>, name: &'static str, _: u32) -> Result<Self, Error> {
                let $of = at.fixed::<$number<O>>(name)?.get();
                Ok($made)
            }

            fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
                let $it = self;
                out.extend_from_slice($number::<O>::new($taken).as_bytes());
                Ok(())
            }

            fn value(&self) -> FieldValue<'_> {
                let $it = self;
                FieldValue::Number(u64::from($taken))
            }
        }
    )*};
}

numbers! {
    u32: U32, |number| number, |it| *it;
    u64: U64, |number| number, |it| *it;
    EventType: U32, |number| EventType(number), |it| it.0;
    CompressType: U32, |number| CompressType(number), |it| it.0;
    DirVersion: U64, |number| DirVersion(number), |it| it.0;
}

impl<const N: usize> SectionField<'_> for [u8; N] {
    fn take<O: Endian>(at: &mut Cursor<'_>, name: &'static str, _: u32) -> Result<Self, Error> {
        at.fixed::<[u8; N]>(name).copied()
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        out.extend_from_slice(self);
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Bytes(self)
    }
}

/// Defines a struct whose fields follow one another in a section, with its decoding, its encoding and the names of its
/// fields. The names are perf's; `as` gives perf's name if the Rust name differs.
macro_rules! entry {
    (
        $(#[$meta:meta])*
        pub struct $Entry:ident $(<$life:lifetime>)? {
            $( $(#[$doc:meta])* pub $field:ident $(as $name:literal)?: $Type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Entry $(<$life>)? {
            $( $(#[$doc])* pub $field: $Type, )*
        }

        impl<'a> $crate::feature::codec::SectionField<'a> for $Entry $(<$life>)? {
            fn take<O: perf_abi::endian::Endian>(
                at: &mut $crate::cursor::Cursor<'a>,
                _: &'static str,
                context: u32,
            ) -> Result<Self, $crate::error::Error> {
                use $crate::feature::codec::{SectionField, name_of};
                Ok(Self { $( $field: SectionField::take::<O>(at, name_of!($field $($name)?), context)?, )* })
            }

            fn put<O: perf_abi::endian::Endian>(
                &self,
                out: &mut alloc::vec::Vec<u8>,
                _: &'static str,
            ) -> Result<(), $crate::feature::codec::Fault> {
                use $crate::feature::codec::{SectionField, name_of};
                $( SectionField::put::<O>(&self.$field, out, name_of!($field $($name)?))?; )*
                Ok(())
            }

            fn value(&self) -> $crate::feature::FieldValue<'_> {
                $crate::feature::FieldValue::Object(self)
            }
        }

        #[cfg(feature = "serde")]
        impl $(<$life>)? serde::Serialize for $Entry $(<$life>)? {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::feature::FieldValue::Object(self).serialize(to)
            }
        }

        impl $(<$life>)? $crate::feature::Fields for $Entry $(<$life>)? {
            fn each(&self, to: &mut dyn FnMut(&'static str, $crate::feature::FieldValue<'_>)) {
                use $crate::feature::codec::{SectionField, name_of};
                $( to(name_of!($field $($name)?), SectionField::value(&self.$field)); )*
            }
        }
    };
}
pub(crate) use entry;

/// The name of a field of [`entry!`].
macro_rules! name_of {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}
pub(crate) use name_of;
