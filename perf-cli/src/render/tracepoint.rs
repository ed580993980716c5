//! A tracepoint, prepared to print its raw data.

use perf_abi::endian::{Endian, Endianness, U16, U32, U64};
use perf_parse::Error;
use perf_parse::tracepoint::{ElementType, FieldError, FieldPlacement, Format, FormatField, Value};

use super::name::Key;
use crate::escape::{push_json, push_printable};

/// The format of a tracepoint. The names of its fields are escaped once.
#[derive(Clone, Debug)]
pub(crate) struct Tracepoint<'a> {
    format: Format<'a>,
    /// The byte order of the raw data.
    pub(crate) endianness: Endianness,
    /// The fields; those common to all tracepoints come first.
    fields: Vec<TracepointField<'a>>,
    /// `    system:name:`, safe to print.
    pub(crate) title: Vec<u8>,
    /// The [bits](Key::bit) of the fields' names.
    pub(crate) name_bits: u64,
}

/// A field of a tracepoint. Its name is prepared as the text before its value.
#[derive(Clone, Debug)]
pub(crate) struct TracepointField<'a> {
    field: FormatField<'a>,
    integer: Option<Integer>,
    pub(crate) key: Key,
    /// `,"name":`
    pub(crate) member: Vec<u8>,
    /// ` name=`
    pub(crate) label: Vec<u8>,
}

/// The position of a field that is one integer, for reading it without interpreting the field.
#[derive(Clone, Copy, Debug)]
struct Integer {
    at: usize,
    bytes: u8,
    signed: bool,
}

impl Integer {
    fn new(field: &FormatField<'_>) -> Option<Self> {
        match (field.place, field.element) {
            (FieldPlacement::Value, ElementType::Integer { bytes }) => {
                Some(Self { at: usize::try_from(field.offset).ok()?, bytes, signed: field.signed })
            }
            _ => None,
        }
    }

    /// Returns the integer; `None` if `raw` does not contain it.
    #[inline(always)]
    fn value<'r, O: Endian>(&self, raw: &'r [u8]) -> Option<Value<'r, O>> {
        let bytes = raw.get(self.at..)?;
        let (number, sign) = match self.bytes {
            1 => bytes.first().map(|&byte| (u64::from(byte), i64::from(byte as i8)))?,
            2 => {
                let number = U16::<O>::from_bytes(*bytes.first_chunk()?).get();
                (u64::from(number), i64::from(number as i16))
            }
            4 => {
                let number = U32::<O>::from_bytes(*bytes.first_chunk()?).get();
                (u64::from(number), i64::from(number as i32))
            }
            8 => {
                let number = U64::<O>::from_bytes(*bytes.first_chunk()?).get();
                (number, number as i64)
            }
            _ => return None,
        };
        Some(if self.signed { Value::Signed(sign) } else { Value::Unsigned(number) })
    }
}

impl<'a> TracepointField<'a> {
    fn new(field: &FormatField<'a>) -> Self {
        let (mut member, mut label) = (b",".to_vec(), b" ".to_vec());
        push_json(&mut member, field.name);
        member.push(b':');
        push_printable(&mut label, field.name);
        label.push(b'=');
        Self { field: *field, integer: Integer::new(field), key: Key::of(field.name), member, label }
    }

    /// Returns the value of the field in raw data.
    #[inline(always)]
    fn value<'r, O: Endian>(&self, raw: &'r [u8]) -> Result<Value<'r, O>, FieldError<'a>> {
        match self.integer.and_then(|integer| integer.value(raw)) {
            Some(value) => Ok(value),
            None => self.any_value(raw),
        }
    }

    #[inline(never)]
    fn any_value<'r, O: Endian>(&self, raw: &'r [u8]) -> Result<Value<'r, O>, FieldError<'a>> {
        self.field.value_in(raw, ())
    }
}

impl<'a> Tracepoint<'a> {
    pub(crate) fn new(format: &Format<'a>, endianness: Endianness) -> Self {
        let fields: Vec<_> =
            format.common_fields().iter().chain(format.own_fields()).map(TracepointField::new).collect();
        let mut title = b"    ".to_vec();
        push_printable(&mut title, format.system);
        title.push(b':');
        push_printable(&mut title, format.name);
        title.push(b':');
        let name_bits = fields.iter().fold(0, |all, field| all | field.key.bit());
        Self { format: format.clone(), endianness, fields, title, name_bits }
    }

    /// Returns the `attr.config` of the tracepoint's events.
    pub(crate) fn id(&self) -> u32 {
        self.format.id
    }

    /// Returns the fields; those common to all tracepoints come first.
    #[inline]
    pub(crate) fn fields(&self) -> &[TracepointField<'a>] {
        &self.fields
    }

    /// Returns the tracepoint's own fields.
    #[inline]
    pub(crate) fn own_fields(&self) -> &[TracepointField<'a>] {
        self.fields.get(self.format.common_fields().len()..).unwrap_or_default()
    }

    /// Returns the `fields` that raw data contains, with their values. Leaves out fields that are not in it, or for
    /// which it has no [room](Format::room).
    #[inline]
    pub(crate) fn values<'t, 'r, O: Endian>(
        &self,
        fields: impl Iterator<Item = &'t TracepointField<'a>>,
        raw: &'r [u8],
    ) -> impl Iterator<Item = (&'t TracepointField<'a>, Value<'r, O>)>
    where
        'a: 't,
    {
        let mut room = self.format.room(raw);
        fields.filter_map(move |field| {
            let value = field.value(raw).ok()?;
            room.take(&value).then_some((field, value))
        })
    }

    /// Checks that raw data contains all fields.
    ///
    /// # Errors
    ///
    /// If raw data ends before a field, with the number of bytes that the first such field needs. If the fields have
    /// more values than the raw data has bytes.
    #[inline]
    pub(crate) fn check(&self, raw: &[u8]) -> Result<(), Error> {
        self.format.check(raw, self.endianness)
    }
}
