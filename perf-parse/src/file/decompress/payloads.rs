//! The payloads of a zstd stream, decompressed one step at a time within limits.

use alloc::vec::Vec;

use super::ZstdDecoder;
use crate::limits::Limits;

/// A zstd stream, whose payloads are given one after another.
pub(in crate::file) struct Payloads {
    decoder: ZstdDecoder,
    window_log: u32,
    /// Bytes that one step decompresses at most, and bytes of output allowed for each byte of a payload.
    step: usize,
    ratio: u64,
    /// Number of bytes that the stream may still produce.
    allowed: u64,
}

impl Payloads {
    pub(in crate::file) fn new(limits: &Limits) -> Self {
        let window_log = limits.window_log.clamp(10, 30);
        Self {
            decoder: ZstdDecoder::new(window_log),
            window_log,
            step: limits.decompressed_step.max(1),
            ratio: limits.decompressed_ratio,
            allowed: limits.decompressed,
        }
    }

    /// Begins a payload of `size` bytes.
    pub(in crate::file) fn begin(&mut self, size: usize) {
        self.allowed = self.allowed.saturating_add(self.ratio.saturating_mul(size as u64));
    }

    /// Decompresses a step of `input`, what is left of a payload, and appends it to `out`. Returns how many bytes were
    /// consumed, and whether the payload has no more output. After an error, the next step begins a new stream.
    ///
    /// # Errors
    ///
    /// The library's message for a fault in the stream, or the limit that the stream exceeds.
    pub(in crate::file) fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, bool), &'static str> {
        match self.decoder.step(input, out, self.step) {
            Ok((taken, written)) => match self.allowed.checked_sub(written as u64) {
                Some(allowed) => {
                    self.allowed = allowed;
                    Ok((taken, taken == input.len() && written < self.step))
                }
                None => {
                    out.truncate(out.len().saturating_sub(written));
                    self.decoder = ZstdDecoder::new(self.window_log);
                    Err(
                        "expands beyond the limit (by default 64 MiB plus 1024 times the compressed bytes so far)",
                    )
                }
            },
            Err(what) => {
                // The output before the damage is good. The output after it is good if a new stream begins there.
                self.decoder.finish(out);
                self.decoder = ZstdDecoder::new(self.window_log);
                Err(what)
            }
        }
    }

    /// Outputs the bytes that the decoder still holds at the end of the stream. Returns the number of input bytes that do
    /// not form a whole block.
    pub(in crate::file) fn finish(&mut self, out: &mut Vec<u8>) -> usize {
        self.decoder.finish(out)
    }
}
