//! The browser of a recording that goes on: the rows of the last while, made anew at each update.

use std::io;
use std::time::Instant;

use perf_parse::file::Reader;
use ratatui_core::style::Style;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent};

use super::super::live_view::{LiveCaptures, LiveView, live_report, status};
use super::super::{ReportView, functions};
use super::draw::{ScreenLook, draw};
use super::files::{self, BrowsedCapture};
use super::model::{Browser, BrowserContext, BrowserMode, BrowserStep};
use super::open_rows::OpenRows;
use super::state::BrowserState;
use crate::input::Memory;
use crate::names::LiveNames;
use crate::outcome::Failure;
use crate::terminal::{self, Screen, is_control};

/// The keys of a recording that goes on.
const KEYS: [(&str, &str); 2] =
    [("p", "Pause the updates, or go on"), ("s", "Save what is kept as perf.data")];

/// How the view of an update was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpdateEnd {
    /// The next update is due.
    Due,
    Quit,
}

/// What stays from one update to the next.
#[derive(Debug, Default)]
struct LiveState {
    browser: Option<BrowserState>,
    open: OpenRows,
    cursor: usize,
    top: usize,
    is_paused: bool,
    message: String,
}

/// Shows the recording until the user leaves. When it ends, its last rows stay.
///
/// # Errors
///
/// Those of the options, of the recording, and of the terminal.
pub(in crate::report) fn run(view: &LiveView, captures: &mut dyn LiveCaptures) -> Result<(), Failure> {
    let failure = |error: io::Error| Failure(format!("terminal: {error}"));
    let (mut names, mut state) = (LiveNames::default(), LiveState::default());
    let mut screen = Screen::new().map_err(failure)?;
    let mut bytes = Vec::new();
    loop {
        let next = Instant::now() + view.delay;
        match captures.capture(view.window) {
            Some(capture) => bytes = capture?,
            None if bytes.is_empty() => return Ok(()),
            None => {
                state.is_paused = true;
                "the recording has ended; q leaves".clone_into(&mut state.message);
            }
        }
        let reader = Reader::new(&bytes)?;
        let (report, looked) = live_report(&reader, &view.report, &mut names)?;
        let rows = ReportView { args: &view.report, report: &report, looked: &looked };
        let look = ScreenLook {
            has_colors: terminal::has_colors(),
            quality: format!("{}; p pauses, s saves", status(&report, view.window, captures.own_percent())),
        };
        let check_time = |_: &str| Err(Failure("the rows are always those of the last while".to_owned()));
        let outside = BrowserContext { header: &[], check_time: &check_time, more_keys: &KEYS };
        let browser_state = state.browser.clone().unwrap_or_else(|| BrowserState::new(&rows));
        let end = match Browser::new(rows, browser_state, outside) {
            Some(mut browser) => {
                browser.listed.reopen(&state.open);
                (browser.cursor, browser.top) = (state.cursor, state.top);
                let shown = LiveScreen { screen: &mut screen, look: &look, captures: &mut *captures };
                let end = shown.browse(&mut browser, &reader, view, &mut state, next);
                (state.cursor, state.top) = (browser.cursor, browser.top);
                state.open = browser.listed.open_rows();
                state.browser = Some(browser.state);
                end
            }
            None => wait(&mut screen, next),
        };
        if end.map_err(failure)? == UpdateEnd::Quit {
            return Ok(());
        }
    }
}

/// Waits for samples.
fn wait(screen: &mut Screen, next: Instant) -> io::Result<UpdateEnd> {
    loop {
        screen.draw(|area, buffer| {
            terminal::put(buffer, area, 0, 0, "no samples yet; q leaves", Style::new());
        })?;
        match screen.key_until(next)? {
            Some(key) if is_leaving(key) => return Ok(UpdateEnd::Quit),
            _ if Instant::now() >= next => return Ok(UpdateEnd::Due),
            _ => {}
        }
    }
}

fn is_leaving(key: KeyEvent) -> bool {
    is_control(key, 'c') || key.code == KeyCode::Char('q')
}

/// What shows an update.
struct LiveScreen<'a> {
    screen: &'a mut Screen,
    look: &'a ScreenLook,
    captures: &'a mut dyn LiveCaptures,
}

impl LiveScreen<'_> {
    /// Shows an update until the next one is due, or the user leaves. What the user reads or writes stays until it is done.
    fn browse(
        self,
        browser: &mut Browser<'_>,
        reader: &Reader<'_>,
        view: &LiveView,
        state: &mut LiveState,
        next: Instant,
    ) -> io::Result<UpdateEnd> {
        let mut provider = None;
        loop {
            if browser.message.is_empty() {
                browser.message = core::mem::take(&mut state.message);
            }
            self.screen.draw(|area, buffer| draw(browser, self.look, area, buffer))?;
            let is_held = state.is_paused || !matches!(browser.mode, BrowserMode::Rows);
            let key = if is_held { self.screen.key()? } else { self.screen.key_until(next)? };
            let is_rows = matches!(browser.mode, BrowserMode::Rows);
            let step = match key {
                None if !is_held && Instant::now() >= next => return Ok(UpdateEnd::Due),
                None => continue,
                Some(key) if is_rows && key.code == KeyCode::Char('p') => {
                    state.is_paused = !state.is_paused;
                    let said = if state.is_paused { "paused; p goes on" } else { "" };
                    said.clone_into(&mut browser.message);
                    continue;
                }
                Some(key) if is_rows && key.code == KeyCode::Char('s') => {
                    browser.message = match self.captures.save() {
                        Some(Ok(saved)) => format!("written: {saved}"),
                        Some(Err(Failure(why))) => why,
                        None => "the recording has ended".to_owned(),
                    };
                    continue;
                }
                Some(key) => browser.update(key),
            };
            let capture = BrowsedCapture {
                reader,
                memory: Memory::default(),
                args: &view.report,
                only: &view.report.only,
            };
            let written = match step {
                BrowserStep::Stay | BrowserStep::Count => continue,
                BrowserStep::Suspend => {
                    self.screen.suspend()?;
                    continue;
                }
                BrowserStep::Quit => return Ok(UpdateEnd::Quit),
                BrowserStep::Annotate => {
                    let only = view.report.only.clone();
                    let provider = provider
                        .get_or_insert_with(|| functions(reader, Memory::default(), &view.report, only));
                    match super::annotate(self.screen, browser, provider.as_mut())? {
                        super::AnnotationExit::Back => continue,
                        super::AnnotationExit::Quit => return Ok(UpdateEnd::Quit),
                    }
                }
                BrowserStep::Print => files::print(browser),
                BrowserStep::Fold => self.screen.pause(|| files::fold(browser, capture))?,
                BrowserStep::Flamegraph => self.screen.pause(|| files::flamegraph(browser, capture))?,
            };
            browser.message = match written {
                Ok(name) => format!("written: {name}"),
                Err(Failure(why)) => why,
            };
        }
    }
}
