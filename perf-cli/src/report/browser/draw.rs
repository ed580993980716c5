//! The screen of the browser.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::super::printed::abbreviated;
use super::lines::{LinePart, RowLines, style, title};
use super::model::{Browser, BrowserMode, BrowserQuestion};
use crate::escape::OneLine;
use crate::terminal::{self, heat, shortened};
use perf_profile::SampleTotal;

/// How the screen looks.
#[derive(Clone, Debug)]
pub(super) struct ScreenLook {
    pub(super) has_colors: bool,
    /// How good stacks and names are: the begin of the bottom line.
    pub(super) quality: String,
}

/// Draws the browser on a screen. Only the lines that are seen are made.
pub(super) fn draw(browser: &mut Browser<'_>, look: &ScreenLook, area: Rect, buffer: &mut Buffer) {
    let has_headings =
        browser.state.has_headings && matches!(browser.mode, BrowserMode::Rows | BrowserMode::Asks(..));
    let above = 1 + u16::from(has_headings);
    let height = area.height.saturating_sub(above + 1);
    browser.resize(usize::from(height));
    let body = Rect { y: area.y + above, height, ..area };
    put(buffer, area, 0, &LinePart { at: 0, text: title(browser), percent: None }, Style::new().bold());
    match &browser.mode {
        BrowserMode::Text(lines, top) => {
            let top = (*top).min(lines.len().saturating_sub(usize::from(height)));
            for (y, line) in (0..height).zip(lines.iter().skip(top)) {
                put(buffer, body, y, &LinePart { at: 1, text: line.clone(), percent: None }, Style::new());
            }
        }
        BrowserMode::Events(selected) => events(browser, *selected, body, buffer),
        _ => rows(browser, look, has_headings, area, body, buffer),
    }
    let bottom = match &browser.mode {
        BrowserMode::Asks(BrowserQuestion::Filter, answer) => format!("Functions with: {answer}_"),
        BrowserMode::Asks(BrowserQuestion::Limit, answer) => format!("Smallest percentage: {answer}_"),
        BrowserMode::Asks(BrowserQuestion::Time, answer) => {
            format!("From,to in seconds, or percents such as 10%-20%: {answer}_")
        }
        BrowserMode::Leaves => "Leave? y or ESC: yes; any other key: no".to_owned(),
        BrowserMode::Events(_) => "ENTER shows the table of an event".to_owned(),
        BrowserMode::Text(..) => "ESC goes back".to_owned(),
        BrowserMode::Rows if !browser.message.is_empty() => browser.message.clone(),
        BrowserMode::Rows => quality_line(&OneLine(look.quality.as_bytes()).to_string(), area.width.into()),
    };
    if area.height > 1 {
        let text = OneLine(bottom.as_bytes()).to_string();
        put(buffer, area, area.height - 1, &LinePart { at: 0, text, percent: None }, Style::new().bold());
    }
}

fn put(buffer: &mut Buffer, area: Rect, y: u16, part: &LinePart, style: Style) {
    terminal::put(buffer, area, part.at, y, &part.text, style);
}

/// Returns the bottom line: the quality, and where the keys are. The quality is shortened, as only the hint leads to the rest.
fn quality_line(quality: &str, width: usize) -> String {
    const HINT: &str = "; ? shows the keys";
    format!("{}{HINT}", shortened(quality, width.saturating_sub(HINT.len())))
}

fn rows(
    browser: &Browser<'_>,
    look: &ScreenLook,
    has_headings: bool,
    area: Rect,
    body: Rect,
    buffer: &mut Buffer,
) {
    let style = style(&browser.listed, Some(usize::from(area.width)));
    let lines = RowLines::new(&browser.listed, &style, browser.view.report.plan().children);
    if has_headings {
        let first = browser.view.report.plan().layout.order.first().copied();
        let sorted = browser.state.sort.map(|(column, _)| column).or(first);
        for (column, part) in lines.headings() {
            let is_sorted = sorted == Some(column);
            let style = if is_sorted { Style::new().bold().underlined() } else { Style::new().bold() };
            put(buffer, area, 1, &part, style);
        }
    }
    for y in 0..body.height {
        let number = browser.top + usize::from(y);
        for part in lines.line(number) {
            put(buffer, body, y, &part, heat(part.percent, look.has_colors));
        }
        if number == browser.cursor && number < browser.listed.len() {
            let line = Rect { y: body.y + y, height: 1, ..body };
            buffer.set_style(line, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
    if browser.listed.len() == 0 {
        put(
            buffer,
            body,
            0,
            &LinePart { at: 2, text: "no rows; ESC zooms out".into(), percent: None },
            Style::new(),
        );
    }
}

/// Draws the list of events.
///
/// perf: `perf_evsel_menu__write`, `tools/perf/ui/browsers/hists.c`.
fn events(browser: &Browser<'_>, selected: usize, body: Rect, buffer: &mut Buffer) {
    let totals = browser.view.report.events();
    let top = (selected + 1).saturating_sub(usize::from(body.height));
    for (y, (number, members)) in (0..body.height).zip(browser.tables.iter().enumerate().skip(top)) {
        let mut total = SampleTotal::default();
        let of = members.events.iter().filter_map(|index| totals.get(index));
        of.for_each(|it| total.add(it.all));
        let (samples, unit) = abbreviated(total.samples);
        let name = OneLine(&members.name);
        let text = format!("{samples:>5}{unit} {:>20} {name}", total.period);
        let style = if number == selected { Style::new().reversed() } else { Style::new() };
        put(buffer, body, y, &LinePart { at: 0, text, percent: None }, style);
    }
}
