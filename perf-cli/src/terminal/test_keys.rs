//! Keys for the tests of browsers.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Returns the key that a help names so.
pub(crate) fn named(name: &str) -> KeyEvent {
    let code = match name {
        "UP" => KeyCode::Up,
        "DOWN" => KeyCode::Down,
        "PGUP" => KeyCode::PageUp,
        "PGDN" => KeyCode::PageDown,
        "SPACE" => KeyCode::Char(' '),
        "HOME" => KeyCode::Home,
        "END" => KeyCode::End,
        "ENTER" => KeyCode::Enter,
        "RIGHT" => KeyCode::Right,
        "LEFT" => KeyCode::Left,
        "ESC" => KeyCode::Esc,
        "TAB" => KeyCode::Tab,
        "SHIFT-TAB" => return KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT),
        "F1" => KeyCode::F(1),
        "CTRL-C" => return KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
        letter => KeyCode::Char(letter.parse().unwrap()),
    };
    key(code)
}

/// Returns the key that types a letter; others have a control character or an arrow.
pub(crate) fn typed(letter: char) -> KeyCode {
    match letter {
        '\n' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '\u{b}' => KeyCode::BackTab,
        '\u{1b}' => KeyCode::Esc,
        '\u{8}' | '\u{7f}' => KeyCode::Backspace,
        '\u{2191}' => KeyCode::Up,
        '\u{2193}' => KeyCode::Down,
        letter => KeyCode::Char(letter),
    }
}

/// Returns a key without others.
pub(crate) fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

/// Random numbers, the same in each run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Self(1)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let Self(state) = self;
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state % limit as u64) as usize
    }

    /// Returns one of the keys of a text.
    pub(crate) fn typed(&mut self, keys: &[u8]) -> KeyCode {
        typed(keys[self.below(keys.len())].into())
    }
}
