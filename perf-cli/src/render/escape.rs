//! Bytes of a capture as text that is safe to print.

use core::fmt::{Display, Formatter, Result, Write};

use super::print;

/// Bytes as lower-case hexadecimal.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

/// The two digits of a byte, the first in the lower byte.
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
    // Without a branch or a table, for the compiler to take many at a time.
    for (pair, &byte) in out[start..].chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&digits(byte).to_le_bytes());
    }
}

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Bytes that should be UTF-8; those that are not print as `\xNN`.
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

/// Appends bytes that should be UTF-8 as a JSON string; those that are not as `\xNN`, escaped.
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

/// Appends a text as a JSON string; one that fails to print ends where it failed.
pub(crate) fn push_json_shown(out: &mut Vec<u8>, text: &dyn Display) {
    let mut serializer = serde_json::Serializer::new(out);
    let _ = serde::Serializer::collect_str(&mut serializer, text);
}

/// Bytes as a terminal may be shown them: control characters, backslashes and what is not UTF-8 as escapes, in quotes
/// where a reader could not tell where they end.
pub(crate) struct Printable<'a>(pub(crate) &'a [u8]);

/// Appends bytes as [`Printable`] prints them.
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
        let is_quoted =
            self.0.is_empty() || self.0.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'"');
        if is_quoted {
            f.write_char('"')?;
        }
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_control() || character == '\\' || character == '"' {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    f.write_char(character)?;
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(push: fn(&mut Vec<u8>, &[u8]), bytes: &[u8]) -> String {
        let mut out = Vec::new();
        push(&mut out, bytes);
        String::from_utf8(out).unwrap()
    }

    /// What needs no escape is copied; it must come out as if it had been looked at character by character.
    #[test]
    fn each_byte_is_pushed_as_it_is_shown() {
        for byte in 0..=u8::MAX {
            for bytes in [&[byte][..], &[b'a', byte], &[byte, b'z']] {
                assert_eq!(pushed(push_printable, bytes), Printable(bytes).to_string());
                let json = serde_json::Value::from(Lossy(bytes).to_string()).to_string();
                assert_eq!(pushed(push_json, bytes), json);
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
}
