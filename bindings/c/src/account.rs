//! What was read of a capture, and what could not be.

use perf_parse::file::Account;

use crate::versioned::versioned;

/// What was read of a capture, and what could not be decoded or was lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_account {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Number of records that were read.
    pub records: u64,
    /// Number of bytes that were read.
    pub bytes: u64,
    /// Number of bytes that could not be read as records.
    pub bytes_skipped: u64,
    /// Number of faults: of records that could not be decoded, and of the capture itself.
    pub faults: u64,
    /// Number of records that the kernel dropped, as the capture states it.
    pub lost: u64,
    /// Number of samples that the kernel dropped, as the capture states it.
    pub lost_samples: u64,
    /// Whether nothing is wrong: neither faults nor bytes that were skipped.
    pub is_clean: bool,
}

versioned!(perfdata_account);

impl From<&Account> for perfdata_account {
    fn from(account: &Account) -> Self {
        Self {
            size: 0,
            records: account.records,
            bytes: account.bytes,
            bytes_skipped: account.bytes_skipped,
            faults: account.faults(),
            lost: account.lost,
            lost_samples: account.lost_samples,
            is_clean: account.is_clean(),
        }
    }
}
