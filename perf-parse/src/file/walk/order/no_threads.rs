//! No threads: built without `std`.

use perf_abi::record::RecordType;

use super::Rising;

/// There is none.
#[derive(Debug)]
pub(in super::super) enum NoOrderThread {}

impl NoOrderThread {
    pub(super) fn run_at(&mut self, _: usize, _: u64, _: RecordType) -> Option<Rising> {
        match *self {}
    }
}
