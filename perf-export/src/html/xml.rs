//! Text in XML and HTML.

/// Appends a text so that it stays text, between tags and in quotes. The text is that of [`OneLine`](perf_profile::text::OneLine),
/// which has none of the characters that XML does not allow.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            _ => out.push(byte),
        }
    }
}
