//! The list of the functions with most samples.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_crossterm::crossterm::event::KeyEvent;

use super::keys::{self, ViewAction};
use super::request::FunctionRequest;
use crate::column::right;
use crate::terminal::{begin_of, heat, is_control, put};

/// A function with samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HotFunction {
    /// What is asked of the provider if it is opened.
    pub(crate) request: FunctionRequest,
    /// Its part of all samples.
    pub(crate) percent: f64,
    /// Its samples.
    pub(crate) samples: u64,
}

/// What must be done outside of the list after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStep {
    /// Only the screen changes.
    Stay,
    /// Show the selected function.
    Open,
    /// Stop until the shell continues the program.
    Suspend,
    Quit,
}

/// The list on the screen.
#[derive(Clone, Debug)]
pub(super) struct FunctionList<'f> {
    functions: &'f [HotFunction],
    /// The function that is selected.
    pub(super) cursor: usize,
    /// The first function that is shown.
    top: usize,
    /// The number of functions that are shown.
    height: usize,
    /// Shown until the next key.
    pub(super) message: String,
}

impl<'f> FunctionList<'f> {
    /// Shows functions in their order.
    pub(super) fn new(functions: &'f [HotFunction]) -> Self {
        Self { functions, cursor: 0, top: 0, height: 1, message: String::new() }
    }

    /// Returns the selected function; `None` if the list is empty.
    pub(super) fn selected(&self) -> Option<&'f HotFunction> {
        self.functions.get(self.cursor)
    }

    /// Does what a key asks for.
    pub(super) fn update(&mut self, key: KeyEvent) -> ListStep {
        self.message.clear();
        if is_control(key, 'c') {
            return ListStep::Quit;
        }
        if is_control(key, 'z') {
            return ListStep::Suspend;
        }
        let last = self.functions.len().saturating_sub(1);
        self.cursor = match keys::action(key) {
            Some(ViewAction::Up) => self.cursor.saturating_sub(1),
            Some(ViewAction::Down) => self.cursor + 1,
            Some(ViewAction::PageUp) => self.cursor.saturating_sub(self.height),
            Some(ViewAction::PageDown) => self.cursor + self.height,
            Some(ViewAction::Home | ViewAction::Hottest) => 0,
            Some(ViewAction::End) => last,
            Some(ViewAction::Follow) => return ListStep::Open,
            Some(ViewAction::Back) => return ListStep::Quit,
            _ => self.cursor,
        }
        .min(last);
        ListStep::Stay
    }

    /// Draws the list on a screen.
    pub(super) fn draw(&mut self, has_colors: bool, area: Rect, buffer: &mut Buffer) {
        let height = area.height.saturating_sub(2);
        self.height = usize::from(height).max(1);
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(self.height));
        let width = usize::from(area.width);
        let bold = Style::new().bold();
        put(buffer, area, 0, 0, "Overhead     Samples  Symbol, Shared Object", bold);
        let body = Rect { y: area.y + area.height.min(1), height, ..area };
        for (y, (number, it)) in (0..height).zip(self.functions.iter().enumerate().skip(self.top)) {
            let percent = right(&format!("{:.2}%", it.percent), 8);
            put(buffer, body, 0, y, &percent, heat(Some(it.percent), has_colors));
            let samples = right(&it.samples.to_string(), 10);
            let (symbol, dso) = (begin_of(&it.request.symbol, width), begin_of(&it.request.dso, width));
            put(buffer, body, 10, y, &format!("{samples}  {symbol}  {dso}"), Style::new());
            if number == self.cursor {
                let line = Rect { y: body.y + y, height: 1, ..body };
                buffer.set_style(line, Style::new().add_modifier(Modifier::REVERSED));
            }
        }
        let bottom = match &*self.message {
            _ if self.functions.is_empty() => "no function has samples; q leaves".to_owned(),
            "" => "ENTER shows the instructions of a function; q leaves".to_owned(),
            message => begin_of(message.as_bytes(), width),
        };
        if area.height > 1 {
            put(buffer, area, 0, area.height - 1, &bottom, bold);
        }
    }
}
