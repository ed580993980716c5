//! Text on a screen: cut to its room, and coloured by percentages.

use alloc::borrow::Cow;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};

use crate::column;
use crate::escape::OneLine;

/// Marks a text that is cut.
const MARK: &str = "...";

/// The columns from one tab stop to the next.
const TAB: usize = 8;

/// The number of bytes of the longest character of UTF-8.
const LONGEST: usize = 4;

/// Returns whether the user permits colours: `NO_COLOR` is not set, or empty.
pub(crate) fn has_colors() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}

/// Returns the colour of a percentage: red from 5 on, green from 0.5 on. They are those of the terminal, which fit its
/// background.
///
/// perf: `ui_browser__percent_color`, `tools/perf/ui/browser.c`.
pub(crate) fn heat(percent: Option<f64>, has_colors: bool) -> Style {
    match percent {
        Some(5.0..) if has_colors => Style::new().fg(Color::Red),
        Some(0.5..) if has_colors => Style::new().fg(Color::Green),
        _ => Style::new(),
    }
}

/// Writes a text, which must be safe to print, into line `y` of an area from column `x` on; what does not fit ends with dots.
pub(crate) fn put(buffer: &mut Buffer, area: Rect, x: usize, y: u16, text: &str, style: Style) {
    let x = u16::try_from(x).unwrap_or(u16::MAX);
    if x >= area.width || y >= area.height {
        return;
    }
    let room = usize::from(area.width - x);
    buffer.set_stringn(area.x + x, area.y + y, shortened(text, room), room, style);
}

/// Returns a text that is at most `room` columns wide; what does not fit ends with dots.
pub(crate) fn shortened(text: &str, room: usize) -> Cow<'_, str> {
    if column::width(text) <= room {
        return text.into();
    }
    format!("{}{MARK}", column::begin(text, room.saturating_sub(MARK.len()))).into()
}

/// Returns the begin of a text of any length, safe to print, with tabs as blanks. It is long enough for `room` columns, and
/// longer if they do not show all of the text. The cost depends on `room` only.
pub(crate) fn begin_of(text: &[u8], room: usize) -> String {
    let mut end = room.saturating_add(1).saturating_mul(LONGEST).min(text.len());
    // Not within a character, if the text is UTF-8.
    for _ in 1..LONGEST {
        if text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end = end.saturating_sub(1);
        }
    }
    let begin = text.get(..end).unwrap_or_default();
    let mut shown = String::new();
    for (number, piece) in begin.split(|&byte| byte == b'\t').enumerate() {
        if number > 0 {
            let column = shown.chars().count();
            if column > room {
                break;
            }
            shown.extend(core::iter::repeat_n(' ', TAB - column % TAB));
        }
        shown.push_str(&OneLine(piece).to_string());
    }
    if end < text.len() {
        shown.push_str(MARK);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_begin_of_a_text_is_safe_and_has_blanks_for_tabs() {
        assert_eq!(begin_of(b"\ta\tb", 80), format!("{}a{}b", " ".repeat(8), " ".repeat(7)));
        assert_eq!(begin_of(b"12345678\tb", 80), format!("12345678{}b", " ".repeat(8)));
        assert_eq!(begin_of("\u{1b}[2J\u{202e}x\r".as_bytes(), 80), r"\u{1b}[2J\u{202e}x\r");
        assert_eq!(begin_of(b"\xff", 80), r"\xff");
        assert_eq!(begin_of(b"", 80), "");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        for room in 0..40 {
            for letter in ["\u{e9}", "\u{5b57}", "\u{1f600}"] {
                for before in ["", "a", "ab", "abc"] {
                    let text = before.to_owned() + &letter.repeat(1000);
                    let shown = begin_of(text.as_bytes(), room);
                    assert!(!shown.contains('\\') && shown.chars().count() > room, "{room}: {shown}");
                }
            }
        }
    }

    /// 10 MB of a line are as cheap as one screen of it.
    #[test]
    fn a_long_text_costs_as_much_as_its_room() {
        for byte in [b'a', b'\t', 0x1b, 0x80, 0xff] {
            let text = vec![byte; 10 << 20];
            for room in [0, 1, 80] {
                assert!(begin_of(&text, room).len() < 64 * (room + 2), "{byte} {room}");
            }
        }
    }
}
