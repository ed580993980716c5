//! Tracepoints: decodes the raw data of a sample with the formats that the capture contains.
//!
//! perf copies the kernel's formats of the recorded tracepoints to the capture: to the feature `TRACING_DATA` of a
//! file, or to the payload after the HEADER_TRACING_DATA record of a pipe. [`TracingData`] finds its parts.
//! [`Tracepoints`] parses the formats and finds a format by the event's `attr.config`. [`Format::fields`] decodes the
//! raw data of a sample field by field, without an allocation.
//!
//! # Examples
//!
//! ```
//! use perf_parse::abi::endian::LittleEndian;
//! use perf_parse::tracepoint::{Format, Value};
//!
//! let text = b"name: exit\nID: 7\nformat:\n\
//!     \tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;\n\n\
//!     \tfield:char comm[4];\toffset:4;\tsize:4;\tsigned:0;\n\n\
//!     print fmt: \"%s\", REC->comm\n";
//! let format = Format::parse(b"task", text, 8)?;
//! let values: Vec<_> = format.fields::<LittleEndian>(b"\xff\xff\xff\xffsh\0\0").map(|(_, value)| value).collect();
//! assert_eq!(values, [Ok(Value::Signed(-1)), Ok(Value::Str(b"sh"))]);
//!
//! // A payload that ends early loses only the fields that are not in it.
//! let mut short = format.fields::<LittleEndian>(b"\xff\xff\xff\xffsh");
//! assert_eq!(short.next().map(|(_, value)| value), Some(Ok(Value::Signed(-1))));
//! let error = short.next().and_then(|(_, value)| value.err()).unwrap();
//! assert_eq!(error.to_string(), "comm: needs 4 bytes at 4, the raw data has 6");
//! # Ok::<(), perf_parse::tracepoint::TracingError>(())
//! ```

mod data;
mod element;
mod error;
mod format;
mod grammar;
mod room;
mod value;
mod write;

pub use data::{FormatText, FormatTexts, TracingData};
pub use element::Element;
pub use error::{FieldError, TracingError, TracingErrorKind};
pub use format::{Field, Format, Place};
pub use room::Room;
pub use value::{Array, Value};
pub use write::TracingDataFields;

use alloc::vec::Vec;

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
