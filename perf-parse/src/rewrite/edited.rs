//! What an edit makes of records, and of a capture.

use alloc::string::String;
use alloc::vec::Vec;

use perf_abi::feature::Feature;

use crate::account::Account;

/// A record after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditedRecord {
    /// The record is in the result.
    Kept,
    /// The record is not in the result, which counts it.
    LeftOut,
    /// These bytes are in the result in its place: one whole record of the same event and byte order, a sample
    /// for a sample.
    Replaced(Vec<u8>),
}

/// A record that an edit adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedRecord {
    /// Its time, in nanoseconds of the capture's clock.
    pub time: u64,
    /// The index of its event, whose layout it has.
    pub event: usize,
    /// The whole record, in the byte order of the capture.
    pub bytes: Vec<u8>,
}

/// The result of an edit or a repair.
#[derive(Debug)]
pub struct EditSummary<W> {
    /// The output, which contains the capture.
    pub out: W,
    /// Number of records that were written, added ones included.
    pub written: u64,
    /// Number of records that the edit leaves out: samples, CALLCHAIN_DEFERRED if it removes call chains, those of a
    /// [`CaptureFilter`](super::CaptureFilter), and [side-band](super::Edit::side_band).
    pub left_out: u64,
    /// Number of records that were found and cannot be written.
    pub dropped: u64,
    /// The features that were found and left out, in ascending order.
    pub features_dropped: Vec<Feature>,
    /// What was left out for a [`PerfRelease`](super::PerfRelease), in words: fields of attrs, features, and types of records
    /// with their numbers.
    pub left_out_for_release: Vec<String>,
    /// What was read, lost and skipped, and every fault that was found.
    pub account: Account,
}
