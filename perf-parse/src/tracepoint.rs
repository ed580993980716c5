//! Tracepoints: decodes the raw data of a sample with the formats that the capture contains.
//!
//! perf copies the kernel's formats of the recorded tracepoints to the capture: to the feature `TRACING_DATA` of a
//! file, or to the payload after the HEADER_TRACING_DATA record of a pipe. [`TracingData`] finds its parts.
//! [`Tracepoints`] parses the formats and finds a format by the event's `attr.config`. [`Format::fields`] decodes the
//! raw data of a sample field by field, without an allocation. [`PrintFmt`] prints it as the text of `perf script`.
//!
//! Parsing formats needs the feature `tracepoint`. [`TracingData`], which finds their texts, and [`TracingDataFields`],
//! which writes them, do not.
//!
//! # Examples
//!
//! ```
//! # #[cfg(feature = "tracepoint")] {
//! use perf_parse::abi::endian::Endianness;
//! use perf_parse::tracepoint::{Format, Value};
//!
//! let text = b"name: exit\nID: 7\nformat:\n\
//!     \tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;\n\n\
//!     \tfield:char comm[4];\toffset:4;\tsize:4;\tsigned:0;\n\n\
//!     print fmt: \"%s\", REC->comm\n";
//! let format = Format::parse(b"task", text, 8)?;
//! let values: Vec<_> = format.fields(b"\xff\xff\xff\xffsh\0\0", Endianness::Little).map(|(_, value)| value).collect();
//! assert_eq!(values, [Ok(Value::Signed(-1)), Ok(Value::Str(b"sh"))]);
//!
//! // A payload that ends early loses only the fields that are not in it.
//! let mut short = format.fields(b"\xff\xff\xff\xffsh", Endianness::Little);
//! assert_eq!(short.next().map(|(_, value)| value), Some(Ok(Value::Signed(-1))));
//! let error = short.next().and_then(|(_, value)| value.err()).unwrap();
//! assert_eq!(error.to_string(), "comm: needs 4 bytes at 4, the raw data has 6");
//! # }
//! # Ok::<(), perf_parse::tracepoint::TracingError>(())
//! ```

mod data;
#[cfg(feature = "tracepoint")]
mod element;
mod error;
#[cfg(feature = "tracepoint")]
mod field;
#[cfg(feature = "tracepoint")]
mod format;
#[cfg(feature = "tracepoint")]
mod formats;
#[cfg(feature = "tracepoint")]
mod grammar;
#[cfg(feature = "tracepoint")]
mod print_fmt;
#[cfg(feature = "tracepoint")]
mod printk;
#[cfg(feature = "tracepoint")]
mod room;
#[cfg(feature = "tracepoint")]
mod value;
mod write;

pub use data::{FormatText, FormatTexts, TracingData};
#[cfg(feature = "tracepoint")]
pub use element::ElementType;
#[cfg(feature = "tracepoint")]
pub use error::FieldError;
pub use error::{TracingError, TracingErrorKind};
#[cfg(feature = "tracepoint")]
pub use field::{FieldPlacement, FormatField};
#[cfg(feature = "tracepoint")]
pub use format::Format;
#[cfg(feature = "tracepoint")]
pub use formats::Tracepoints;
#[cfg(feature = "tracepoint")]
pub use print_fmt::{Addresses, PrintError, PrintFmt};
#[cfg(feature = "tracepoint")]
pub use printk::PrintkFormats;
#[cfg(feature = "tracepoint")]
pub use room::Room;
#[cfg(feature = "tracepoint")]
pub use value::{Array, Value};
pub use write::TracingDataFields;
