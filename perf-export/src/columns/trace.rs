//! The fields of tracepoints.

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::event::EventType;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Format, Tracepoints, TracingData, Value};

use super::context::hex;
use super::utf8::utf8;

/// A field of a tracepoint and its value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TraceField {
    pub(super) name: Vec<u8>,
    pub(super) value: String,
}

/// The formats of the tracepoints of a capture.
#[derive(Debug)]
pub(super) struct TraceFormats<'a> {
    formats: Tracepoints<'a>,
    endianness: Endianness,
}

impl<'a> TraceFormats<'a> {
    /// Parses the feature `TRACING_DATA`. Leaves out formats that cannot be parsed.
    pub(super) fn new(tracing_data: &'a [u8], endianness: Endianness) -> Self {
        let data = TracingData::parse(tracing_data).ok();
        Self { formats: data.as_ref().map(Tracepoints::new).unwrap_or_default(), endianness }
    }

    /// Returns the format of an event; `None` if it is no tracepoint, or has no format.
    pub(super) fn of(&self, event: &Event) -> Option<&Format<'a>> {
        (event.attr.kind == EventType::TRACEPOINT).then(|| self.formats.get(event.attr.config)).flatten()
    }

    /// Returns the fields of a sample's raw data, without those that all tracepoints have. A field that the data are too
    /// short for is left out.
    pub(super) fn fields(&self, format: &Format<'a>, raw: &[u8]) -> Vec<TraceField> {
        match self.endianness {
            Endianness::Little => fields::<LittleEndian>(format, raw),
            Endianness::Big => fields::<BigEndian>(format, raw),
        }
    }

    /// Returns a number in a sample's raw data.
    pub(super) fn number(&self, format: &Format<'a>, name: &[u8], raw: &[u8]) -> Option<i64> {
        match self.endianness {
            Endianness::Little => number::<LittleEndian>(format, name, raw),
            Endianness::Big => number::<BigEndian>(format, name, raw),
        }
    }
}

fn fields<O: Endian>(format: &Format<'_>, raw: &[u8]) -> Vec<TraceField> {
    let fields = format.own_fields().iter();
    let traced = fields.filter_map(|field| {
        Some(TraceField { name: field.name.to_vec(), value: value_text(field.value_in::<O>(raw, ()).ok()?) })
    });
    traced.collect()
}

fn number<O: Endian>(format: &Format<'_>, name: &[u8], raw: &[u8]) -> Option<i64> {
    let field = format.own_fields().iter().find(|field| field.name == name)?;
    match field.value_in::<O>(raw, ()).ok()? {
        Value::Signed(number) => Some(number),
        Value::Unsigned(number) => Some(number.cast_signed()),
        _ => None,
    }
}

fn value_text<O: Endian>(value: Value<'_, O>) -> String {
    match value {
        Value::Unsigned(number) | Value::Pointer(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Bool(is_set) => u8::from(is_set).to_string(),
        Value::Str(text) => utf8(text).into_owned(),
        Value::Array(array) => {
            let items: Vec<_> = array.values().map(value_text).collect();
            format!("[{}]", items.join(","))
        }
        Value::Bytes(bytes) => hex(bytes),
        _ => String::new(),
    }
}
