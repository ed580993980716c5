//! Files that the browser writes.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};

use perf_export::{flamegraph, fold};
use perf_parse::file::Reader;
use perf_profile::{Profile, SampleDetail, TimeDetail, event_name};

use super::lines::{RowLines, joined, style, title};
use super::model::Browser;
use crate::args::only::OnlyArgs;
use crate::args::profile::NamingArgs;
use crate::args::report::ReportArgs;
use crate::input::Memory;
use crate::outcome::Failure;
use crate::profile::{self, ProfileRequest};

/// The largest number that the name of a file gets.
const LAST: u32 = 9999;

/// Writes a new file in the current folder, whose name has the first number that is free. Returns the name.
///
/// perf: `hist_browser__dump`, `tools/perf/ui/browsers/hists.c`.
pub(super) fn write_new(name: &dyn Fn(u32) -> String, text: &[u8]) -> Result<String, Failure> {
    for number in 0..=LAST {
        let name = name(number);
        let failure = |error: io::Error| Failure(format!("{name}: {error}"));
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&name) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(failure(error)),
        };
        if let Err(error) = file.write_all(text) {
            // A part of it would be taken for the whole.
            let _ = std::fs::remove_file(&name);
            return Err(failure(error));
        }
        return Ok(name);
    }
    Err(Failure(format!("{}: there are too many such files; nothing is written", name(LAST))))
}

/// Writes the rows, and the call chains that are expanded. Returns the name of the file.
///
/// # Errors
///
/// Those of the file.
pub(super) fn print(browser: &Browser<'_>) -> Result<String, Failure> {
    write_new(&|number| format!("perf.hist.{number}"), text(browser, usize::MAX).as_bytes())
}

/// Returns the first lines of the rows, and of the call chains that are expanded, as text.
pub(super) fn text(browser: &Browser<'_>, most: usize) -> String {
    let style = style(&browser.listed, None);
    let lines = RowLines::new(&browser.listed, &style, browser.view.report.plan().children);
    let mut text = format!("# {}\n#\n", title(browser));
    let headings: Vec<_> = lines.headings().into_iter().map(|(_, part)| part).collect();
    text.push_str(&format!("#{}\n#\n", joined(&headings).strip_prefix(' ').unwrap_or_default()));
    for line in 0..browser.listed.len().min(most) {
        text.push_str(&joined(&lines.line(line)));
        text.push('\n');
    }
    text
}

/// What the samples of the capture are read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrowsedCapture<'a, 'r, 'm> {
    pub(super) reader: &'a Reader<'r>,
    pub(super) memory: Memory<'m>,
    pub(super) args: &'a ReportArgs,
    pub(super) only: &'a OnlyArgs,
}

/// Writes the stacks of the samples that are shown, as `perfdata fold` does. Returns the name of the file.
///
/// # Errors
///
/// Those of the file, and what cannot be folded.
pub(super) fn fold(browser: &Browser<'_>, capture: BrowsedCapture<'_, '_, '_>) -> Result<String, Failure> {
    let mut options = fold::Options::default();
    options.event = Some(event(browser));
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = fold::write(&[shown(browser, capture, TimeDetail::Nothing)?], &options, &mut text);
    write_new(&|number| format!("perfdata.{number}.folded"), &text)
}

/// Writes the samples that are shown as a page with a flame graph, as `perfdata flamegraph` does. Returns the name of the
/// file.
///
/// # Errors
///
/// Those of the file, and what cannot be folded.
pub(super) fn flamegraph(
    browser: &Browser<'_>,
    capture: BrowsedCapture<'_, '_, '_>,
) -> Result<String, Failure> {
    let mut options = flamegraph::Options::default();
    options.captures = crate::capture_names::capture_names(&[capture.args.file.to_path_buf()]);
    options.event = Some(event(browser));
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = flamegraph::write(&[shown(browser, capture, TimeDetail::Spans)?], &options, &mut page);
    write_new(&|number| format!("perfdata.{number}.html"), &page)
}

/// Returns the name of the event that is shown.
pub(super) fn event(browser: &Browser<'_>) -> Vec<u8> {
    let events = browser.view.report.events();
    let event = browser.members().events.first().and_then(|index| events.get(index));
    event.map_or_else(Vec::new, |it| event_name(&it.event))
}

/// Reads the samples that are shown, with their times if they are wanted. With Children, those are the samples that have a
/// function that is shown anywhere in their stack.
fn shown(
    browser: &Browser<'_>,
    capture: BrowsedCapture<'_, '_, '_>,
    times: TimeDetail,
) -> Result<Profile, Failure> {
    let BrowsedCapture { reader, memory, args, only } = capture;
    let plan = browser.view.report.plan();
    if plan.branches {
        return Err(Failure("rows of branches have no stacks; --no-branch-stack has samples".into()));
    }
    if args.exclude_other {
        return Err(Failure("samples without a parent would be there; leave --exclude-other out".into()));
    }
    let request = ProfileRequest {
        paths: &[],
        only,
        symbols: &args.symbols,
        naming: &NamingArgs { max_stack: args.max_stack, threads: args.threads },
        off_cpu: args.off_cpu,
        lock_waits: false,
        wakers: 0,
        marks: false,
        itrace: args.itrace,
    };
    let detail = SampleDetail { max_stack: args.max_stack, times, ..SampleDetail::default() };
    let (mut profile, _) = profile::profile(reader, memory, &request, detail)?;
    let state = &browser.state;
    profile.retain(&mut |profile, sample| {
        let (named, frames) = (profile.function_table(), profile.frames());
        let mut stack = profile.stacks().frames(sample.stack).peekable();
        let own = stack.peek().copied();
        if args.hide_unresolved && own.is_none_or(|own| named.symbol_of(own) == perf_profile::NONE) {
            return false;
        }
        let is_of = |frame| state.shows_frame(frames, named, frame, plan.children);
        profile.threads().get(sample.thread as usize).is_some_and(|thread| state.shows_thread(thread))
            && if plan.children { stack.any(is_of) } else { own.is_some_and(is_of) }
    });
    Ok(profile)
}
