//! Events of a capture.

use std::sync::Arc;

use perf_profile::event_name;
use pyo3::prelude::*;

use crate::text::text;

/// An event of a capture, with its settings.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Event(pub(crate) Arc<perf_parse::event::Event>);

#[pymethods]
impl Event {
    /// Index of the event in the capture, from 0 on.
    #[getter]
    fn index(&self) -> usize {
        self.0.index
    }

    /// Name of the event, as perf prints it.
    #[getter]
    fn name(&self) -> String {
        text(&event_name(&self.0))
    }

    /// Number of the PMU: the kernel's ``perf_event_attr.type``.
    #[getter]
    fn r#type(&self) -> u32 {
        self.0.attr.kind.0
    }

    /// The event of the PMU: the kernel's ``perf_event_attr.config``.
    #[getter]
    fn config(&self) -> u64 {
        self.0.attr.config
    }

    /// Samples per second that were asked for; None if a period was.
    #[getter]
    fn frequency(&self) -> Option<u64> {
        self.0.attr.sample_freq()
    }

    /// Number of events from a sample to the next; None if a frequency was asked for.
    #[getter]
    fn period(&self) -> Option<u64> {
        self.frequency().is_none().then_some(self.0.attr.sample_period)
    }

    /// Fields of the samples, as the kernel's ``PERF_SAMPLE_*`` bits.
    #[getter]
    fn sample_type(&self) -> u64 {
        self.0.attr.sample_type.0
    }

    /// Ids by which records name the event.
    #[getter]
    fn ids(&self) -> Vec<u64> {
        self.0.ids.clone()
    }

    fn __repr__(&self) -> String {
        format!("<perfdata.Event {} {:?}>", self.0.index, self.name())
    }
}
