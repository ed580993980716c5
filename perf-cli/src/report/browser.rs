//! The browser of a report on a terminal, as `perf report` has one.
//!
//! The model takes keys and knows what is shown; it does not know the terminal. What draws it makes only the lines that are
//! seen.

mod chains;
mod draw;
mod files;
mod function;
#[cfg(test)]
mod hostile;
mod keys;
mod lines;
mod listed;
#[cfg(target_os = "linux")]
pub(super) mod live;
mod model;
#[cfg(any(test, target_os = "linux"))]
mod open_rows;
mod state;
#[cfg(test)]
mod tests;

use std::io;

use perf_parse::file::Reader;
use perf_profile::Limits;

use super::{ReportView, quality, with_report};
use crate::annotate::browser::{self as annotation, AnnotationExit, AnnotationProvider};
use crate::args::only::OnlyArgs;
use crate::args::report::{ReportArgs, ReportFormat};
use crate::escape::OneLine;
use crate::input::Memory;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::perf_text::header;
use crate::selection;
use crate::terminal::{self, Screen};
use draw::{ScreenLook, draw};
use files::BrowsedCapture;
use model::{Browser, BrowserContext, BrowserStep};
use state::BrowserState;

/// Returns whether a report is shown in the browser: on a terminal, unless text is asked for.
///
/// perf: `cmd_report`, `tools/perf/builtin-report.c`.
pub(super) fn is_wanted(args: &ReportArgs) -> bool {
    let is_text = args.stdio || args.header || args.header_only || args.timeline;
    let is_for_programs = args.format != ReportFormat::Text || args.field_separator.is_some();
    !(is_text || is_for_programs) && terminal::is_there()
}

/// Returns the first rows of the first table, as text.
#[cfg(target_os = "linux")]
pub(super) fn first_rows(view: &ReportView<'_>, rows: usize) -> String {
    let outside = BrowserContext { header: &[], check_time: &|_| Ok(()), more_keys: &[] };
    match Browser::new(*view, BrowserState::new(view), outside) {
        Some(browser) => files::text(&browser, rows),
        None => "# no samples\n".to_owned(),
    }
}

/// Makes what finds the code of functions, with the samples that are selected.
pub(super) type AnnotationSource<'a> = &'a dyn Fn(&OnlyArgs) -> Box<dyn AnnotationProvider + 'a>;

/// How the browser of some samples was left.
#[derive(Clone, Debug)]
enum BrowserExit {
    Quit,
    /// Samples of another time are to be counted, and shown so.
    Count(BrowserState),
}

/// Shows the report in the browser. Without a source of annotations, no code is shown.
///
/// # Errors
///
/// Those of the capture and of the terminal.
pub(super) fn run(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    limits: Limits,
    annotations: Option<AnnotationSource<'_>>,
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
            let outside = BrowserContext { header: &header, check_time: &check_time, more_keys: &[] };
            let state = state.clone().unwrap_or_else(|| BrowserState::new(view));
            match Browser::new(*view, state, outside) {
                Some(browser) => {
                    left = browse(browser, BrowsedCapture { reader, memory, args, only: &only }, annotations)?
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
        has_colors: terminal::has_colors(),
        quality: quality::line(report.selected(), report.quality()),
    }
}

/// Shows the browser until a key asks for something outside of it.
///
/// # Errors
///
/// Those of the terminal.
fn show(screen: &mut Screen, browser: &mut Browser<'_>, look: &ScreenLook) -> io::Result<BrowserStep> {
    loop {
        screen.draw(|area, buffer| draw(browser, look, area, buffer))?;
        let Some(key) = screen.key()? else { continue };
        match browser.update(key) {
            BrowserStep::Stay => {}
            BrowserStep::Suspend => screen.suspend()?,
            step => return Ok(step),
        }
    }
}

/// Shows the instructions of the selected function. Why there are none becomes the message.
fn annotate(
    screen: &mut Screen,
    browser: &mut Browser<'_>,
    provider: &mut dyn AnnotationProvider,
) -> io::Result<AnnotationExit> {
    let annotated = match browser.function() {
        Ok(function) => screen.pause(|| provider.annotate(&function))?,
        Err(why) => Err(why.to_owned()),
    };
    match annotated {
        Ok(found) => {
            let event = files::event(browser);
            annotation::show(screen, found, Some(&String::from_utf8_lossy(&event)), provider)
        }
        Err(why) => {
            browser.message = why;
            Ok(AnnotationExit::Back)
        }
    }
}

fn browse(
    mut browser: Browser<'_>,
    capture: BrowsedCapture<'_, '_, '_>,
    annotations: Option<AnnotationSource<'_>>,
) -> Result<BrowserExit, Failure> {
    let look = look(&browser.view);
    let failure = |error: io::Error| Failure(format!("terminal: {error}"));
    // Made at the first function that is shown: it may read all samples again.
    let mut provider = None;
    let mut screen = Screen::new().map_err(failure)?;
    loop {
        let step = show(&mut screen, &mut browser, &look).map_err(failure)?;
        let written = match step {
            BrowserStep::Stay | BrowserStep::Suspend => continue,
            BrowserStep::Quit => return Ok(BrowserExit::Quit),
            BrowserStep::Count => return Ok(BrowserExit::Count(browser.state)),
            BrowserStep::Annotate => {
                let Some(source) = annotations else {
                    browser.message = "perfdata shows no code here; --sort srcline has the lines".to_owned();
                    continue;
                };
                let provider = provider.get_or_insert_with(|| source(capture.only));
                match annotate(&mut screen, &mut browser, provider.as_mut()).map_err(failure)? {
                    AnnotationExit::Back => continue,
                    AnnotationExit::Quit => return Ok(BrowserExit::Quit),
                }
            }
            BrowserStep::Print => files::print(&browser),
            // They show their progress, and what they cannot decode.
            BrowserStep::Fold | BrowserStep::Flamegraph => {
                let write = if step == BrowserStep::Fold { files::fold } else { files::flamegraph };
                screen.pause(|| write(&browser, capture)).map_err(failure)?
            }
        };
        browser.message = match written {
            Ok(name) => format!("written: {name}"),
            Err(Failure(why)) => why,
        };
    }
}
