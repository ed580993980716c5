//! `perfdata report`: where the time went, as `perf report --stdio` prints it.

mod browser;
mod cell_text;
mod cells;
mod collect;
mod elided;
mod fit;
mod graph;
mod heading;
mod json;
mod memory;
mod printed;
mod quality;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod transaction;

use perf_parse::file::{Account, Reader};
use perf_profile::Limits;
use perf_profile::report::{Options, Report, ReportBuilder, ReportError, ReportPlan};
use perf_profile::tracepoints::TracepointTexts;
use perf_symbol::SymbolLookup;

use crate::args::only::OnlyArgs;
use crate::args::report::{ReportArgs, ReportFormat};
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::off_cpu::{self, OffCpu};
use crate::output::{Output, say};
use crate::progress::NamingProgress;
use crate::samples::Samples;
use crate::script::header;
use crate::{Failure, Outcome};
use collect::ReportCollector;

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    if let Some((option, instead)) = args.refused.given() {
        return Err(Failure(format!("{option}: perfdata report does not have this option; {instead}")));
    }
    if args.timeline {
        return timeline::run(args);
    }
    let limits = Options::default().limits;
    crate::input::read(&args.file, |reader, memory| report(&reader, memory, args, limits))
}

fn report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    limits: Limits,
) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    if args.header || args.header_only {
        header::push(&mut output.buffer, reader, &args.file);
        if args.header_only {
            output.flush()?;
            return Ok(Outcome::Clean);
        }
    }
    if browser::is_wanted(args) {
        return browser::run(reader, memory, args, limits);
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

/// What is done with a report.
type Act<'a> = dyn FnMut(&ReportView<'_>) -> Result<(), Failure> + 'a;

/// Counts the samples that `only` selects, and calls `act` with the report.
fn with_report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    only: &OnlyArgs,
    limits: Limits,
    act: &mut Act<'_>,
) -> Result<Outcome, Failure> {
    let mut options = args.options()?;
    options.limits = limits;
    let plan = ReportPlan::new(&options, reader).map_err(|error| unusable(&error))?;
    let traces = TracepointTexts::new(reader);
    let (wait, only) = off_cpu::selection(only, args.off_cpu);
    let off_cpu = if args.off_cpu { Some(OffCpu::new(reader, wait)?) } else { None };
    let naming = args.symbols.naming(args.threads);
    let samples = Samples::new(reader, memory, &only)?.all_if(args.off_cpu).threads(naming.threads);
    let lines = if plan.needs_lines() { Lines::Always } else { Lines::WithInlined };
    let names = names::symbols_with(&args.symbols, reader.features(), memory, lines, NameStyle::Distinct)?
        .with_max_stack(args.max_stack);
    let mut builder = ReportBuilder::new(plan);
    builder.load_ahead(names.symbolizer(), naming);
    let threads = samples.walkers(names.symbolizer().is_some());
    let is_by_blocks = threads.get() > 1 && builder.can_be_in_parts() && off_cpu.is_none();
    let mut collector = ReportCollector::new(builder, traces, off_cpu);
    let mut walked = if is_by_blocks {
        let part = collector.builder.part();
        samples.walk_by_blocks(names, part, None, &mut collector, threads)?
    } else {
        let Some(walked) = samples.walk(names, &mut collector)? else { return Ok(Outcome::Clean) };
        walked
    };
    let ReportCollector { builder, traces, off_cpu, .. } = collector;
    if let Some(off_cpu) = off_cpu {
        off_cpu.report();
    }
    if traces.as_fields > 0 {
        let count = traces.as_fields;
        say!(
            "perfdata: samples counted by their fields, because their print formats cannot be evaluated: {count}"
        );
    }
    let mut progress = NamingProgress::new();
    let (finder, symbolizer) = walked.names.parts();
    let report = builder.finish(&walked.session, finder, symbolizer.as_deref(), naming, &mut |done, all| {
        progress.at(done, all)
    });
    drop(progress);
    let looked = walked.names.lookups();
    act(&ReportView { args, report: &report, account: walked.account(), looked: &looked })?;
    Ok(walked.finish("counted"))
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
    account: &'a Account,
    /// The files that were looked for, be it for names or for stacks.
    looked: &'a [SymbolLookup],
}
