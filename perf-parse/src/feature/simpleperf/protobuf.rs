//! The wire format of protobuf, as far as simpleperf's messages need it.
//!
//! A message is a sequence of fields, each with a number and a wire type. Fields that this crate does not know, and known
//! ones with another wire type, are skipped, as all readers of protobuf do. Of a field that is not repeated, the last value
//! counts.
//!
//! <https://protobuf.dev/programming-guides/encoding/>

use alloc::vec::Vec;

use perf_abi::endian::LittleEndian;

use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::feature::codec::{Fault, SectionField};
use crate::feature::{Entries, FieldValue};

/// The context of entries that are fields of a message. Entries of other sections have a context of 0.
pub(super) const IN_MESSAGE: u32 = 1;

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum WireValue<'a> {
    /// A number.
    Varint(u64),
    /// A string, bytes, a message, or a packed list.
    Bytes(Cursor<'a>),
    /// A number of fixed size, which none of the messages has.
    Fixed,
}

/// A field: its number, its value, and the offset of its tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireField<'a> {
    pub(super) number: u64,
    pub(super) value: WireValue<'a>,
    offset: u32,
}

/// The wire types, the lowest three bits of a field's tag.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

/// Takes a number of variable length: seven bits a byte, the lowest first; the last byte has no bit 7.
pub(super) fn varint(at: &mut Cursor<'_>, name: &'static str) -> Result<u64, Error> {
    let offset = at.offset();
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let &[byte] = at.fixed::<[u8; 1]>(name)?;
        let bits = u64::from(byte & 0x7f);
        number |= bits << shift;
        if shift == 63 && bits > 1 {
            break;
        }
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    let must = "a number of at most 64 bits";
    Err(Error::new(ErrorKind::Malformed { field: name, must }, offset))
}

/// Takes a field.
pub(super) fn field<'a>(at: &mut Cursor<'a>) -> Result<WireField<'a>, Error> {
    let offset = at.offset();
    let tag = varint(at, "tag")?;
    let must = "a field number and a wire type of 0, 1, 2 or 5";
    let malformed = Error::new(ErrorKind::Malformed { field: "tag", must }, offset);
    if tag >> 3 == 0 {
        return Err(malformed);
    }
    let value = match tag & 7 {
        VARINT => WireValue::Varint(varint(at, "value")?),
        BYTES => {
            let len = varint(at, "length")?;
            let start = at.offset();
            WireValue::Bytes(Cursor::new(at.bytes(len, "value")?, start))
        }
        FIXED_64 => at.bytes(8, "value").map(|_| WireValue::Fixed)?,
        FIXED_32 => at.bytes(4, "value").map(|_| WireValue::Fixed)?,
        _ => return Err(malformed),
    };
    Ok(WireField { number: tag >> 3, value, offset })
}

/// Appends a number of variable length.
pub(super) fn put_varint(out: &mut Vec<u8>, number: u64) {
    let mut rest = number;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Appends a field with these bytes.
pub(super) fn put_bytes(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    put_varint(out, number << 3 | BYTES);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field with this number, unless it is the default, 0.
fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    if value != 0 {
        put_varint(out, number << 3 | VARINT);
        put_varint(out, value);
    }
}

/// A message.
pub(super) trait Message<'a>: SectionField<'a> {
    /// The number of the field of an enclosing message that this message is.
    const NUMBER: u64;

    /// Decodes the message, which fills the cursor.
    fn parse(message: Cursor<'a>) -> Result<Self, Error>;

    /// Appends the fields.
    fn put_fields(&self, out: &mut Vec<u8>) -> Result<(), Fault>;
}

/// Takes the next field of a message that is a message `T`, and skips the fields before it.
pub(super) fn take_message<'a, T: Message<'a>>(at: &mut Cursor<'a>) -> Result<T, Error> {
    loop {
        let WireField { number, value, .. } = field(at)?;
        if let (true, WireValue::Bytes(message)) = (number == T::NUMBER, value) {
            return T::parse(message);
        }
    }
}

/// Appends the message as a field of the enclosing message.
pub(super) fn put_message<'a, T: Message<'a>>(message: &T, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut fields = Vec::new();
    message.put_fields(&mut fields)?;
    put_bytes(out, T::NUMBER, &fields);
    Ok(())
}

/// The type of a field of a message.
pub(super) trait MessageField<'a> {
    /// Sets the field to a value, or appends the value to a repeated field. `message` is the enclosing message.
    fn set(&mut self, message: &Cursor<'a>, field: WireField<'a>, name: &'static str) -> Result<(), Error>;

    /// Appends the field, unless it has its default value.
    fn put(&self, out: &mut Vec<u8>, number: u64) -> Result<(), Fault>;

    /// Returns the value for printing.
    fn value(&self) -> FieldValue<'_>;
}

impl<'a> MessageField<'a> for u64 {
    fn set(&mut self, _: &Cursor<'a>, field: WireField<'a>, _: &'static str) -> Result<(), Error> {
        if let WireValue::Varint(number) = field.value {
            *self = number;
        }
        Ok(())
    }

    fn put(&self, out: &mut Vec<u8>, number: u64) -> Result<(), Fault> {
        put_number(out, number, *self);
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Number(*self)
    }
}

impl<'a> MessageField<'a> for u32 {
    fn set(&mut self, _: &Cursor<'a>, field: WireField<'a>, name: &'static str) -> Result<(), Error> {
        if let WireValue::Varint(value) = field.value {
            let too_large = ErrorKind::OutOfRange { field: name, value, max: u64::from(u32::MAX) };
            *self = u32::try_from(value).map_err(|_| Error::new(too_large, field.offset))?;
        }
        Ok(())
    }

    fn put(&self, out: &mut Vec<u8>, number: u64) -> Result<(), Fault> {
        put_number(out, number, u64::from(*self));
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Number(u64::from(*self))
    }
}

impl<'a> MessageField<'a> for &'a [u8] {
    fn set(&mut self, _: &Cursor<'a>, field: WireField<'a>, _: &'static str) -> Result<(), Error> {
        if let WireValue::Bytes(bytes) = field.value {
            *self = bytes.rest();
        }
        Ok(())
    }

    fn put(&self, out: &mut Vec<u8>, number: u64) -> Result<(), Fault> {
        if !self.is_empty() {
            put_bytes(out, number, self);
        }
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Bytes(self)
    }
}

impl<'a> MessageField<'a> for ByteStr<'a> {
    fn set(&mut self, _: &Cursor<'a>, field: WireField<'a>, _: &'static str) -> Result<(), Error> {
        if let WireValue::Bytes(bytes) = field.value {
            *self = ByteStr::new(bytes.rest());
        }
        Ok(())
    }

    fn put(&self, out: &mut Vec<u8>, number: u64) -> Result<(), Fault> {
        self.as_bytes().put(out, number)
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Text(*self)
    }
}

/// A message whose one field is a number. `None` prints as 0.
impl<'a> MessageField<'a> for Option<u64> {
    fn set(&mut self, _: &Cursor<'a>, field: WireField<'a>, name: &'static str) -> Result<(), Error> {
        let WireValue::Bytes(message) = field.value else { return Ok(()) };
        let (mut at, mut inner) = (message, 0);
        while !at.rest().is_empty() {
            let field = self::field(&mut at)?;
            if field.number == 1 {
                MessageField::set(&mut inner, &message, field, name)?;
            }
        }
        *self = Some(inner);
        Ok(())
    }

    fn put(&self, out: &mut Vec<u8>, number: u64) -> Result<(), Fault> {
        if let Some(inner) = self {
            let mut message = Vec::new();
            put_number(&mut message, 1, *inner);
            put_bytes(out, number, &message);
        }
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Number(self.unwrap_or_default())
    }
}

/// A repeated message. The list borrows the enclosing message and skips its other fields.
impl<'a, T: Message<'a>> MessageField<'a> for Entries<'a, T> {
    fn set(&mut self, message: &Cursor<'a>, field: WireField<'a>, _: &'static str) -> Result<(), Error> {
        if let WireValue::Bytes(entry) = field.value {
            T::parse(entry)?;
            let len = (self.len() as u64).saturating_add(1);
            let mut end = *message;
            end.take_rest();
            // Numbers of a message are in no byte order.
            *self = Entries::between::<LittleEndian>(message, &end, len, IN_MESSAGE);
        }
        Ok(())
    }

    fn put(&self, out: &mut Vec<u8>, _: u64) -> Result<(), Fault> {
        self.iter().try_for_each(|entry| put_message(&entry, out))
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::List(self)
    }
}

/// Defines a struct that is a message in a repeated field, with the numbers of its fields. The names in printed values are
/// those of the message; `as` gives the name if the Rust name differs.
macro_rules! message {
    (
        $(#[$meta:meta])*
        pub struct $Message:ident<$life:lifetime> in $number:literal {
            $( $(#[$doc:meta])* pub $field:ident $(as $name:literal)?: $Type:ty = $at:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $Message<$life> {
            $( $(#[$doc])* pub $field: $Type, )*
        }

        impl<$life> $crate::feature::simpleperf::protobuf::Message<$life> for $Message<$life> {
            const NUMBER: u64 = $number;

            fn parse(message: $crate::cursor::Cursor<$life>) -> Result<Self, $crate::error::Error> {
                use $crate::feature::codec::name_of;
                use $crate::feature::simpleperf::protobuf::{MessageField, field};
                let (mut all, mut at) = (Self::default(), message);
                while !at.rest().is_empty() {
                    let field = field(&mut at)?;
                    match field.number {
                        $( $at => all.$field.set(&message, field, name_of!($field $($name)?))?, )*
                        _ => {}
                    }
                }
                Ok(all)
            }

            fn put_fields(
                &self,
                out: &mut alloc::vec::Vec<u8>,
            ) -> Result<(), $crate::feature::codec::Fault> {
                use $crate::feature::simpleperf::protobuf::MessageField;
                $( MessageField::put(&self.$field, out, $at)?; )*
                Ok(())
            }
        }

        impl<$life> $crate::feature::codec::SectionField<$life> for $Message<$life> {
            fn take<O: perf_abi::endian::Endian>(
                at: &mut $crate::cursor::Cursor<$life>,
                _: &'static str,
                _: u32,
            ) -> Result<Self, $crate::error::Error> {
                $crate::feature::simpleperf::protobuf::take_message(at)
            }

            fn put<O: perf_abi::endian::Endian>(
                &self,
                out: &mut alloc::vec::Vec<u8>,
                _: &'static str,
            ) -> Result<(), $crate::feature::codec::Fault> {
                $crate::feature::simpleperf::protobuf::put_message(self, out)
            }

            fn value(&self) -> $crate::feature::FieldValue<'_> {
                $crate::feature::FieldValue::Object(self)
            }
        }

        impl $crate::feature::Fields for $Message<'_> {
            fn each(&self, to: &mut dyn FnMut(&'static str, $crate::feature::FieldValue<'_>)) {
                use $crate::feature::codec::name_of;
                use $crate::feature::simpleperf::protobuf::MessageField;
                $( to(name_of!($field $($name)?), MessageField::value(&self.$field)); )*
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $Message<'_> {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::feature::FieldValue::Object(self).serialize(to)
            }
        }
    };
}
pub(super) use message;
