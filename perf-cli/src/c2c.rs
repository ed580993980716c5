//! `perfdata c2c`: memory accesses by line of the cache, as `perf c2c report --stdio` prints them, and as JSON.

mod columns;
mod json;
mod text;
mod totals;

use perf_parse::file::Reader;
use perf_profile::c2c::{C2cLine, C2cOptions, C2cReport, C2cSort};
use perf_profile::report::{CallGraphOptions, CallGraphStyle};
use perf_profile::{Samples, Symbols};

use crate::args::c2c::{C2cArgs, C2cDisplay, C2cReportArgs, C2cVerb};
use crate::args::perf_text::PrintFormat;
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::report::graph::CallGraphPrinter;
use crate::selection;

pub(crate) fn run(args: &C2cArgs) -> Result<Outcome, Failure> {
    match &args.verb {
        C2cVerb::Report(args) => crate::input::read(&args.file, |reader, memory| report(&reader, memory, args)),
        C2cVerb::Record(_) => Err(Failure(
            "record: perfdata c2c does not have this verb; use perf c2c record, which knows the events of each machine's loads and \
             stores"
                .to_owned(),
        )),
    }
}

fn report(reader: &Reader<'_>, memory: Memory<'_>, args: &C2cReportArgs) -> Result<Outcome, Failure> {
    let mut options = C2cOptions::default();
    options.version = args.print.perf_version.into();
    options.keys.clone_from(&args.coalesce);
    options.sort = args.display.map(|display| match display {
        C2cDisplay::Tot => C2cSort::Total,
        C2cDisplay::Lcl => C2cSort::Local,
        C2cDisplay::Rmt => C2cSort::Remote,
        C2cDisplay::Peer => C2cSort::Peer,
    });
    options.double = args.double_cl;
    options.all = args.show_all;
    let graph = call_graph(args)?;
    options.stacks = !args.stats && graph.style != CallGraphStyle::None;
    let symbols = if args.stats {
        Symbols::of(reader).without_names()
    } else {
        names::symbols_with(&args.symbols, reader.features(), memory, Lines::WithInlined, NameStyle::Perf)?
    };
    let mut observer = StderrObserver::new(memory, false);
    let report = Samples::of(reader).c2c(&options, &symbols, &mut observer).map_err(selection::failure)?;
    observer.end_progress();
    let events = reader.events();
    let mut output = Output::new();
    match args.print.format {
        PrintFormat::Text => text::push(&mut output.buffer, &report, events, args, &graph),
        PrintFormat::Json => json::push(&mut output.buffer, &report, events, args, &graph),
    }
    output.flush()?;
    if report.nodes().count() == 0 {
        say!("perfdata: the capture does not have the nodes of the machine (NUMA_TOPOLOGY)");
    }
    if report.unknown_nodes() > 0 {
        say!("perfdata: accesses to memory that is on no node: {}", report.unknown_nodes());
    }
    if report.dropped() > 0 {
        say!("perfdata: accesses that are in no line, because there are too many rows: {}", report.dropped());
    }
    Ok(observer.finish(report.account(), report.omitted(), "read"))
}

/// Returns the form of call graphs.
fn call_graph(args: &C2cReportArgs) -> Result<CallGraphOptions, Failure> {
    if args.no_call_graph {
        let mut none = CallGraphOptions::default();
        none.style = CallGraphStyle::None;
        return Ok(none);
    }
    let graph = args.call_graph.as_deref().map(str::parse).transpose();
    Ok(graph.map_err(|error| Failure(format!("--call-graph: {error}")))?.unwrap_or_default())
}

/// Returns what prints the call graphs of a line's rows.
///
/// perf: `hists__fprintf`, `tools/perf/ui/stdio/hist.c`, and `output_resort`, `tools/perf/util/hist.c`.
fn printer<'a>(report: &'a C2cReport, line: &C2cLine, graph: &'a CallGraphOptions) -> CallGraphPrinter<'a> {
    let mut printer = CallGraphPrinter::of_parts(report.frames(), report.function_table(), graph);
    // perf c2c does not sum up what the smallest percentage is of, so that branches have no limit.
    printer.total = line.accesses.iter().map(|row| row.period).fold(0, u64::saturating_add);
    printer
}
