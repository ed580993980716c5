//! Reports of a recording that goes on: each of the samples of the last while.

use core::time::Duration;
use std::thread::sleep;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use perf_parse::file::Reader;
use perf_profile::Symbols;
use perf_profile::report::{Options, Report};
use serde_json::json;

use super::browser::{self, live as browser_live};
use super::{ReportView, json, report_of};
use crate::args::live::{TopArgs, TopFormat};
use crate::args::report::ReportArgs;
use crate::input::Memory;
use crate::outcome::Failure;
use crate::output::Output;

/// A recording that goes on.
pub(crate) trait LiveCaptures {
    /// Returns the capture of the last while; `None` if the recording has ended.
    fn capture(&mut self, span: Duration) -> Option<Result<Vec<u8>, Failure>>;

    /// Writes what is kept to a file, and returns its name; `None` if the recording has ended.
    fn save(&mut self) -> Option<Result<String, Failure>>;

    /// Returns the percentage of a CPU that this program took since the last call.
    fn own_percent(&mut self) -> f64;
}

/// How a recording is shown.
#[derive(Debug)]
pub(crate) struct LiveView {
    pub(super) report: ReportArgs,
    pub(super) delay: Duration,
    pub(super) window: Duration,
    entries: usize,
    format: TopFormat,
    has_browser: bool,
    pub(super) updates: Option<u64>,
}

/// The age at which what was read of files is read anew: generated code has other names then, and memory stays bounded.
const NAMES_AGE: Duration = Duration::from_secs(60);

/// The names of functions, kept from one report to the next.
#[derive(Debug, Default)]
pub(super) struct LiveNames {
    symbols: Option<(Instant, Symbols)>,
}

impl LiveNames {
    /// Returns the report of a capture.
    ///
    /// # Errors
    ///
    /// Those of the options, and of the capture.
    pub(super) fn report(
        &mut self,
        reader: &Reader<'_>,
        args: &ReportArgs,
    ) -> Result<(Report, Symbols), Failure> {
        let kept = self.symbols.take().filter(|(read, _)| read.elapsed() < NAMES_AGE);
        let (read, mut symbols) = match kept {
            Some((read, symbols)) => (read, Some(symbols)),
            None => (Instant::now(), None),
        };
        let limits = Options::default().limits;
        let report = report_of(reader, Memory::default(), args, &args.only, limits, &mut symbols, &mut ())?;
        let symbols = symbols.ok_or("a report has names")?;
        self.symbols = Some((read, symbols.clone()));
        Ok((report, symbols))
    }
}

impl LiveView {
    pub(crate) fn new(args: &TopArgs, report: ReportArgs) -> Self {
        let is_text = args.stdio || args.format == TopFormat::Jsonl || args.updates.is_some();
        Self {
            report,
            delay: args.delay,
            window: args.window,
            entries: args.entries,
            format: args.format,
            has_browser: !is_text && crate::terminal::is_there(),
            updates: args.updates,
        }
    }

    /// Shows the recording until it ends, or the user wants no more.
    ///
    /// # Errors
    ///
    /// Those of the options, of the recording, and of the output.
    pub(crate) fn run(&self, captures: &mut dyn LiveCaptures) -> Result<(), Failure> {
        if self.has_browser { browser_live::run(self, captures) } else { self.print(captures) }
    }

    /// Prints each update.
    fn print(&self, captures: &mut dyn LiveCaptures) -> Result<(), Failure> {
        let (mut names, mut output) = (LiveNames::default(), Output::new());
        let mut next = Instant::now();
        for _ in 0..self.updates.unwrap_or(u64::MAX) {
            next += self.delay;
            sleep(next.saturating_duration_since(Instant::now()));
            let Some(bytes) = captures.capture(self.window) else { return Ok(()) };
            let bytes = bytes?;
            let reader = Reader::new(&bytes)?;
            let (report, symbols) = names.report(&reader, &self.report)?;
            let view = ReportView { args: &self.report, report: &report, looked: &symbols.lookups() };
            let own = captures.own_percent();
            match self.format {
                TopFormat::Text => {
                    let text = browser::first_rows(&view, self.entries);
                    let status = status(&report, self.window, own);
                    output.buffer.extend_from_slice(format!("# {status}\n{text}\n").as_bytes());
                }
                TopFormat::Jsonl => self.push_json(&view, own, &mut output.buffer),
            }
            if !output.flush()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Appends an update as a line of JSON.
    fn push_json(&self, view: &ReportView<'_>, own: f64, out: &mut Vec<u8>) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let account = view.report.account();
        let table =
            view.report.tables().first().map(|events| view.report.table(events, view.args.percentage.into()));
        let rows = table.iter().flat_map(|table| {
            table.shown().take(self.entries).map(|row| serde_json::Value::from(json::row_value(table, row)))
        });
        let line = json!({
            "time": time,
            "seconds": self.window.as_secs_f64(),
            "samples": view.report.selected(),
            "lost": account.lost.saturating_add(account.lost_samples),
            "own_percent": own,
            "rows": rows.collect::<Vec<_>>(),
        });
        crate::escape::push_json_value(out, &line);
        out.push(b'\n');
    }
}

/// Returns what is known of an update, in a line.
pub(super) fn status(report: &Report, window: Duration, own: f64) -> String {
    let account = report.account();
    let (samples, seconds) = (report.selected(), window.as_secs_f64());
    let lost = account.lost.saturating_add(account.lost_samples);
    format!("{samples} samples of {seconds} s, {lost} lost; perfdata takes {own:.1} % of a CPU")
}
