//! The content of a decoded section with perf's names, for programs that print or convert any section.

use core::fmt::Debug;

use crate::byte_str::ByteStr;

/// A value in a decoded section.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FieldValue<'v> {
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// Text in any encoding that the recorded machine used.
    Text(ByteStr<'v>),
    /// Bytes that are not text.
    Bytes(&'v [u8]),
    /// A group of named fields.
    Object(&'v dyn Fields),
    /// A list.
    List(&'v dyn Items),
}

/// A group of named fields.
pub trait Fields: Debug {
    /// Passes each field to `to`: its name and its value. A field that the section does not have is left out.
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>));
}

/// A list of values.
pub trait Items: Debug {
    /// Passes each value to `to`.
    fn each(&self, to: &mut dyn FnMut(FieldValue<'_>));
}

/// No fields.
impl Fields for () {
    fn each(&self, _: &mut dyn FnMut(&'static str, FieldValue<'_>)) {}
}

/// A number, a name, bytes, a map or a sequence.
#[cfg(feature = "serde")]
impl serde::Serialize for FieldValue<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{SerializeMap, SerializeSeq};

        // Some formats begin with the number of values.
        let mut len = 0_usize;
        let mut done = Ok(());
        match *self {
            Self::Number(number) => to.serialize_u64(number),
            Self::Signed(number) => to.serialize_i64(number),
            Self::Text(text) => text.serialize(to),
            Self::Bytes(bytes) => crate::serialize::SerializedBytes(bytes).serialize(to),
            Self::Object(fields) => {
                fields.each(&mut |_, _| len = len.saturating_add(1));
                let mut to = to.serialize_map(Some(len))?;
                fields.each(&mut |name, value| {
                    if done.is_ok() {
                        done = to.serialize_entry(name, &value);
                    }
                });
                done.and_then(|()| to.end())
            }
            Self::List(items) => {
                items.each(&mut |_| len = len.saturating_add(1));
                let mut to = to.serialize_seq(Some(len))?;
                items.each(&mut |value| {
                    if done.is_ok() {
                        done = to.serialize_element(&value);
                    }
                });
                done.and_then(|()| to.end())
            }
        }
    }
}
