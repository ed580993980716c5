//! Branch stacks.

use perf_abi::endian::{ByteOrder, Endianness};

use crate::list::{Branch, List};

/// The branches before the sample, newest first. Borrows from the record.
///
/// Kernel: `struct perf_branch_stack`; since Linux 3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(bound = ""))]
pub struct BranchStack<'a, O: ByteOrder = Endianness> {
    /// Index of the hardware's raw record from which the first entry comes; `u64::MAX` if the hardware has no such
    /// index.
    ///
    /// `None` if the event does not record it, or if the PMU provided no branch stack. Since Linux 5.7.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub hw_idx: Option<u64>,
    /// The branches.
    pub entries: List<'a, Branch, O>,
    /// Counts of the group's events between consecutive branches: one word for each entry, packed by the PMU.
    ///
    /// `None` if the event does not record them, or if the PMU provided none. Since Linux 6.8.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub counters: Option<List<'a, u64, O>>,
}
