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
    /// Bytes of a window at most.
    largest_window: u64,
    /// Input that no whole block was made of yet.
    carried: Vec<u8>,
    /// Whether the header of a frame was read whose last block was not.
    in_frame: bool,
}

/// A last, empty, raw block: what ends a frame.
const LAST_BLOCK: [u8; 3] = [1, 0, 0];

impl Decoder {
    /// One that refuses windows of more than 2 to the `window_log` bytes.
    pub(super) fn new(window_log: u32) -> Self {
        let largest_window = 1_u64.checked_shl(window_log).unwrap_or(u64::MAX);
        Self { frames: FrameDecoder::new(), largest_window, carried: Vec::new(), in_frame: false }
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
                let Some(window) = window(rest) else { break };
                if rest.is_empty() || self.frames.can_collect() > 0 {
                    break;
                }
                if window > self.largest_window {
                    return Err("has a window beyond the limit: 128 MiB, if no other is set");
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

/// The window of the frame whose header `input` begins with, in bytes; 0 for what is none, `None` where it is not whole.
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
        // The content is the window.
        let size = rest.get(dictionary..)?.get(..content_size)?;
        let size = size.iter().rev().fold(0_u64, |size, &byte| size << 8 | u64::from(byte));
        return Some(if content_size == 2 { size.saturating_add(256) } else { size });
    }
    let (&window, rest) = rest.split_first()?;
    rest.get(..dictionary.saturating_add(content_size))?;
    // At most 2 to the 41 and seven eighths of it.
    let base = 1_u64 << (window >> 3) << 10;
    Some(base.saturating_add((base >> 3).saturating_mul(u64::from(window & 7))))
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
