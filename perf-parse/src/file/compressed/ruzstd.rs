//! Decompression in Rust alone.
//!
//! The library gives bytes only when they are a window behind: the end of a stream that was never ended, as perf
//! leaves it, comes when the capture does. Records are the same; their chunk is told late by as much.

use alloc::vec::Vec;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::io::Read;

/// A zstd stream.
pub(super) struct Decoder {
    frames: FrameDecoder,
    /// Input that no whole block was made of yet.
    carried: Vec<u8>,
    /// Whether the header of a frame was read whose last block was not.
    in_frame: bool,
}

/// A last, empty, raw block: what ends a frame.
const LAST_BLOCK: [u8; 3] = [1, 0, 0];

impl Decoder {
    pub(super) fn new() -> Self {
        Self { frames: FrameDecoder::new(), carried: Vec::new(), in_frame: false }
    }

    /// Takes all of `input` and appends at most `most` bytes to `out`; how many it took and appended.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<(usize, usize), &'static str> {
        self.carried.extend_from_slice(input);
        let mut rest = self.carried.as_slice();
        let start = out.len();
        let damaged = "is not a zstd stream, or a damaged one";
        while self.frames.can_collect() < most {
            if !self.in_frame {
                // What a frame that ended still holds comes before the next is begun.
                if rest.is_empty() || !has_header(rest) || self.frames.can_collect() > 0 {
                    break;
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

    /// Appends what was held back; how many bytes of input there are that no whole block could be made of.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> usize {
        if self.in_frame {
            // If even this fails there is nothing to be had.
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

/// Whether `input` begins with the whole header of a frame, or with what is none.
fn has_header(input: &[u8]) -> bool {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let Some((magic, rest)) = input.split_first_chunk() else { return !MAGIC.starts_with(input) };
    let Some((&descriptor, rest)) = rest.split_first() else { return *magic != MAGIC };
    let is_single_segment = descriptor >> 5 & 1;
    let content_size = match descriptor >> 6 {
        0 => is_single_segment,
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let dictionary = match descriptor & 3 {
        3 => 4,
        size => size,
    };
    // All but a single segment have a byte for the window.
    let window = is_single_segment ^ 1;
    let size = [content_size, dictionary, window].map(usize::from).iter().sum();
    *magic != MAGIC || rest.len() >= size
}

/// Bytes of a block at most, by the format.
const LARGEST_BLOCK: usize = 1 << 17;

/// Whether `input` begins with a whole block, or one that cannot be: its header gives its type and size in 24 bits.
fn has_block(input: &[u8]) -> bool {
    let Some((&[low, middle, high], content)) = input.split_first_chunk() else { return false };
    let header = u32::from_le_bytes([low, middle, high, 0]);
    let is_repeated_byte = header >> 1 & 3 == 1;
    let size = if is_repeated_byte { 1 } else { (header >> 3) as usize };
    content.len() >= size || size > LARGEST_BLOCK
}
