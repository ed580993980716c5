//! Branch stacks.

use perf_abi::branch::BranchEntry;
use perf_abi::endian::{Endian, U64};

/// The branches before the sample, latest first. Borrows from the record.
///
/// Kernel: `struct perf_branch_stack`; since Linux 3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchStack<'a, O: Endian> {
    /// Index of the hardware's raw record that the first entry comes from; `u64::MAX` where the hardware has none.
    ///
    /// `None` if not asked for, or if the PMU gave no branch stack at all. Since Linux 5.7.
    pub hw_idx: Option<u64>,
    /// The branches.
    pub entries: &'a [BranchEntry<O>],
    /// How often the group's events occurred between one branch and the next, a word an entry, packed by the PMU.
    ///
    /// `None` if not asked for, or if the PMU gave none. Since Linux 6.8.
    pub counters: Option<&'a [U64<O>]>,
}
