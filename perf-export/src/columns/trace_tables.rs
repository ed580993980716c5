//! `trace_*`: a table for each tracepoint, whose fields are columns with types.

use core::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Field as ArrowField, Schema};
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::event::Event;
use perf_parse::tracepoint::{ElementType, FieldPlacement, Format, FormatField, Value};
use perf_session::SampleContext;

use super::column::{Column, ColumnKind, columns, fields};
use super::context::{Context, hex};
use super::rows::TableRows;
use super::utf8::utf8;

/// The first columns of each of these tables.
pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    time ? Int64, "ns", "As `samples.time`.";
    utc ? Timestamp, "us", "As `samples.utc`.";
    cpu ? Int32, "", "As `samples.cpu`.";
    pid: Int32, "", "As `samples.pid`.";
    tid: Int32, "", "As `samples.tid`.";
    process_key: Int64, "", "The process: see `processes`.";
    thread_key: Int64, "", "The thread: see `threads`.";
    comm ? Word, "", "As `samples.comm`.";
    event_id: Int32, "", "The event: see `events`.";
    period: Int64, "as events.unit", "As `samples.period`.";
    stack_id ? Int64, "", "As `samples.stack_id`.";
};

/// Number of the tables of a capture.
const TABLES: usize = 32;

/// Number of the fields of a table.
const FIELDS: usize = 256;

/// Number of the rows of all tables that are in no batch yet.
const ROWS: usize = 1 << 15;

/// Number of bytes of the name of a table or of a column: file systems permit 255.
const LONGEST: usize = 128;

/// A sample of a tracepoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceSample<'a, 's, 'r> {
    pub(super) at: &'a SampleContext<'s, 'r>,
    pub(super) event: &'a Event,
    pub(super) period: u64,
    pub(super) stack_id: Option<u64>,
    pub(super) raw: &'a [u8],
}

/// The tables of the tracepoints that have samples.
#[derive(Debug, Default)]
pub(super) struct TraceTables {
    list: Vec<TraceTable>,
    /// The table of each event, by its index; of an event without one the inner value is `None`.
    of_event: Vec<Option<Option<usize>>>,
    rows: usize,
}

/// The table of a tracepoint.
#[derive(Debug)]
struct TraceTable {
    name: Arc<str>,
    system: Vec<u8>,
    tracepoint: Vec<u8>,
    /// The index of each field that is a column, in the format's own fields, and its type.
    fields: Vec<(usize, ColumnKind)>,
    rows: TableRows,
}

/// Returns the name of the table of a tracepoint: `trace_NAME`, or `trace_SYSTEM_NAME` if the name does not begin with that of
/// the system. `None` if it is too long, or has other characters than letters, digits and `_`.
fn table_name(format: &Format<'_>) -> Option<String> {
    let (system, name) = (word(format.system)?, word(format.name)?);
    let has_system = name.strip_prefix(system).is_some_and(|rest| rest.starts_with('_'));
    let table = if has_system { format!("trace_{name}") } else { format!("trace_{system}_{name}") };
    (table.len() <= LONGEST).then_some(table)
}

/// Returns bytes as a text of letters, digits and `_`; `None` if they have others.
fn word(bytes: &[u8]) -> Option<&str> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let text = core::str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && text.len() <= LONGEST)?;
    bytes.iter().all(is_word).then_some(text)
}

/// Returns the type of a field's column.
fn kind_of(field: &FormatField<'_>) -> ColumnKind {
    match (field.place, field.element) {
        (_, ElementType::Char) => ColumnKind::Word,
        (FieldPlacement::Value, ElementType::Integer { .. } | ElementType::Pointer { .. }) => {
            ColumnKind::Int64
        }
        (FieldPlacement::Value, ElementType::Bool) => ColumnKind::Boolean,
        (_, ElementType::Integer { .. } | ElementType::Pointer { .. } | ElementType::Bool) => {
            ColumnKind::Integers
        }
        _ => ColumnKind::Text,
    }
}

impl TraceTable {
    fn new(name: String, format: &Format<'_>) -> Self {
        // Engines do not tell letters of different case apart. The last two are columns by the names of folders.
        let taken = COLUMNS.iter().map(|it| it.name).chain(["host", "date"]);
        let mut taken: HashSet<String> = taken.map(str::to_owned).collect();
        let mut all = fields(COLUMNS).iter().map(|it| (**it).clone()).collect::<Vec<_>>();
        let mut own = Vec::new();
        for (index, field) in format.own_fields().iter().enumerate().take(FIELDS) {
            let Some(name) = word(field.name) else { continue };
            let prefixed = format!("trace_{name}");
            let free = [name, &prefixed].into_iter().find(|name| !taken.contains(&name.to_ascii_lowercase()));
            let Some(column) = free else { continue };
            taken.insert(column.to_ascii_lowercase());
            let kind = kind_of(field);
            all.push(ArrowField::new(column, kind.data_type(), true));
            own.push((index, kind));
        }
        let kinds = COLUMNS.iter().map(|it| it.kind).chain(own.iter().map(|&(_, kind)| kind));
        let rows = TableRows::of(Arc::new(Schema::new(all)), kinds);
        let (system, tracepoint) = (format.system.to_vec(), format.name.to_vec());
        Self { name: name.into(), system, tracepoint, fields: own, rows }
    }

    fn push<O: Endian>(&mut self, context: &Context, format: &Format<'_>, traced: &TraceSample<'_, '_, '_>) {
        let TraceSample { at, event, period, stack_id, raw } = *traced;
        let (sample, thread, rows) = (at.sample(), at.thread(), &mut self.rows);
        rows.text(context.capture.as_str());
        rows.int64(sample.time());
        rows.timestamp(context.utc(sample.time()));
        rows.int32(sample.cpu().map(u32::cast_signed));
        rows.int32(sample.pid().unwrap_or(-1));
        rows.int32(sample.tid().unwrap_or(-1));
        rows.int64(thread.process_key());
        rows.int64(thread.key());
        rows.text(context.comm(thread.comm()).as_deref());
        rows.int32(event.index as i32);
        rows.int64(period);
        rows.int64(stack_id);
        for &(index, kind) in &self.fields {
            let field = format.own_fields().get(index);
            let value = field.and_then(|field| field.value_in::<O>(raw, ()).ok());
            push_value(rows, kind, value);
        }
        rows.end();
    }
}

/// Writes the value of a field; none if the data are too short for it.
fn push_value<O: Endian>(rows: &mut TableRows, kind: ColumnKind, value: Option<Value<'_, O>>) {
    match (kind, value) {
        (ColumnKind::Int64, value) => rows.int64(value.as_ref().and_then(number)),
        (ColumnKind::Boolean, value) => rows.boolean(match value {
            Some(Value::Bool(is_set)) => Some(is_set),
            _ => None,
        }),
        (ColumnKind::Integers, Some(Value::Array(array))) => {
            rows.integers(Some(array.values().map(|value| number(&value).unwrap_or(0))));
        }
        (ColumnKind::Integers, _) => rows.integers(None::<core::iter::Empty<u64>>),
        (_, Some(Value::Str(text))) => rows.text(&*utf8(text)),
        (_, Some(Value::Bytes(bytes))) => rows.text(hex(bytes).as_str()),
        (_, value) => rows.text(value.as_ref().and_then(number).map(|it| it.to_string()).as_deref()),
    }
}

/// Returns the 64 bits of a number.
fn number<O: Endian>(value: &Value<'_, O>) -> Option<u64> {
    match value {
        Value::Unsigned(number) | Value::Pointer(number) => Some(*number),
        Value::Signed(number) => Some(number.cast_unsigned()),
        Value::Bool(is_set) => Some((*is_set).into()),
        _ => None,
    }
}

impl TraceTables {
    /// Writes a sample into the table of its tracepoint, if it has one. Returns a batch when there are many rows.
    pub(super) fn push(
        &mut self,
        context: &Context,
        format: &Format<'_>,
        traced: &TraceSample<'_, '_, '_>,
    ) -> Option<Result<(Arc<str>, RecordBatch), ArrowError>> {
        let index = self.table_of(traced.event.index, format)?;
        let table = self.list.get_mut(index)?;
        match context.endianness {
            Endianness::Little => table.push::<LittleEndian>(context, format, traced),
            Endianness::Big => table.push::<BigEndian>(context, format, traced),
        }
        self.rows += 1;
        (self.rows >= ROWS).then(|| self.take_largest(context)).flatten()
    }

    /// Returns the table of an event, made at its first sample.
    fn table_of(&mut self, event: usize, format: &Format<'_>) -> Option<usize> {
        if self.of_event.len() <= event {
            self.of_event.resize(event + 1, None);
        }
        if let Some(Some(known)) = self.of_event.get(event) {
            return *known;
        }
        let found = self.find_or_make(format);
        if let Some(place) = self.of_event.get_mut(event) {
            *place = Some(found);
        }
        found
    }

    fn find_or_make(&mut self, format: &Format<'_>) -> Option<usize> {
        let name = table_name(format)?;
        if let Some(index) = self.list.iter().position(|table| *table.name == *name) {
            // Another tracepoint may have the same name for its table.
            let table = self.list.get(index)?;
            return (table.system == format.system && table.tracepoint == format.name).then_some(index);
        }
        if self.list.len() >= TABLES {
            return None;
        }
        self.list.push(TraceTable::new(name, format));
        Some(self.list.len() - 1)
    }

    /// Returns the rows of the table that has the most; `None` if none has rows.
    pub(super) fn take_largest(
        &mut self,
        context: &Context,
    ) -> Option<Result<(Arc<str>, RecordBatch), ArrowError>> {
        let table = self.list.iter_mut().min_by_key(|table| Reverse(table.rows.len()))?;
        let rows = table.rows.len();
        self.rows = self.rows.saturating_sub(rows);
        (rows > 0).then(|| Ok((Arc::clone(&table.name), table.rows.finish(context)?)))
    }
}
