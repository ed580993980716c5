//! The keys of the browser.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does among the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Expands or collapses one level.
    Toggle,
    /// Expands or collapses all of the row.
    ToggleRow,
    ExpandAll,
    Collapse,
    CollapseAll,
    Annotate,
    ZoomThread,
    ZoomDso,
    ZoomKernel,
    ZoomTime,
    Back,
    Filter,
    Limit,
    Relative,
    Headings,
    SortLeft,
    SortRight,
    /// By the overhead of this member of a group.
    SortMember(usize),
    Reverse,
    NextEvent,
    PreviousEvent,
    Events,
    Print,
    Fold,
    Flamegraph,
    Header,
    Help,
    Suspend,
    Quit,
    /// A key of perf: what to do instead.
    Instead(&'static str),
}

/// Returns what a key does; `None` if it does nothing.
///
/// perf: `evsel__hists_browse` and `hist_browser__do_hotkey`, `tools/perf/ui/browsers/hists.c`.
pub(super) fn action(key: KeyEvent) -> Option<Action> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Quit),
            KeyCode::Char('z') => Some(Action::Suspend),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Up => Action::Up,
        KeyCode::Down => Action::Down,
        KeyCode::PageUp => Action::PageUp,
        KeyCode::PageDown | KeyCode::Char(' ') => Action::PageDown,
        KeyCode::Home => Action::Home,
        KeyCode::End => Action::End,
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('+') => Action::Toggle,
        KeyCode::Char('e') => Action::ToggleRow,
        KeyCode::Char('E') => Action::ExpandAll,
        KeyCode::Char('c') => Action::Collapse,
        KeyCode::Char('C') => Action::CollapseAll,
        KeyCode::Char('a') => Action::Annotate,
        KeyCode::Char('t') => Action::ZoomThread,
        KeyCode::Char('d') => Action::ZoomDso,
        KeyCode::Char('k') => Action::ZoomKernel,
        KeyCode::Char('T') => Action::ZoomTime,
        KeyCode::Esc | KeyCode::Left => Action::Back,
        KeyCode::Char('/') => Action::Filter,
        KeyCode::Char('L') => Action::Limit,
        KeyCode::Char('F') => Action::Relative,
        KeyCode::Char('H') => Action::Headings,
        KeyCode::Char('<') => Action::SortLeft,
        KeyCode::Char('>') => Action::SortRight,
        KeyCode::Char('R') => Action::Reverse,
        KeyCode::Char(digit @ '0'..='9') => Action::SortMember(digit as usize - '0' as usize),
        KeyCode::Tab => Action::NextEvent,
        KeyCode::BackTab => Action::PreviousEvent,
        KeyCode::Char('l') => Action::Events,
        KeyCode::Char('P') => Action::Print,
        KeyCode::Char('f') => Action::Fold,
        KeyCode::Char('g') => Action::Flamegraph,
        KeyCode::Char('i') => Action::Header,
        KeyCode::Char('h' | '?') | KeyCode::F(1) => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        KeyCode::Char('S') => Action::Instead("there are no rows of sockets; --cpu selects the CPUs of one"),
        KeyCode::Char('V') => Action::Instead("the column Shared Object has the files"),
        KeyCode::Char('r') => Action::Instead("perfdata runs no scripts; perfdata script prints the samples"),
        KeyCode::Char('s') => Action::Instead("leave by q, and name the other capture"),
        KeyCode::Char('m') => Action::Instead("there is no menu; ? shows the keys"),
        _ => return None,
    })
}

/// The keys, and what they do.
pub(super) const HELP: [(&str, &str); 27] = [
    ("UP DOWN PGUP PGDN", ""),
    ("SPACE HOME END", "Move"),
    ("ENTER RIGHT +", "Expand or collapse one level of callers or callees"),
    ("e", "Expand or collapse the row"),
    ("E C", "Expand or collapse all rows"),
    ("c", "Collapse the row"),
    ("/", "Show the functions whose names contain what is typed"),
    ("a", "Show the instructions of the function, with their samples"),
    ("t", "Zoom into the thread of the row"),
    ("d", "Zoom into the shared object (DSO) of the row"),
    ("k", "Zoom into the kernel"),
    ("T", "Zoom into a time span"),
    ("ESC LEFT", "Zoom out; then the list of events, or the end"),
    ("F", "Percentages of what is shown, or of all"),
    ("L", "Leave out rows and branches below a percentage"),
    ("< >", "Sort by the column to the left or to the right"),
    ("0-9", "Sort by event n of a group"),
    ("R", "Reverse the order"),
    ("TAB SHIFT-TAB", "Next or previous event"),
    ("l", "List the events"),
    ("H", "Show or hide the headings"),
    ("i", "Show what is known of the recording"),
    ("f", "Write what is shown as folded stacks: perfdata.N.folded"),
    ("g", "Write what is shown as a flame graph: perfdata.N.html"),
    ("P", "Write the rows as text: perf.hist.N"),
    ("h ? F1", "Show this"),
    ("q CTRL-C", "Leave"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::test_keys::named;

    #[test]
    fn every_key_of_the_help_does_something() {
        for (keys, _) in HELP {
            for key in keys.split(' ') {
                let action = action(named(if key == "0-9" { "7" } else { key }));
                assert!(!matches!(action, None | Some(Action::Instead(_))), "{key}");
            }
        }
    }
}
