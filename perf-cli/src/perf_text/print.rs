//! Numbers and texts in columns.

use crate::render::digits::push_decimal;

/// Appends a number in decimal, with blanks in front of it up to a width.
#[inline]
pub(crate) fn push_decimal_to(out: &mut Vec<u8>, number: u64, width: usize) {
    push_blanks(out, width.saturating_sub(digits(number)));
    push_decimal(out, number);
}

/// Appends a number in decimal, with zeros in front of it up to a width, which is at most 16.
#[inline]
pub(crate) fn push_zeroed(out: &mut Vec<u8>, number: u64, width: usize) {
    let length = out.len() + width.saturating_sub(digits(number));
    out.extend_from_slice(&[b'0'; 16]);
    out.truncate(length);
    push_decimal(out, number);
}

/// Appends nanoseconds as seconds with six decimal places. The seconds have blanks in front of them up to a width.
#[inline]
pub(crate) fn push_microseconds(out: &mut Vec<u8>, nanoseconds: u64, width: usize) {
    push_decimal_to(out, nanoseconds / 1_000_000_000, width);
    out.push(b'.');
    push_zeroed(out, nanoseconds / 1000 % 1_000_000, 6);
}

/// Returns the number of decimal digits of a number.
#[inline]
fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Appends so many blanks.
#[inline]
fn push_blanks(out: &mut Vec<u8>, count: usize) {
    const BLANKS: [u8; 32] = [b' '; 32];
    // A copy of constant size is a few instructions; what is too much is cut off.
    if count <= BLANKS.len() {
        let length = out.len() + count;
        out.extend_from_slice(&BLANKS);
        out.truncate(length);
    } else {
        out.resize(out.len() + count, b' ');
    }
}

/// Appends a number in hexadecimal without a prefix, with blanks in front of it up to a width.
#[inline]
pub(crate) fn push_hex_to(out: &mut Vec<u8>, number: u64, width: usize) {
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
    push_blanks(out, width.saturating_sub(digits as usize));
    for digit in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(number >> (4 * digit) & 15) as usize]);
    }
}

/// Appends what `push` appends, with blanks in front of it up to a width in bytes.
#[inline]
pub(crate) fn left_padded(out: &mut Vec<u8>, width: usize, push: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    push(out);
    let missing = width.saturating_sub(out.len() - start);
    if missing > 0 {
        push_blanks(out, missing);
        out[start..].rotate_right(missing);
    }
}

/// Appends blanks to what is in `out` from `start` on, up to a width in bytes.
pub(crate) fn pad_to(out: &mut Vec<u8>, start: usize, width: usize) {
    push_blanks(out, (start + width).saturating_sub(out.len()));
}

/// [`push_name`] appends a name of the capture, [`OneLine`] is one in a line that is formatted.
pub(crate) use crate::escape::{OneLine, push_name};

/// A buffer that `write!` appends to.
pub(crate) struct TextBuffer<'a>(pub(crate) &'a mut Vec<u8>);

impl core::fmt::Write for TextBuffer<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = b"before ".to_vec();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// Returns what the standard library writes for a number, after `fill` up to the width.
    fn right_aligned(text: &str, fill: &str, width: usize) -> String {
        format!("before {}{text}", fill.repeat(width.saturating_sub(text.len())))
    }

    #[test]
    fn columns_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 99, 100, 123_456, 999_999_999, 10_000_000_000, u64::MAX] {
            for width in [0, 1, 2, 5, 9, 16, 31, 32, 33, 100] {
                let text = number.to_string();
                let decimal = right_aligned(&text, " ", width);
                assert_eq!(pushed(|out| push_decimal_to(out, number, width)), decimal);
                let padded = |out: &mut Vec<u8>| left_padded(out, width, |out| out.extend(text.bytes()));
                assert_eq!(pushed(padded), decimal);
                let hex = right_aligned(&format!("{number:x}"), " ", width);
                assert_eq!(pushed(|out| push_hex_to(out, number, width)), hex);
                let width_of_zeros = width.min(16);
                let zeroed = right_aligned(&text, "0", width_of_zeros);
                assert_eq!(pushed(|out| push_zeroed(out, number, width_of_zeros)), zeroed);
                let seconds = right_aligned(&(number / 1_000_000_000).to_string(), " ", width);
                let seconds = format!("{seconds}.{:06}", number / 1000 % 1_000_000);
                assert_eq!(pushed(|out| push_microseconds(out, number, width)), seconds);
                let padded = |out: &mut Vec<u8>| {
                    out.extend(text.bytes());
                    pad_to(out, "before ".len(), width);
                };
                let left_aligned = format!("before {text}{}", " ".repeat(width.saturating_sub(text.len())));
                assert_eq!(pushed(padded), left_aligned);
            }
        }
    }
}
