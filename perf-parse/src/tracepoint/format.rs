//! The format of a tracepoint: the list of the fields of its raw data.

use alloc::vec::Vec;

use perf_abi::endian::{ByteOrder, Endianness};

use super::error::{FieldError, TracingError, TracingErrorKind};
use super::field::{FormatField, share_bytes};
use super::grammar::{self, FieldLine, FormatLine};
use super::room::{Room, needed};
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
    fields: Vec<FormatField<'a>>,
    common: usize,
    long_size: u8,
    /// The smallest size of raw data that contains all fields, provided that no fields share bytes. `None` if the
    /// size depends on the data, or if fields share bytes.
    min_size: Option<u64>,
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
                FormatLine::Name(text) => name = name.or(Some(text)),
                FormatLine::Id(number) => id = id.or(Some(number)),
                FormatLine::Field(line) => {
                    check(fields.len(), &line)
                        .map_err(|kind| TracingError { kind, offset: offset(text, left) })?;
                    fields.push(FormatField::new(&line, long_size));
                }
                FormatLine::Blank if !fields.is_empty() => common = common.or(Some(fields.len())),
                FormatLine::PrintFmt(text) => print_fmt = Some(text),
                FormatLine::Blank | FormatLine::Other => {}
            }
            left = after;
        }
        let missing = |field| TracingError::invalid(field, None, "a line with it", offset(text, &[]));
        let (name, id) = (name.ok_or(missing("name"))?, id.ok_or(missing("ID"))?);
        let min_size = if share_bytes(&fields) {
            None
        } else {
            fields.iter().map(FormatField::end).try_fold(0, |all, end| Some(end?.max(all)))
        };
        Ok(Self { system, name, id, print_fmt, common: common.unwrap_or(0), long_size, fields, min_size })
    }

    /// Returns the number of bytes of a `long` of the kernel that wrote the format, as given to
    /// [`parse`](Self::parse).
    #[must_use]
    pub fn long_size(&self) -> u8 {
        self.long_size
    }

    /// Returns the fields that all tracepoints have: `common_type`, `common_flags`, `common_preempt_count`,
    /// `common_pid`.
    #[must_use]
    pub fn common_fields(&self) -> &[FormatField<'a>] {
        self.fields.get(..self.common).unwrap_or_default()
    }

    /// Returns the fields of this tracepoint alone.
    #[must_use]
    pub fn own_fields(&self) -> &[FormatField<'a>] {
        self.fields.get(self.common..).unwrap_or_default()
    }

    /// Returns the field with this name; the first one, if several have it. Searches linearly: look the field up once, not
    /// for each sample.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::Endianness;
    /// use perf_parse::tracepoint::Format;
    ///
    /// let text = b"name: exit\nID: 7\nformat:\n\tfield:short code;\toffset:0;\tsize:2;\tsigned:1;\n";
    /// let format = Format::parse(b"task", text, 8)?;
    /// let code = format.field("code").expect("a field of the format");
    /// let value = code.value(b"\xff\xff", Endianness::Little).expect("the raw data has both bytes");
    /// assert_eq!(value.as_i64(), Some(-1));
    /// assert_eq!(format.field("status"), None);
    /// # Ok::<(), perf_parse::tracepoint::TracingError>(())
    /// ```
    #[must_use]
    pub fn field(&self, name: impl AsRef<[u8]>) -> Option<&FormatField<'a>> {
        self.fields.iter().find(|field| field.name == name.as_ref())
    }

    /// Returns all fields with their values in the raw data of a sample, common fields first. Allocates nothing.
    ///
    /// `raw` is in the byte order `order`, that of the capture. A field that is missing from it returns an error; other
    /// fields are not affected.
    pub fn fields<'s, 'r>(
        &'s self,
        raw: &'r [u8],
        order: Endianness,
    ) -> impl Iterator<Item = (&'s FormatField<'a>, Result<Value<'r>, FieldError<'a>>)> + Clone {
        self.fields_in::<Endianness>(raw, order)
    }

    /// Returns all fields as [`fields`](Self::fields) does, in a byte order that may be known when the program is
    /// compiled: `fields_in::<LittleEndian>(raw, ())`.
    pub fn fields_in<'s, 'r, O: ByteOrder>(
        &'s self,
        raw: &'r [u8],
        order: O::Value,
    ) -> impl Iterator<Item = (&'s FormatField<'a>, Result<Value<'r, O>, FieldError<'a>>)> + Clone {
        self.fields.iter().map(move |field| (field, field.value_in(raw, order)))
    }

    /// Checks that the raw data of a sample, which is in the byte order `order`, has all fields. Takes constant time,
    /// unless the place of a field depends on the raw data, fields share bytes, or a field is missing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] for the first field that is missing from `raw`. [`ErrorKind::OutOfRange`] for the
    /// first field that exceeds the [room](Self::room) of `raw`, because fields share its bytes. The offset is 0.
    #[inline]
    pub fn check(&self, raw: &[u8], order: Endianness) -> Result<(), Error> {
        match self.min_size {
            Some(min_size) if raw.len() as u64 >= min_size => Ok(()),
            _ => self.check_each(raw, order),
        }
    }

    #[inline(never)]
    fn check_each(&self, raw: &[u8], order: Endianness) -> Result<(), Error> {
        let mut room = self.room(raw);
        for (_, value) in self.fields(raw, order) {
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
        // Fields at known offsets that share no bytes need no count.
        if self.min_size.is_some() { Room::unlimited() } else { Room::of_bytes(raw.len()) }
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
pub(super) fn fault(text: &[u8], error: &nom::Err<grammar::SyntaxFault<'_>>) -> TracingError {
    match error {
        nom::Err::Error(fault) | nom::Err::Failure(fault) => {
            TracingError::invalid(fault.field, fault.at.first().copied(), fault.must, offset(text, fault.at))
        }
        nom::Err::Incomplete(_) => TracingError::invalid("line", None, "a complete line", offset(text, &[])),
    }
}
