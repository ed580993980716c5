//! Lines on standard error.

use core::fmt::Arguments;
use std::io::{self, Write};

use crate::render::escape::push_lines;
use crate::streams;

/// Prints a line on standard error, as [`line`] does, formatted as by `eprintln!`.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Prints a line on standard error.
///
/// It is one write, so that it is not mixed with what others print. Characters that a terminal might obey are escaped,
/// as file names and what comes from a capture may hold any. Where standard error is gone, nobody can be told.
pub(crate) fn line(text: Arguments<'_>) {
    let _ = write_line(&mut streams::Errors, &mut Vec::new(), text);
}

/// Writes a line to `out` at once, through a buffer that may be used again.
pub(super) fn write_line(out: &mut impl Write, buffer: &mut Vec<u8>, text: Arguments<'_>) -> io::Result<()> {
    buffer.clear();
    match text.as_str() {
        Some(text) => push_lines(buffer, text),
        None => push_lines(buffer, &text.to_string()),
    }
    buffer.push(b'\n');
    out.write_all(buffer)
}
