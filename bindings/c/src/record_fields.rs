//! The fields of a decoded record, as a flat list of tagged values.

mod collect;

use perf_parse::record::Record;
use serde::Serialize;

use crate::error::{PERFDATA_ERROR_INTERNAL, perfdata_error};
use crate::string::perfdata_string;
use crate::versioned::versioned;
use collect::Collector;

/// The field has no value.
pub const PERFDATA_FIELD_NONE: u32 = 0;
/// An unsigned number: `number`.
pub const PERFDATA_FIELD_UNSIGNED: u32 = 1;
/// A signed number: `number`, as two's complement.
pub const PERFDATA_FIELD_SIGNED: u32 = 2;
/// True or false: `number` is 1 or 0.
pub const PERFDATA_FIELD_BOOL: u32 = 3;
/// A text: `bytes`. A name that is not UTF-8 is PERFDATA_FIELD_BYTES.
pub const PERFDATA_FIELD_TEXT: u32 = 4;
/// Bytes: `bytes`.
pub const PERFDATA_FIELD_BYTES: u32 = 5;

/// A field of a record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_field {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The path of the field, with the kernel's names: `pid`, or `sample_id.time`. Elements of a list have their index:
    /// `callchain.0`.
    pub name: perfdata_string,
    /// The value of a text, or of bytes.
    pub bytes: perfdata_string,
    /// The value of a number.
    pub number: u64,
    /// What the value is: PERFDATA_FIELD_*.
    pub kind: u32,
}

versioned!(perfdata_field);

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue {
    None,
    Unsigned(u64),
    Signed(i64),
    Bool(bool),
    Text(Vec<u8>),
    Bytes(Vec<u8>),
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: FieldValue,
}

impl Field {
    pub(crate) fn to_c(&self) -> perfdata_field {
        let none = perfdata_string::NONE;
        let (kind, number, bytes) = match &self.value {
            FieldValue::None => (PERFDATA_FIELD_NONE, 0, none),
            FieldValue::Unsigned(number) => (PERFDATA_FIELD_UNSIGNED, *number, none),
            FieldValue::Signed(number) => (PERFDATA_FIELD_SIGNED, number.cast_unsigned(), none),
            FieldValue::Bool(is) => (PERFDATA_FIELD_BOOL, (*is).into(), none),
            FieldValue::Text(text) => (PERFDATA_FIELD_TEXT, 0, perfdata_string::of(text)),
            FieldValue::Bytes(bytes) => (PERFDATA_FIELD_BYTES, 0, perfdata_string::of(bytes)),
        };
        perfdata_field { size: 0, name: perfdata_string::of(self.name.as_bytes()), bytes, number, kind }
    }
}

/// Returns the fields of a record.
///
/// # Errors
///
/// If a part of it, which is decoded on demand, cannot be.
pub(crate) fn fields_of(record: &Record<'_>) -> Result<Vec<Field>, perfdata_error> {
    let mut collector = Collector::default();
    let collected = record.serialize(&mut collector);
    collected.map_err(|error| perfdata_error::new(PERFDATA_ERROR_INTERNAL, error.to_string()))?;
    Ok(collector.fields)
}
