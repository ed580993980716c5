//! Prints records in the format of a dump.

use perf_abi::regs::Arch;
use perf_parse::EventRecord;
use perf_parse::file::FileError;

use super::RingOrigins;
use super::labels::Labels;
use super::raw_formats::RawFormats;
use crate::args::{Format, ShowArgs};
use crate::escape::OneLine;
use crate::output::say;
use crate::render::columns::{Columns, ColumnsLine};
use crate::render::head::Heads;
use crate::render::json::Json;
use crate::render::name::name;
use crate::render::raw_format::RawFormat;
use crate::render::record::{PrintedRecord, RecordSink};
use crate::render::text::Text;
use crate::render::{self, given};

/// Prints records into a buffer. Knows nothing of the reader; each thread has one. Allocates nothing per record.
#[derive(Clone, Debug)]
pub(super) struct Formatter<'a> {
    style: Style<'a>,
    heads: Heads,
    labels: Labels,
    /// The formats of raw data.
    formats: &'a RawFormats<'a>,
}

#[derive(Clone, Debug)]
enum Style<'a> {
    Text {
        /// The buffer for the lines below a record's line.
        details: Vec<u8>,
        /// The architecture of the samples' registers.
        arch: Option<Arch>,
    },
    Json,
    Columns(Columns<'a>),
}

impl<'a> Formatter<'a> {
    /// Creates a formatter. `arch` is the architecture of the recorded machine.
    pub(super) fn new(args: &'a ShowArgs, arch: Option<Arch>, formats: &'a RawFormats<'a>) -> Self {
        let style = match args.format {
            format if !args.fields.is_empty() => Style::Columns(Columns::new(&args.fields, format)),
            Format::Text => Style::Text { details: Vec::new(), arch },
            Format::Jsonl => Style::Json,
        };
        Self { style, heads: Heads::new(), labels: Labels::default(), formats }
    }

    /// Appends the line of a record to `out`, and its details. Returns the error of a part that could not be decoded,
    /// after printing the rest. It is in a box, so that the usual result is small.
    #[inline]
    pub(super) fn record(
        &mut self,
        record: &EventRecord<'_>,
        origins: &RingOrigins,
        out: &mut Vec<u8>,
    ) -> Option<Box<FileError>> {
        let offset = origins.offset(record.position().data_file, record.offset());
        let (event, format) = match self.labels.of(record, self.formats) {
            Some((event, format)) => (Some(event), format.and_then(|id| self.formats.get(id))),
            None => (None, None),
        };
        let it = PrintedRecord { record, offset, event };
        let heads = &mut self.heads;
        match &mut self.style {
            Style::Text { details, arch } => {
                print(&it, heads, format, origins, &mut Text::new(out, details, *arch))
            }
            Style::Json => print(&it, heads, format, origins, &mut Json::members(out)),
            Style::Columns(columns) => print(&it, heads, format, origins, &mut ColumnsLine { columns, out }),
        }
    }

    /// Adds the fields that the records of another formatter had.
    pub(super) fn merge(&mut self, other: &Self) {
        if let (Style::Columns(columns), Style::Columns(others)) = (&mut self.style, &other.style) {
            columns.merge(others);
        }
    }

    /// Reports the requested fields that no record had.
    pub(super) fn report_unseen_fields(&self) {
        if let Style::Columns(columns) = &self.style {
            for name in columns.unseen() {
                let name = OneLine(name.as_bytes());
                say!("perfdata: --fields {name}: no printed record has this field");
            }
        }
    }
}

/// Passes a record to `sink`. Returns the error of a part that could not be decoded.
#[inline]
fn print(
    it: &PrintedRecord<'_>,
    heads: &mut Heads,
    format: Option<RawFormat<'_>>,
    origins: &RingOrigins,
    sink: &mut impl RecordSink,
) -> Option<Box<FileError>> {
    sink.begin(it, heads);
    // Nearly all records are samples. They are handled first, without moving a `Record` through memory.
    let sample = it.record.sample();
    let error = match &sample {
        Some(sample) => render::sample(sample, format, sink).err().map(|error| it.record.error(error)),
        None => print_other(it.record, format, sink),
    };
    let error = error.map(|error| Box::new(origins.in_record(it.record, it.offset, error)));
    sink.end(it, heads, sample.as_ref(), error.as_deref());
    error
}

/// Passes the fields and the trailer of a record to `sink`. Returns the first error.
#[inline(never)]
fn print_other(
    record: &EventRecord<'_>,
    format: Option<RawFormat<'_>>,
    sink: &mut impl RecordSink,
) -> Option<FileError> {
    let fields = record
        .decode()
        .and_then(|decoded| render::fields(&decoded, format, sink).map_err(|error| record.error(error)));
    given(Some(record.stale_bytes()).filter(|&bytes| bytes > 0), |bytes| {
        sink.number(name!("stale_bytes"), bytes as u64);
    });
    let trailer = record.sample_id().map(|trailer| {
        if let Some(trailer) = trailer {
            sink.begin_sample_id();
            render::sample_id(&trailer, sink);
        }
    });
    fields.and(trailer).err()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A formatter is made for each thread.
    #[test]
    fn a_formatter_can_go_to_another_thread() {
        fn is_send<T: Send>(_: T) {}
        let formats = RawFormats::default();
        is_send(Formatter {
            style: Style::Json,
            heads: Heads::new(),
            labels: Labels::default(),
            formats: &formats,
        });
    }
}
