//! The formats of all tracepoints of a capture.

use alloc::vec::Vec;

use super::data::{FormatText, TracingData};
use super::error::TracingError;
use super::format::Format;

/// The tracepoints that a capture describes.
#[derive(Clone, Debug, Default)]
pub struct Tracepoints<'a> {
    /// Formats in ascending order of ids; formats with the same id are in the order of the capture.
    formats: Vec<Format<'a>>,
    faults: Vec<TracingError>,
    faults_omitted: u64,
}

impl<'a> Tracepoints<'a> {
    /// Maximum number of faults that are kept, so that a capture full of faults does not fill the memory.
    pub const MAX_FAULTS: usize = 1000;

    /// Parses all formats. A format that cannot be parsed is left out and kept as a [fault](Self::faults).
    #[must_use]
    pub fn new(data: &TracingData<'a>) -> Self {
        let mut this = Self::default();
        let long_size = data.kernel_long_size();
        for FormatText { system, text, offset } in data.formats() {
            match Format::parse(system, text, long_size) {
                Ok(format) => this.formats.push(format),
                Err(fault) if this.faults.len() < Self::MAX_FAULTS => {
                    this.faults.push(TracingError { offset: offset.saturating_add(fault.offset), ..fault });
                }
                Err(_) => this.faults_omitted = this.faults_omitted.saturating_add(1),
            }
        }
        this.formats.sort_by_key(|format| format.id);
        this
    }

    /// Returns the tracepoint with this id, which is the `attr.config` of an event of type `PERF_TYPE_TRACEPOINT`.
    ///
    /// If several have the id, returns the first one in the capture.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Format<'a>> {
        let first = self.formats.partition_point(|format| u64::from(format.id) < id);
        self.formats.get(first).filter(|format| u64::from(format.id) == id)
    }

    /// Returns the tracepoint `system:name`. Searches linearly.
    #[must_use]
    pub fn find(&self, system: &[u8], name: &[u8]) -> Option<&Format<'a>> {
        self.formats.iter().find(|format| format.system == system && format.name == name)
    }

    /// Returns all tracepoints in ascending order of ids.
    #[must_use]
    pub fn formats(&self) -> &[Format<'a>] {
        &self.formats
    }

    /// Returns the faults of formats: at most [`MAX_FAULTS`](Self::MAX_FAULTS), in the order of the capture. Offsets
    /// are from the start of the tracing data.
    #[must_use]
    pub fn faults(&self) -> &[TracingError] {
        &self.faults
    }

    /// Returns the number of faults that were not kept.
    #[must_use]
    pub fn faults_omitted(&self) -> u64 {
        self.faults_omitted
    }
}
