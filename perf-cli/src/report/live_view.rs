//! A recording that goes on, and how it is shown.

use core::time::Duration;
use std::time::Instant;

use perf_parse::file::Reader;
use perf_profile::Symbols;
use perf_profile::report::{Options, Report};
use perf_symbol::SymbolLookup;

use super::report_of;
use crate::args::live::{TopArgs, TopFormat};
use crate::args::report::ReportArgs;
use crate::input::Memory;
use crate::outcome::Failure;

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
    pub(super) entries: usize,
    pub(super) format: TopFormat,
    pub(super) has_browser: bool,
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
    ) -> Result<(Report, Vec<SymbolLookup>), Failure> {
        let kept = self.symbols.take().filter(|(read, _)| read.elapsed() < NAMES_AGE);
        let (read, mut symbols) = match kept {
            Some((read, symbols)) => (read, Some(symbols)),
            None => (Instant::now(), None),
        };
        let limits = Options::default().limits;
        let report = report_of(reader, Memory::default(), args, &args.only, limits, &mut symbols, &mut ())?;
        let looked = symbols.as_ref().map_or_else(Vec::new, Symbols::lookups);
        self.symbols = symbols.map(|symbols| (read, symbols));
        Ok((report, looked))
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
}

/// Returns what is known of an update, in a line.
pub(super) fn status(report: &Report, window: Duration, own: f64) -> String {
    let account = report.account();
    let (samples, seconds) = (report.selected(), window.as_secs_f64());
    let lost = account.lost.saturating_add(account.lost_samples);
    format!("{samples} samples of {seconds} s, {lost} lost; perfdata takes {own:.1} % of a CPU")
}
