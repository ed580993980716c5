//! The order of a repair or an edit, and its steps.

use perf_abi::record::RecordType;

use crate::error::FileError;
use crate::file::write::WriteFileError;

/// The order in which records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairOrder {
    /// That of the capture.
    Capture,
    /// By time: see [`EventRecords::in_time_order`](crate::file::EventRecords::in_time_order).
    Time,
}

/// A step of a repair or of another edit.
#[derive(Debug)]
#[non_exhaustive]
pub enum RepairStep<'e> {
    /// How far the walk has read, in bytes from the start of the data file.
    At(u64),
    /// The capture itself has a fault: in its header, an attr, or the feature table. The account has it too.
    Capture {
        /// The fault.
        error: FileError,
    },
    /// A part of the capture cannot be read or decoded, and is left out. The account has the fault too.
    Unreadable {
        /// The data file of a folder capture, or the ring, with the fault.
        data_file: usize,
        /// The fault.
        error: FileError,
    },
    /// A record cannot be written, and is left out.
    Unwritable {
        /// Offset of the record in the capture.
        offset: u64,
        /// Type of the record.
        kind: RecordType,
        /// The reason why it cannot be written.
        error: &'e WriteFileError,
    },
}
