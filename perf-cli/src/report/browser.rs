//! The browser of a report on a terminal, as `perf report` has one.
//!
//! The model takes keys and knows what is shown; it does not know the terminal. What draws it makes only the lines that are
//! seen.

mod chains;
mod draw;
mod files;
#[cfg(test)]
mod hostile;
mod keys;
mod lines;
mod listed;
mod model;
mod state;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::IsTerminal;

use perf_parse::file::Reader;
use perf_profile::Limits;

use super::{ReportView, quality, with_report};
use crate::args::only::OnlyArgs;
use crate::args::report::{ReportArgs, ReportFormat};
use crate::escape::OneLine;
use crate::input::Memory;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::perf_text::header;
use crate::{selection, streams};
use draw::ScreenLook;
use files::BrowsedCapture;
use model::{Browser, BrowserContext, BrowserStep};
use state::BrowserState;
use terminal::Screen;

/// Returns whether a report is shown in the browser: on a terminal, unless text is asked for.
///
/// perf: `cmd_report`, `tools/perf/builtin-report.c`; `setup_browser`, `tools/perf/ui/setup.c`.
pub(super) fn is_wanted(args: &ReportArgs) -> bool {
    let is_text = args.stdio || args.header || args.header_only || args.timeline;
    let is_for_programs = args.format != ReportFormat::Text || args.field_separator.is_some();
    // Windows has no such variable.
    let is_dumb = match std::env::var_os("TERM") {
        Some(name) => name.is_empty() || name == "dumb",
        None => cfg!(unix),
    };
    !(is_text || is_for_programs || is_dumb)
        && streams::are_of_process()
        && std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
}

/// How the browser of some samples was left.
#[derive(Clone, Debug)]
enum BrowserExit {
    Quit,
    /// Samples of another time are to be counted, and shown so.
    Count(BrowserState),
}

/// Shows the report in the browser.
///
/// # Errors
///
/// Those of the capture and of the terminal.
pub(super) fn run(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    limits: Limits,
) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    header::push(&mut text, reader, &args.file);
    let header: Vec<_> = text.split(|&byte| byte == b'\n').map(|line| OneLine(line).to_string()).collect();
    let mut state = None;
    loop {
        let only = only(args, state.as_ref());
        let mut left = BrowserExit::Quit;
        let outcome = with_report(reader, memory, args, &only, limits, &mut |view| {
            let check_time = |time: &str| {
                let only = OnlyArgs { time: Some(time.to_owned()), ..args.only.clone() };
                selection::check(reader, &only)
            };
            let outside = BrowserContext { header: &header, check_time: &check_time };
            let state = state.clone().unwrap_or_else(|| BrowserState::new(view));
            match Browser::new(*view, state, outside) {
                Some(browser) => {
                    left = browse(browser, BrowsedCapture { reader, memory, args, only: &only })?
                }
                // Without samples there is nothing to browse.
                None => {
                    view.push_text(&mut Output::new())?;
                }
            }
            Ok(())
        })?;
        match left {
            BrowserExit::Quit => return Ok(outcome),
            BrowserExit::Count(next) => state = Some(next),
        }
    }
}

/// Returns what selects the samples.
fn only(args: &ReportArgs, state: Option<&BrowserState>) -> OnlyArgs {
    let mut only = args.only.clone();
    if let Some(time) = state.and_then(BrowserState::time) {
        only.time = Some(time.to_owned());
    }
    only
}

/// Returns how the screen looks.
fn look(view: &ReportView<'_>) -> ScreenLook {
    let report = view.report;
    ScreenLook {
        has_colors: std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()),
        quality: quality::line(report.selected(), report.quality()),
    }
}

fn browse(mut browser: Browser<'_>, capture: BrowsedCapture<'_, '_, '_>) -> Result<BrowserExit, Failure> {
    let look = look(&browser.view);
    let mut screen = Screen::new().map_err(|error| format!("terminal: {error}"))?;
    loop {
        let step = screen.show(&mut browser, &look).map_err(|error| format!("terminal: {error}"))?;
        let written = match step {
            BrowserStep::Stay | BrowserStep::Suspend => continue,
            BrowserStep::Quit => return Ok(BrowserExit::Quit),
            BrowserStep::Count => return Ok(BrowserExit::Count(browser.state)),
            BrowserStep::Print => files::print(&browser),
            // They show their progress, and what they cannot decode.
            BrowserStep::Fold | BrowserStep::Flamegraph => {
                let write = if step == BrowserStep::Fold { files::fold } else { files::flamegraph };
                screen.pause(|| write(&browser, capture)).map_err(|error| format!("terminal: {error}"))?
            }
        };
        browser.message = match written {
            Ok(name) => format!("written: {name}"),
            Err(Failure(why)) => why,
        };
    }
}
