//! Lines on standard error.

use core::fmt::Arguments;
use std::io::{self, Write};

use crate::escape::push_lines;
use crate::streams;

/// Prints a line on standard error with [`line`]. Takes the arguments of `eprintln!`.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Prints a line on standard error.
///
/// It is one write, so that output of other processes does not split it. Characters that may control a terminal are
/// escaped, because file names and captures can contain any. Ignores errors: there is no other place to report them.
pub(crate) fn line(text: Arguments<'_>) {
    let _ = write_line(&mut streams::Errors, &mut Vec::new(), text);
}

/// Writes a line to `out` with one write. The buffer is reusable.
pub(super) fn write_line(out: &mut impl Write, buffer: &mut Vec<u8>, text: Arguments<'_>) -> io::Result<()> {
    buffer.clear();
    match text.as_str() {
        Some(text) => push_lines(buffer, text),
        None => push_lines(buffer, &text.to_string()),
    }
    buffer.push(b'\n');
    out.write_all(buffer)
}
