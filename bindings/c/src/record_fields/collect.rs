//! The serializer that makes a flat list of the fields of a record.

use core::fmt::{self, Display, Formatter};

use serde::ser::{self, Serialize, Serializer};

use super::{Field, FieldValue};

/// Collects the fields of a value, each with its path.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) fields: Vec<Field>,
    path: String,
}

/// Why a value cannot be serialized.
#[derive(Debug)]
pub(super) struct CollectError(String);

impl Display for CollectError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for CollectError {}

impl ser::Error for CollectError {
    fn custom<T: Display>(text: T) -> Self {
        Self(text.to_string())
    }
}

impl Collector {
    fn push(&mut self, value: FieldValue) -> Result<(), CollectError> {
        self.fields.push(Field { name: self.path.clone(), value });
        Ok(())
    }

    /// Collects a value whose path is one step longer.
    fn step(&mut self, name: impl Display, value: &(impl Serialize + ?Sized)) -> Result<(), CollectError> {
        let before = self.path.len();
        self.enter(name);
        value.serialize(&mut *self)?;
        self.path.truncate(before);
        Ok(())
    }

    fn enter(&mut self, name: impl Display) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&name.to_string());
    }
}

/// The elements of a list or a map, or the fields of a structure.
#[derive(Debug)]
pub(super) struct Parts<'c> {
    collector: &'c mut Collector,
    next: usize,
    key: String,
    /// The length of the path outside of the parts.
    outside: usize,
}

impl<'c> Parts<'c> {
    fn of(collector: &'c mut Collector) -> Result<Self, CollectError> {
        let outside = collector.path.len();
        Ok(Self { collector, next: 0, key: String::new(), outside })
    }

    /// Returns the parts of a variant, whose name is a step of the path.
    fn of_variant(collector: &'c mut Collector, variant: &str) -> Result<Self, CollectError> {
        let outside = collector.path.len();
        collector.enter(variant);
        Ok(Self { collector, next: 0, key: String::new(), outside })
    }

    fn leave(self) -> Result<(), CollectError> {
        self.collector.path.truncate(self.outside);
        Ok(())
    }

    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), CollectError> {
        let index = self.next;
        self.next += 1;
        self.collector.step(index, value)
    }
}

impl<'c> Serializer for &'c mut Collector {
    type Ok = ();
    type Error = CollectError;
    type SerializeSeq = Parts<'c>;
    type SerializeTuple = Parts<'c>;
    type SerializeTupleStruct = Parts<'c>;
    type SerializeTupleVariant = Parts<'c>;
    type SerializeMap = Parts<'c>;
    type SerializeStruct = Parts<'c>;
    type SerializeStructVariant = Parts<'c>;

    fn serialize_bool(self, v: bool) -> Result<(), CollectError> {
        self.push(FieldValue::Bool(v))
    }

    fn serialize_i8(self, v: i8) -> Result<(), CollectError> {
        self.push(FieldValue::Signed(v.into()))
    }

    fn serialize_i16(self, v: i16) -> Result<(), CollectError> {
        self.push(FieldValue::Signed(v.into()))
    }

    fn serialize_i32(self, v: i32) -> Result<(), CollectError> {
        self.push(FieldValue::Signed(v.into()))
    }

    fn serialize_i64(self, v: i64) -> Result<(), CollectError> {
        self.push(FieldValue::Signed(v))
    }

    fn serialize_u8(self, v: u8) -> Result<(), CollectError> {
        self.push(FieldValue::Unsigned(v.into()))
    }

    fn serialize_u16(self, v: u16) -> Result<(), CollectError> {
        self.push(FieldValue::Unsigned(v.into()))
    }

    fn serialize_u32(self, v: u32) -> Result<(), CollectError> {
        self.push(FieldValue::Unsigned(v.into()))
    }

    fn serialize_u64(self, v: u64) -> Result<(), CollectError> {
        self.push(FieldValue::Unsigned(v))
    }

    fn serialize_f32(self, v: f32) -> Result<(), CollectError> {
        self.serialize_f64(v.into())
    }

    // No record has one; a text keeps its value.
    fn serialize_f64(self, v: f64) -> Result<(), CollectError> {
        self.serialize_str(&v.to_string())
    }

    fn serialize_char(self, v: char) -> Result<(), CollectError> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, v: &str) -> Result<(), CollectError> {
        self.push(FieldValue::Text(v.as_bytes().to_vec()))
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), CollectError> {
        self.push(FieldValue::Bytes(v.to_vec()))
    }

    fn serialize_none(self) -> Result<(), CollectError> {
        self.push(FieldValue::None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CollectError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), CollectError> {
        self.push(FieldValue::None)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CollectError> {
        self.push(FieldValue::None)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CollectError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CollectError> {
        value.serialize(self)
    }

    /// A record is a variant of one type: its fields are those of the variant, as the record has its type elsewhere. Other
    /// variants are a step of the path.
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CollectError> {
        if self.path.is_empty() { value.serialize(self) } else { self.step(variant, value) }
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'c>, CollectError> {
        Parts::of(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'c>, CollectError> {
        Parts::of(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'c>, CollectError> {
        Parts::of(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'c>, CollectError> {
        Parts::of_variant(self, variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'c>, CollectError> {
        Parts::of(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'c>, CollectError> {
        Parts::of(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'c>, CollectError> {
        Parts::of_variant(self, variant)
    }
}

impl ser::SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CollectError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}

impl ser::SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CollectError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}

impl ser::SerializeTupleStruct for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CollectError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CollectError> {
        let mut of_key = Collector::default();
        key.serialize(&mut of_key)?;
        self.key = match of_key.fields.pop().map(|field| field.value) {
            Some(FieldValue::Text(text) | FieldValue::Bytes(text)) => {
                String::from_utf8_lossy(&text).into_owned()
            }
            Some(FieldValue::Unsigned(number)) => number.to_string(),
            Some(FieldValue::Signed(number)) => number.to_string(),
            _ => return Err(CollectError("a key is neither a text nor a number".to_owned())),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CollectError> {
        let key = core::mem::take(&mut self.key);
        self.collector.step(key, value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}

impl ser::SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), CollectError> {
        self.collector.step(name, value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}

impl ser::SerializeTupleVariant for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CollectError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}

impl ser::SerializeStructVariant for Parts<'_> {
    type Ok = ();
    type Error = CollectError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), CollectError> {
        self.collector.step(name, value)
    }

    fn end(self) -> Result<(), CollectError> {
        self.leave()
    }
}
