//! Annotated functions as objects of Python.

use perf_annotate::{AnnotatedFunctions, NoAnnotation, SampledFunction};
use perf_parse::file::Account;
use perf_profile::annotation as rows;
use perf_symbol::Guess;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyClass, PyClassInitializer};

use crate::account;
use crate::annotation_rows::{
    AnnotatedBranch, AnnotatedEvent, AnnotatedFunction, AnnotatedInstruction, AnnotatedLine, AnnotatedSource,
};
use crate::text::text;

/// The annotated functions of a capture.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Annotations {
    /// The functions, those first that the first event counted most in.
    #[pyo3(get)]
    functions: Py<PyTuple>,
    /// Functions that have samples and cannot be shown, with the reason.
    #[pyo3(get)]
    missing: Py<PyTuple>,
    account: Account,
}

impl Annotations {
    /// Translates functions.
    ///
    /// # Errors
    ///
    /// If Python has no memory.
    pub(crate) fn new(py: Python<'_>, annotated: AnnotatedFunctions, account: Account) -> PyResult<Self> {
        let functions =
            annotated.shown.into_iter().map(|it| Annotation::new(py, it)).collect::<PyResult<Vec<_>>>()?;
        let missing = annotated.missing.into_iter().map(|(it, why)| MissingAnnotation::new(&it, &why));
        Ok(Self { functions: tuple(py, functions)?, missing: tuple(py, missing)?, account })
    }
}

#[pymethods]
impl Annotations {
    /// What was read of the capture, and what could not be.
    #[getter]
    fn account<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        account::dict(py, &self.account)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (functions, missing) = (self.functions.bind(py).len(), self.missing.bind(py).len());
        format!("<perfdata.Annotations, {functions} functions, {missing} missing>")
    }
}

/// A function with its instructions, source lines and samples. Lists of samples and periods have a number for each of ``events``, in
/// the same order.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Annotation {
    /// Name of the function.
    symbol: String,
    /// Why the name may be another one: ``scanned``, ``completed``, ``file``, ``clock`` or ``remapped``; None if it is certain.
    guess: Option<String>,
    /// Path of the file, or a name as ``[kernel.kallsyms]``.
    dso: String,
    /// Build id of the file in hexadecimal; None if none was recorded.
    build_id: Option<String>,
    /// Where the bytes of the code are from: ``file``, ``kcore``, ``jitdump``, ``bpf_prog_info`` or ``text_poke``.
    code: String,
    /// Address of the first instruction: in the memory of the file, or of the process if the code is in no file.
    start: u64,
    /// Address after the last byte.
    end: u64,
    /// Events that have samples in the function, those with most samples in the capture first.
    events: Py<PyTuple>,
    /// The function itself, then each function that is inlined into it.
    functions: Py<PyTuple>,
    /// Files of the source lines.
    sources: Py<PyTuple>,
    /// Source lines that have instructions, each once, in the order of their first instructions.
    lines: Py<PyTuple>,
    /// Instructions in the order of their addresses, without gaps.
    instructions: Py<PyTuple>,
    /// Branches that were recorded within the function, into it and out of it; empty without branch stacks.
    branches: Py<PyTuple>,
}

impl Annotation {
    fn new(py: Python<'_>, it: rows::Annotation) -> PyResult<Self> {
        let instructions = it.instructions.into_iter().map(|it| AnnotatedInstruction::new(py, it));
        Ok(Self {
            symbol: text(&it.symbol),
            guess: it.guess.map(|it| Guess::name(it).to_owned()),
            dso: text(&it.dso),
            build_id: it.build_id.map(|it| it.to_string()),
            code: it.origin.name().to_owned(),
            start: it.start,
            end: it.end,
            events: tuple(py, it.events.iter().map(AnnotatedEvent::new))?,
            functions: tuple(py, it.functions.iter().map(AnnotatedFunction::new))?,
            sources: tuple(py, it.sources.iter().map(AnnotatedSource::new))?,
            lines: tuple(py, it.lines.iter().map(AnnotatedLine::new))?,
            instructions: tuple(py, instructions.collect::<PyResult<Vec<_>>>()?)?,
            branches: tuple(py, it.branches.iter().map(AnnotatedBranch::new))?,
        })
    }
}

#[pymethods]
impl Annotation {
    fn __repr__(&self, py: Python<'_>) -> String {
        let instructions = self.instructions.bind(py).len();
        format!("<perfdata.Annotation {:?} in {:?}, {instructions} instructions>", self.symbol, self.dso)
    }
}

/// A function that has samples and cannot be shown.
#[pyclass(frozen, get_all, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct MissingAnnotation {
    /// Name of the function.
    symbol: String,
    /// Path of its file, or a name as ``[kernel.kallsyms]``.
    dso: String,
    /// The reason, and what to do.
    why: String,
}

impl MissingAnnotation {
    fn new(function: &SampledFunction, why: &NoAnnotation) -> Self {
        Self { symbol: text(&function.name), dso: text(&function.dso), why: why.to_string() }
    }
}

#[pymethods]
impl MissingAnnotation {
    fn __repr__(&self) -> String {
        format!("<perfdata.MissingAnnotation {:?} in {:?}: {}>", self.symbol, self.dso, self.why)
    }
}

/// Returns a tuple of objects of a class.
fn tuple<T>(py: Python<'_>, rows: impl IntoIterator<Item = T>) -> PyResult<Py<PyTuple>>
where
    T: PyClass + Into<PyClassInitializer<T>>,
{
    let rows = rows.into_iter().map(|it| Py::new(py, it)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, rows)?.unbind())
}
