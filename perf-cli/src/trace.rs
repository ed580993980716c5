//! The text of tracepoints.

use alloc::sync::Arc;

use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_abi::event::EventType;
use perf_parse::event::Event;
use perf_parse::file::Reader;
use perf_parse::tracepoint::{Addresses, Format, PrintFmt, PrintkFormats, Tracepoints, TracingData};

use crate::dump::tracepoints::tracing_data;
use crate::escape::make_lines_safe;

/// The print formats of the tracepoints of a capture, parsed once. A copy shares them, and counts on its own.
#[derive(Clone, Debug)]
pub(crate) struct Traces<'a> {
    /// In ascending order of ids.
    tracepoints: Arc<[(Format<'a>, Option<PrintFmt<'a>>)]>,
    strings: Arc<Strings<'a>>,
    endianness: Endianness,
    /// The number of samples whose print format could not be evaluated.
    pub(crate) as_fields: u64,
}

#[derive(Debug)]
struct Strings<'a>(PrintkFormats<'a>);

impl Addresses for Strings<'_> {
    fn string(&self, address: u64) -> Option<&[u8]> {
        self.0.get(address)
    }
}

impl<'a> Traces<'a> {
    /// Parses the formats in the feature `TRACING_DATA` of a capture. Leaves out formats that cannot be parsed.
    pub(crate) fn new(reader: &'a Reader<'_>) -> Self {
        let data = TracingData::parse(tracing_data(reader)).ok();
        let endianness = reader.endianness();
        let formats = data.as_ref().map(Tracepoints::new).unwrap_or_default();
        let prepared = formats.formats().iter().map(|format| (format.clone(), PrintFmt::new(format).ok()));
        let strings = PrintkFormats::new(data.as_ref().map_or(&[], |data| data.printk_formats));
        let strings = Arc::new(Strings(strings));
        Self { tracepoints: prepared.collect(), strings, endianness, as_fields: 0 }
    }

    /// Returns the index of the format of an event's raw data, if the event is a tracepoint. Of several formats with
    /// the same id, returns the first.
    pub(crate) fn of(&self, event: &Event) -> Option<usize> {
        let id = |format: &Format<'_>| u64::from(format.id);
        let first = self.tracepoints.partition_point(|(format, _)| id(format) < event.attr.config);
        let is_it = event.attr.kind == EventType::TRACEPOINT
            && self.tracepoints.get(first).is_some_and(|(format, _)| id(format) == event.attr.config);
        is_it.then_some(first)
    }

    /// Appends the text of raw data, or its fields if the print format cannot be evaluated.
    ///
    /// perf: `event_format__fprintf`, `tools/perf/util/trace-event-parse.c`.
    pub(crate) fn push(&mut self, out: &mut Vec<u8>, index: usize, raw: &[u8]) {
        let Some((format, print_fmt)) = self.tracepoints.get(index) else { return };
        let start = out.len();
        let is_written = print_fmt.as_ref().is_some_and(|print_fmt| match self.endianness {
            Endianness::Little => print_fmt.write::<LittleEndian>(raw, &*self.strings, out).is_ok(),
            Endianness::Big => print_fmt.write::<BigEndian>(raw, &*self.strings, out).is_ok(),
        });
        if !is_written {
            self.as_fields += 1;
            match self.endianness {
                Endianness::Little => format.write_fields::<LittleEndian>(raw, out),
                Endianness::Big => format.write_fields::<BigEndian>(raw, out),
            }
        }
        make_lines_safe(out, start);
    }
}
