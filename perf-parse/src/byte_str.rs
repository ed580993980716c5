//! Text in whatever encoding it was recorded.

use core::fmt::{self, Write};
use core::ops::Deref;
use core::str::Utf8Error;

/// Text as it was recorded, such as a host name: bytes that are usually UTF-8, and need not be. Borrows them.
///
/// It prints as text: what is not UTF-8 prints as U+FFFD. It compares with strings and with bytes, and has the methods
/// of `[u8]`.
///
/// # Examples
///
/// ```
/// use perf_parse::ByteStr;
///
/// let name = ByteStr::new(b"builder-7");
/// assert_eq!(name, "builder-7");
/// assert_eq!(name.to_string(), "builder-7");
/// assert!(name.starts_with(b"builder"));
///
/// let latin_1 = ByteStr::new(b"caf\xe9");
/// assert_eq!(latin_1.to_string(), "caf\u{fffd}");
/// assert!(latin_1.to_str().is_err());
/// assert_eq!(latin_1.as_bytes(), b"caf\xe9");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteStr<'a>(&'a [u8]);

impl<'a> ByteStr<'a> {
    /// Returns text of these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, as recorded.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the text as a string. Takes time in proportion to its length.
    ///
    /// # Errors
    ///
    /// [`Utf8Error`] if the bytes are not UTF-8.
    pub const fn to_str(self) -> Result<&'a str, Utf8Error> {
        core::str::from_utf8(self.0)
    }
}

impl Deref for ByteStr<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

impl AsRef<[u8]> for ByteStr<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

impl<'a> From<&'a [u8]> for ByteStr<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for ByteStr<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<'a> From<&'a str> for ByteStr<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl<'a> From<ByteStr<'a>> for &'a [u8] {
    fn from(text: ByteStr<'a>) -> Self {
        text.0
    }
}

/// What is not UTF-8 is U+FFFD.
impl fmt::Display for ByteStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(text) = self.to_str() {
            return f.pad(text);
        }
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

/// In quotes, with escapes for what is not printable ASCII.
impl fmt::Debug for ByteStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl PartialEq<[u8]> for ByteStr<'_> {
    fn eq(&self, other: &[u8]) -> bool {
        self.0 == other
    }
}

impl PartialEq<&[u8]> for ByteStr<'_> {
    fn eq(&self, other: &&[u8]) -> bool {
        self.0 == *other
    }
}

impl<const N: usize> PartialEq<&[u8; N]> for ByteStr<'_> {
    fn eq(&self, other: &&[u8; N]) -> bool {
        self.0 == *other
    }
}

impl PartialEq<str> for ByteStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for ByteStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

/// A string if the format is human readable and the text is UTF-8, otherwise bytes.
#[cfg(feature = "serde")]
impl serde::Serialize for ByteStr<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        crate::serialize::SerializedText(self.0).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn prints() {
        let broken = ByteStr::new(b"a\xff\xfeb\"\xe2\x82");
        assert_eq!(format!("{broken}"), "a\u{fffd}\u{fffd}b\"\u{fffd}");
        assert_eq!(format!("{broken:?}"), r#""a\xff\xfeb\"\xe2\x82""#);
        assert_eq!(format!("[{:>4}]", ByteStr::from("ab")), "[  ab]");
    }

    #[test]
    fn compares() {
        let text = ByteStr::from("ab");
        let (same, longer): (&[u8], &[u8]) = (b"ab", b"abc");
        assert!(text == "ab" && text == *"ab" && text == b"ab" && text == same && text == *same);
        assert!(text != "ac" && text != *"a" && text != b"a" && text != longer && text != b""[..]);
        assert_eq!(<&[u8]>::from(text), text.as_ref());
    }
}
