//! Lines that fit on a terminal.

/// Cuts the lines of a text from `start` on to a number of characters. Colours take none.
pub(super) fn cut_lines(out: &mut Vec<u8>, start: usize, width: usize) {
    let text = out.split_off(start);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        cut_line(out, line, width);
    }
}

fn cut_line(out: &mut Vec<u8>, line: &[u8], width: usize) {
    let text = String::from_utf8_lossy(line);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let (mut shown, mut is_color) = (0, false);
    // Where the text ends if three dots follow.
    let mut end = text.len();
    for (at, character) in text.char_indices() {
        is_color |= character == '\u{1b}';
        if !is_color {
            shown += 1;
            if shown == width.saturating_sub(2) {
                end = at;
            }
        }
        is_color &= character != 'm';
    }
    if shown <= width {
        out.extend_from_slice(line);
        return;
    }
    out.extend_from_slice(text.get(..end).unwrap_or_default().as_bytes());
    out.extend_from_slice(b"...\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, width: usize) -> String {
        let mut out = b"kept ".to_vec();
        out.extend_from_slice(text.as_bytes());
        cut_lines(&mut out, 5, width);
        String::from_utf8(out).unwrap().strip_prefix("kept ").unwrap().to_owned()
    }

    #[test]
    fn longer_lines_are_cut() {
        assert_eq!(cut("12345678\n123456789\n", 8), "12345678\n12345...\n");
        assert_eq!(cut("\u{e9}2345678\n\u{e9}23456789\n", 8), "\u{e9}2345678\n\u{e9}2345...\n");
    }

    #[test]
    fn colors_take_no_room() {
        assert_eq!(cut("\u{1b}[31m12345678\u{1b}[m\n", 8), "\u{1b}[31m12345678\u{1b}[m\n");
        assert_eq!(cut("\u{1b}[31m1\u{1b}[m23456789\n", 8), "\u{1b}[31m1\u{1b}[m2345...\n");
    }
}
