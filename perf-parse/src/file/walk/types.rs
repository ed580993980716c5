//! The types of the records that a walk returns.

use alloc::vec::Vec;

use perf_abi::record::RecordType;

/// A bit for each kernel type that the fast path may return. The slow path adds the losses in LOST and LOST_SAMPLES, and
/// the MMAP2 records of an ambiguous layout, to the account.
const FAST: u64 = !(1 << RecordType::LOST.0 | 1 << RecordType::LOST_SAMPLES.0 | 1 << RecordType::MMAP2.0);

/// A set of record types.
#[derive(Clone, Debug)]
pub(super) struct RecordTypeSet {
    /// A bit for each kernel type.
    kernel: u64,
    /// All types of the set; `None` for every type.
    list: Option<Vec<RecordType>>,
}

impl RecordTypeSet {
    pub(super) fn all() -> Self {
        Self { kernel: u64::MAX, list: None }
    }

    pub(super) fn new(types: &[RecordType]) -> Self {
        let bits = types.iter().map(|kind| 1_u64.checked_shl(kind.0).unwrap_or(0));
        Self { kernel: bits.fold(0, |all, bit| all | bit), list: Some(types.to_vec()) }
    }

    /// Returns the kernel types in the set that the fast path may return, a bit for each.
    #[inline(always)]
    pub(super) fn fast(&self) -> u64 {
        FAST & self.kernel
    }

    /// Returns the kernel types outside of the set that the fast path may skip, a bit for each.
    #[inline(always)]
    pub(super) fn unwanted(&self) -> u64 {
        FAST & !self.kernel
    }

    #[inline]
    pub(super) fn has(&self, kind: RecordType) -> bool {
        match self.kernel.checked_shr(kind.0) {
            Some(bits) => bits & 1 != 0,
            None => self.list.as_ref().is_none_or(|list| list.contains(&kind)),
        }
    }
}
