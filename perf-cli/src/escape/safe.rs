//! Escapes of the characters that are unsafe to print.

use super::print;

/// Returns whether lines of text may contain something unsafe. Plain ASCII does not.
pub(super) fn has_unsafe(lines: &[u8]) -> bool {
    !lines.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Writes a character as JSON escapes.
pub(super) fn json_escape(out: &mut Vec<u8>, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        print(out, format_args!("\\u{unit:04x}"));
    }
}

/// Escapes the content of `out` from `start` on, except for the characters that are `kept`.
pub(super) fn rewrite(
    out: &mut Vec<u8>,
    start: usize,
    kept: impl Fn(char) -> bool,
    escape: impl Fn(&mut Vec<u8>, char),
) {
    let text = out.split_off(start);
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if kept(character) {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                escape(out, character);
            }
        }
        // Callers pass valid UTF-8, so there is no such byte.
        chunk.invalid().iter().for_each(|byte| print(out, format_args!("\\x{byte:02x}")));
    }
}
