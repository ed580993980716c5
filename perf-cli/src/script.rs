//! `perfdata script`: samples with their processes and stacks, as `perf script` prints them.

mod block;
mod bpf_output;
mod branches;
mod counters;
pub(crate) mod data_src;
mod dso;
mod events;
mod fields;
mod filling;
mod frames;
pub(crate) mod header;
mod json;
mod known;
pub(crate) mod line;
mod print;
mod printer;
mod registers;
mod shown;
mod tod;
mod trace_error;

use core::num::NonZero;
use std::thread::{self, Scope, available_parallelism};

use perf_parse::file::{Account, Reader};
use perf_profile::work::in_order::in_order;

use crate::args::script::{SampleFormat, ScriptArgs};
use crate::batch::deliver;
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::output::{Diagnostics, Output, say};
use crate::samples::Samples;
use crate::{Failure, Outcome};
use block::Block;
use fields::{Choice, Fields};
use filling::Filling;
use known::{Events, Known};
use printer::Printer;
use shown::Shown;

pub(crate) fn run(args: &ScriptArgs) -> Result<Outcome, Failure> {
    crate::input::read(&args.file, |reader, memory| {
        thread::scope(|scope| script(scope, &reader, memory, args))
    })
}

/// How lines are printed.
#[derive(Clone, Copy, Debug)]
struct Options<'a> {
    args: &'a ScriptArgs,
    shows_chains: bool,
    ns: bool,
    reltime: bool,
    deltatime: bool,
    max_stack: usize,
}

fn script<'scope, 'a: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    reader: &'a Reader<'_>,
    memory: Memory<'_>,
    args: &'a ScriptArgs,
) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    if args.header || args.header_only {
        header::push(&mut output.buffer, reader, &args.file);
        if !output.flush()? || args.header_only {
            return Ok(Outcome::Clean);
        }
    }
    let options = Options {
        args,
        shows_chains: !args.hide_call_graph,
        ns: args.ns,
        reltime: args.reltime,
        deltatime: args.deltatime,
        max_stack: args.max_stack,
    };
    let threads = threads(args);
    let samples = Samples::new(reader, memory, &args.only)?.threads(threads);
    let events = Events::new(Choice::new(&args.fields)?, options.shows_chains, reader)?;
    let shows_lines = args.format == SampleFormat::Jsonl || events.choice.has(Fields::SRCLINE);
    let lines = if shows_lines { Lines::WithInlined } else { Lines::Never };
    let style = if args.format == SampleFormat::Text { NameStyle::Perf } else { NameStyle::Distinct };
    let names = names::symbols_with(&args.symbols, reader.features(), memory, lines, style)?;
    let needs_kernel = args.format == SampleFormat::Jsonl
        || events.choice.has(Fields::SYM.with(Fields::DSO).with(Fields::SRCLINE));
    let names = names.with_max_stack(args.max_stack);
    let names = if needs_kernel { names } else { names.without_kernel_in_stacks() };
    let mut printer = Printer::new(reader, options, events.traces.clone(), names.clone());
    let mut filling =
        Filling::new(samples.begin(scope, names, true), options, events, !reader.can_walk_again());
    let mut diagnostics = Diagnostics::new();
    let mut total = Account::default();
    let mut is_open = true;
    in_order(
        threads,
        &mut printer,
        |block: &mut Block<'_>| filling.fill(block),
        |printer, block| block.print(printer),
        |printer, block| {
            let print_more = |block: &mut Block<'_>| block.print(printer);
            is_open = deliver(block, print_more, &mut output, &mut total, &mut diagnostics)?;
            Ok::<_, Failure>(is_open)
        },
        |printer, other| printer.merge(&other),
    )?;
    if !is_open {
        return Ok(Outcome::Clean);
    }
    let mut walk = filling.end()?;
    total.add(walk.account());
    *walk.account_mut() = total;
    let walked = walk.end(diagnostics);
    printer.push_account(walked.account(), &mut output.buffer);
    output.flush()?;
    let count = printer.as_fields();
    if count > 0 {
        say!("perfdata: samples printed as fields, because their print formats cannot be evaluated: {count}");
    }
    Ok(walked.finish("printed"))
}

/// The most threads without `--threads`: each has its own parsed DWARF, so that more of them need more memory than they
/// are faster.
const THREADS: NonZero<usize> = NonZero::new(4).unwrap();

fn threads(args: &ScriptArgs) -> NonZero<usize> {
    let of_machine = || available_parallelism().unwrap_or(NonZero::<usize>::MIN).min(THREADS);
    args.threads.unwrap_or_else(of_machine)
}
