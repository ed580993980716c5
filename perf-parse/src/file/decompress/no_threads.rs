//! No threads: built without `std`.

use alloc::vec::Vec;

use crate::limits::Limits;

/// There is none.
pub(super) enum NoDecompressionThread {}

impl NoDecompressionThread {
    pub(super) fn new(_: &Limits) -> Option<Self> {
        None
    }

    pub(super) fn has_room(&self) -> bool {
        match *self {}
    }

    pub(super) fn give(&mut self, _: &[u8]) {
        match *self {}
    }

    pub(super) fn step(&mut self, _: &mut Vec<u8>) -> Result<(usize, bool), &'static str> {
        match *self {}
    }

    pub(super) fn finish(&mut self, _: &mut Vec<u8>) -> usize {
        match *self {}
    }
}
