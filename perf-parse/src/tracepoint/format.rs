//! The format of a tracepoint: the fields of its raw data and their offsets.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::element::{Element, Extent, classify};
use super::error::{FieldError, TracingError, TracingErrorKind};
use super::grammar::{self, FieldLine, Line};
use super::room::{Room, needed, share_bytes};
use super::value::Value;
use crate::error::{Error, ErrorKind};

/// The format of a tracepoint.
///
/// Kernel: `/sys/kernel/tracing/events/SYSTEM/NAME/format`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Format<'a> {
    /// Subsystem, such as `sched`.
    pub system: &'a [u8],
    /// Name, such as `sched_switch`.
    pub name: &'a [u8],
    /// The `attr.config` of its events, and the value of `common_type` in its raw data.
    pub id: u32,
    /// The kernel's text output: a `printf` format and its arguments, in C. `None` if the format has none.
    pub print_fmt: Option<&'a [u8]>,
    fields: Vec<Field<'a>>,
    common: usize,
    /// The smallest size of raw data that contains all fields, provided that no fields share bytes. `None` if the
    /// size depends on the data, or if fields share bytes.
    pub(super) min_size: Option<u64>,
}

/// A field of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field<'a> {
    /// C type as the kernel writes it, without the brackets after the name.
    pub c_type: &'a [u8],
    /// Name of the field.
    pub name: &'a [u8],
    /// Start of the field, in bytes from the start of the raw data.
    pub offset: u32,
    /// Bytes of the field; 0 for an array that extends to the end of the raw data. For a dynamic array, the bytes of
    /// its location word, not of its elements.
    pub size: u32,
    /// Whether the integer, or each integer of an array, is signed.
    pub signed: bool,
    /// Place of the value.
    pub place: Place,
    /// Type of the value, or of each element.
    pub element: Element,
}

/// The place of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// In the field: a single value.
    Value,
    /// In the field: an array.
    Array {
        /// Number of elements; `None` if the length is not written as a number.
        len: Option<u32>,
    },
    /// From the field's offset to the end of the raw data, which the kernel pads.
    Rest,
    /// `__data_loc`: elsewhere in the raw data. The low 16 bits of the field are the offset from the start of the raw
    /// data; the next 16 bits are the size.
    DataLoc,
    /// `__rel_loc`: elsewhere in the raw data. Like [`DataLoc`](Self::DataLoc), but the offset is from the end of the
    /// field.
    RelLoc,
}

impl<'a> Format<'a> {
    /// Maximum number of fields of a format. The kernel has no limit, but its largest formats have some tens of
    /// fields. The limit bounds the output for a sample, because each field prints its name.
    pub const MAX_FIELDS: usize = 1024;

    /// Maximum number of bytes of a field's name: the kernel's limit for events of programs (user events).
    ///
    /// Kernel: `MAX_FIELD_ARG_NAME`, `kernel/trace/trace_events_user.c`.
    pub const MAX_NAME: usize = 256;

    /// Parses the text of a `format` file. `long_size` is the number of bytes of a `long` of the kernel that wrote
    /// it.
    ///
    /// Skips lines that it does not know.
    ///
    /// # Errors
    ///
    /// An invalid field line or number, a missing name or id, more than [`MAX_FIELDS`](Self::MAX_FIELDS) fields, or a
    /// field's name of more than [`MAX_NAME`](Self::MAX_NAME) bytes. The offset is in `text`.
    pub fn parse(system: &'a [u8], text: &'a [u8], long_size: u8) -> Result<Self, TracingError> {
        let (mut name, mut id, mut print_fmt, mut common) = (None, None, None, None);
        let mut fields = Vec::new();
        let mut left = text;
        while !left.is_empty() {
            let (after, line) = grammar::line(left).map_err(|error| fault(text, &error))?;
            match line {
                Line::Name(text) => name = name.or(Some(text)),
                Line::Id(number) => id = id.or(Some(number)),
                Line::Field(line) => {
                    check(fields.len(), &line)
                        .map_err(|kind| TracingError { kind, offset: offset(text, left) })?;
                    fields.push(Field::new(&line, long_size));
                }
                Line::Blank if !fields.is_empty() => common = common.or(Some(fields.len())),
                Line::PrintFmt(text) => print_fmt = Some(text),
                Line::Blank | Line::Other => {}
            }
            left = after;
        }
        let missing = |field| TracingError::invalid(field, None, "a line with it", offset(text, &[]));
        let (name, id) = (name.ok_or(missing("name"))?, id.ok_or(missing("ID"))?);
        let min_size = if share_bytes(&fields) {
            None
        } else {
            fields.iter().map(Field::end).try_fold(0, |all, end| Some(end?.max(all)))
        };
        Ok(Self { system, name, id, print_fmt, common: common.unwrap_or(0), fields, min_size })
    }

    /// Returns the fields that all tracepoints have: `common_type`, `common_flags`, `common_preempt_count`,
    /// `common_pid`.
    #[must_use]
    pub fn common_fields(&self) -> &[Field<'a>] {
        self.fields.get(..self.common).unwrap_or_default()
    }

    /// Returns the fields of this tracepoint alone.
    #[must_use]
    pub fn own_fields(&self) -> &[Field<'a>] {
        self.fields.get(self.common..).unwrap_or_default()
    }

    /// Returns all fields with their values in the raw data of a sample, common fields first. Allocates nothing.
    ///
    /// `raw` is in byte order `O`, that of the capture. A field that is missing from it returns an error; other
    /// fields are not affected.
    pub fn fields<'s, 'r, O: Endian>(
        &'s self,
        raw: &'r [u8],
    ) -> impl Iterator<Item = (&'s Field<'a>, Result<Value<'r, O>, FieldError<'a>>)> + Clone {
        self.fields.iter().map(move |field| (field, field.value(raw)))
    }

    /// Checks that the raw data of a sample has all fields. Takes constant time, unless the place of a field depends
    /// on the raw data, fields share bytes, or a field is missing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] for the first field that is missing from `raw`. [`ErrorKind::OutOfRange`] for the
    /// first field that exceeds the [room](Self::room) of `raw`, because fields share its bytes. The offset is 0.
    #[inline]
    pub fn check<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        match self.min_size {
            Some(min_size) if raw.len() as u64 >= min_size => Ok(()),
            _ => self.check_each::<O>(raw),
        }
    }

    #[inline(never)]
    fn check_each<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        let mut room = self.room(raw);
        for (_, value) in self.fields::<O>(raw) {
            let kind = match value {
                Ok(value) if room.take(&value) => continue,
                Ok(value) => {
                    let max = raw.len() as u64;
                    let value = max.saturating_add(needed(&value) as u64);
                    ErrorKind::OutOfRange { field: "raw", value, max }
                }
                Err(error) => {
                    let needed = error.offset.saturating_add(error.needed);
                    ErrorKind::Truncated { field: "raw", needed, available: error.available }
                }
            };
            return Err(Error::new(kind, 0));
        }
        Ok(())
    }

    /// Returns the room that the raw data of a sample has for values, which keeps the output in proportion to the raw
    /// data.
    #[must_use]
    pub fn room(&self, raw: &[u8]) -> Room {
        Room::new(self, raw)
    }
}

/// Checks that a format with `before` fields may have this field too.
fn check(before: usize, line: &FieldLine<'_>) -> Result<(), TracingErrorKind> {
    let within = |field, value: usize, max: usize| {
        let [value, max] = [value, max].map(|number| u64::try_from(number).unwrap_or(u64::MAX));
        if value > max { Err(TracingErrorKind::OutOfRange { field, value, max }) } else { Ok(()) }
    };
    within("fields", before.saturating_add(1), Format::MAX_FIELDS)?;
    within("field.name", line.declaration.name.len(), Format::MAX_NAME)
}

/// Returns the offset in `text` at which its suffix `rest` begins.
fn offset(text: &[u8], rest: &[u8]) -> u32 {
    u32::try_from(text.len().saturating_sub(rest.len())).unwrap_or(u32::MAX)
}

/// Returns the error for a fault of the grammar, with its offset. The fault's text is a suffix of `text`.
fn fault(text: &[u8], error: &nom::Err<grammar::Fault<'_>>) -> TracingError {
    match error {
        nom::Err::Error(fault) | nom::Err::Failure(fault) => {
            TracingError::invalid(fault.field, fault.at.first().copied(), fault.must, offset(text, fault.at))
        }
        nom::Err::Incomplete(_) => TracingError::invalid("line", None, "a complete line", offset(text, &[])),
    }
}

impl<'a> Field<'a> {
    fn new(line: &FieldLine<'a>, long_size: u8) -> Self {
        let declaration = line.declaration;
        let is = |word: &[u8]| grammar::words(declaration.c_type).next() == Some(word);
        let (place, extent) = match declaration.brackets {
            _ if is(b"__data_loc") => (Place::DataLoc, Extent::Elsewhere),
            _ if is(b"__rel_loc") => (Place::RelLoc, Extent::Elsewhere),
            None => (Place::Value, Extent::Value),
            Some(brackets) if brackets.first.is_empty() && line.size == 0 => (Place::Rest, Extent::Elsewhere),
            Some(brackets) => (Place::Array { len: brackets.len }, Extent::Field(brackets.len)),
        };
        let (element, signed) = classify(line, extent, long_size);
        let (c_type, name) = (declaration.c_type, declaration.name);
        Self { c_type, name, offset: line.offset, size: line.size, signed, place, element }
    }

    /// Returns the end of the field in the raw data; `None` if it depends on the raw data.
    fn end(&self) -> Option<u64> {
        let start = u64::from(self.offset);
        match self.place {
            Place::Value | Place::Array { .. } => Some(start.saturating_add(u64::from(self.size))),
            Place::Rest => Some(start),
            Place::DataLoc | Place::RelLoc => None,
        }
    }

    /// Returns the field's value in the raw data of a sample, in byte order `O`. Takes constant time, except for the
    /// search for a string's NUL.
    ///
    /// # Errors
    ///
    /// The part of the field that is missing from `raw`.
    #[inline(always)]
    pub fn value<'r, O: Endian>(&self, raw: &'r [u8]) -> Result<Value<'r, O>, FieldError<'a>> {
        let (start, size) = (u64::from(self.offset), u64::from(self.size));
        match self.place {
            Place::Value => Ok(Value::single(self.element, self.signed, self.bytes(raw, start, size)?)),
            Place::Array { .. } => {
                Ok(Value::several(self.element, self.signed, self.bytes(raw, start, size)?))
            }
            Place::Rest => {
                let size = (raw.len() as u64).saturating_sub(start);
                Ok(Value::several(self.element, self.signed, self.bytes(raw, start, size)?))
            }
            Place::DataLoc => self.dynamic(raw, 0),
            Place::RelLoc => self.dynamic(raw, start.saturating_add(size)),
        }
    }

    /// Returns the bytes of the elements to which the field points.
    #[inline(never)]
    fn dynamic<'r, O: Endian>(&self, raw: &'r [u8], base: u64) -> Result<Value<'r, O>, FieldError<'a>> {
        // Old synthetic events have 8 bytes here and use the first 4.
        let place = self.bytes(raw, u64::from(self.offset), 4)?;
        let place = super::value::unsigned::<O>(place);
        let (start, size) = (base.saturating_add(place & 0xffff), place >> 16);
        Ok(Value::several(self.element, self.signed, self.bytes(raw, start, size)?))
    }

    #[inline(always)]
    fn bytes<'r>(&self, raw: &'r [u8], start: u64, size: u64) -> Result<&'r [u8], FieldError<'a>> {
        let end = usize::try_from(start.saturating_add(size));
        let bytes = usize::try_from(start).ok().zip(end.ok()).and_then(|(start, end)| raw.get(start..end));
        bytes.ok_or(FieldError { field: self.name, offset: start, needed: size, available: raw.len() as u64 })
    }
}
