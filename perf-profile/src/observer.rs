//! The observer of a walk over a capture.

use perf_parse::file::Account;

use crate::off_cpu::OffCpuSummary;

/// Sees the progress of a walk, and may cancel it. All methods are called on the thread that called the walk.
///
/// `()` is an observer that ignores everything.
pub trait Observer {
    /// Sees the account so far, after each block of records. It keeps its first
    /// [`MAX_DIAGNOSTICS`](Account::MAX_DIAGNOSTICS) faults, in the order in which they were found.
    fn account(&mut self, account: &Account) {
        let _ = account;
    }

    /// Sees how far the walk is: a number of bytes of the capture. It is called about once a mebibyte.
    fn bytes(&mut self, reached: u64) {
        let _ = reached;
    }

    /// Sees how many of all addresses have their names.
    fn names(&mut self, done: usize, all: usize) {
        let _ = (done, all);
    }

    /// Sees which states of threads were counted as time off the CPU, and what could not be counted.
    fn off_cpu(&mut self, summary: &OffCpuSummary) {
        let _ = summary;
    }

    /// Sees how many samples have the fields of their tracepoint as its text, because their print formats cannot be evaluated.
    fn texts_as_fields(&mut self, samples: u64) {
        let _ = samples;
    }

    /// Returns whether the walk ends with [`ProfileError::Cancelled`](crate::ProfileError::Cancelled). It is asked after each
    /// block of records.
    fn is_cancelled(&mut self) -> bool {
        false
    }
}

impl Observer for () {}
