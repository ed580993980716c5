//! Repairs a capture: writes a well-formed file of everything that can be read from it.
//!
//! # Examples
//!
//! ```
//! use std::io::Cursor;
//!
//! use perf_parse::Reader;
//! use perf_parse::rewrite::{RepairOrder, repair};
//!
//! # let path = "examples/captures/plain.data";
//! let mut bytes = std::fs::read(path)?;
//! bytes.truncate(bytes.len() / 2); // damage: the end is lost, and the features with it
//! let repaired = repair(&Reader::new(&bytes)?, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {})?;
//! assert!(repaired.written > 0);
//!
//! let bytes = repaired.out.into_inner();
//! let reader = Reader::new(&bytes)?;
//! let mut records = reader.records();
//! records.try_for_each(|record| record.map(drop))?;
//! assert!(records.account().is_clean());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use std::io::{Seek, Write};

use super::edit::Edit;
use super::edited::EditSummary;
use super::step::{RepairOrder, RepairStep};
use crate::file::Reader;
use crate::file::write::WriteFileError;

/// Writes a file of everything in a capture that can be decoded: an [`Edit`] without steps. The output `out` should be
/// empty. Calls `report` at each step.
///
/// Records are copied unchanged, in the given order; compressed records are decompressed. Features are copied, with two
/// exceptions: features that describe the container are written anew, and formats of tracepoints that cannot be parsed
/// are left out. Records of simpleperf that were split and add ids to events are written as one, without ids of no event; its
/// record of tracepoints' formats becomes a section. What cannot be decoded is left out and noted in the account of the result.
///
/// If an event's attr asks for a field that this crate does not know, the event's samples are left out. The event is
/// written, with an attr that does not ask for that field.
///
/// The file is clean as defined by [`RecordCheck`](crate::file::RecordCheck), and repairing it again writes the same bytes.
///
/// # Errors
///
/// Those of [`Edit::write_file`].
pub fn repair<W: Write + Seek>(
    reader: &Reader<'_>,
    order: RepairOrder,
    out: W,
    report: impl FnMut(RepairStep<'_>),
) -> Result<EditSummary<W>, WriteFileError> {
    Edit::new().order(order).write_file(reader, out, report)
}
