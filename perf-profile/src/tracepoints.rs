//! Texts of tracepoints.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::record::CpuMode;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Addresses, Format, PrintFmt, PrintkFormats, Tracepoints, TracingData, Value};
use perf_session::{Frame, SampleContext};

use crate::capture_info::CaptureInfo;
use crate::symbols::Symbols;
use crate::text::make_line_safe;
use crate::trace_field_name::TraceFieldName;

/// Returns the feature `TRACING_DATA` of a capture; empty if it has none.
#[must_use]
pub fn tracing_data<'a>(capture: impl Into<CaptureInfo<'a>>) -> &'a [u8] {
    capture.into().feature(Feature::TRACING_DATA).map_or(&[], |section| section.bytes)
}

/// The print formats of the tracepoints of a capture, parsed once. A clone shares them, and counts on its own.
#[derive(Clone, Debug)]
pub struct TracepointTexts<'a> {
    /// In ascending order of ids.
    tracepoints: Arc<[(Format<'a>, Option<PrintFmt<'a>>)]>,
    strings: Arc<PrintkFormats<'a>>,
    endianness: Endianness,
    /// The number of samples whose print format could not be evaluated.
    pub as_fields: u64,
}

/// The symbols and texts at the kernel's addresses in the raw data of a sample.
struct KernelAddresses<'k, 's, 'r> {
    strings: &'k PrintkFormats<'k>,
    at: &'k SampleContext<'s, 'r>,
    symbols: RefCell<&'k mut Symbols>,
}

impl Addresses for KernelAddresses<'_, '_, '_> {
    /// perf: `machine__resolve_kernel_addr`, `tools/perf/util/machine.c`.
    fn function(&self, address: u64) -> Option<(Cow<'_, [u8]>, u64)> {
        let mode = CpuMode::KERNEL;
        let frame = Frame { ip: address, mode, mapping: self.at.find(mode, address) };
        let mut symbols = self.symbols.try_borrow_mut().ok()?;
        let function = symbols.functions(self.at, &frame, false).last()?;
        Some((Cow::Owned(function.name.as_deref()?.to_vec()), function.offset?))
    }

    fn string(&self, address: u64) -> Option<&[u8]> {
        self.strings.get(address)
    }
}

impl<'a> TracepointTexts<'a> {
    /// Returns the texts of no tracepoints.
    pub(crate) fn none() -> Self {
        let strings = Arc::new(PrintkFormats::new(b""));
        Self { tracepoints: Arc::default(), strings, endianness: Endianness::Little, as_fields: 0 }
    }

    /// Parses the formats in the feature `TRACING_DATA` of a capture. Leaves out formats that cannot be parsed.
    #[must_use]
    pub fn new(capture: impl Into<CaptureInfo<'a>>) -> Self {
        let info = capture.into();
        let data = TracingData::parse(tracing_data(info)).ok();
        let endianness = info.endianness();
        let formats = data.as_ref().map(Tracepoints::new).unwrap_or_default();
        let prepared = formats.formats().iter().map(|format| (format.clone(), PrintFmt::new(format).ok()));
        let strings = PrintkFormats::new(data.as_ref().map_or(&[], |data| data.printk_formats));
        let strings = Arc::new(strings);
        Self { tracepoints: prepared.collect(), strings, endianness, as_fields: 0 }
    }

    /// Returns the index of the format of an event's raw data, if the event is a tracepoint. Of several formats with
    /// the same id, returns the first.
    #[must_use]
    pub fn of(&self, event: &Event) -> Option<usize> {
        let id = |format: &Format<'_>| u64::from(format.id);
        let first = self.tracepoints.partition_point(|(format, _)| id(format) < event.attr.config);
        let is_it = event.attr.kind == EventType::TRACEPOINT
            && self.tracepoints.get(first).is_some_and(|(format, _)| id(format) == event.attr.config);
        is_it.then_some(first)
    }

    /// Appends the text of a sample's raw data, or its fields if the print format cannot be evaluated. The text is one
    /// line, with the functions at the kernel's addresses.
    ///
    /// perf: `event_format__fprintf`, `tools/perf/util/trace-event-parse.c`.
    pub fn push(
        &mut self,
        out: &mut Vec<u8>,
        index: usize,
        raw: &[u8],
        at: &SampleContext<'_, '_>,
        symbols: &mut Symbols,
    ) {
        let Some((format, print_fmt)) = self.tracepoints.get(index) else { return };
        let start = out.len();
        let kernel = KernelAddresses { strings: &self.strings, at, symbols: RefCell::new(symbols) };
        let is_written = print_fmt
            .as_ref()
            .is_some_and(|print_fmt| print_fmt.write(raw, self.endianness, &kernel, out).is_ok());
        if !is_written {
            self.as_fields += 1;
            format.write_fields(raw, self.endianness, out);
        }
        make_line_safe(out, start);
    }

    /// Returns the names of the tracepoints' own fields, each once.
    pub(crate) fn field_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for field in self.tracepoints.iter().flat_map(|(format, _)| format.own_fields()) {
            let name = String::from_utf8_lossy(field.name).into_owned();
            if names.len() < Format::MAX_FIELDS && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Notes what tracepoints have a field; returns whether one has.
    pub(crate) fn see_field(&self, name: &mut TraceFieldName) -> bool {
        let mut is_there = false;
        for (format, _) in self.tracepoints.iter() {
            if let Some(field) = name.of(format) {
                let field = *field;
                name.see(&field);
                is_there = true;
            }
        }
        is_there
    }

    /// Appends the values of fields of a sample's raw data, each with a NUL after it: a string as it is, a number as the text of
    /// the tracepoint has it, where that names it; other values as perf-parse writes fields. What another tracepoint has, or what is missing in the raw data, is `N/A`.
    ///
    /// perf: `hde_width` and `__sort__hde_entry`, `tools/perf/util/sort.c`, take all values from the text, up to a blank.
    pub(crate) fn push_fields(
        &mut self,
        out: &mut Vec<u8>,
        index: usize,
        raw: &[u8],
        at: &SampleContext<'_, '_>,
        symbols: &mut Symbols,
        names: &[TraceFieldName],
    ) {
        let tracepoints = Arc::clone(&self.tracepoints);
        let Some((format, _)) = tracepoints.get(index) else { return };
        let mut text: Option<Vec<u8>> = None;
        for name in names {
            let start = out.len();
            let value = name.of(format).map(|field| field.value(raw, self.endianness));
            match value {
                Some(Ok(Value::Str(value))) => out.extend_from_slice(value),
                Some(Ok(value)) => {
                    let text = text.get_or_insert_with(|| {
                        let mut text = Vec::new();
                        self.push(&mut text, index, raw, at, symbols);
                        text
                    });
                    if let Some(value) = named_value(text, name.field()) {
                        out.extend_from_slice(value);
                    } else if let Some(number) = value.as_i64() {
                        out.extend_from_slice(number.to_string().as_bytes());
                    } else {
                        let mut fields = Vec::new();
                        format.write_fields(raw, self.endianness, &mut fields);
                        out.extend_from_slice(named_value(&fields, name.field()).unwrap_or(b"N/A"));
                    }
                }
                Some(Err(_)) | None => out.extend_from_slice(b"N/A"),
            }
            make_line_safe(out, start);
            // A NUL in it would be its end.
            out.iter_mut().skip(start).filter(|byte| **byte == 0).for_each(|byte| *byte = b'?');
            out.push(0);
        }
    }
}

/// Returns the value after `NAME=` in a text, up to the next blank.
fn named_value<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let mut words = text.split(|&byte| byte == b' ');
    words.find_map(|word| word.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).filter(|it| !it.is_empty())
}
