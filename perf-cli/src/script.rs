//! `perfdata script`: samples with their processes and stacks, as `perf script` prints them.

mod bpf_output;
mod branch_blocks;
mod branches;
mod choice;
mod clock;
mod counters;
mod dso;
mod event;
mod events;
mod field_decoders;
mod fields;
mod frames;
mod instruction;
mod instruction_text;
mod json;
mod line;
mod note;
mod pass;
mod printer;
mod registers;
mod synth;
mod tod;
mod trace_error;

use core::num::NonZero;
use std::thread::available_parallelism;

use perf_annotate::InstructionReader;
use perf_parse::file::Reader;
use perf_profile::Symbols;
use perf_profile::edit::{ItraceOptions, SampleKinds};

use crate::args::script::{SampleFormat, ScriptArgs};
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::perf_text::header;
use crate::{itrace, selection};
use choice::Choice;
use event::{ScriptEvent, ScriptEvents};
use field_decoders::FieldDecoders;
use fields::Fields;
use pass::{ScriptEnd, ScriptPass};
use printer::Printer;

/// Prints one capture after the other.
pub(crate) fn run(args: &mut ScriptArgs) -> Result<Outcome, Failure> {
    let mut all = Outcome::Clean;
    for path in args.files.0.clone() {
        args.file = path;
        all = all.and(run_one(args)?);
    }
    Ok(all)
}

fn run_one(args: &ScriptArgs) -> Result<Outcome, Failure> {
    let mut default = ItraceOptions::default();
    if args.itrace.itrace.is_some() {
        // As perf script, which makes none of these without letters.
        default.kinds = SampleKinds(default.kinds.0 & !SampleKinds::INSTRUCTIONS.0);
    }
    let work = |reader: Reader<'_>, memory: Memory<'_>| script(&reader, memory, args);
    crate::input::read(&args.file, itrace::decoded_as_perf(args.itrace, default, work))
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

fn script(reader: &Reader<'_>, memory: Memory<'_>, args: &ScriptArgs) -> Result<Outcome, Failure> {
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
        max_stack: Symbols::max_stack(reader.features(), args.max_stack),
    };
    let threads = threads(args);
    let samples = selection::samples(reader, memory, &args.only)?.threads(threads.get());
    let events = ScriptEvents::new(Choice::new(&args.fields)?, options.shows_chains, reader, memory.is_made)?;
    let shows_lines = args.format == SampleFormat::Jsonl || events.choice.has(Fields::SRCLINE);
    let lines = if shows_lines { Lines::WithInlined } else { Lines::Never };
    let style = if args.format == SampleFormat::Text { NameStyle::Perf } else { NameStyle::Distinct };
    let names = names::symbols_with(&args.symbols, reader.features(), memory, lines, style)?;
    let needs_kernel = args.format == SampleFormat::Jsonl
        || events.choice.has(Fields::SYM.with(Fields::DSO).with(Fields::SRCLINE));
    let names = names.with_max_stack(options.max_stack);
    let names = if needs_kernel { names } else { names.without_kernel_in_stacks() };
    let needs_code = events.choice.has(Fields::INSTRUCTION.with(Fields::BLOCKS));
    let instructions = needs_code.then(|| InstructionReader::new(reader.features()));
    let decoders = FieldDecoders { traces: events.traces.clone(), instructions };
    let mut printer = Printer::new(reader, options, decoders, names.clone());
    let mut pass = ScriptPass::new(options, events, &mut output);
    let mut observer = StderrObserver::new(memory, true);
    let walked = match samples.walk(names, &mut pass, &mut printer, threads, &mut observer) {
        Ok(walked) => walked,
        Err(ScriptEnd::Closed) => return Ok(Outcome::Clean),
        Err(ScriptEnd::Failed(failure)) => return Err(failure),
    };
    printer.push_account(walked.account(), &mut output.buffer);
    output.flush()?;
    let count = printer.as_fields();
    if count > 0 {
        say!("perfdata: samples printed as fields, because their print formats cannot be evaluated: {count}");
    }
    Ok(observer.finish(walked.account(), walked.omitted(), "printed"))
}

/// The most threads without `--threads`: each has its own parsed DWARF, so that more of them need more memory than they
/// are faster.
const THREADS: NonZero<usize> = NonZero::new(4).unwrap();

fn threads(args: &ScriptArgs) -> NonZero<usize> {
    let of_machine = || available_parallelism().unwrap_or(NonZero::<usize>::MIN).min(THREADS);
    args.threads.unwrap_or_else(of_machine)
}
