//! Escaping, so that bytes of a capture are safe to print.

mod safe;

use core::fmt::{Display, Formatter, Result, Write};
use std::path::Path;

use perf_profile::text::{is_safe, write_escaped};
use serde_json::Value;

pub(crate) use perf_profile::text::{OneLine, push_name};
use safe::{has_unsafe, json_escape, rewrite};

/// Bytes as lower-case hexadecimal.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

/// Returns the two hexadecimal digits of a byte, the first in the lower byte.
#[inline]
fn digits(byte: u8) -> u16 {
    let byte = u16::from(byte);
    let nibbles = (byte >> 4 | byte << 8) & 0x0f0f;
    let is_letter = (nibbles + 0x0606) >> 4 & 0x0101;
    nibbles + 0x3030 + is_letter * u16::from(b'a' - b'0' - 10)
}

/// Appends bytes as lower-case hexadecimal.
pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    // Without a branch or a table, so that the compiler can vectorize it.
    for (pair, &byte) in out[start..].chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&digits(byte).to_le_bytes());
    }
}

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Bytes that should be UTF-8. Invalid bytes print as `\xNN`.
pub(crate) struct Lossy<'a>(pub(crate) &'a [u8]);

impl Display for Lossy<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

/// Appends bytes that should be UTF-8 as a JSON string. Invalid bytes become `\xNN`, escaped.
pub(crate) fn push_json(out: &mut Vec<u8>, bytes: &[u8]) {
    let is_plain = |&byte: &u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if bytes.iter().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
    } else {
        push_json_shown(out, &Lossy(bytes));
    }
}

/// Appends a text as a JSON string. If the text fails to print, the string ends at the failure.
pub(crate) fn push_json_shown(out: &mut Vec<u8>, text: &dyn Display) {
    let start = out.len();
    let mut serializer = serde_json::Serializer::new(&mut *out);
    let _ = serde::Serializer::collect_str(&mut serializer, text);
    make_json_safe(out, start);
}

/// Returns bytes that should be UTF-8 as a JSON string. Invalid bytes become `\xNN`.
pub(crate) fn json_text(bytes: &[u8]) -> Value {
    Lossy(bytes).to_string().into()
}

/// Appends a JSON value. Writing to memory cannot fail.
pub(crate) fn push_json_value(out: &mut Vec<u8>, value: &Value) {
    let start = out.len();
    let _ = serde_json::to_writer(&mut *out, value);
    make_json_safe(out, start);
}

/// Escapes unsafe characters in the JSON from `start` on. The values stay the same, because characters beyond ASCII
/// occur only within strings.
pub(crate) fn make_json_safe(out: &mut Vec<u8>, start: usize) {
    if out.get(start..).is_some_and(|json| json.iter().any(|byte| *byte >= 0x7f)) {
        rewrite(out, start, |character| is_safe(character) || character == '\n', json_escape);
    }
}

/// Escapes unsafe characters in the lines of text from `start` on.
pub(crate) fn make_lines_safe(out: &mut Vec<u8>, start: usize) {
    if out.get(start..).is_some_and(has_unsafe) {
        let escape =
            |out: &mut Vec<u8>, character: char| print(out, format_args!("{}", character.escape_default()));
        rewrite(out, start, |character| is_safe(character) || matches!(character, '\n' | '\t'), escape);
    }
}

/// Appends lines of text, with unsafe characters escaped.
pub(crate) fn push_lines(out: &mut Vec<u8>, lines: &str) {
    let start = out.len();
    out.extend_from_slice(lines.as_bytes());
    make_lines_safe(out, start);
}

/// Returns a path for a message: unsafe characters, line ends and invalid UTF-8 are escaped.
pub(crate) fn shown(path: &(impl AsRef<Path> + ?Sized)) -> OneLine<'_> {
    OneLine(path.as_ref().as_os_str().as_encoded_bytes())
}

/// Bytes, printed for a terminal: unsafe characters, backslashes and invalid UTF-8 are escaped. Quoted if the end would
/// not be clear otherwise.
pub(crate) struct Printable<'a>(pub(crate) &'a [u8]);

/// Appends bytes in the format of [`Printable`].
pub(crate) fn push_printable(out: &mut Vec<u8>, bytes: &[u8]) {
    let is_plain = |&byte: &u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        out.extend_from_slice(bytes);
    } else {
        print(out, format_args!("{}", Printable(bytes)));
    }
}

impl Display for Printable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let has_space = || self.0.utf8_chunks().any(|chunk| chunk.valid().contains(char::is_whitespace));
        let is_quoted = self.0.is_empty() || self.0.contains(&b'"') || has_space();
        if is_quoted {
            f.write_char('"')?;
        }
        write_escaped(f, self.0, |character| is_safe(character) && !matches!(character, '\\' | '"'))?;
        if is_quoted {
            f.write_char('"')?;
        }
        Ok(())
    }
}

/// Nanoseconds as seconds: `12.000000345`.
pub(crate) struct Seconds(pub(crate) u64);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// Returns nanoseconds as milliseconds with microseconds: `12.345`.
pub(crate) fn milliseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1_000_000, nanoseconds / 1000 % 1000)
}

/// Returns the functions of a stack in one line, the innermost one first.
pub(crate) fn stack_line<'a>(names: impl Iterator<Item = &'a [u8]>) -> String {
    let names: Vec<_> = names.map(|name| OneLine(name).to_string()).collect();
    names.join(" <- ")
}

/// A number as C's `%#x` prints it: without the prefix if it is 0.
pub(crate) struct Alternate(pub(crate) u64);

impl Display for Alternate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0 == 0 { f.write_str("0") } else { write!(f, "{:#x}", self.0) }
    }
}

/// Appends to a buffer in memory. It fails only if a `Display` does.
pub(crate) fn print(out: &mut Vec<u8>, text: core::fmt::Arguments<'_>) {
    let _ = std::io::Write::write_fmt(out, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(push: fn(&mut Vec<u8>, &[u8]), bytes: &[u8]) -> String {
        let mut out = Vec::new();
        push(&mut out, bytes);
        String::from_utf8(out).unwrap()
    }

    /// Bytes without escapes take a faster path, which must give the same output as the slow one.
    #[test]
    fn each_byte_is_pushed_as_it_is_shown() {
        for byte in 0..=u8::MAX {
            for bytes in [&[byte][..], &[b'a', byte], &[byte, b'z']] {
                assert_eq!(pushed(push_printable, bytes), Printable(bytes).to_string());
                let json = serde_json::Value::from(Lossy(bytes).to_string()).to_string();
                assert_eq!(pushed(push_json, bytes), json.replace('\u{7f}', "\\u007f"));
            }
        }
        assert_eq!(pushed(push_printable, b""), "\"\"");
        assert_eq!(pushed(push_json, b""), "\"\"");
    }

    #[test]
    fn blobs_of_every_length_are_pushed_as_they_are_shown() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        for length in (0..40).chain([bytes.len()]) {
            assert_eq!(pushed(push_hex, &bytes[..length]), Hex(&bytes[..length]).to_string());
        }
    }

    /// Characters that change the order of the text, are invisible, or end a line.
    const UNSAFE: &str = "\u{1b}\u{7f}\u{9b}\u{ad}\u{34f}\u{200b}\u{200f}\u{2028}\u{2029}\u{202e}\u{2066}\u{3164}\u{feff}\u{e000}\u{e0041}\u{10ffff}";

    #[test]
    fn unsafe_characters_reach_no_line() {
        let name = format!("a{UNSAFE}b");
        let escaped: String = UNSAFE.chars().map(|it| it.escape_default().to_string()).collect();
        assert_eq!(
            Printable(name.as_bytes()).to_string(),
            format!("\"a{escaped}b\""),
            "ends of lines are spaces"
        );
        assert_eq!(shown(&name).to_string(), format!("a{escaped}b"));
        assert_eq!(shown("a b\n\t\\").to_string(), "a b\\n\\t\\");
        let lines =
            pushed(|out, bytes| push_lines(out, core::str::from_utf8(bytes).unwrap()), name.as_bytes());
        assert_eq!(lines, format!("a{escaped}b"));
        let lines = pushed(|out, bytes| push_lines(out, core::str::from_utf8(bytes).unwrap()), b"a\n\tb\r");
        assert_eq!(lines, "a\n\tb\\r");
    }

    #[test]
    fn json_is_exact_and_shows_no_unsafe_character() {
        let text = format!("a{UNSAFE}\"\\\n\u{e9}\u{1f600}");
        let pushes: [fn(&mut Vec<u8>, &str); 3] = [
            |out, text| push_json(out, text.as_bytes()),
            |out, text| push_json_shown(out, &text),
            |out, text| push_json_value(out, &Value::from(text)),
        ];
        for push in pushes {
            let mut json = b"\xe2\x80\xae".to_vec();
            push(&mut json, &text);
            let json = json.strip_prefix("\u{202e}".as_bytes()).expect("what came before stays as it is");
            let json = core::str::from_utf8(json).unwrap();
            assert!(json.chars().all(is_safe) && json.contains("\\u202e\\u2066"), "{json}");
            assert!(json.contains("\\udb40\\udc41") && json.contains("\u{e9}\u{1f600}"), "{json}");
            assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
        }
    }

    #[test]
    fn a_name_with_any_space_is_quoted() {
        for name in ["a b", "a\u{a0}b", "a\u{3000}b"] {
            assert_eq!(Printable(name.as_bytes()).to_string(), format!("\"{name}\""));
        }
    }
}
