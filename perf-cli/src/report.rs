//! `perfdata report`: where the time went, as `perf report --stdio` prints it.

mod browser;
mod cell_text;
mod cells;
mod elided;
mod fit;
pub(crate) mod graph;
pub(crate) mod json;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
pub(crate) mod live_view;
mod memory;
mod printed;
mod quality;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod transaction;

use perf_parse::file::Reader;
use perf_profile::edit::ItraceOptions;
use perf_profile::report::{Options, Report, ReportError, ReportPlan};
use perf_profile::{Limits, Observer, Symbols};
use perf_symbol::SymbolLookup;

use crate::annotate::browser::AnnotationProvider;
use crate::annotate::{self, CountedFunctions};
use crate::args::only::OnlyArgs;
use crate::args::report::{ReportArgs, ReportFormat};
use crate::escape::{print, shown};
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::perf_text::header;
use crate::{itrace, selection};
use perf_annotate::AnnotateOptions;

/// Prints, or shows, a report of one capture after the other.
pub(crate) fn run(args: &mut ReportArgs) -> Result<Outcome, Failure> {
    let mut all = Outcome::Clean;
    for path in args.files.0.clone() {
        args.file = path;
        all = all.and(run_one(args)?);
    }
    Ok(all)
}

fn run_one(args: &ReportArgs) -> Result<Outcome, Failure> {
    if args.timeline {
        return timeline::run(args);
    }
    let limits = Options::default().limits;
    let work = |reader: Reader<'_>, memory: Memory<'_>| report(&reader, memory, args, limits);
    crate::input::read(&args.file, itrace::decoded(args.itrace, ItraceOptions::default(), work))
}

fn report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    limits: Limits,
) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    if args.files.0.len() > 1 && args.format == ReportFormat::Text && !browser::is_wanted(args) {
        print(&mut output.buffer, format_args!("# Capture: {}\n#\n", shown(&args.file)));
    }
    if args.header || args.header_only {
        header::push(&mut output.buffer, reader, &args.file);
        if args.header_only {
            output.flush()?;
            return Ok(Outcome::Clean);
        }
    }
    if browser::is_wanted(args) {
        let source = |only: &OnlyArgs| functions(reader, memory, args, only.clone());
        return browser::run(reader, memory, args, limits, Some(&source));
    }
    with_report(reader, memory, args, &args.only, limits, &mut |view| {
        match args.format {
            ReportFormat::Text => view.push_text(&mut output)?,
            ReportFormat::Json => json::push(view, &mut output, reader)?,
        };
        output.flush()?;
        Ok(())
    })
}

/// Returns what has the instructions of functions, which reads the capture again when the first one is shown.
fn functions<'a>(
    reader: &'a Reader<'_>,
    memory: Memory<'a>,
    args: &'a ReportArgs,
    only: OnlyArgs,
) -> Box<dyn AnnotationProvider + 'a> {
    Box::new(CountedFunctions::new(move || {
        if !reader.can_walk_again() {
            return Err(
                "a capture from a pipe is read once; write it to a file to see instructions".to_owned()
            );
        }
        let mut observer = StderrObserver::new(memory, false);
        let options = AnnotateOptions::default();
        let counted =
            annotate::counted(reader, memory, &only, &args.symbols, args.threads, options, &mut observer);
        observer.end_progress();
        counted.map_err(|Failure(why)| why)
    }))
}

/// A use of a report, such as printing it.
type ReportAction<'a> = dyn FnMut(&ReportView<'_>) -> Result<(), Failure> + 'a;

/// Counts the samples that `only` selects, and calls `act` with the report.
fn with_report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    only: &OnlyArgs,
    limits: Limits,
    act: &mut ReportAction<'_>,
) -> Result<Outcome, Failure> {
    let mut observer = StderrObserver::new(memory, false);
    let mut symbols = None;
    let report = report_of(reader, memory, args, only, limits, &mut symbols, &mut observer)?;
    observer.end_progress();
    let looked = symbols.map_or_else(Vec::new, |symbols| symbols.lookups());
    act(&ReportView { args, report: &report, looked: &looked })?;
    Ok(observer.finish(report.account(), report.omitted(), "counted"))
}

/// Counts the samples that `only` selects. Names are found by `symbols`, which are made if there are none.
fn report_of(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    only: &OnlyArgs,
    limits: Limits,
    symbols: &mut Option<Symbols>,
    observer: &mut dyn Observer,
) -> Result<Report, Failure> {
    let naming = args.symbols.naming(args.threads);
    let mut options = args.options()?;
    (options.limits, options.inlines) = (limits, naming.inlines);
    let plan = ReportPlan::new(&options, reader).map_err(|error| unusable(&error))?;
    let samples = selection::unresolved(reader, memory, only, args.off_cpu)?.threads(naming.threads.get());
    let lines = if plan.needs_lines() { Lines::Always } else { Lines::WithInlined };
    let symbols = match symbols {
        Some(symbols) => symbols,
        None => {
            let features = reader.features();
            symbols.insert(names::symbols_with(&args.symbols, features, memory, lines, NameStyle::Distinct)?)
        }
    };
    samples.report_with(plan, symbols, observer).map_err(selection::failure)
}

/// Returns the failure of an option that the capture cannot have.
fn unusable(error: &ReportError) -> Failure {
    let option = match error.option() {
        "branches" => "branch-stack".to_owned(),
        "memory" => "mem-mode".to_owned(),
        name => name.replace('_', "-"),
    };
    let colon = if error.has_value() { "" } else { ":" };
    Failure(format!("--{option}{colon} {error}"))
}

/// A report, ready to be printed.
#[derive(Clone, Copy, Debug)]
struct ReportView<'a> {
    args: &'a ReportArgs,
    report: &'a Report,
    /// The files that were looked for, be it for names or for stacks.
    looked: &'a [SymbolLookup],
}
