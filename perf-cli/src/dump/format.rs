//! The output format of a dump.

use perf_abi::endian::Endian;
use perf_abi::regs::Arch;
use perf_parse::RawRecord;
use perf_parse::file::{Account, Event, FileError, FileErrorKind, Reader, Source};

use super::tracepoints::Formats;
use super::view::{EventView, View};
use crate::Failure;
use crate::args::{Format, ShowArgs};
use crate::output::{Output, say};
use crate::render::columns::{Columns, SampleEvent, Shown};
use crate::render::digits::push_decimal;
use crate::render::escape::OneLine;
use crate::render::feature::{self, Unprinted};
use crate::render::head::{Head, Heads};
use crate::render::json::Json;
use crate::render::name::name;
use crate::render::text::Text;
use crate::render::tracepoint::Tracepoint;
use crate::render::{self, Scalars, Sink};

/// Formats records into a buffer. Reuses its own buffers, so it allocates nothing per record.
#[derive(Clone, Debug)]
pub(super) struct Formatter<'a> {
    style: Style<'a>,
    heads: Heads,
    /// The formats of the tracepoints' raw data.
    formats: &'a Formats<'a>,
}

#[derive(Clone, Debug)]
enum Style<'a> {
    Text(Text),
    Json,
    Columns(Box<Columns<'a>>, Format),
}

impl<'a> Formatter<'a> {
    pub(super) fn new<O: Endian, S: Source>(
        reader: &Reader<'_, O, S>,
        args: &'a ShowArgs,
        formats: &'a Formats<'a>,
    ) -> Self {
        let style = match args.format {
            format if !args.fields.is_empty() => {
                Style::Columns(Box::new(Columns::new(&args.fields, format)), format)
            }
            Format::Text => Style::Text(Text::new(arch(reader))),
            Format::Jsonl => Style::Json,
        };
        Self { style, heads: Heads::new(), formats }
    }

    fn is_json(&self) -> bool {
        matches!(self.style, Style::Json | Style::Columns(_, Format::Jsonl))
    }

    /// Prints the header line, which describes the capture. Writes it piece by piece.
    pub(super) fn header<O: Endian, S: Source>(
        &self,
        reader: &Reader<'_, O, S>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if !self.is_json() {
            return Ok(());
        }
        let (mode, endian) = (reader.mode().name(), reader.endianness());
        let out = &mut output.buffer;
        render::print(
            out,
            format_args!("{{\"header\":{{\"mode\":\"{mode}\",\"endian\":\"{endian}\",\"attrs\":"),
        );
        feature::objects(output, reader.events().iter(), |json, event: &Event| {
            render::attr::attr(&event.attr, json);
            json.addresses(name!("ids"), event.ids.iter().copied());
            render::given(event.name.as_deref(), |name| json.string(name!("name"), name));
        })?;
        output.buffer.extend_from_slice(b",\"features\":{");
        for (index, section) in reader.features().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            render::print(&mut output.buffer, format_args!("{comma}\"{}\":", section.feature));
            match feature::feature(&section, output) {
                Ok(()) => {}
                Err(Unprinted::Undecodable(error)) => {
                    Json::object(&mut output.buffer, |json| json.text(name!("error"), &error));
                }
                Err(Unprinted::Output(failure)) => return Err(failure),
            }
            output.flush_full()?;
        }
        output.buffer.extend_from_slice(b"}}}\n");
        Ok(())
    }

    /// Prepares for the events of a batch.
    pub(super) fn plan(&mut self, events: &[Result<EventView, FileErrorKind>]) {
        if let Style::Columns(columns, _) = &mut self.style {
            let decodable = |event: &&EventView| event.fault.is_none();
            let events = events.iter().map(|event| event.as_ref().ok().filter(decodable));
            columns.plan(events.map(|event| event.map(|event| sample_event(event, self.formats))));
        }
    }

    /// Formats a sample of the event at `place` in the batch. Returns the error of a part that could not be decoded.
    /// Returns `None`, and does nothing, if the sample must be formatted field by field.
    #[inline]
    pub(super) fn sample<O: Endian>(
        &mut self,
        place: usize,
        event: &EventView,
        offset: u64,
        raw: &RawRecord<'_, O>,
        out: &mut Vec<u8>,
    ) -> Option<Result<(), perf_parse::Error>> {
        let Style::Columns(columns, _) = &mut self.style else { return None };
        let event = sample_event(event, self.formats);
        columns.sample(place, &event, offset, raw, &mut self.heads, out)
    }

    /// Formats a record. Returns the error of a part that could not be decoded, after formatting the rest.
    #[inline]
    pub(super) fn record<O: Endian>(&mut self, record: &View<'_, O>, out: &mut Vec<u8>) -> Option<FileError> {
        let tracepoint = event(record).and_then(|event| self.formats.get(event.tracepoint?));
        let head = self.heads.of(record.raw.kind(), record.raw.misc());
        match &mut self.style {
            Style::Json => json_record(record, head, tracepoint, out),
            Style::Text(text) => {
                let error = text_record(record, head, tracepoint, text);
                text.finish(out);
                error
            }
            Style::Columns(columns, _) => {
                let error = column_record(record, tracepoint, columns);
                let shown = event(record).and_then(|event| event.shown.as_ref());
                columns.finish(&Shown { kind: &head.name, misc: &head.bits, event: shown }, out);
                error
            }
        }
    }

    /// Merges the state of another formatter of the same capture.
    pub(super) fn join(&mut self, other: &Self) {
        if let (Style::Columns(columns, _), Style::Columns(others, _)) = (&mut self.style, &other.style) {
            columns.join(others);
        }
    }

    /// Formats the account, which follows the records.
    pub(super) fn account(&self, account: &Account, out: &mut Vec<u8>) {
        if self.is_json() {
            let value = render::account::value(account);
            Json::object(out, |json| json.serialized(name!("account"), &value));
            out.push(b'\n');
        }
    }

    /// Reports the requested fields that no record had.
    pub(super) fn complain(&self) {
        if let Style::Columns(columns, _) = &self.style {
            for name in columns.unseen() {
                let name = OneLine(name.as_bytes());
                say!("perfdata: --fields {name}: no record that was printed has this field");
            }
        }
    }
}

/// Returns what the samples of an event need.
#[inline]
fn sample_event<'e>(event: &'e EventView, formats: &'e Formats<'_>) -> SampleEvent<'e> {
    let EventView { index, layout, shown, tracepoint, .. } = event;
    let tracepoint = tracepoint.and_then(|index| formats.get(index));
    SampleEvent { index: *index, layout, shown: shown.as_ref(), tracepoint }
}

/// Returns the architecture of the samples' registers.
fn arch<O: Endian, S: Source>(reader: &Reader<'_, O, S>) -> Option<Arch> {
    Arch::from_machine(core::str::from_utf8(reader.features().arch()?.ok()?).ok()?)
}

/// Passes the fields of a record to `sink`. Returns the error of a part that could not be decoded.
#[inline]
fn tell<O: Endian>(
    record: &View<'_, O>,
    tracepoint: Option<&Tracepoint<'_>>,
    sink: &mut impl Sink,
) -> Option<FileError> {
    // Handled first, without moving a `Record` through memory: nearly all records are samples.
    if let Some(sample) = record.sample() {
        return render::sample(&sample, tracepoint, sink).err().map(|error| record.error(error));
    }
    let decoded = match record.decode() {
        Ok(decoded) => decoded,
        Err(error) => return Some(error),
    };
    render::fields(&decoded, tracepoint, sink).err().map(|error| record.error(error))
}

fn json_record<O: Endian>(
    record: &View<'_, O>,
    head: &Head,
    tracepoint: Option<&Tracepoint<'_>>,
    out: &mut Vec<u8>,
) -> Option<FileError> {
    let mut error = None;
    Json::object(out, |json| {
        json.number(name!("offset"), record.offset);
        render::given(record.inner, |inner| json.number(name!("inner"), inner));
        if record.data_file > 0 {
            json.number(name!("data_file"), record.data_file as u64);
        }
        push_decimal(json.ready(&head.members), u64::from(record.raw.size()));
        let fields = match event(record) {
            Some(event) => json.ready(&event.members),
            None => json.member(name!("fields")),
        };
        Json::object(fields, |json| error = tell(record, tracepoint, json));
        match record.sample_id() {
            Ok(Some(trailer)) => {
                Json::object(json.member(name!("sample_id")), |json| render::sample_id(&trailer, json))
            }
            Ok(None) => {}
            Err(fault) => error = error.or(Some(fault)),
        }
        if let Some(error) = &error {
            json.text(name!("error"), error);
            json.blob(name!("raw"), record.raw.payload());
        }
    });
    out.push(b'\n');
    error
}

fn text_record<O: Endian>(
    record: &View<'_, O>,
    head: &Head,
    tracepoint: Option<&Tracepoint<'_>>,
    text: &mut Text,
) -> Option<FileError> {
    text.start(record.offset, head, record.raw.size());
    render::given(record.inner, |inner| text.hex(name!("inner"), inner));
    if record.data_file > 0 {
        text.number(name!("data_file"), record.data_file as u64);
    }
    render::given(event(record), |event| match &event.shown {
        Some(shown) => shown.push(text.field(name!("event"))),
        None => text.number(name!("event"), event.index as u64),
    });
    let mut error = tell(record, tracepoint, text);
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
    record: &View<'_, O>,
    tracepoint: Option<&Tracepoint<'_>>,
    columns: &mut Columns<'_>,
) -> Option<FileError> {
    columns.hex(name!("offset"), record.offset);
    columns.kind();
    columns.misc(u64::from(record.raw.misc().0));
    columns.number(name!("size"), u64::from(record.raw.size()));
    render::given(record.inner, |inner| columns.hex(name!("inner"), inner));
    render::given(event(record), |event| columns.event(event.index, event.shown.is_some()));
    let mut error = tell(record, tracepoint, columns);
    match record.sample_id() {
        Ok(Some(trailer)) => render::sample_id(&trailer, columns),
        Ok(None) => {}
        Err(fault) => error = error.or(Some(fault)),
    }
    error
}

/// Returns the event of a record, if it has one.
fn event<'b, O: Endian>(record: &View<'b, O>) -> Option<&'b EventView> {
    record.event.ok()
}
