//! Columns of text: their largest width, padding, and names that are cut.
//!
//! The width of a format string has 16 bits in Rust, and a larger one panics. So a width that is not a constant never goes
//! into one: these functions pad to it.

/// The width of the widest column, in characters. Names of C++ with all their arguments are shorter, but for very few.
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
    let kept: String = text.chars().take(WIDEST - MARK.len()).collect();
    out.truncate(start);
    out.extend_from_slice(kept.as_bytes());
    out.extend_from_slice(MARK.as_bytes());
}

/// Returns the number of characters of a text that is safe to print.
pub(crate) fn shown_len(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).chars().count()
}

/// Returns a text with blanks after it, up to a width.
pub(crate) fn left(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.chars().count());
    text.chars().chain(core::iter::repeat_n(' ', blanks)).collect()
}

/// Returns a text with blanks before it, up to a width.
pub(crate) fn right(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.chars().count());
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
