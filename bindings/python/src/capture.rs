//! An opened capture.

use std::path::PathBuf;
use std::sync::Arc;

use perf_parse::Reader;
use perf_profile::{Samples as SampleWalk, Selection, Symbols};
use perf_symbol::{ReadFiles, SymbolOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::annotate::{AnnotateArguments, annotate};
use crate::annotation::Annotations;
use crate::branches::BranchFormat;
use crate::event::Event;
use crate::export::{ExportFormat, ExportOptions};
use crate::flame_graph::FlameGraph;
use crate::open::Archive;
use crate::samples::Samples;
use crate::watch::Watch;
use crate::{account, branches, edit, export, info, report, tables, text};

/// An opened capture, and the selection of its samples. It does not change, and may be used by several threads at once.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) reader: Arc<Reader<'static>>,
    pub(crate) path: PathBuf,
    /// In bytes; 0 if it is unknown.
    pub(crate) size: u64,
    pub(crate) names: NameSettings,
    pub(crate) selection: Selection,
    /// 0 is one for each processor.
    pub(crate) threads: usize,
    pub(crate) progress: Option<Py<PyAny>>,
}

/// Where names come from.
#[derive(Debug)]
pub(crate) struct NameSettings {
    pub(crate) options: SymbolOptions,
    pub(crate) is_wanted: bool,
    /// The largest number of frames of a stack.
    pub(crate) max_stack: usize,
    pub(crate) archive: Option<Arc<Archive>>,
}

impl Capture {
    /// Returns the finder of stacks and names. `has_lines` is whether lines are needed although inlined functions are not.
    pub(crate) fn symbols(&self, has_lines: bool) -> Symbols {
        let NameSettings { options, is_wanted, archive, .. } = &self.names;
        let mut options = options.clone();
        options.inlines |= has_lines;
        let features = self.reader.features();
        let symbols = match archive {
            Some(archive) => {
                let files = archive.files.files(Arc::new(ReadFiles), &mut options);
                Symbols::with_files(features, options, files)
            }
            None => Symbols::new(features, options),
        };
        if *is_wanted { symbols } else { symbols.without_names() }
    }

    /// Returns the selected samples.
    pub(crate) fn samples_of(&self) -> SampleWalk<'_> {
        SampleWalk::of(&self.reader).select(self.selection.clone()).threads(self.threads)
    }

    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch::new(self.progress.as_ref(), self.size)
    }

    /// Returns the name of its file, without folders.
    pub(crate) fn file_name(&self) -> String {
        text::text(self.path.file_name().unwrap_or_default().as_encoded_bytes())
    }
}

#[pymethods]
impl Capture {
    /// Path that was opened.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// What is known of the capture before its records are read: ``mode`` (``file`` or ``pipe``), ``endianness``, ``features``, and
    /// of the machine ``hostname``, ``release``, ``arch``, ``processor``, ``cpus`` (online), ``cpus_available``, ``memory`` in bytes;
    /// ``perf_version``; ``cmdline`` of the recorder; ``to_wall_clock``, nanoseconds from the time of a sample to that of the wall
    /// clock. What was not recorded is None.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::dict(py, &self.reader)
    }

    /// Events, in the order of the capture. Of a pipe, those before its first sample.
    #[getter]
    fn events(&self) -> Vec<Event> {
        self.reader.events().iter().cloned().map(Event).collect()
    }

    /// What was read when the capture was opened, and what could not be: ``records``, ``bytes``, ``bytes_skipped``, ``faults``,
    /// ``lost_records`` and ``lost_samples`` (while recording), ``unfinished`` (the recorder was killed), ``clean``, and the texts of
    /// the first faults as ``diagnostics``.
    #[getter]
    fn account<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        account::dict(py, self.reader.account())
    }

    /// Return an iterator over the selected samples, in order of time, with their stacks. It has a few dozen samples in memory. One
    /// thread may read it at a time.
    ///
    /// A sample that cannot be decoded raises Error; with ``errors="skip"`` it is left out. Other faults of the capture are a
    /// CaptureWarning at the end, and in ``Samples.account``.
    #[pyo3(signature = (*, errors="raise"))]
    fn samples(&self, errors: &str) -> PyResult<Samples> {
        Samples::new(self, errors)
    }

    /// Return the tables of the capture by name: ``samples``, ``stacks``, ``frames``, ``threads``, ``processes``, ``dsos``,
    /// ``events``, ``mmaps``, ``switches``, ``counts``, ``losses`` and ``captures``. SCHEMA.md of the crate perf-export describes
    /// their columns and units. They stay in memory; Arrow libraries take them without a copy: ``pyarrow.table(table)``,
    /// ``polars.DataFrame(table)``, or in DuckDB by the name of a variable that is a pyarrow table.
    ///
    /// ``flat`` puts each stack into its sample, as a list of structures. ``branches`` and ``registers`` fill these columns of samples.
    /// ``trace`` adds a table for each tracepoint, ``trace_SYSTEM_NAME``, with its fields.
    #[pyo3(signature = (*, flat=false, branches=false, registers=false, trace=false))]
    fn tables<'py>(
        &self,
        py: Python<'py>,
        flat: bool,
        branches: bool,
        registers: bool,
        trace: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut options = perf_export::columns::Options::default();
        options.flat = flat;
        (options.with.branches, options.with.registers, options.with.trace) = (branches, registers, trace);
        tables::tables(self, py, options)
    }

    /// Return what ``perf report`` shows: a dictionary for each group of samples, the largest of each event first. ``event``,
    /// ``percent`` (of the event's total), ``samples`` and ``period`` are followed by the sort keys, under the names of
    /// ``perfdata report --format json``: ``comm``, ``dso``, ``symbol``, ``srcline``, ``tid``, ``cpu``, ``time`` and others. An
    /// unknown name is None.
    ///
    /// ``sort`` has keys, separated by commas; by default ``comm,dso,symbol``, and others for branches and memory accesses.
    /// ``children`` adds the cost of callees as ``children_percent``, ``children_samples`` and ``children_period``. ``off_cpu`` counts
    /// nanoseconds for which threads were blocked, waited for a CPU or were stopped. ``branches`` states whether samples are their
    /// branches; ``memory`` makes them memory accesses. Rows below ``percent_limit`` are left out. ``time_quantum``, such as ``100ms``,
    /// is the length of the spans of the key ``time``. ``parent`` is a regular expression for the key of that name.
    #[pyo3(signature = (sort=None, *, children=false, off_cpu=false, branches=None, memory=false, percent_limit=0.0,
        time_quantum=None, parent=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn report<'py>(
        &self,
        py: Python<'py>,
        sort: Option<&str>,
        children: bool,
        off_cpu: bool,
        branches: Option<bool>,
        memory: bool,
        percent_limit: f64,
        time_quantum: Option<&str>,
        parent: Option<String>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut options = report::options(sort, time_quantum)?;
        (options.children, options.off_cpu, options.branches) = (children, off_cpu, branches);
        (options.memory, options.percent_limit, options.parent) = (memory, Some(percent_limit), parent);
        report::rows(self, py, options)
    }

    /// Return the instructions and source lines of functions with their samples, as ``perfdata annotate --format json`` has them: of
    /// the function ``symbol`` in each file that has it, or of all functions with at least ``percent_limit`` percent of an event's
    /// samples, by their periods; by default 1, and 0 with ``symbol``. The functions with most samples come first. A sample counts at
    /// its own address; samples at addresses without a symbol are in no function.
    ///
    /// Source files are read from the recorded path; from ``prefix`` before it, without its first ``prefix_strip`` folders; from the
    /// folders ``source``, by the longest end of the recorded path; or from the debug information. ``syntax`` is that of x86, ``att``
    /// or ``intel``. Functions whose code is not found are in ``Annotations.missing``.
    #[pyo3(signature = (symbol=None, *, percent_limit=None, source=Vec::new(), prefix=None, prefix_strip=0, syntax="att"))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn annotate(
        &self,
        py: Python<'_>,
        symbol: Option<&str>,
        percent_limit: Option<f64>,
        source: Vec<PathBuf>,
        prefix: Option<PathBuf>,
        prefix_strip: u32,
        syntax: &str,
    ) -> PyResult<Annotations> {
        let arguments = AnnotateArguments { symbol, percent_limit, source, prefix, prefix_strip, syntax };
        annotate(self, py, &arguments)
    }

    /// Return folded stacks, as ``perfdata fold`` prints them: a line for each stack, outermost frame first, and what it counts.
    ///
    /// Only one event is folded: ``event``, or the first one. ``root`` is what a stack begins with: ``comm``, ``pid`` or ``tid``.
    /// ``weight`` is what is counted, ``period`` or ``samples``. ``mark`` adds suffixes to frames: ``kernel``, ``inlined``, ``jit`` or
    /// ``all``. ``off_cpu`` folds the nanoseconds for which threads were blocked.
    #[pyo3(signature = (*, event=None, root="comm", weight="period", mark=None, off_cpu=false))]
    fn fold(
        &self,
        py: Python<'_>,
        event: Option<String>,
        root: &str,
        weight: &str,
        mark: Option<crate::arguments::Names>,
        off_cpu: bool,
    ) -> PyResult<String> {
        let format = ExportFormat::folded(root, weight, crate::arguments::strings(mark))?;
        let options = ExportOptions { event, off_cpu, ..ExportOptions::new(format) };
        let bytes = export::bytes(self, py, &options)?;
        Ok(text::text(&bytes))
    }

    /// Return a flame graph, which a notebook shows. If ``path`` is given, it is written, too: as a picture if the name ends in
    /// ``.svg``, else as a page that loads nothing.
    ///
    /// ``event`` is the event that is shown first, ``off_cpu`` adds the times for which threads were blocked.
    #[pyo3(signature = (path=None, *, event=None, off_cpu=false))]
    fn flamegraph(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        event: Option<String>,
        off_cpu: bool,
    ) -> PyResult<FlameGraph> {
        FlameGraph::of(self, py, path, event, off_cpu)
    }

    /// Return the capture in the format of another tool, or write it into a file if ``path`` is given: ``folded``, ``flamegraph``,
    /// ``svg``, ``pprof`` (compressed by gzip), ``otlp``, ``otlp-json``, ``firefox`` or ``speedscope``; of branch stacks, ``brstack``
    /// for llvm-profgen, ``preagg`` for perf2bolt and ``autofdo`` for create_llvm_prof.
    ///
    /// ``event`` is the event that is shown first or alone, ``off_cpu`` adds the times for which threads were blocked. ``binary`` is
    /// the file whose branches are wanted, by its path or its name; by default the one with the most.
    #[pyo3(signature = (format, path=None, *, event=None, off_cpu=false, binary=None))]
    fn export<'py>(
        &self,
        py: Python<'py>,
        format: &str,
        path: Option<PathBuf>,
        event: Option<String>,
        off_cpu: bool,
        binary: Option<&str>,
    ) -> PyResult<Option<Bound<'py, pyo3::types::PyBytes>>> {
        if let Some(format) = BranchFormat::named(format) {
            return branches::export(self, py, format, binary, path);
        }
        let options = ExportOptions { event, off_cpu, ..ExportOptions::new(ExportFormat::named(format)?) };
        export::export(self, py, &options, path)
    }

    /// Compare with another capture, such as that of a later build: return a dictionary for each function with ``symbol``
    /// (None for all functions of a file without a name), ``dso``, ``kernel``, ``before``, ``after`` and ``delta`` of the function itself, and ``before_with_callees`` and ``after_with_callees``. The largest
    /// changes come first.
    ///
    /// ``event`` is the event of both; by default the first one of this capture. ``normalize`` says what the numbers are: ``share`` in
    /// percent, ``time`` for what is counted in a second, ``nothing`` for what is counted. ``weight`` is ``period`` or ``samples``.
    #[pyo3(signature = (other, *, event=None, normalize="share", weight="period"))]
    fn diff<'py>(
        &self,
        py: Python<'py>,
        other: &Self,
        event: Option<&str>,
        normalize: &str,
        weight: &str,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        crate::diff::rows(py, [self, other], event, normalize, weight)
    }

    /// Write another capture with the selected samples, and with all records that they need. Return what was written
    /// (``written``), what was not (``left_out``, ``not_decoded``, ``features_left_out``, ``left_out_for_release``), and ``account``.
    /// The file is readable by its owner only, and gets its name when it is complete.
    ///
    /// ``sample_every=N`` keeps the first of each N samples of an event; ``limit`` the first samples. ``drop`` removes fields of samples:
    /// ``user-stack``, ``regs-user``, ``regs-intr``, ``raw``, ``branches``, ``callchain``, ``phys-addr``. ``unwind`` writes call chains
    /// in place of copied stacks. ``build_ids`` adds the build ids of mapped files, ``symbols_inside`` the names of all frames. ``sort``
    /// writes the records in order of time, ``compress`` by Zstandard at a level from 1 to 22. ``to`` is ``file`` or ``pipe``.
    /// ``redact`` replaces names by pseudonyms and leaves out what else can hold a secret: True, or a list of ``comms``, ``paths``,
    /// ``cmdline``, ``hostname``, ``raw``, ``strings``; ``salt`` makes the pseudonyms of several captures equal. ``aslr`` moves
    /// addresses: True for random distances, or a seed. ``release="perf-6.1"`` leaves out what that perf misreads.
    #[pyo3(signature = (output, *, sample_every=None, limit=None, drop=None, unwind=false, build_ids=false,
        symbols_inside=false, sort=false, compress=None, to="file", redact=None, salt=None, aslr=None, release=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn edit<'py>(
        &self,
        py: Python<'py>,
        output: PathBuf,
        sample_every: Option<u64>,
        limit: Option<u64>,
        drop: Option<crate::arguments::Names>,
        unwind: bool,
        build_ids: bool,
        symbols_inside: bool,
        sort: bool,
        compress: Option<u8>,
        to: &str,
        redact: Option<edit::Redact>,
        salt: Option<&str>,
        aslr: Option<edit::Aslr>,
        release: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = edit::EditOptions {
            sample_every,
            limit,
            drop: crate::arguments::strings(drop),
            unwind,
            build_ids,
            symbols_inside,
            sort,
            compress,
            to,
            redact,
            salt,
            aslr,
            release,
        };
        edit::edit(self, py, output, &options)
    }

    fn __repr__(&self) -> String {
        format!("<perfdata.Capture {:?}, {} events>", self.path, self.reader.events().iter().count())
    }
}
