//! Columns: name, type and meaning.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ColumnKind,
    /// Whether values may be null.
    pub is_nullable: bool,
    /// The unit; empty for what has none.
    pub unit: &'static str,
    /// The meaning of a value, and of no value.
    pub doc: &'static str,
}

/// The type of a column. Every engine reads these types: none is unsigned, and no timestamp is finer than microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// A signed integer of 32 bits.
    Int32,
    /// A signed integer of 64 bits. A value that perf has as unsigned is the same 64 bits.
    Int64,
    /// A floating-point number of 64 bits.
    Float64,
    /// True or false.
    Boolean,
    /// A text in UTF-8. Bytes that are not are written as `\xNN`.
    Text,
    /// A text that many rows share; a dictionary in Arrow.
    Word,
    /// Microseconds since 1970 in UTC.
    Timestamp,
    /// A list of [`Int64`](Self::Int64).
    Integers,
    /// A list of [`Text`](Self::Text).
    Texts,
    /// A list of structures with these fields.
    Structures(&'static [Column]),
}

impl ColumnKind {
    /// Returns the type in Arrow.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Text => DataType::Utf8,
            Self::Word => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from("UTC"))),
            Self::Integers => DataType::List(item(DataType::Int64)),
            Self::Texts => DataType::List(item(DataType::Utf8)),
            Self::Structures(columns) => DataType::List(item(DataType::Struct(fields(columns)))),
        }
    }

    /// Returns the name of the type, as `SCHEMA.md` has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Boolean => "boolean",
            Self::Text | Self::Word => "text",
            Self::Timestamp => "timestamp",
            Self::Integers => "list of int64",
            Self::Texts => "list of text",
            Self::Structures(_) => "list of structures",
        }
    }
}

/// Returns the field of a list's items, which are never missing.
pub(super) fn item(kind: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", kind, false))
}

pub(super) fn fields(columns: &[Column]) -> Fields {
    columns.iter().map(|it| Field::new(it.name, it.kind.data_type(), it.is_nullable)).collect()
}

/// Returns the schema of a table of these columns.
pub(super) fn schema(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(fields(columns)))
}

/// Declares columns: `name: Type, "unit", "doc";`, with `?` in place of the colon if values may be missing.
macro_rules! columns {
    (@nullable ?) => { true };
    (@nullable :) => { false };
    ($( $name:ident $sign:tt $kind:ident $(($fields:expr))? , $unit:literal , $doc:literal ; )*) => {
        &[$( $crate::columns::column::Column {
            name: stringify!($name),
            kind: $crate::columns::column::ColumnKind::$kind $(($fields))?,
            is_nullable: $crate::columns::column::columns!(@nullable $sign),
            unit: $unit,
            doc: $doc,
        } ),*]
    };
}
pub(super) use columns;
