//! An annotated function on the screen, and the effect of each key.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent};

use perf_profile::annotation::{AnnotatedEvent, Annotation};

use super::hot::HotInstructions;
use super::jumps::{self, JumpArrow};
use super::keys::{self, ViewAction};
use super::options::ViewOptions;
use super::request::FunctionRequest;
use super::rows::{AnnotatedRow, AnnotatedRows};
use super::search;
use crate::terminal::is_control;

/// What must be done outside of the view after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ViewStep {
    /// Only the screen changes.
    Stay,
    /// Show a function that an instruction branches to.
    Follow(FunctionRequest),
    /// Show what was shown before.
    Back,
    /// Stop until the shell continues the program.
    Suspend,
    Quit,
}

/// What keys are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ViewMode {
    Rows,
    /// The keys, and the first line that is shown.
    Help(usize),
    /// The text to search for, up to now.
    Search(String),
}

/// An annotated function on the screen.
#[derive(Debug)]
pub(super) struct AnnotationView {
    pub(super) annotation: Annotation,
    /// The index of the event whose samples are shown.
    pub(super) event: usize,
    pub(super) options: ViewOptions,
    pub(super) rows: AnnotatedRows,
    /// By instruction: the number of jumps to it.
    pub(super) jump_sources: Vec<u32>,
    /// The largest of them.
    pub(super) most_jumps: u32,
    /// The largest number of a source line.
    pub(super) last_line: u32,
    hot: HotInstructions,
    pub(super) mode: ViewMode,
    /// The row that is selected.
    pub(super) cursor: usize,
    /// The first row that is shown.
    pub(super) top: usize,
    /// The number of rows that are shown.
    height: usize,
    /// Shown instead of the notes until the next key.
    pub(super) message: String,
    /// What was searched for last.
    pattern: String,
}

impl AnnotationView {
    /// Shows the samples of an event, or of the first one if the function has none of it. The hottest instruction is selected.
    pub(super) fn new(annotation: Annotation, event: Option<&str>, options: ViewOptions) -> Self {
        let of_name = annotation.events.iter().position(|it| event == Some(&*it.name));
        let event = of_name.unwrap_or(0);
        let jump_sources = jumps::sources(&annotation);
        let mut view = Self {
            rows: AnnotatedRows::new(&annotation, options.has_source),
            most_jumps: jump_sources.iter().copied().max().unwrap_or(0),
            jump_sources,
            last_line: annotation.lines.iter().map(|it| it.line).max().unwrap_or(0),
            hot: HotInstructions::new(&annotation, event, options.percent),
            annotation,
            event,
            options,
            mode: ViewMode::Rows,
            cursor: 0,
            top: 0,
            height: 1,
            message: String::new(),
            pattern: String::new(),
        };
        let first = view.hot.hottest().unwrap_or(0);
        view.select(first);
        view
    }

    /// Returns a view of a function that an instruction of this one branches to. It looks like this one. If the branch is not to
    /// its start, or it has no samples, the target is selected.
    pub(super) fn followed(&self, annotation: Annotation, request: &FunctionRequest) -> Self {
        let mut view = Self::new(annotation, self.event().map(|event| &*event.name), self.options);
        let target =
            request.address.filter(|&address| address != view.annotation.start || view.event().is_none());
        if let Some(target) = target.and_then(|address| view.annotation.instruction_at(address)) {
            view.select(target);
        }
        view
    }

    /// Returns the event whose samples are shown; `None` if the function has no samples.
    pub(super) fn event(&self) -> Option<&AnnotatedEvent> {
        self.annotation.events.get(self.event)
    }

    /// Returns the arrow of the selected jump; `None` if no jump is selected, or without arrows.
    pub(super) fn arrow(&self) -> Option<JumpArrow> {
        let Some(AnnotatedRow::Instruction(index)) = self.rows.get(self.cursor) else { return None };
        let target = jumps::target_of(&self.annotation, index).filter(|_| self.options.has_arrows)?;
        Some(JumpArrow { from: self.cursor, to: self.rows.of_instruction(target)? })
    }

    /// Takes the number of rows that are shown.
    pub(super) fn resize(&mut self, height: usize) {
        if self.height != height.max(1) {
            self.height = height.max(1);
            self.center();
        }
        self.scroll();
    }

    /// Shows the selected row in the middle, if it is not shown.
    fn center(&mut self) {
        if self.cursor < self.top || self.cursor >= self.top + self.height {
            self.top = self.cursor.saturating_sub(self.height / 2);
        }
    }

    fn scroll(&mut self) {
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        let last_top = self.rows.len().saturating_sub(self.height);
        self.top = self.top.min(last_top).min(self.cursor).max((self.cursor + 1).saturating_sub(self.height));
    }

    /// Selects an instruction.
    pub(super) fn select(&mut self, instruction: usize) {
        if let Some(row) = self.rows.of_instruction(instruction) {
            self.cursor = row;
            self.center();
        }
    }

    /// Does what a key asks for.
    pub(super) fn update(&mut self, key: KeyEvent) -> ViewStep {
        self.message.clear();
        if is_control(key, 'c') {
            return ViewStep::Quit;
        }
        if is_control(key, 'z') {
            return ViewStep::Suspend;
        }
        let step = match core::mem::replace(&mut self.mode, ViewMode::Rows) {
            ViewMode::Rows => match keys::action(key) {
                Some(action) => self.act(action),
                None => self.say("this key does nothing; ? shows the keys"),
            },
            ViewMode::Help(top) => self.read(top, key),
            ViewMode::Search(text) => self.type_pattern(text, key),
        };
        self.scroll();
        step
    }

    fn say(&mut self, message: &str) -> ViewStep {
        message.clone_into(&mut self.message);
        ViewStep::Stay
    }

    fn act(&mut self, action: ViewAction) -> ViewStep {
        let last = self.rows.len().saturating_sub(1);
        let options = &mut self.options;
        match action {
            ViewAction::Up => self.cursor = self.cursor.saturating_sub(1),
            ViewAction::Down => self.cursor += 1,
            ViewAction::PageUp => self.page(self.cursor.saturating_sub(self.height)),
            ViewAction::PageDown => self.page((self.cursor + self.height).min(last)),
            ViewAction::Home => self.cursor = 0,
            ViewAction::End => self.cursor = last,
            ViewAction::Hottest | ViewAction::NextHot | ViewAction::PreviousHot => {
                let hot = match action {
                    ViewAction::Hottest => self.hot.hottest(),
                    ViewAction::NextHot => self.hot.next(),
                    _ => self.hot.previous(),
                };
                match hot {
                    Some(instruction) => self.select(instruction),
                    None => return self.say("no instruction has samples of this event"),
                }
            }
            ViewAction::Follow => return self.follow(),
            ViewAction::Back => return ViewStep::Back,
            ViewAction::Search => self.mode = ViewMode::Search(String::new()),
            ViewAction::SearchNext | ViewAction::SearchPrevious if self.pattern.is_empty() => {
                return self.say("/ searches for a text");
            }
            ViewAction::SearchNext => self.search(false),
            ViewAction::SearchPrevious => self.search(true),
            ViewAction::Source => self.toggle_source(),
            ViewAction::LineNumbers => options.has_line_numbers = !options.has_line_numbers,
            ViewAction::Addresses => options.has_addresses = !options.has_addresses,
            ViewAction::Arrows => options.has_arrows = !options.has_arrows,
            ViewAction::JumpSources => options.has_jump_sources = !options.has_jump_sources,
            ViewAction::ShownNumber => options.number = options.number.next(),
            ViewAction::PercentBase => {
                options.percent.by_samples = !options.percent.by_samples;
                self.count();
            }
            ViewAction::PercentOf => options.percent.of_capture = !options.percent.of_capture,
            ViewAction::NextEvent if self.annotation.events.len() < 2 => {
                return self.say("the function has samples of one event only");
            }
            ViewAction::NextEvent => {
                self.event = (self.event + 1) % self.annotation.events.len();
                self.count();
            }
            ViewAction::Help => self.mode = ViewMode::Help(0),
            ViewAction::Instead(what) => return self.say(what),
        }
        ViewStep::Stay
    }

    /// Moves by a page: the selected row stays where it is on the screen.
    fn page(&mut self, cursor: usize) {
        let offset = self.cursor - self.top.min(self.cursor);
        (self.cursor, self.top) = (cursor, cursor.saturating_sub(offset));
    }

    /// Orders the instructions by other samples.
    fn count(&mut self) {
        self.hot = HotInstructions::new(&self.annotation, self.event, self.options.percent);
    }

    /// Shows or hides source lines. The selected instruction, or the one after the selected line, stays where it is on the screen.
    fn toggle_source(&mut self) {
        let instruction = self.rows.instruction_from(self.cursor);
        let offset = self.cursor.saturating_sub(self.top);
        self.options.has_source = !self.options.has_source;
        self.rows = AnnotatedRows::new(&self.annotation, self.options.has_source);
        if let Some(row) = instruction.and_then(|it| self.rows.of_instruction(it)) {
            (self.cursor, self.top) = (row, row.saturating_sub(offset));
        }
    }

    /// Goes to the target of the selected instruction.
    fn follow(&mut self) -> ViewStep {
        const NO_TARGET: &str = "only a call or a jump to a known address can be followed";
        let Some(AnnotatedRow::Instruction(index)) = self.rows.get(self.cursor) else {
            return self.say(NO_TARGET);
        };
        let target = self.annotation.instructions.get(index).and_then(|it| it.target.as_ref());
        let Some(target) = target else { return self.say(NO_TARGET) };
        if let Some(inner) = self.annotation.instruction_at(target.address) {
            self.select(inner);
            return ViewStep::Stay;
        }
        ViewStep::Follow(FunctionRequest {
            dso: self.annotation.dso.to_vec(),
            symbol: target.name.to_vec(),
            address: Some(target.address),
            offset: None,
        })
    }

    fn search(&mut self, is_backwards: bool) {
        let pattern = self.pattern.as_bytes();
        let found = search::find(&self.annotation, &self.rows, self.cursor, pattern, is_backwards);
        match found {
            None => self.message = format!("not found: {}", self.pattern),
            Some(found) => {
                self.cursor = found.row;
                self.center();
                if found.is_wrapped {
                    let end = if is_backwards { "last" } else { "first" };
                    self.message = format!("the search went on from the {end} row");
                }
            }
        }
    }

    /// Takes a key of the text to search for.
    fn type_pattern(&mut self, mut text: String, key: KeyEvent) -> ViewStep {
        match key.code {
            KeyCode::Enter => {
                if !text.is_empty() {
                    self.pattern = text;
                    self.search(false);
                }
                return ViewStep::Stay;
            }
            KeyCode::Esc => return ViewStep::Stay,
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char('u') if is_control(key, 'u') => text.clear(),
            KeyCode::Char(letter) => text.push(letter),
            _ => {}
        }
        self.mode = ViewMode::Search(text);
        ViewStep::Stay
    }

    /// Takes a key while the keys are shown.
    fn read(&mut self, top: usize, key: KeyEvent) -> ViewStep {
        let last = keys::HELP.len().saturating_sub(self.height);
        let top = match keys::action(key) {
            Some(ViewAction::Up) => top.saturating_sub(1),
            Some(ViewAction::Down) => top + 1,
            Some(ViewAction::PageUp | ViewAction::Home) => 0,
            Some(ViewAction::PageDown | ViewAction::End) => last,
            _ => return ViewStep::Stay,
        };
        self.mode = ViewMode::Help(top.min(last));
        ViewStep::Stay
    }
}
