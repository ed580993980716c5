//! The text of a source file.

use std::fmt;
use std::path::PathBuf;

use super::Found;

/// The place that a source text was found at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceOrigin {
    /// The recorded path, on this machine or below the root of the recorded one.
    Recorded,
    /// The recorded path with a prefix: [`SourceOptions::prefix`](super::SourceOptions).
    Prefix,
    /// A folder with sources: [`SourceOptions::dirs`](super::SourceOptions).
    Directory,
    /// The DWARF of the program: the text that was compiled.
    Embedded,
    /// A debuginfod server.
    Fetched,
}

/// The text of a source file. It need not be UTF-8.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceText {
    /// The path at which it was found; the recorded one if it was embedded.
    pub path: PathBuf,
    /// Where it was found.
    pub origin: SourceOrigin,
    /// Whether the file was modified after the recording ended, so that its lines may be others than those that were compiled.
    pub is_newer: bool,
    bytes: Box<[u8]>,
    /// The offset of each line.
    starts: Box<[u32]>,
}

impl SourceText {
    /// Finds the lines of a text, `most` of them.
    pub(super) fn new(found: Found, most: usize) -> Self {
        let Found { bytes, path, origin, is_newer } = found;
        let after_line_ends =
            bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_line_ends).take_while(|&start| start < bytes.len());
        // Larger offsets than those of 4 GiB are beyond the limit.
        let starts: Vec<_> = starts.map_while(|start| u32::try_from(start).ok()).take(most).collect();
        Self { path, origin, is_newer, starts: starts.into(), bytes: bytes.into() }
    }

    /// Returns the number of its lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without its line end, by its number from 1 on; `None` if there is none.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&[u8]> {
        let start = *self.starts.get(usize::try_from(number.checked_sub(1)?).ok()?)?;
        let rest = self.bytes.get(usize::try_from(start).ok()?..)?;
        let line = rest.split(|&byte| byte == b'\n').next()?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Returns the whole text.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes that are kept.
    pub(super) fn size(&self) -> u64 {
        (self.bytes.len() as u64).saturating_add(size_of_val(&*self.starts) as u64)
    }
}

impl fmt::Debug for SourceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, origin, is_newer, bytes, starts } = self;
        f.debug_struct("SourceText")
            .field("path", path)
            .field("origin", origin)
            .field("is_newer", is_newer)
            .field("bytes", &bytes.len())
            .field("lines", &starts.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], most: usize) -> SourceText {
        let found = Found {
            bytes: bytes.to_vec(),
            path: "a.c".into(),
            origin: SourceOrigin::Recorded,
            is_newer: false,
        };
        SourceText::new(found, most)
    }

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        let text = text(bytes, 10);
        assert_eq!(
            (text.line(0), text.line(text.lines() as u32 + 1), text.line(u32::MAX)),
            (None, None, None)
        );
        (1..=text.lines() as u32).map(|number| text.line(number).unwrap().to_vec()).collect()
    }

    #[test]
    fn lines_of_texts() {
        assert_eq!(lines(b""), Vec::<Vec<u8>>::new());
        assert_eq!(lines(b"\n"), [b""]);
        assert_eq!(lines(b"a"), [b"a"]);
        assert_eq!(lines(b"a\n\nb\r\n\xff\rc"), [&b"a"[..], b"", b"b", b"\xff\rc"]);
        assert_eq!(lines(b"a\nb\n"), [b"a", b"b"]);
    }

    #[test]
    fn lines_within_the_limit() {
        for (most, known) in [(4, 3), (3, 3), (2, 2), (0, 0)] {
            let text = text(b"a\nb\nc", most);
            assert_eq!(text.lines(), known);
            assert_eq!(text.size(), 5 + 4 * known as u64);
        }
    }
}
