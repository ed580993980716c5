//! The parts of `Serialize` that no derive writes.
//!
//! Names are recorded as bytes. A name is serialized as a string if the format is human readable and the name is UTF-8.
//! Otherwise it is serialized as bytes. Bytes that are not a name are always serialized as bytes.

use serde::{Serialize, Serializer};

/// A name: a string if the format is human readable and the name is UTF-8, otherwise bytes.
pub(crate) struct SerializedText<'a>(pub(crate) &'a [u8]);

impl Serialize for SerializedText<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match core::str::from_utf8(self.0) {
            Ok(name) if to.is_human_readable() => to.serialize_str(name),
            _ => to.serialize_bytes(self.0),
        }
    }
}

/// Bytes that are not a name.
pub(crate) struct SerializedBytes<'a>(pub(crate) &'a [u8]);

impl Serialize for SerializedBytes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(self.0)
    }
}

/// Serializes a field as [`SerializedText`].
pub(crate) fn text<S: Serializer>(name: &impl AsRef<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    SerializedText(name.as_ref()).serialize(to)
}

/// Serializes a field as [`SerializedText`], if there is one.
#[cfg(feature = "alloc")]
pub(crate) fn text_or_none<S: Serializer>(name: &Option<impl AsRef<[u8]>>, to: S) -> Result<S::Ok, S::Error> {
    name.as_ref().map(|name| SerializedText(name.as_ref())).serialize(to)
}

/// Serializes a field as [`SerializedBytes`].
pub(crate) fn bytes<S: Serializer>(bytes: &impl AsRef<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    SerializedBytes(bytes.as_ref()).serialize(to)
}

/// Serializes a vector: serde has vectors only where it allocates.
#[cfg(feature = "alloc")]
pub(crate) fn slice<S: Serializer>(items: &[impl Serialize], to: S) -> Result<S::Ok, S::Error> {
    items.serialize(to)
}

/// Serializes a field as what it prints.
#[cfg(feature = "alloc")]
pub(crate) fn display<S: Serializer>(value: &impl core::fmt::Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// The items of an iterator whose length is unknown. They are counted first, because some formats begin with the length.
pub(crate) struct Seq<F>(pub(crate) F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Seq<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;

        let mut to = to.serialize_seq(Some((self.0)().count()))?;
        (self.0)().try_for_each(|item| to.serialize_element(&item))?;
        to.end()
    }
}

/// The keys and values of an iterator whose length is unknown, counted as those of [`Seq`].
pub(crate) struct Map<F>(pub(crate) F);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)>, F: Fn() -> I> Serialize for Map<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;

        let mut to = to.serialize_map(Some((self.0)().count()))?;
        (self.0)().try_for_each(|(key, value)| to.serialize_entry(&key, &value))?;
        to.end()
    }
}

/// Serializes a struct from `Option`s, without the fields that are `None`.
macro_rules! fields {
    ($to:ident, $Struct:literal { $($field:ident: $value:expr,)+ }) => {{
        use serde::ser::SerializeStruct;

        let len = [$( $value.is_some() ),+].into_iter().filter(|is_there| *is_there).count();
        let mut to = $to.serialize_struct($Struct, len)?;
        $( match &$value {
            Some(value) => to.serialize_field(stringify!($field), value)?,
            None => to.skip_field(stringify!($field))?,
        } )+
        to.end()
    }};
}
pub(crate) use fields;
