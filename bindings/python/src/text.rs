//! Bytes of a capture as text.

use std::fmt::Write;

/// Returns a name of a capture, which may be of any bytes: those that are no UTF-8 become `\xNN`, as in all tables and JSON of
/// perfdata.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to memory cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}
