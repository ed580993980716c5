//! Texts of tracepoints.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::record::CpuMode;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Addresses, Format, PrintFmt, PrintkFormats, Tracepoints, TracingData};
use perf_session::{Frame, SampleContext};

use crate::capture_info::CaptureInfo;
use crate::symbols::Symbols;
use crate::text::make_line_safe;

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
}
