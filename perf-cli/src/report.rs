//! `perfdata report`: where the time went, as `perf report --stdio` prints it.

mod browser;
mod cells;
mod chains;
mod collect;
mod facts;
mod fit;
mod graph;
mod json;
mod keys;
mod limits;
mod machine;
mod memory;
mod order;
mod plan;
mod printed;
mod quality;
mod ranks;
mod row_graphs;
mod rows;
mod source_texts;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod texts;
mod timeline;
mod transaction;

use perf_parse::file::{Account, Reader};
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::{Missing, Quality, StackPart, Symbols};
use perf_symbol::Looked;

use crate::args::call_graph::Style;
use crate::args::only::OnlyArgs;
use crate::args::report::{Percentage, ReportArgs, ReportFormat};
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::off_cpu::{self, OffCpu};
use crate::output::{Output, say};
use crate::progress::NamingProgress;
use crate::samples::Samples;
use crate::script::header;
use crate::{Failure, Outcome};
use collect::{Collected, Collecting, Wants};
use facts::AllFacts;
use keys::Key;
use limits::Limits;
use plan::Plan;
use rows::Source;

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    if let Some((option, instead)) = args.refused.given() {
        return Err(Failure(format!("{option}: perfdata report does not have this option; {instead}")));
    }
    if args.timeline {
        return timeline::run(args);
    }
    let limits = Limits::default();
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
    with_report(reader, memory, args, &args.only, limits, &mut |report, tables| {
        match args.format {
            ReportFormat::Text => report.push_text(&mut output, tables)?,
            ReportFormat::Json => json::push(report, &mut output, reader, tables)?,
        };
        output.flush()?;
        Ok(())
    })
}

/// What is done with a report and its tables.
type Act<'a> = dyn FnMut(&Report<'_>, &[tables::Members]) -> Result<(), Failure> + 'a;

/// Counts the samples that `only` selects, and calls `act` with the report.
fn with_report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    only: &OnlyArgs,
    limits: Limits,
    act: &mut Act<'_>,
) -> Result<Outcome, Failure> {
    let plan = Plan::new(args, reader)?;
    let facts = AllFacts::new(plan.layout.keys().collect(), plan.time_quantum, plan.machine.clone());
    let wants = Wants {
        stacks: plan.children || plan.graph.style != Style::None || plan.parent.is_some(),
        branches: plan.branches,
        memory: plan.memory,
        ips: plan.layout.has(Key::Addr),
        sizes: plan.layout.has(Key::DsoSize),
        max_stack: args.max_stack,
        limits,
    };
    let traces = TracepointTexts::new(reader);
    let (wait, only) = off_cpu::selection(only, args.off_cpu);
    let off_cpu = if args.off_cpu { Some(OffCpu::new(reader, wait)?) } else { None };
    let mut collected = Collected::new(wants, facts);
    let naming = args.symbols.naming(args.threads);
    let samples = Samples::new(reader, memory, &only)?.all_if(args.off_cpu).threads(naming.threads);
    let lines = if plan.layout.needs_lines(&plan.graph) { Lines::Always } else { Lines::WithInlined };
    let names = names::symbols_with(&args.symbols, reader.features(), memory, lines, NameStyle::Distinct)?
        .with_max_stack(args.max_stack);
    collected.table.frames.load_ahead(names.symbolizer(), naming.threads);
    let threads = samples.walkers(names.symbolizer().is_some());
    let is_by_blocks = threads.get() > 1 && collected.can_be_in_parts() && off_cpu.is_none();
    let mut collecting = Collecting::new(collected, traces, off_cpu);
    let mut walked = if is_by_blocks {
        let part = StackPart::new(args.max_stack, wants.of_table());
        samples.walk_by_blocks(names, part, None, &mut collecting, threads)?
    } else {
        let Some(walked) = samples.walk(names, &mut collecting)? else { return Ok(Outcome::Clean) };
        walked
    };
    let Collecting { mut collected, traces, off_cpu, .. } = collecting;
    if let Some(off_cpu) = off_cpu {
        off_cpu.report();
    }
    collected.finish();
    if traces.as_fields > 0 {
        let count = traces.as_fields;
        say!(
            "perfdata: samples counted by their fields, because their print formats cannot be evaluated: {count}"
        );
    }
    let mut progress = NamingProgress::new();
    let (finder, symbolizer) = walked.names.parts();
    let (named, ends) =
        collected.table.look_up(&walked.session, finder, symbolizer.as_deref(), naming, &mut |done, all| {
            progress.at(done, all)
        });
    drop(progress);
    let mut source = Source::new(&collected, &named, &plan.layout, plan.parent.as_ref());
    (source.children, source.order) = (plan.children, plan.order);
    source.by_depth = plan.graph.style != Style::None;
    (source.hides_unresolved, source.excludes_other) = (args.hide_unresolved, args.exclude_other);
    let quality = quality::count(&collected, &ends, &named, &|dso| walked.session.build_id(dso));
    // Without a look, no file is known to lack names.
    let looked = if args.symbols.no_symbols { Vec::new() } else { walked.names.looked() };
    let missing = if looked.is_empty() { Vec::new() } else { quality.missing(&looked) };
    let report = Report {
        args,
        plan: &plan,
        source: &source,
        account: walked.account(),
        names: &walked.names,
        quality: &quality,
        missing: &missing,
        looked: &looked,
    };
    let grouping = match () {
        () if args.no_group => tables::Grouping::Never,
        () if args.group => tables::Grouping::Always,
        () => tables::Grouping::AsRecorded,
    };
    let tables = tables::of(reader, &collected, grouping);
    act(&report, &tables)?;
    Ok(walked.finish("counted"))
}

/// A report, ready to be printed.
#[derive(Clone, Copy, Debug)]
struct Report<'a> {
    args: &'a ReportArgs,
    plan: &'a Plan,
    source: &'a Source<'a>,
    account: &'a Account,
    names: &'a Symbols,
    quality: &'a Quality,
    missing: &'a [Missing],
    /// Empty if names were not looked for.
    looked: &'a [Looked],
}
