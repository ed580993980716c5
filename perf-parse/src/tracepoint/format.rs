//! The format of a tracepoint: which fields its raw data has, and where.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format<'a> {
    /// Its subsystem, such as `sched`.
    pub system: &'a [u8],
    /// Its name, such as `sched_switch`.
    pub name: &'a [u8],
    /// The `attr.config` of its events, and what `common_type` says in its raw data.
    pub id: u32,
    /// How the kernel would print it: a format of `printf` and its arguments, in C. `None` where the text has none.
    pub print_fmt: Option<&'a [u8]>,
    fields: Vec<Field<'a>>,
    common: usize,
    /// Bytes of raw data that have all its fields in them, each byte in one field at most. `None` if that depends on the
    /// data, or fields share bytes.
    pub(super) whole: Option<u64>,
}

/// A field of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its type as the kernel writes it, without the brackets that stand behind the name.
    pub c_type: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// Where it begins, in bytes from the start of the raw data.
    pub offset: u32,
    /// Its bytes; 0 for an array that runs to the end of the raw data. For a dynamic array those of its place, not of
    /// its elements.
    pub size: u32,
    /// Whether its integers are signed; for an array, the elements.
    pub signed: bool,
    /// Where its value is.
    pub place: Place,
    /// What the value is, or each of its elements.
    pub element: Element,
}

/// Where the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// In the field: one value.
    Value,
    /// In the field: an array.
    Array {
        /// Its elements; `None` where the length is not written as a number.
        len: Option<u32>,
    },
    /// From the field's offset to the end of the raw data, which the kernel pads.
    Rest,
    /// `__data_loc`: elsewhere. The field has 16 bits of offset from the start of the raw data, and above them 16 bits
    /// of size.
    DataLoc,
    /// `__rel_loc`: elsewhere. As [`DataLoc`](Self::DataLoc), the offset counted from the end of the field.
    RelLoc,
}

impl<'a> Format<'a> {
    /// Fields that a format may have. The kernel has no limit, but its largest formats have some tens of fields; whoever
    /// prints samples prints as much for each field as the field's name is long.
    pub const MAX_FIELDS: usize = 1024;

    /// Bytes that the name of a field may have: the most that the kernel takes for an event of a program.
    ///
    /// Kernel: `MAX_FIELD_ARG_NAME`, `kernel/trace/trace_events_user.c`.
    pub const MAX_NAME: usize = 256;

    /// Parses the text of a `format`. `long_size` is the bytes of a `long` of the kernel that wrote it.
    ///
    /// Lines it does not know are skipped.
    ///
    /// # Errors
    ///
    /// A field line that is not one, a number that is none, no name or no id, more than [`MAX_FIELDS`](Self::MAX_FIELDS)
    /// fields, the name of a field of more than [`MAX_NAME`](Self::MAX_NAME) bytes; the offset is in `text`.
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
        let missing = |field| TracingError::invalid(field, None, "given", offset(text, &[]));
        let (name, id) = (name.ok_or(missing("name"))?, id.ok_or(missing("ID"))?);
        let whole = if share_bytes(&fields) {
            None
        } else {
            fields.iter().map(Field::end).try_fold(0, |all, end| Some(end?.max(all)))
        };
        Ok(Self { system, name, id, print_fmt, common: common.unwrap_or(0), fields, whole })
    }

    /// The fields that all tracepoints have: `common_type`, `common_flags`, `common_preempt_count`, `common_pid`.
    #[must_use]
    pub fn common_fields(&self) -> &[Field<'a>] {
        self.fields.get(..self.common).unwrap_or_default()
    }

    /// The fields that are this tracepoint's own.
    #[must_use]
    pub fn own_fields(&self) -> &[Field<'a>] {
        self.fields.get(self.common..).unwrap_or_default()
    }

    /// All fields with their values in the raw data of a sample, those of all tracepoints first. Allocates nothing.
    ///
    /// `raw` is in byte order `O`, that of the capture. A field that is not in it gives an error; others are not
    /// affected.
    pub fn fields<'s, 'r, O: Endian>(
        &'s self,
        raw: &'r [u8],
    ) -> impl Iterator<Item = (&'s Field<'a>, Result<Value<'r, O>, FieldError<'a>>)> + Clone {
        self.fields.iter().map(move |field| (field, field.value(raw)))
    }

    /// Checks that the raw data of a sample has all fields. Takes constant time, unless the raw data holds the place of a
    /// field, fields share bytes, or a field is missing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] for the first field that is not in `raw`. [`ErrorKind::OutOfRange`] for the first field
    /// that `raw` has no [room](Self::room) for, as fields share its bytes. The offset is 0.
    #[inline]
    pub fn check<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        match self.whole {
            Some(whole) if raw.len() as u64 >= whole => Ok(()),
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

    /// Returns the room that the raw data of a sample has for values, so that what is made of it is in proportion to it.
    #[must_use]
    pub fn room(&self, raw: &[u8]) -> Room {
        Room::new(self, raw)
    }
}

/// Checks that a format with `before` fields may have this one too.
fn check(before: usize, line: &FieldLine<'_>) -> Result<(), TracingErrorKind> {
    let within = |field, value: usize, max: usize| {
        let [value, max] = [value, max].map(|number| u64::try_from(number).unwrap_or(u64::MAX));
        if value > max { Err(TracingErrorKind::OutOfRange { field, value, max }) } else { Ok(()) }
    };
    within("fields", before.saturating_add(1), Format::MAX_FIELDS)?;
    within("field.name", line.declaration.name.len(), Format::MAX_NAME)
}

/// Where in `text` its end `rest` begins.
fn offset(text: &[u8], rest: &[u8]) -> u32 {
    u32::try_from(text.len().saturating_sub(rest.len())).unwrap_or(u32::MAX)
}

/// A fault of the grammar, with its place: its text is an end of `text`.
fn fault(text: &[u8], error: &nom::Err<grammar::Fault<'_>>) -> TracingError {
    match error {
        nom::Err::Error(fault) | nom::Err::Failure(fault) => {
            TracingError::invalid(fault.field, fault.at.first().copied(), fault.must, offset(text, fault.at))
        }
        nom::Err::Incomplete(_) => TracingError::invalid("line", None, "whole", offset(text, &[])),
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

    /// Where the field ends in the raw data; `None` if the raw data tells.
    fn end(&self) -> Option<u64> {
        let start = u64::from(self.offset);
        match self.place {
            Place::Value | Place::Array { .. } => Some(start.saturating_add(u64::from(self.size))),
            Place::Rest => Some(start),
            Place::DataLoc | Place::RelLoc => None,
        }
    }

    /// The field's value in the raw data of a sample, which is in byte order `O`. Takes constant time but for a string,
    /// whose NUL is looked for.
    ///
    /// # Errors
    ///
    /// What of the field is not in `raw`.
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

    /// The elements that the field tells the place of.
    #[inline(never)]
    fn dynamic<'r, O: Endian>(&self, raw: &'r [u8], base: u64) -> Result<Value<'r, O>, FieldError<'a>> {
        // Of 8 bytes in old synthetic events, which use the first 4.
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
