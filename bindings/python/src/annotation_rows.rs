//! The rows of an annotated function.

use perf_profile::SampleTotal;
use perf_profile::annotation as rows;
use pyo3::prelude::*;

use crate::text::text;

/// An event that has samples in a function.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedEvent {
    /// Name of the event.
    name: String,
    /// Number of its samples in the function.
    samples: u64,
    /// Sum of their periods.
    period: u64,
    /// Number of all its selected samples in the capture.
    all_samples: u64,
    /// Sum of their periods.
    all_period: u64,
    /// How exact the addresses are: the kernel's ``perf_event_attr.precise_ip``. With 0, a sample may be at an instruction after the
    /// one that caused it.
    precise_ip: u8,
}

impl AnnotatedEvent {
    pub(crate) fn new(it: &rows::AnnotatedEvent) -> Self {
        Self {
            name: it.name.to_string(),
            samples: it.total.samples,
            period: it.total.period,
            all_samples: it.of_capture.samples,
            all_period: it.of_capture.period,
            precise_ip: it.precise_ip,
        }
    }
}

/// A function, or a function that is inlined into it.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedFunction {
    /// Name of the function; None if it has none.
    name: Option<String>,
    /// Index in ``Annotation.functions`` of the function that it is inlined into; None for the first.
    caller: Option<u32>,
    /// Number of samples of each event at its instructions, without those of functions that are inlined into it.
    samples: Vec<u64>,
    /// Sums of their periods.
    period: Vec<u64>,
}

impl AnnotatedFunction {
    pub(crate) fn new(it: &rows::AnnotatedFunction) -> Self {
        let (samples, period) = totals(&it.totals);
        Self { name: name(&it.name), caller: it.caller, samples, period }
    }
}

/// A file of source lines.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedSource {
    /// Path that the compiler recorded.
    path: String,
    /// Whether the file was modified after the recording, so that its lines may be others.
    is_newer: bool,
    /// Number of the first line of ``text``, from 1 on.
    first: u32,
    /// Texts of lines without line ends, from the first line that has instructions to the last; empty if the file was not found.
    text: Vec<String>,
}

impl AnnotatedSource {
    pub(crate) fn new(it: &rows::AnnotatedSource) -> Self {
        let lines = it.text.iter().map(|line| text(line)).collect();
        Self { path: text(&it.path), is_newer: it.is_newer, first: it.first, text: lines }
    }
}

/// A source line that has instructions.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedLine {
    /// Index of its file in ``Annotation.sources``.
    source: u32,
    /// Number of the line in its file, from 1 on.
    line: u32,
    /// Number of samples of each event at its instructions.
    samples: Vec<u64>,
    /// Sums of their periods.
    period: Vec<u64>,
}

impl AnnotatedLine {
    pub(crate) fn new(it: &rows::AnnotatedLine) -> Self {
        let (samples, period) = totals(&it.totals);
        Self { source: it.source, line: it.line, samples, period }
    }
}

/// An instruction.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedInstruction {
    /// Address, as ``Annotation.start``.
    address: u64,
    /// Its bytes.
    bytes: Vec<u8>,
    /// Mnemonic and operands; ``(bad)`` for bytes that are no instruction.
    text: String,
    /// Where it branches to; None if it does not, or if its bytes do not have the address.
    target: Option<Py<AnnotatedTarget>>,
    /// What it loads, stores or computes the address of, relative to its own address; None if it does not.
    data: Option<Py<AnnotatedTarget>>,
    /// Index of its line in ``Annotation.lines``; None if none is known.
    line: Option<u32>,
    /// Column of that line, from 1 on; None if it is not known.
    column: Option<u32>,
    /// Whether the compiler recommends it as the place of a breakpoint for the line.
    is_stmt: bool,
    /// Tells blocks of the same line apart; 0 if there is one.
    discriminator: u64,
    /// Index of the innermost function in ``Annotation.functions``.
    function: u32,
    /// Number of samples of each event at the instruction.
    samples: Vec<u64>,
    /// Sums of their periods.
    period: Vec<u64>,
}

impl AnnotatedInstruction {
    /// Translates an instruction.
    ///
    /// # Errors
    ///
    /// If Python has no memory.
    pub(crate) fn new(py: Python<'_>, it: rows::AnnotatedInstruction) -> PyResult<Self> {
        let (samples, period) = totals(&it.totals);
        let target = |it: rows::AnnotatedTarget| Py::new(py, AnnotatedTarget::new(&it));
        Ok(Self {
            address: it.address,
            bytes: it.bytes.into_vec(),
            text: it.text.into_string(),
            target: it.target.map(target).transpose()?,
            data: it.data.map(target).transpose()?,
            line: it.line,
            column: it.column,
            is_stmt: it.is_stmt,
            discriminator: it.discriminator,
            function: it.function,
            samples,
            period,
        })
    }
}

#[pymethods]
impl AnnotatedInstruction {
    fn __repr__(&self) -> String {
        format!("<perfdata.AnnotatedInstruction {:#x} {:?}>", self.address, self.text)
    }
}

/// Where an instruction branches to, or what it uses.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedTarget {
    /// Address, as ``Annotation.start``.
    address: u64,
    /// Function or variable there; None if it is not known.
    symbol: Option<String>,
    /// Offset in the function or variable, in bytes.
    offset: u64,
    /// Whether it is a call.
    is_call: bool,
}

impl AnnotatedTarget {
    fn new(it: &rows::AnnotatedTarget) -> Self {
        Self { address: it.address, symbol: name(&it.name), offset: it.offset, is_call: it.is_call }
    }
}

/// Branches that were recorded from one address to another.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct AnnotatedBranch {
    /// Address of the branch, as ``Annotation.start``; None if it is in another function.
    from_address: Option<u64>,
    /// Address that it went to; None if it is in another function.
    to_address: Option<u64>,
    /// How often it was recorded.
    count: u64,
    /// How often it was mispredicted.
    mispredicted: u64,
    /// Sum of the cycles since the branch before it, of the branches that have them.
    cycles: u64,
    /// How many branches have cycles.
    timed: u64,
}

impl AnnotatedBranch {
    pub(crate) fn new(it: &rows::AnnotatedBranch) -> Self {
        let rows::AnnotatedBranch { from, to, count, mispredicted, cycles, timed, .. } = *it;
        Self { from_address: from, to_address: to, count, mispredicted, cycles, timed }
    }
}

/// Returns the numbers of samples and the periods of events.
fn totals(all: &[SampleTotal]) -> (Vec<u64>, Vec<u64>) {
    all.iter().map(|it| (it.samples, it.period)).unzip()
}

/// Returns a name; `None` if it is empty.
fn name(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| text(bytes))
}
