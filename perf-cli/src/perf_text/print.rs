//! Numbers and texts in columns.

use crate::render::digits::push_decimal;

/// Appends a number in decimal, with `fill` in front of it up to a width.
#[inline]
pub(crate) fn push_decimal_to(out: &mut Vec<u8>, number: u64, width: usize, fill: u8) {
    let start = out.len();
    push_decimal(out, number);
    pad(out, start, width, fill);
}

/// Appends a number in hexadecimal without a prefix, with blanks in front of it up to a width.
#[inline]
pub(crate) fn push_hex_to(out: &mut Vec<u8>, number: u64, width: usize) {
    let start = out.len();
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
    for digit in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(number >> (4 * digit) & 15) as usize]);
    }
    pad(out, start, width, b' ');
}

/// Appends what `push` appends, with blanks in front of it up to a width in bytes.
#[inline]
pub(crate) fn left_padded(out: &mut Vec<u8>, width: usize, push: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    push(out);
    pad(out, start, width, b' ');
}

/// Appends blanks to what is in `out` from `start` on, up to a width in bytes.
pub(crate) fn pad_to(out: &mut Vec<u8>, start: usize, width: usize) {
    out.resize(out.len().max(start + width), b' ');
}

/// [`push_name`] appends a name of the capture, [`OneLine`] is one in a line that is formatted.
pub(crate) use crate::escape::{OneLine, push_name};

/// Moves what is in `out` from `start` on to the right, up to a width.
#[inline]
fn pad(out: &mut Vec<u8>, start: usize, width: usize, fill: u8) {
    let missing = width.saturating_sub(out.len() - start);
    if missing > 0 {
        out.resize(out.len() + missing, fill);
        out[start..].rotate_right(missing);
    }
}

/// A buffer that `write!` appends to.
pub(crate) struct TextBuffer<'a>(pub(crate) &'a mut Vec<u8>);

impl core::fmt::Write for TextBuffer<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
