//! A sample and the frames of its stack.

use perf_abi::record::CpuMode;
use perf_profile::{NamedFrame, NamedSample, event_name};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::text::text;

/// A sample: who ran, when, for what event, and where.
#[pyclass(frozen, module = "perfdata")]
pub(crate) struct Sample {
    sample: NamedSample,
    /// Made when it is first asked for: many programs need no stack.
    stack: PyOnceLock<Py<PyTuple>>,
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.sample.fmt(f)
    }
}

impl Sample {
    pub(crate) fn new(sample: NamedSample) -> Self {
        Self { sample, stack: PyOnceLock::new() }
    }
}

#[pymethods]
impl Sample {
    /// Name of the thread at the time of the sample.
    #[getter]
    fn comm(&self) -> String {
        text(self.sample.thread().comm())
    }

    /// Id of the process.
    #[getter]
    fn pid(&self) -> i32 {
        self.sample.thread().pid()
    }

    /// Id of the thread.
    #[getter]
    fn tid(&self) -> i32 {
        self.sample.thread().tid()
    }

    /// CPU; None if it was not recorded.
    #[getter]
    fn cpu(&self) -> Option<u32> {
        self.sample.cpu()
    }

    /// Nanoseconds of the capture's clock; None if the time was not recorded.
    #[getter]
    fn time(&self) -> Option<u64> {
        self.sample.time()
    }

    /// Name of the event.
    #[getter]
    fn event(&self) -> String {
        text(&event_name(self.sample.event()))
    }

    /// Number of events that the sample represents.
    #[getter]
    fn period(&self) -> u64 {
        self.sample.period()
    }

    /// Frames, the innermost first, with inlined functions as frames of their own.
    #[getter]
    fn stack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = || {
            let frames = self.sample.stack().iter().cloned().map(|frame| Py::new(py, Frame(frame)));
            let frames = frames.collect::<PyResult<Vec<_>>>()?;
            Ok::<_, PyErr>(PyTuple::new(py, frames)?.unbind())
        };
        Ok(self.stack.get_or_try_init(py, make)?.bind(py).clone())
    }

    fn __repr__(&self) -> String {
        let time = self.time().map_or("no time".to_owned(), |time| format!("{time} ns"));
        let frames = self.sample.stack().len();
        format!(
            "<perfdata.Sample {:?} {}, {time}, {}, {frames} frames>",
            self.comm(),
            self.tid(),
            self.event()
        )
    }
}

/// A frame of a stack: a function, or one that is inlined into that of the next frame.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Frame(NamedFrame);

#[pymethods]
impl Frame {
    /// Name of the function; None if it is unknown.
    #[getter]
    fn function(&self) -> Option<String> {
        self.0.function().map(text)
    }

    /// Path of the source file; None if it is unknown.
    #[getter]
    fn file(&self) -> Option<String> {
        self.0.file().map(text)
    }

    /// Line of the source file, from 1 on; None if it is unknown.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.line()
    }

    /// Address: in callers, the return address.
    #[getter]
    fn ip(&self) -> u64 {
        self.0.ip()
    }

    /// Path of the mapped file, or a name as ``[kernel.kallsyms]``; None if the address is in no mapping.
    #[getter]
    fn dso(&self) -> Option<String> {
        self.0.mapping().map(|it| text(it.dso().path()))
    }

    /// Whether the function is inlined into that of the next frame.
    #[getter]
    fn inlined(&self) -> bool {
        self.0.is_inlined()
    }

    /// Whether the function may be another one.
    #[getter]
    fn guessed(&self) -> bool {
        self.0.symbol().is_some_and(|it| it.guess.is_some())
    }

    /// Whether it is code of a kernel.
    #[getter]
    fn kernel(&self) -> bool {
        matches!(self.0.mode(), CpuMode::KERNEL | CpuMode::GUEST_KERNEL)
    }

    fn __repr__(&self) -> String {
        let name = self.function().unwrap_or_else(|| "?".to_owned());
        match (self.file(), self.line()) {
            (Some(file), Some(line)) => format!("<perfdata.Frame {name} {file}:{line}>"),
            _ => format!("<perfdata.Frame {name} {:#x}>", self.ip()),
        }
    }
}
