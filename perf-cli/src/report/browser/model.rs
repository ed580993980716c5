//! The screen of the browser, and the effect of each key.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent};

use perf_profile::report::{Layout, Percentage, ReportCell, ReportColumn, SortKey, TableEvents};

use super::super::ReportView;
use super::keys::{self, Action};
use super::listed::ListedRows;
use super::state::{BrowserState, Zoom, ZoomedTask};
use crate::outcome::Failure;
use crate::terminal::is_control;

/// What must be done outside of the model after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrowserStep {
    /// Only the screen changes.
    Stay,
    /// Other samples must be counted: those of [`BrowserState::time`].
    Count,
    /// Write the rows as text.
    Print,
    /// Write folded stacks.
    Fold,
    /// Write a page with a flame graph.
    Flamegraph,
    /// Show the instructions of [`Browser::function`].
    Annotate,
    /// Stop until the shell continues the program.
    Suspend,
    Quit,
}

/// What a text is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrowserQuestion {
    Filter,
    Limit,
    Time,
}

/// What keys are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BrowserMode {
    Rows,
    /// A text, and its first line that is shown.
    Text(Vec<String>, usize),
    /// The list of events, and the one that is selected.
    Events(usize),
    /// A question, and the answer up to now.
    Asks(BrowserQuestion, String),
    /// Whether to leave.
    Leaves,
}

/// What the browser gets from outside.
#[derive(Clone, Copy)]
pub(super) struct BrowserContext<'a> {
    /// What is known of the recording.
    pub(super) header: &'a [String],
    /// Tells what is wrong with spans of time.
    pub(super) check_time: &'a dyn Fn(&str) -> Result<(), Failure>,
    /// The keys that are taken before the browser gets them, and what they do.
    pub(super) more_keys: &'a [(&'static str, &'static str)],
}

/// The browser.
pub(super) struct Browser<'a> {
    pub(super) view: ReportView<'a>,
    pub(super) tables: &'a [TableEvents],
    outside: BrowserContext<'a>,
    pub(super) state: BrowserState,
    pub(super) listed: ListedRows<'a>,
    pub(super) mode: BrowserMode,
    /// The line that is selected.
    pub(super) cursor: usize,
    /// The first line that is shown.
    pub(super) top: usize,
    /// The number of lines that are shown.
    height: usize,
    /// Shown instead of the quality until the next key.
    pub(super) message: String,
    /// The filter before it was changed.
    before: String,
}

impl BrowserState {
    /// What is shown at first.
    pub(super) fn new(view: &ReportView<'_>) -> Self {
        Self {
            table: 0,
            zooms: Vec::new(),
            filter: String::new(),
            sort: None,
            is_reversed: false,
            is_relative: Percentage::from(view.args.percentage) == Percentage::Relative,
            has_headings: true,
            min_percent: view.report.plan().min_percent,
        }
    }
}

impl<'a> Browser<'a> {
    /// Makes a browser of at least one table.
    pub(super) fn new(
        view: ReportView<'a>,
        mut state: BrowserState,
        outside: BrowserContext<'a>,
    ) -> Option<Self> {
        let tables = view.report.tables();
        state.table = state.table.min(tables.len().checked_sub(1)?);
        let listed = ListedRows::new(view, tables.get(state.table)?, &state);
        Some(Self {
            view,
            tables,
            outside,
            state,
            listed,
            mode: BrowserMode::Rows,
            cursor: 0,
            top: 0,
            height: 1,
            message: String::new(),
            before: String::new(),
        })
    }

    /// Takes the number of lines that are shown.
    pub(super) fn resize(&mut self, height: usize) {
        self.height = height.max(1);
        self.scroll();
    }

    fn scroll(&mut self) {
        self.cursor = self.cursor.min(self.listed.len().saturating_sub(1));
        let last_top = self.listed.len().saturating_sub(self.height);
        self.top = self.top.min(last_top).min(self.cursor).max((self.cursor + 1).saturating_sub(self.height));
    }

    /// Does what a key asks for.
    pub(super) fn update(&mut self, key: KeyEvent) -> BrowserStep {
        self.message.clear();
        if is_control(key, 'c') {
            return BrowserStep::Quit;
        }
        if is_control(key, 'z') {
            return BrowserStep::Suspend;
        }
        let step = match core::mem::replace(&mut self.mode, BrowserMode::Rows) {
            BrowserMode::Rows => match keys::action(key) {
                Some(action) => self.act(action),
                None => self.say("this key does nothing; ? shows the keys"),
            },
            BrowserMode::Text(lines, top) => self.read(lines, top, key),
            BrowserMode::Events(selected) => self.choose(selected, key),
            BrowserMode::Asks(question, answer) => self.answer(question, answer, key),
            BrowserMode::Leaves
                if matches!(key.code, KeyCode::Esc | KeyCode::Enter | KeyCode::Char('y' | 'q')) =>
            {
                BrowserStep::Quit
            }
            BrowserMode::Leaves => BrowserStep::Stay,
        };
        self.scroll();
        step
    }

    fn say(&mut self, message: &str) -> BrowserStep {
        message.clone_into(&mut self.message);
        BrowserStep::Stay
    }

    fn act(&mut self, action: Action) -> BrowserStep {
        let last = self.listed.len().saturating_sub(1);
        match action {
            Action::Up => self.cursor = self.cursor.saturating_sub(1),
            Action::Down => self.cursor += 1,
            Action::PageUp => self.page(self.cursor.saturating_sub(self.height)),
            Action::PageDown => self.page((self.cursor + self.height).min(last)),
            Action::Home => self.cursor = 0,
            Action::End => self.cursor = last,
            Action::Toggle if !self.listed.toggle(self.cursor) => {
                return self.say("there is nothing to expand");
            }
            Action::ToggleRow => {
                self.select_row();
                if !self.listed.toggle_row(self.cursor) {
                    return self.say("there is nothing to expand");
                }
            }
            Action::Toggle => {}
            Action::ExpandAll => {
                self.select_row();
                if !self.listed.expand_all() {
                    return self.say("only the first rows are expanded, as there would be too many lines");
                }
            }
            Action::Collapse => {
                self.select_row();
                self.listed.collapse(self.cursor);
            }
            Action::CollapseAll => {
                self.select_row();
                let row = self.listed.position_of_row(self.cursor);
                self.listed.collapse_all();
                self.cursor = row;
            }
            Action::Annotate => match self.function() {
                Ok(_) => return BrowserStep::Annotate,
                Err(why) => return self.say(why),
            },
            Action::ZoomThread | Action::ZoomDso | Action::ZoomKernel => return self.zoom(action),
            Action::ZoomTime => {
                self.ask(BrowserQuestion::Time, self.state.time().unwrap_or_default().to_owned())
            }
            Action::Filter if !self.layout().has(SortKey::Symbol) => {
                return self.say("the rows have no functions; add sym to --sort");
            }
            Action::Filter => {
                self.before.clone_from(&self.state.filter);
                self.ask(BrowserQuestion::Filter, self.state.filter.clone());
            }
            Action::Limit => self.ask(BrowserQuestion::Limit, String::new()),
            Action::Relative => {
                self.state.is_relative = !self.state.is_relative;
                self.select();
                let of = if self.state.is_relative { "what is shown" } else { "all samples" };
                return self.say(&format!("percentages are of {of}"));
            }
            Action::Headings => self.state.has_headings = !self.state.has_headings,
            Action::SortLeft => self.sort_beside(false),
            Action::SortRight => self.sort_beside(true),
            Action::SortMember(member) => {
                if member >= self.members().events.len() || self.members().events.len() == 1 {
                    return self.say("the table has no such event");
                }
                self.state.sort = Some((ReportColumn::Overhead, member));
                self.sort();
            }
            Action::Reverse => {
                self.state.is_reversed = !self.state.is_reversed;
                self.sort();
            }
            Action::NextEvent | Action::PreviousEvent if self.tables.len() == 1 => {
                return self.say("there is only one table");
            }
            Action::NextEvent => self.open((self.state.table + 1) % self.tables.len()),
            Action::PreviousEvent => {
                self.open((self.state.table + self.tables.len() - 1) % self.tables.len());
            }
            Action::Events => self.mode = BrowserMode::Events(self.state.table),
            Action::Back => return self.back(),
            Action::Print => return BrowserStep::Print,
            Action::Fold => return BrowserStep::Fold,
            Action::Flamegraph => return BrowserStep::Flamegraph,
            Action::Header => self.mode = BrowserMode::Text(self.outside.header.to_vec(), 0),
            Action::Help => self.mode = BrowserMode::Text(help(self.outside.more_keys), 0),
            Action::Suspend => return BrowserStep::Suspend,
            Action::Quit => return BrowserStep::Quit,
            Action::Instead(what) => return self.say(what),
        }
        BrowserStep::Stay
    }

    pub(super) fn layout(&self) -> &'a Layout {
        &self.view.report.plan().layout
    }

    pub(super) fn members(&self) -> &'a TableEvents {
        &self.tables[self.state.table]
    }

    /// Moves by a page: the selected line stays where it is on the screen.
    fn page(&mut self, cursor: usize) {
        let offset = self.cursor - self.top.min(self.cursor);
        (self.cursor, self.top) = (cursor, cursor.saturating_sub(offset));
    }

    /// Selects the row of the selected line.
    fn select_row(&mut self) {
        if let Some((_, start)) = self.listed.row(self.cursor) {
            self.cursor = start;
        }
    }

    /// Shows another table.
    fn open(&mut self, table: usize) {
        self.state.table = table;
        self.state.sort = self.state.sort.filter(|&(_, member)| member < self.members().events.len());
        self.listed = ListedRows::new(self.view, self.members(), &self.state);
        (self.cursor, self.top) = (0, 0);
    }

    fn select(&mut self) {
        self.listed.select(&self.state);
        (self.cursor, self.top) = (0, 0);
    }

    fn sort(&mut self) {
        self.listed.sort(&self.state);
        self.select();
    }

    /// Orders the rows by the column beside.
    fn sort_beside(&mut self, is_right: bool) {
        let columns = &self.layout().columns;
        let first = self.layout().order.first().copied();
        let now = self.state.sort.map(|(column, _)| column).or(first);
        let index = columns.iter().position(|&column| Some(column) == now).unwrap_or(0);
        let next = if is_right { (index + 1).min(columns.len() - 1) } else { index.saturating_sub(1) };
        self.state.sort = Some((columns[next], 0));
        self.sort();
    }

    fn zoom(&mut self, action: Action) -> BrowserStep {
        let Some((row, _)) = self.listed.row(self.cursor) else { return BrowserStep::Stay };
        let table = &self.listed.table;
        let zoom = match action {
            Action::ZoomThread => match ZoomedTask::of(table, row) {
                Some(task) => Zoom::Thread(task),
                None => return self.say("the rows have no threads; add comm or pid to --sort"),
            },
            _ if !self.layout().has(SortKey::Dso) && !self.layout().has(SortKey::Symbol) => {
                return self.say("the rows have no files; add dso to --sort");
            }
            Action::ZoomDso => match table.cell(row, SortKey::Dso) {
                ReportCell::Dso(Some(name)) => Zoom::Dso(name.to_vec()),
                _ => return self.say("the row is of no file"),
            },
            _ => Zoom::Kernel,
        };
        // As in perf, the same key zooms out.
        let kind = core::mem::discriminant(&zoom);
        match self.state.zooms.iter().position(|it| core::mem::discriminant(it) == kind) {
            Some(index) => drop(self.state.zooms.remove(index)),
            None => self.state.zooms.push(zoom),
        }
        self.select();
        BrowserStep::Stay
    }

    /// Zooms out, or goes back to what was shown before.
    fn back(&mut self) -> BrowserStep {
        if !self.state.filter.is_empty() {
            self.state.filter.clear();
            self.select();
            return BrowserStep::Stay;
        }
        match self.state.zooms.pop() {
            Some(Zoom::Time(_)) => return BrowserStep::Count,
            Some(_) => self.select(),
            None if self.tables.len() > 1 => self.mode = BrowserMode::Events(self.state.table),
            None => self.mode = BrowserMode::Leaves,
        }
        BrowserStep::Stay
    }

    fn ask(&mut self, question: BrowserQuestion, answer: String) {
        self.mode = BrowserMode::Asks(question, answer);
    }

    /// Takes a key of an answer.
    fn answer(&mut self, question: BrowserQuestion, mut answer: String, key: KeyEvent) -> BrowserStep {
        match key.code {
            KeyCode::Enter => return self.answered(question, &answer),
            KeyCode::Esc => {
                if question == BrowserQuestion::Filter {
                    self.filter(self.before.clone());
                }
                return BrowserStep::Stay;
            }
            KeyCode::Backspace => drop(answer.pop()),
            KeyCode::Char('u') if is_control(key, 'u') => answer.clear(),
            KeyCode::Char(letter) => answer.push(letter),
            _ => {}
        }
        if question == BrowserQuestion::Filter {
            self.filter(answer.clone());
        }
        self.ask(question, answer);
        BrowserStep::Stay
    }

    fn filter(&mut self, filter: String) {
        if filter != self.state.filter {
            self.state.filter = filter;
            self.select();
        }
    }

    fn answered(&mut self, question: BrowserQuestion, answer: &str) -> BrowserStep {
        match question {
            // Typing did it.
            BrowserQuestion::Filter => {}
            BrowserQuestion::Limit => match answer.trim().parse() {
                Ok(limit) if (0.0..=100.0).contains(&limit) => {
                    self.state.min_percent = limit;
                    self.listed.limit(&self.state);
                    self.select();
                }
                _ => return self.say("the limit must be a percentage from 0 to 100"),
            },
            BrowserQuestion::Time if answer.trim().is_empty() => {
                let before = self.state.zooms.len();
                self.state.zooms.retain(|zoom| !matches!(zoom, Zoom::Time(_)));
                return if before > self.state.zooms.len() { BrowserStep::Count } else { BrowserStep::Stay };
            }
            BrowserQuestion::Time => match (self.outside.check_time)(answer) {
                Ok(()) => {
                    self.state.zooms.push(Zoom::Time(answer.to_owned()));
                    return BrowserStep::Count;
                }
                Err(Failure(why)) => return self.say(&why),
            },
        }
        BrowserStep::Stay
    }

    /// Takes a key while a text is shown.
    fn read(&mut self, lines: Vec<String>, top: usize, key: KeyEvent) -> BrowserStep {
        let page = self.height;
        let last = lines.len().saturating_sub(page);
        let top = match keys::action(key) {
            Some(Action::Up) => top.saturating_sub(1),
            Some(Action::Down) => top + 1,
            Some(Action::PageUp) => top.saturating_sub(page),
            Some(Action::PageDown) => top + page,
            Some(Action::Home) => 0,
            Some(Action::End) => last,
            _ => return BrowserStep::Stay,
        };
        self.mode = BrowserMode::Text(lines, top.min(last));
        BrowserStep::Stay
    }

    /// Takes a key while the events are listed.
    fn choose(&mut self, selected: usize, key: KeyEvent) -> BrowserStep {
        let last = self.tables.len() - 1;
        let selected = match keys::action(key) {
            Some(Action::Up | Action::PreviousEvent) => selected.saturating_sub(1),
            Some(Action::Down | Action::NextEvent) => (selected + 1).min(last),
            Some(Action::Home | Action::PageUp) => 0,
            Some(Action::End | Action::PageDown) => last,
            Some(Action::Toggle) => {
                if selected != self.state.table {
                    self.open(selected);
                }
                return BrowserStep::Stay;
            }
            Some(Action::Back) => {
                self.mode = BrowserMode::Leaves;
                return BrowserStep::Stay;
            }
            Some(Action::Quit) => return BrowserStep::Quit,
            _ => selected,
        };
        self.mode = BrowserMode::Events(selected);
        BrowserStep::Stay
    }
}

/// Returns the text that explains the keys.
fn help(more: &[(&str, &str)]) -> Vec<String> {
    let keys = more
        .iter()
        .chain(&keys::HELP)
        .map(|(keys, what)| format!("{keys:<18}  {what}").trim_end().to_owned());
    ["Keys".to_owned(), String::new()].into_iter().chain(keys).collect()
}
