//! What a dump looks like.

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_abi::regs::Arch;
use perf_parse::file::{Account, FileError, FileRecord, Reader, Source};
use perf_parse::tracepoint;
use serde_json::{Value, json};

use super::tracepoints::Formats;

use crate::args::{Format, ShowArgs};
use crate::diagnose;
use crate::render::columns::Columns;
use crate::render::escape::{Lossy, Printable};
use crate::render::json::Json;
use crate::render::text::Text;
use crate::render::{self, Scalars, Sink, TypeName};

/// Formats records into a buffer, with buffers of its own that are used again: no allocation per record.
#[derive(Debug)]
pub(super) struct Formatter<'a> {
    style: Style<'a>,
    /// What the raw data of tracepoints says.
    formats: Formats<'a>,
}

#[derive(Debug)]
enum Style<'a> {
    Text(Text),
    Json,
    Columns(Columns<'a>, Format),
}

impl<'a> Formatter<'a> {
    pub(super) fn new<O: Endian, S: Source>(
        reader: &Reader<'_, O, S>,
        args: &'a ShowArgs,
        formats: Formats<'a>,
    ) -> Self {
        let style = match args.format {
            format if !args.fields.is_empty() => Style::Columns(Columns::new(&args.fields, format), format),
            Format::Text => Style::Text(Text::new(arch(reader))),
            Format::Jsonl => Style::Json,
        };
        Self { style, formats }
    }

    fn is_json(&self) -> bool {
        matches!(self.style, Style::Json | Style::Columns(_, Format::Jsonl))
    }

    /// What stands before the records: what is known of the capture. A feature that cannot be decoded is noted.
    pub(super) fn header<O: Endian, S: Source>(&self, reader: &mut Reader<'_, O, S>, out: &mut Vec<u8>) {
        if !self.is_json() {
            return;
        }
        let mut features = serde_json::Map::new();
        let mut faults = Vec::new();
        for section in reader.features() {
            let value = render::feature::feature(reader, &section).unwrap_or_else(|error| {
                faults.push(error);
                json!({"error": error.to_string()})
            });
            features.insert(section.feature.to_string(), value);
        }
        for fault in faults {
            if reader.account_mut().note_once(fault) {
                diagnose(&fault);
            }
        }
        Json::object(out, |json| {
            Json::object(json.member("header"), |json| {
                json.text("mode", &reader.mode().name());
                json.text("endian", &reader.endianness());
                json.objects("attrs", reader.events().iter(), |json, event| {
                    render::attr::attr(&event.attr, json);
                    json.addresses("ids", event.ids.iter().copied());
                    render::given(event.name.as_deref(), |name| json.text("name", &Lossy(name)));
                });
                json.serialized("features", &Value::Object(features));
            });
        });
        out.push(b'\n');
    }

    /// A record. What could not be decoded is given back, after what could be was formatted.
    pub(super) fn record<O: Endian>(
        &mut self,
        record: &FileRecord<'_, O>,
        out: &mut Vec<u8>,
    ) -> Option<FileError> {
        let format = self.formats.of(record);
        match &mut self.style {
            Style::Json => json_record(record, format, out),
            Style::Text(text) => {
                let error = text_record(record, format, text);
                text.finish(out);
                error
            }
            Style::Columns(columns, _) => {
                let error = column_record(record, format, columns);
                columns.finish(out);
                error
            }
        }
    }

    /// What stands behind the records.
    pub(super) fn account(&self, account: &Account, out: &mut Vec<u8>) {
        if self.is_json() {
            let value = render::account::value(account);
            Json::object(out, |json| json.serialized("account", &value));
            out.push(b'\n');
        }
    }

    /// Says which fields were asked for in vain.
    pub(super) fn complain(&self) {
        if let Style::Columns(columns, _) = &self.style {
            for name in columns.unseen() {
                eprintln!("perfdata: --fields {name}: no record that was printed has this field");
            }
        }
    }
}

/// Whose registers the samples have.
fn arch<O: Endian, S: Source>(reader: &Reader<'_, O, S>) -> Option<Arch> {
    let section = reader.feature(Feature::ARCH)?;
    Arch::from_machine(core::str::from_utf8(section.string::<O>().ok()?).ok()?)
}

/// Tells the fields of a record to `sink`; what could not be decoded is given back.
fn tell<O: Endian>(
    record: &FileRecord<'_, O>,
    format: Option<&tracepoint::Format<'_>>,
    sink: &mut impl Sink,
) -> Option<FileError> {
    let decoded = match record.decode() {
        Ok(decoded) => decoded,
        Err(error) => return Some(error),
    };
    render::fields(&decoded, format, sink).err().map(|error| record.error(error))
}

fn json_record<O: Endian>(
    record: &FileRecord<'_, O>,
    format: Option<&tracepoint::Format<'_>>,
    out: &mut Vec<u8>,
) -> Option<FileError> {
    let kind = record.raw.kind();
    let mut error = None;
    Json::object(out, |json| {
        json.number("offset", record.offset);
        render::given(record.inner, |inner| json.number("inner", inner));
        if record.data_file > 0 {
            json.number("data_file", record.data_file as u64);
        }
        json.text("type", &TypeName(kind));
        json.number("type_id", u64::from(kind.0));
        json.number("misc", u64::from(record.raw.misc().0));
        json.number("size", u64::from(record.raw.size()));
        render::given(record.event_index, |event| json.number("event", event as u64));
        Json::object(json.member("fields"), |json| error = tell(record, format, json));
        match record.sample_id() {
            Ok(Some(trailer)) => {
                Json::object(json.member("sample_id"), |json| render::sample_id(&trailer, json))
            }
            Ok(None) => {}
            Err(fault) => error = error.or(Some(fault)),
        }
        if let Some(error) = &error {
            json.text("error", error);
            json.blob("raw", record.raw.payload());
        }
    });
    out.push(b'\n');
    error
}

fn text_record<O: Endian>(
    record: &FileRecord<'_, O>,
    format: Option<&tracepoint::Format<'_>>,
    text: &mut Text,
) -> Option<FileError> {
    let kind = record.raw.kind();
    text.start(record.offset, &TypeName(kind), record.raw.size(), record.raw.misc(), kind);
    render::given(record.inner, |inner| text.hex("inner", inner));
    if record.data_file > 0 {
        text.number("data_file", record.data_file as u64);
    }
    render::given(record.event_index, |index| match record.event().and_then(|event| event.name.as_deref()) {
        Some(name) => text.string("event", name),
        None => text.number("event", index as u64),
    });
    let mut error = tell(record, format, text);
    match record.sample_id() {
        Ok(Some(trailer)) => {
            text.separate();
            render::sample_id(&trailer, text);
        }
        Ok(None) => {}
        Err(fault) => error = error.or(Some(fault)),
    }
    if let Some(error) = &error {
        text.fault(error, record.raw.payload());
    }
    error
}

fn column_record<O: Endian>(
    record: &FileRecord<'_, O>,
    format: Option<&tracepoint::Format<'_>>,
    columns: &mut Columns<'_>,
) -> Option<FileError> {
    let kind = record.raw.kind();
    columns.hex("offset", record.offset);
    columns.text("type", &TypeName(kind));
    columns.named("misc", u64::from(record.raw.misc().0), &record.raw.misc().names(kind));
    columns.number("size", u64::from(record.raw.size()));
    render::given(record.inner, |inner| columns.hex("inner", inner));
    render::given(record.event_index, |index| match record.event().and_then(|event| event.name.as_deref()) {
        Some(name) => columns.named("event", index as u64, &Printable(name)),
        None => columns.number("event", index as u64),
    });
    let mut error = tell(record, format, columns);
    match record.sample_id() {
        Ok(Some(trailer)) => render::sample_id(&trailer, columns),
        Ok(None) => {}
        Err(fault) => error = error.or(Some(fault)),
    }
    error
}
