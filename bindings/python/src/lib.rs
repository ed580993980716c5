//! The module `perfdata._perfdata`: captures of Linux perf as objects of Python. The package `perfdata` is made of it, and of the
//! stubs that document it.
//!
//! It translates, and computes nothing: samples, stacks and names are those of perf-profile, tables and formats those of
//! perf-export, annotations those of perf-annotate, edits those of perf-profile and perf-parse. Work runs without the GIL, and
//! ends when Python has a signal for it.

#![forbid(unsafe_op_in_unsafe_fn)]

mod account;
mod annotate;
mod annotation;
mod annotation_rows;
mod arguments;
mod branches;
mod capture;
mod diff;
mod edit;
mod error;
mod event;
mod export;
mod flame_graph;
mod info;
mod itrace;
mod merge;
mod open;
mod output;
mod profile;
#[cfg(target_os = "linux")]
mod record;
mod report;
mod report_cell;
mod sample;
mod samples;
mod tables;
mod text;
mod watch;

use pyo3::prelude::*;

/// The part of the package `perfdata` that is written in Rust.
#[pymodule]
fn _perfdata(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let error = py.get_type::<error::Error>();
    // Of errors without a place in a capture.
    error.setattr("offset", py.None())?;
    module.add("Error", error)?;
    module.add("CaptureWarning", py.get_type::<error::CaptureWarning>())?;
    module.add_class::<capture::Capture>()?;
    module.add_class::<event::Event>()?;
    module.add_class::<sample::Sample>()?;
    module.add_class::<sample::Frame>()?;
    module.add_class::<samples::Samples>()?;
    module.add_class::<tables::Table>()?;
    module.add_class::<flame_graph::FlameGraph>()?;
    module.add_class::<annotation::Annotations>()?;
    module.add_class::<annotation::Annotation>()?;
    module.add_class::<annotation::MissingAnnotation>()?;
    module.add_class::<annotation_rows::AnnotatedEvent>()?;
    module.add_class::<annotation_rows::AnnotatedFunction>()?;
    module.add_class::<annotation_rows::AnnotatedSource>()?;
    module.add_class::<annotation_rows::AnnotatedLine>()?;
    module.add_class::<annotation_rows::AnnotatedInstruction>()?;
    module.add_class::<annotation_rows::AnnotatedTarget>()?;
    module.add_class::<annotation_rows::AnnotatedBranch>()?;
    module.add_function(wrap_pyfunction!(open::open, module)?)?;
    module.add_function(wrap_pyfunction!(merge::merge, module)?)?;
    #[cfg(target_os = "linux")]
    module.add_function(wrap_pyfunction!(record::record, module)?)?;
    Ok(())
}
