//! A recording that goes on, and how it is shown.

use core::time::Duration;

use perf_parse::file::Reader;
use perf_profile::Symbols;
use perf_profile::report::{Options, Report};
use perf_symbol::SymbolLookup;

use super::report_of;
use crate::args::live::{TopArgs, TopFormat};
use crate::args::report::ReportArgs;
use crate::input::Memory;
use crate::names::LiveNames;
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

/// Returns the report of a capture, and the files that were looked for.
///
/// # Errors
///
/// Those of the options, and of the capture.
pub(super) fn live_report(
    reader: &Reader<'_>,
    args: &ReportArgs,
    names: &mut LiveNames,
) -> Result<(Report, Vec<SymbolLookup>), Failure> {
    let limits = Options::default().limits;
    names.with(|symbols| {
        let report = report_of(reader, Memory::default(), args, &args.only, limits, symbols, &mut ())?;
        Ok((report, symbols.as_ref().map_or_else(Vec::new, Symbols::lookups)))
    })
}

impl LiveView {
    /// Returns how `perfdata top` without options shows; `None` if the command line could not be read.
    pub(crate) fn beside_recording() -> Option<Self> {
        let args = TopArgs::plain()?;
        let report = args.report()?;
        let view = Self::new(&args, report);
        Some(view)
    }

    pub(crate) fn new(args: &TopArgs, report: ReportArgs) -> Self {
        let is_text = args.stdio || args.format == TopFormat::Jsonl || args.updates.is_some();
        Self {
            report,
            delay: args.sampled.delay,
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
