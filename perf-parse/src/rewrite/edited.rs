//! What an edit makes of samples, and of a capture.

use alloc::vec::Vec;

use perf_abi::feature::Feature;

use crate::account::Account;

/// A sample after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditedSample {
    /// The sample is in the result.
    Kept,
    /// The sample is not in the result, which counts it.
    LeftOut,
    /// These bytes are in the result in its place: one whole SAMPLE record of the same event and byte order.
    Replaced(Vec<u8>),
}

/// The result of an edit or a repair.
#[derive(Debug)]
pub struct EditSummary<W> {
    /// The output, which contains the capture.
    pub out: W,
    /// Number of records that were written.
    pub written: u64,
    /// Number of samples that the edit leaves out, and of CALLCHAIN_DEFERRED records if it removes call chains.
    pub left_out: u64,
    /// Number of records that were found and cannot be written.
    pub dropped: u64,
    /// The features that were found and left out, in ascending order.
    pub features_dropped: Vec<Feature>,
    /// What was read, lost and skipped, and every fault that was found.
    pub account: Account,
}
