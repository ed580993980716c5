//! Reading records of some types only, and skipping the others.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::source::Source;
use super::Reader;
use super::plain::{PLAIN, whole_of};
use crate::record::RawRecord;

/// A set of record types.
#[derive(Clone, Debug)]
pub(super) struct Types {
    /// A bit for each kernel type.
    kernels: u64,
    all: Vec<RecordType>,
}

impl Types {
    pub(super) fn new(types: &[RecordType]) -> Self {
        let bits = types.iter().map(|kind| 1_u64.checked_shl(kind.0).unwrap_or(0));
        Self { kernels: bits.fold(0, |all, bit| all | bit), all: types.to_vec() }
    }

    /// Returns the kernel types in the set, a bit for each.
    pub(super) fn kernels(&self) -> u64 {
        self.kernels
    }

    #[inline]
    pub(super) fn has(&self, kind: RecordType) -> bool {
        match self.kernels.checked_shr(kind.0) {
            Some(bits) => bits & 1 != 0,
            None => self.all.contains(&kind),
        }
    }
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Returns whether records of a type were requested.
    #[inline(always)]
    pub(super) fn wants(&self, kind: RecordType) -> bool {
        self.only.as_ref().is_none_or(|only| only.has(kind))
    }

    /// Skips the records at the front of the source that were not requested, as far as the fast path can. The last of
    /// them is left to be skipped like a record that was returned.
    pub(super) fn pass_unwanted(&mut self) {
        let Self { only: Some(only), source, account, pending, .. } = self else { return };
        let Some(front) = pending.ahead(source) else { return };
        if self.inflate.is_some() || self.lost {
            return;
        }
        let (mut rest, mut last) = (front, 0);
        while let Some((raw, behind)) = unwanted::<O>(rest, only) {
            (rest, last) = (behind, usize::from(raw.size()));
            account.count(raw.kind(), last);
        }
        if last > 0 {
            let bytes = front.len().saturating_sub(rest.len());
            pending.pass_to(source, bytes.saturating_sub(last), last);
        }
    }
}

/// Returns the record at the start of `bytes`, and the bytes after it, if it was not requested.
#[inline(always)]
fn unwanted<'b, O: Endian>(bytes: &'b [u8], only: &Types) -> Option<(RawRecord<'b, O>, &'b [u8])> {
    whole_of::<O>(bytes, PLAIN & !only.kernels)
}
