//! Bytes as text.

use std::borrow::Cow;

use perf_profile::text;

/// Returns bytes as a text; those that are not UTF-8 as `\xNN`.
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(Escaped(bytes).to_string()),
    }
}

struct Escaped<'a>(&'a [u8]);

impl core::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        text::write_escaped(f, self.0, |_| true)
    }
}
