//! Bytes of a capture as text that is safe to print.

use core::fmt::{Display, Formatter, Result, Write};

/// Bytes as lower-case hexadecimal.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends bytes as lower-case hexadecimal.
pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.iter().flat_map(|&byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[usize::from(digit)]));
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

/// Bytes as a terminal may be shown them: control characters, backslashes and what is not UTF-8 as escapes, in quotes
/// where a reader could not tell where they end.
pub(crate) struct Printable<'a>(pub(crate) &'a [u8]);

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
