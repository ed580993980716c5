//! The screen of an annotated function.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use perf_symbol::Guess;

use super::keys;
use super::notes::notes;
use super::row_parts::RowColumns;
use super::view::{AnnotationView, ViewMode};
use crate::escape::OneLine;
use crate::terminal::{begin_of, put, shortened};

/// The lines above the rows.
const TITLES: u16 = 2;

/// Draws a view on a screen. Only the rows that are seen are made.
pub(super) fn draw(view: &mut AnnotationView, has_colors: bool, area: Rect, buffer: &mut Buffer) {
    let height = area.height.saturating_sub(TITLES + 1);
    view.resize(usize::from(height));
    let body = Rect { y: area.y + TITLES.min(area.height), height, ..area };
    let width = usize::from(area.width);
    let bold = Style::new().bold();
    put(buffer, area, 0, 0, &samples(view, width), bold);
    put(buffer, area, 0, 1, &function(view, width), bold);
    match view.mode {
        ViewMode::Help(top) => help(top, body, buffer),
        ViewMode::Rows | ViewMode::Search(_) => rows(view, has_colors, body, buffer),
    }
    if area.height > TITLES {
        put(buffer, area, 0, area.height - 1, &bottom(view, width), bold);
    }
}

/// Returns the samples that are shown, in a line.
///
/// perf: `hists__scnprintf_title`, `tools/perf/util/hist.c`.
fn samples(view: &AnnotationView, width: usize) -> String {
    let Some(event) = view.event() else { return "Samples: 0".to_owned() };
    let name = begin_of(event.name.as_bytes(), width);
    format!(
        "Samples: {} of {} of event '{name}', Event count (approx.): {}",
        event.total.samples, event.of_capture.samples, event.total.period
    )
}

/// Returns the function, its file and what the numbers are.
///
/// perf: `symbol__tui_annotate`, `tools/perf/ui/browsers/annotate.c`.
fn function(view: &AnnotationView, width: usize) -> String {
    let annotation = &view.annotation;
    let mark = annotation.guess.map_or("", |_| Guess::MARK);
    let (symbol, dso) = (begin_of(&annotation.symbol, width), begin_of(&annotation.dso, width));
    let number = view.options.number.name().unwrap_or(view.options.percent.name());
    format!("{symbol}{mark}  {dso} [{number}]")
}

fn rows(view: &AnnotationView, has_colors: bool, body: Rect, buffer: &mut Buffer) {
    let columns = RowColumns::new(view, body.width.into(), has_colors);
    for y in 0..body.height {
        let row = view.top + usize::from(y);
        for part in columns.parts(row) {
            put(buffer, body, part.at, y, &part.text, part.style);
        }
        if row == view.cursor && row < view.rows.len() {
            let line = Rect { y: body.y + y, height: 1, ..body };
            buffer.set_style(line, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
    if view.rows.len() == 0 {
        put(buffer, body, 2, 0, "the function has no instructions", Style::new());
    }
}

fn help(top: usize, body: Rect, buffer: &mut Buffer) {
    let top = top.min(keys::HELP.len().saturating_sub(body.height.into()));
    for (y, (keys, what)) in (0..body.height).zip(keys::HELP.iter().skip(top)) {
        put(buffer, body, 1, y, &format!("{keys:<18}  {what}"), Style::new());
    }
}

/// Returns the bottom line: a question, a message, or the notes. The notes are shortened, as only the hint leads to the rest.
fn bottom(view: &AnnotationView, width: usize) -> String {
    match &view.mode {
        ViewMode::Help(_) => "ESC goes back".to_owned(),
        ViewMode::Search(text) => format!("Search for: {}_", OneLine(text.as_bytes())),
        ViewMode::Rows if !view.message.is_empty() => begin_of(view.message.as_bytes(), width),
        ViewMode::Rows => {
            const HINT: &str = "? shows the keys";
            let notes = notes(view);
            let separator = if notes.is_empty() { "" } else { "; " };
            let room = width.saturating_sub(HINT.len() + separator.len());
            format!("{}{separator}{HINT}", shortened(&notes, room))
        }
    }
}
