//! The keys of an annotated function.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does among the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewAction {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Selects the hottest instruction.
    Hottest,
    /// Selects the instruction that is next less hot.
    NextHot,
    PreviousHot,
    /// Goes to the target of the instruction.
    Follow,
    Back,
    Search,
    SearchNext,
    SearchPrevious,
    Source,
    LineNumbers,
    Addresses,
    Arrows,
    JumpSources,
    /// Shows percentages, periods or numbers of samples.
    ShownNumber,
    /// Compares periods or numbers of samples.
    PercentBase,
    /// Percentages of the function or of the capture.
    PercentOf,
    NextEvent,
    Help,
    /// A key of perf: what to do instead.
    Instead(&'static str),
}

/// Returns what a key does; `None` if it does nothing.
///
/// perf: `annotate_browser__run`, `tools/perf/ui/browsers/annotate.c`.
pub(super) fn action(key: KeyEvent) -> Option<ViewAction> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return None;
    }
    Some(match key.code {
        KeyCode::Up => ViewAction::Up,
        KeyCode::Down => ViewAction::Down,
        KeyCode::PageUp => ViewAction::PageUp,
        KeyCode::PageDown | KeyCode::Char(' ') => ViewAction::PageDown,
        KeyCode::Home => ViewAction::Home,
        KeyCode::End => ViewAction::End,
        KeyCode::Char('H') => ViewAction::Hottest,
        KeyCode::Tab => ViewAction::NextHot,
        KeyCode::BackTab => ViewAction::PreviousHot,
        KeyCode::Enter | KeyCode::Right => ViewAction::Follow,
        KeyCode::Esc | KeyCode::Left | KeyCode::Char('q') => ViewAction::Back,
        KeyCode::Char('/') => ViewAction::Search,
        KeyCode::Char('n') => ViewAction::SearchNext,
        KeyCode::Char('N') => ViewAction::SearchPrevious,
        KeyCode::Char('s') => ViewAction::Source,
        KeyCode::Char('k') => ViewAction::LineNumbers,
        KeyCode::Char('o') => ViewAction::Addresses,
        KeyCode::Char('j') => ViewAction::Arrows,
        KeyCode::Char('J') => ViewAction::JumpSources,
        KeyCode::Char('t') => ViewAction::ShownNumber,
        KeyCode::Char('b') => ViewAction::PercentBase,
        KeyCode::Char('p') => ViewAction::PercentOf,
        KeyCode::Char('e') => ViewAction::NextEvent,
        KeyCode::Char('h' | '?') | KeyCode::F(1) => ViewAction::Help,
        KeyCode::Char('O') => ViewAction::Instead("every instruction has its offset; o shows addresses"),
        KeyCode::Char('P') => ViewAction::Instead("perfdata annotate --stdio prints the function"),
        KeyCode::Char('r') => {
            ViewAction::Instead("perfdata runs no scripts; perfdata script prints the samples")
        }
        _ => return None,
    })
}

/// The keys, and what they do.
pub(super) const HELP: [(&str, &str); 19] = [
    ("UP DOWN PGUP PGDN", ""),
    ("SPACE HOME END", "Move"),
    ("H", "Go to the hottest instruction"),
    ("TAB SHIFT-TAB", "Go to the next less hot or hotter instruction"),
    ("ENTER RIGHT", "Go to the target of a jump, or show the called function"),
    ("ESC LEFT q", "Go back"),
    ("/", "Search for a text"),
    ("n N", "Search for it again, or backwards"),
    ("s", "Show or hide source lines"),
    ("k", "Show or hide line numbers"),
    ("o", "Offsets in the function, or addresses"),
    ("j", "Show or hide the arrow of the jump"),
    ("J", "Show or hide the number of jumps to an instruction"),
    ("t", "Percentages, event counts (periods), or samples"),
    ("b", "Compare periods, or samples (hits)"),
    ("p", "Percentages of the function (local), or of the capture (global)"),
    ("e", "Next event"),
    ("h ? F1", "Show this"),
    ("CTRL-C", "Leave"),
];
