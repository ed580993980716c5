//! The class `Capture`.

use std::sync::Arc;

use js_sys::{Function, Uint8Array};
use perf_export::{firefox, flamegraph, fold, pprof, speedscope};
use perf_parse::Reader;
use perf_profile::off_cpu::WaitKind;
use perf_profile::report::ReportPlan;
use perf_profile::{Profile, ProfileOptions, Samples, Symbols, TimeDetail};
use perf_symbol::{Files, SymbolOptions};
use wasm_bindgen::prelude::*;

use crate::error::{self, of_file, of_profile, of_report};
use crate::memory_files::{AddedFiles, MemoryFiles};
use crate::options::GivenOptions;
use crate::slices::{Blob, SlicedFile};
use crate::source::{ArchivedCapture, CaptureSource};
use crate::{info, report, timeline};

/// A capture of perf: a file or a pipe, of either byte order, compressed or not; or an archive of `perfdata archive`, which has the
/// files with its names, too.
///
/// Each method reads the records again, so that memory does not grow with their number. Methods throw an `Error`; its member
/// `offset` is the offset in the capture, if the error has one. Damaged records throw nothing: they are in the `account`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Capture {
    source: CaptureSource,
    files: MemoryFiles,
}

#[wasm_bindgen]
impl Capture {
    /// Opens a capture in memory. The bytes are copied.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>) -> Result<Capture, JsValue> {
        Self::of_source(CaptureSource::Bytes(bytes))
    }

    /// Opens a file by slices of 1 MiB, so that its size does not matter. Works in a worker only, and as long as the file does
    /// not change.
    #[wasm_bindgen(js_name = fromFile)]
    pub fn from_file(#[wasm_bindgen(unchecked_param_type = "Blob")] file: Blob) -> Result<Capture, JsValue> {
        Self::of_source(CaptureSource::Slices(SlicedFile::of_blob(file)?))
    }

    /// Opens what a function reads. `size` is the number of bytes; the function is called with the offset and the number of bytes
    /// of a slice, at most 1 MiB, and returns them at once, not as a promise.
    #[wasm_bindgen(js_name = fromSlices)]
    pub fn from_slices(
        size: f64,
        #[wasm_bindgen(unchecked_param_type = "(offset: number, length: number) => Uint8Array")]
        read: Function,
    ) -> Result<Capture, JsValue> {
        Self::of_source(CaptureSource::Slices(SlicedFile::of_function(size, read)))
    }

    fn of_source(source: CaptureSource) -> Result<Self, JsValue> {
        let source = source.unpacked().map_err(error::of)?;
        source.open().map_err(of_file)?;
        Ok(Self { source, files: MemoryFiles::default() })
    }

    /// Adds a file in which names are looked up: an ELF file, a debug file, or a perf map. It is used for what was mapped from
    /// this path, or, if `name` has no folders, from any file of that name; an ELF file also by its build id. A file whose build
    /// id is not the recorded one is not used. Returns the build id, `undefined` if there is none.
    #[wasm_bindgen(js_name = addFile)]
    pub fn add_file(&mut self, name: &str, bytes: Vec<u8>) -> Option<String> {
        self.files.add(name, bytes)
    }

    /// Reads all records, and returns what the capture is, and the account of what could not be read.
    #[wasm_bindgen(unchecked_return_type = "CaptureInfo")]
    pub fn info(&self) -> Result<JsValue, JsValue> {
        let reader = self.reader()?;
        Ok(info::of(&reader, self.source.size()))
    }

    /// Groups samples by keys, as `perfdata report` does.
    #[wasm_bindgen(unchecked_return_type = "Report")]
    pub fn report(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "ReportOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let given = GivenOptions::new(options, &["sort", "fields", "children", "percentLimit"])?;
        let options = given.report()?;
        let reader = self.reader()?;
        let plan = ReportPlan::new(&options, &reader).map_err(of_report)?;
        let symbols = self.symbols(&reader, true);
        let samples = samples(&reader, &given)?;
        let counted = samples.report_with(plan, &symbols, &mut given.observer()?).map_err(of_profile)?;
        Ok(report::value(&counted, &symbols.lookups()))
    }

    /// Returns folded stacks, as `perfdata fold` prints them: lines of frames from the outermost on, and a weight.
    #[wasm_bindgen(unchecked_return_type = "string")]
    pub fn fold(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "FoldOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let given = GivenOptions::new(options, &["root", "weight"])?;
        let mut options = given.fold()?;
        options.event = first_event(&given)?;
        let profile = self.profile(&given, &given.profile(TimeDetail::Nothing, false, false)?)?;
        text(|out| fold::write(&[profile], &options, out))
    }

    /// Returns a flame graph: one HTML page that loads nothing.
    #[wasm_bindgen(unchecked_return_type = "string")]
    pub fn flamegraph(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "NamedOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let given = GivenOptions::new(options, &["name"])?;
        let profile = self.profile(&given, &given.profile(TimeDetail::Spans, false, false)?)?;
        let mut options = flamegraph::Options::default();
        options.captures = vec![given.text("name")?.unwrap_or_default().into_bytes()];
        options.event = first_event(&given)?;
        text(|out| flamegraph::write(&[profile], &options, out))
    }

    /// Returns a profile for the Firefox Profiler: JSON.
    #[wasm_bindgen(unchecked_return_type = "string")]
    pub fn firefox(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "NamedOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let given = GivenOptions::new(options, &["name"])?;
        let profile = self.profile(&given, &given.profile(TimeDetail::Each, true, true)?)?;
        let mut options = firefox::Options::default();
        options.product = given.text("name")?.unwrap_or_default();
        text(|out| firefox::write(&[profile], &options, out))
    }

    /// Returns a profile for speedscope: JSON.
    #[wasm_bindgen(unchecked_return_type = "string")]
    pub fn speedscope(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "NamedOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let given = GivenOptions::new(options, &["name"])?;
        let profile = self.profile(&given, &given.profile(TimeDetail::Each, false, false)?)?;
        let mut options = speedscope::Options::default();
        options.name = given.text("name")?.unwrap_or_default();
        text(|out| speedscope::write(&[profile], &options, out))
    }

    /// Returns a profile for `go tool pprof`: protobuf, compressed by gzip.
    pub fn pprof(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "SampleOptions")] options: JsValue,
    ) -> Result<Uint8Array, JsValue> {
        let given = GivenOptions::new(options, &[])?;
        let profile = self.profile(&given, &given.profile(TimeDetail::Nothing, true, false)?)?;
        let mut out = Vec::new();
        pprof::write(&[profile], &pprof::Options::default(), &mut out).map_err(error::of)?;
        Ok(Uint8Array::from(&*out))
    }

    /// Returns the number of samples of each thread in `parts` parts of the time, at least 1; `undefined` if no sample has a time.
    #[wasm_bindgen(unchecked_return_type = "Timeline | undefined")]
    pub fn timeline(
        &self,
        parts: u32,
        #[wasm_bindgen(unchecked_optional_param_type = "SampleOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let given = GivenOptions::new(options, &[])?;
        let parts = usize::try_from(parts).ok().and_then(core::num::NonZero::new);
        let parts = parts.ok_or_else(|| error::of("parts 0: must be at least 1"))?;
        let reader = self.reader()?;
        let options = given.profile(TimeDetail::Each, false, false)?;
        // Names are not shown, and without stacks less is kept.
        let symbols = self.symbols(&reader, false).without_names();
        let counted = samples(&reader, &given)?.profile_with(&symbols, &options, &mut given.observer()?);
        Ok(timeline::value(&counted.map_err(of_profile)?, parts))
    }
}

impl Capture {
    fn reader(&self) -> Result<Reader<'_>, JsValue> {
        self.source.open().map_err(of_file)
    }

    /// Returns the finder of names in the files that were given, in those of an archive, and in what the capture stores. Names of a
    /// `report` are distinct within a file.
    fn symbols(&self, reader: &Reader<'_>, is_report: bool) -> Symbols {
        let mut options = SymbolOptions::default();
        options.lines = true;
        options.qualified = options.qualified || is_report;
        options.recorded_until = perf_profile::recorded_until(reader.features());
        let mut files: Arc<dyn Files> = Arc::new(self.files.clone());
        if let CaptureSource::Archive(ArchivedCapture { archive, .. }) = &self.source {
            options.recorded_until = options.recorded_until.or_else(|| archive.written());
            let archived = archive.files(&mut options);
            files = Arc::new(AddedFiles { added: self.files.clone(), archived });
        }
        Symbols::with_files(reader.features(), options, files)
    }

    fn profile(&self, given: &GivenOptions, options: &ProfileOptions) -> Result<Profile, JsValue> {
        let reader = self.reader()?;
        let symbols = self.symbols(&reader, false);
        samples(&reader, given)?.profile_with(&symbols, options, &mut given.observer()?).map_err(of_profile)
    }
}

/// Returns the selected samples.
fn samples<'a>(reader: &'a Reader<'_>, given: &GivenOptions) -> Result<Samples<'a>, JsValue> {
    let samples = Samples::of(reader).select(given.selection()?);
    Ok(if given.off_cpu()? { samples.read_all() } else { samples })
}

/// Returns the event that is shown first: with times off the CPU, the selected one of them, as the program does.
fn first_event(given: &GivenOptions) -> Result<Option<Vec<u8>>, JsValue> {
    let event = given.text("event")?;
    Ok(given.off_cpu()?.then(|| WaitKind::shown_first(event.as_deref()).event_name().into()))
}

/// Returns what is written, which is UTF-8 but for names of files in other encodings.
fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<JsValue, JsValue> {
    let mut out = Vec::new();
    write(&mut out).map_err(error::of)?;
    Ok(JsValue::from_str(&String::from_utf8_lossy(&out)))
}
