//! Decompression in pure Rust.
//!
//! The library holds the last window of output until the frame ends. perf never ends its stream, so the last window is
//! output at the end of the capture. The records are the same as with the C library. Only the offsets of their
//! COMPRESSED records may be larger, because the output comes up to one window later.

use alloc::vec::Vec;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::io::Read;

/// A zstd stream.
pub(super) struct RuzstdDecoder {
    frames: FrameDecoder,
    /// Number of bytes in the largest window that is accepted.
    largest_window: u64,
    /// Input that does not form a whole block yet.
    carried: Vec<u8>,
    /// Whether the decoder is within a frame: its header was read, its last block was not.
    in_frame: bool,
}

/// A last, empty, raw block, which ends a frame.
const LAST_BLOCK: [u8; 3] = [1, 0, 0];

impl RuzstdDecoder {
    /// Creates a decoder that refuses windows of more than 2^`window_log` bytes.
    pub(super) fn new(window_log: u32) -> Self {
        let largest_window = 1_u64.checked_shl(window_log).unwrap_or(u64::MAX);
        Self { frames: FrameDecoder::new(), largest_window, carried: Vec::new(), in_frame: false }
    }

    /// Consumes all of `input` and appends at most `most` bytes to `out`. Returns how many bytes it consumed and how
    /// many it appended.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<(usize, usize), &'static str> {
        self.carried.extend_from_slice(input);
        let mut rest = self.carried.as_slice();
        let start = out.len();
        let damaged = "is not a zstd stream, or is damaged";
        while self.frames.can_collect() < most {
            if !self.in_frame {
                // The last bytes of a frame that has ended are output before the next frame begins.
                let Some(window) = window(rest) else { break };
                if rest.is_empty() || self.frames.can_collect() > 0 {
                    break;
                }
                if window > self.largest_window {
                    return Err("has a window beyond the limit (by default 128 MiB)");
                }
                self.frames.reset(&mut rest).map_err(|_| damaged)?;
                self.in_frame = true;
            }
            if !has_block(rest) {
                break;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            self.in_frame = !self.frames.decode_blocks(&mut rest, one).map_err(|_| damaged)?;
        }
        let used = self.carried.len().saturating_sub(rest.len());
        self.carried.drain(..used);
        self.collect(out, most);
        Ok((input.len(), out.len().saturating_sub(start)))
    }

    /// Outputs the bytes that the decoder still holds. Returns the number of input bytes that do not form a whole
    /// block.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> usize {
        if self.in_frame {
            // If even this fails, there are no bytes to output.
            let _ = self.frames.decode_blocks(&mut LAST_BLOCK.as_slice(), BlockDecodingStrategy::All);
            self.in_frame = false;
        }
        self.collect(out, usize::MAX);
        core::mem::take(&mut self.carried).len()
    }

    fn collect(&mut self, out: &mut Vec<u8>, most: usize) {
        let start = out.len();
        out.resize(start.saturating_add(most.min(self.frames.can_collect())), 0);
        let read = self.frames.read(out.get_mut(start..).unwrap_or_default()).unwrap_or(0);
        out.truncate(start.saturating_add(read));
    }
}

/// Returns the window size, in bytes, of the frame whose header begins `input`; 0 if `input` does not begin with a
/// frame, `None` if the header is incomplete.
fn window(input: &[u8]) -> Option<u64> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let Some((magic, rest)) = input.split_first_chunk() else {
        return if MAGIC.starts_with(input) { None } else { Some(0) };
    };
    if *magic != MAGIC {
        return Some(0);
    }
    let (&descriptor, rest) = rest.split_first()?;
    let is_single_segment = descriptor >> 5 & 1 == 1;
    let content_size = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let dictionary = match descriptor & 3 {
        3 => 4,
        size => usize::from(size),
    };
    if is_single_segment {
        // The window has the size of the content.
        let size = rest.get(dictionary..)?.get(..content_size)?;
        let size = size.iter().rev().fold(0_u64, |size, &byte| size << 8 | u64::from(byte));
        return Some(if content_size == 2 { size.saturating_add(256) } else { size });
    }
    let (&window, rest) = rest.split_first()?;
    rest.get(..dictionary.saturating_add(content_size))?;
    // At most 2^41 bytes and seven eighths of that.
    let base = 1_u64 << (window >> 3) << 10;
    Some(base.saturating_add((base >> 3).saturating_mul(u64::from(window & 7))))
}

/// Number of bytes in the largest block, by the format.
const LARGEST_BLOCK: usize = 1 << 17;

/// Returns whether `input` begins with a whole block or an invalid one. A block's header has its type and size in 24
/// bits.
fn has_block(input: &[u8]) -> bool {
    let Some((&[low, middle, high], content)) = input.split_first_chunk() else { return false };
    let header = u32::from_le_bytes([low, middle, high, 0]);
    let is_repeated_byte = header >> 1 & 3 == 1;
    let size = if is_repeated_byte { 1 } else { (header >> 3) as usize };
    content.len() >= size || size > LARGEST_BLOCK
}
