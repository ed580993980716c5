//! Columns of text: their largest width, padding, and names that are cut.
//!
//! Widths are those of a terminal, where a character of Chinese, Japanese or Korean takes two columns, and an accent none.
//!
//! The width of a format string has 16 bits in Rust, and a larger one panics. So a width that is not a constant never goes
//! into one: these functions pad to it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of the widest column. Names of C++ with all their arguments are shorter, but for very few.
pub(crate) const WIDEST: usize = 4096;

/// The end of a name that is cut.
const MARK: &str = "...";

/// Cuts what `out` has from `start` on to the widest column, and marks the cut. The text is safe to print.
pub(crate) fn cut(out: &mut Vec<u8>, start: usize) {
    let text = out.get(start..).unwrap_or_default();
    if text.len() <= WIDEST || shown_len(text) <= WIDEST {
        return;
    }
    let text = String::from_utf8_lossy(text);
    let kept = begin(&text, WIDEST - MARK.len()).to_owned();
    out.truncate(start);
    out.extend_from_slice(kept.as_bytes());
    out.extend_from_slice(MARK.as_bytes());
}

/// Returns the width of a text that is safe to print.
pub(crate) fn shown_len(text: &[u8]) -> usize {
    width(&String::from_utf8_lossy(text))
}

/// Returns the width of a text that is safe to print.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Returns the longest begin of a text that is not wider than this.
pub(crate) fn begin(text: &str, width: usize) -> &str {
    let mut used = 0_usize;
    let fits = |&(_, letter): &(usize, char)| {
        used = used.saturating_add(letter.width().unwrap_or(0));
        used > width
    };
    let end = text.char_indices().find(fits).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Returns the longest end of a text that is not wider than this.
pub(crate) fn end(text: &str, width: usize) -> &str {
    let mut used = 0_usize;
    let fits = |&(_, letter): &(usize, char)| {
        used = used.saturating_add(letter.width().unwrap_or(0));
        used > width
    };
    let start = text.char_indices().rev().find(fits).map_or(0, |(at, letter)| at + letter.len_utf8());
    // Not with the accent of a character that is left out.
    text.get(start..).unwrap_or_default().trim_start_matches(|letter: char| letter.width() == Some(0))
}

/// Returns a text with blanks after it, up to a width.
pub(crate) fn left(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(self::width(text));
    text.chars().chain(core::iter::repeat_n(' ', blanks)).collect()
}

/// Returns a text with blanks before it, up to a width.
pub(crate) fn right(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(self::width(text));
    core::iter::repeat_n(' ', blanks).chain(text.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_text(text: &str) -> String {
        let mut out = b"before ".to_vec();
        out.extend_from_slice(text.as_bytes());
        cut(&mut out, 7);
        String::from_utf8(out).unwrap().strip_prefix("before ").unwrap().to_owned()
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let text = "a\u{5b57}e\u{301}\u{d55c}";
        assert_eq!((width(text), shown_len(text.as_bytes())), (6, 6));
        for (room, first, last) in [
            (0, "", ""),
            (1, "a", ""),
            (2, "a", "\u{d55c}"),
            (3, "a\u{5b57}", "e\u{301}\u{d55c}"),
            (4, "a\u{5b57}e\u{301}", "e\u{301}\u{d55c}"),
            (5, "a\u{5b57}e\u{301}", "\u{5b57}e\u{301}\u{d55c}"),
            (6, text, text),
        ] {
            assert_eq!((begin(text, room), end(text, room)), (first, last), "{room}");
        }
        assert_eq!((&*left("\u{5b57}", 4), &*right("\u{5b57}", 4)), ("\u{5b57}  ", "  \u{5b57}"));
    }

    #[test]
    fn names_beyond_the_widest_column_are_cut() {
        for letter in ["a", "\u{e9}"] {
            let widest = letter.repeat(WIDEST);
            assert_eq!(cut_text(&widest), widest);
            assert_eq!(cut_text(&format!("{widest}{letter}")), letter.repeat(WIDEST - 3) + "...");
        }
    }

    /// A width of a format string would panic.
    #[test]
    fn any_width_is_padded_to() {
        let blanks = " ".repeat(69_999);
        assert_eq!(left("\u{e9}", 70_000), format!("\u{e9}{blanks}"));
        assert_eq!(right("\u{e9}", 70_000), format!("{blanks}\u{e9}"));
        assert_eq!((&*left("wide", 3), &*right("wide", 3)), ("wide", "wide"));
    }
}
