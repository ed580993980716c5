//! No decompression: built without `ruzstd` and `zstd`.

use alloc::vec::Vec;

/// Refuses every stream.
pub(super) struct NoDecoder;

impl NoDecoder {
    pub(super) fn new(_: u32) -> Self {
        Self
    }

    pub(super) fn step(
        &mut self,
        _: &[u8],
        _: &mut Vec<u8>,
        _: usize,
    ) -> Result<(usize, usize), &'static str> {
        Err("is compressed, but this build has neither the feature ruzstd nor zstd")
    }

    pub(super) fn finish(&mut self, _: &mut Vec<u8>) -> usize {
        0
    }
}
