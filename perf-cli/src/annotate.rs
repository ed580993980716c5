//! `perfdata annotate`: the instructions and source lines of functions, with their samples.

pub(crate) mod browser;
mod json;
mod provider;
mod text;

use core::num::NonZero;
use std::path::Path;

use perf_annotate::source::SourceOptions;
use perf_annotate::{AnnotateOptions, AnnotatedFunctions, Annotator};
use perf_parse::file::Reader;
use perf_profile::edit::ItraceOptions;
use perf_profile::{Observer, SampleTotal};

use crate::args::annotate::{AnnotateArgs, AnnotateFormat, DisassemblerStyle};
use crate::args::only::OnlyArgs;
use crate::args::symbols::SymbolArgs;
use crate::escape::{OneLine, shown};
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::{itrace, selection, terminal};
pub(crate) use provider::CountedFunctions;

pub(crate) fn run(args: &AnnotateArgs) -> Result<Outcome, Failure> {
    if let Some((option, instead)) = args.refused.given() {
        return Err(Failure(format!("{option}: perfdata annotate does not have this option; {instead}")));
    }
    if let Some(path) = &args.output {
        check_page(path)?;
    }
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let work = |reader: Reader<'_>, memory: Memory<'_>| annotate(&reader, memory, args);
    crate::input::read(&args.file, itrace::decoded(args.itrace, ItraceOptions::default(), work))
}

fn annotate(reader: &Reader<'_>, memory: Memory<'_>, args: &AnnotateArgs) -> Result<Outcome, Failure> {
    let mut observer = StderrObserver::new(memory, false);
    let mut annotator = annotator(reader, memory, args, &mut observer)?;
    observer.end_progress();
    let wanted = wanted(&annotator, args)?;
    if is_browsed(args) {
        let functions = provider::hot_functions(&annotator, &wanted);
        browser::browse(&functions, &mut annotator)?;
        return Ok(observer.finish(annotator.account(), annotator.omitted(), "counted"));
    }
    let all = annotator.annotate_all(&wanted, &mut observer).map_err(selection::failure)?;
    report(&all, args);
    report_unnamed(&annotator);
    if let Some(path) = &args.output {
        let options = perf_export::annotation::Options::default();
        crate::output::write_document(path, memory.inputs, |out| {
            perf_export::annotation::write(&all.shown, &options, out)
        })?;
    } else {
        let mut output = Output::new();
        match args.format {
            AnnotateFormat::Text => text::push(&all.shown, args, &mut output)?,
            AnnotateFormat::Json => json::push(&all, annotator.account(), &mut output)?,
        };
        output.flush()?;
    }
    Ok(observer.finish(annotator.account(), annotator.omitted(), "counted"))
}

/// Reports the samples that are in no function.
fn report_unnamed(annotator: &Annotator) {
    let samples = |totals: &[SampleTotal]| totals.iter().map(|it| it.samples).sum::<u64>();
    let (unnamed, beyond) = (samples(annotator.unnamed()), samples(annotator.beyond()));
    let all = samples(annotator.totals());
    if unnamed > 0 {
        say!(
            "perfdata: {unnamed} of {all} samples are in no function with a name; perfdata report shows the reason"
        );
    }
    if beyond > 0 {
        say!("perfdata: samples left out, because they are beyond the limits: {beyond} of {all}");
    }
}

/// Checks that the name of an output is that of a page. Another one is probably a mistake; devices and pipes often have no extension.
fn check_page(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_deref().map(|ending| ending.to_str()) {
        None | Some(Some("html" | "htm")) => Ok(()),
        _ => Err(Failure(format!(
            "{}: annotated functions are a page; give -o a name that ends in .html",
            shown(path)
        ))),
    }
}

/// Returns whether functions are shown in the browser: on a terminal, unless something else is asked for.
fn is_browsed(args: &AnnotateArgs) -> bool {
    let is_text = args.stdio || args.format != AnnotateFormat::Text || args.output.is_some();
    !is_text && terminal::is_there()
}

/// Reports what cannot be shown, and events whose samples may be at later instructions.
fn report(all: &AnnotatedFunctions, args: &AnnotateArgs) {
    if !args.skip_missing {
        for (function, why) in &all.missing {
            say!("perfdata: {} in {}: {why}", OneLine(&function.name), OneLine(&function.short_dso));
        }
    }
    let events = all.shown.iter().flat_map(|it| &it.events);
    let mut skidding: Vec<_> = events.filter(|it| it.precise_ip == 0).map(|it| &*it.name).collect();
    skidding.sort_unstable();
    skidding.dedup();
    for name in skidding {
        say!(
            "perfdata: {} is not precise: its samples may be at an instruction after the one that caused them",
            OneLine(name.as_bytes())
        );
    }
}

/// Counts the samples that the command line selects.
fn annotator(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &AnnotateArgs,
    observer: &mut StderrObserver,
) -> Result<Annotator, Failure> {
    let mut only = args.only.clone();
    only.dsos.extend_from_slice(&args.named_dsos);
    counted(reader, memory, &only, &args.symbols, args.threads, options(args), observer)
}

/// Counts the selected samples of a capture, for a verb that shows functions besides.
pub(crate) fn counted(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    only: &OnlyArgs,
    symbols: &SymbolArgs,
    threads: Option<NonZero<usize>>,
    options: AnnotateOptions,
    observer: &mut dyn Observer,
) -> Result<Annotator, Failure> {
    let naming = symbols.naming(threads);
    let samples = selection::unresolved(reader, memory, only, true)?.threads(naming.threads.get());
    let symbols =
        names::symbols_with(symbols, reader.features(), memory, Lines::Always, NameStyle::Distinct)?;
    Annotator::of(samples, &symbols, options, observer).map_err(selection::failure)
}

fn options(args: &AnnotateArgs) -> AnnotateOptions {
    let mut options = AnnotateOptions::default();
    options.syntax = match args.disassembler_style {
        DisassemblerStyle::Att => perf_annotate::disassembly::Syntax::Att,
        DisassemblerStyle::Intel => perf_annotate::disassembly::Syntax::Intel,
    };
    let mut source = SourceOptions::default();
    source.enabled = !args.no_source;
    source.dirs.clone_from(&args.source);
    source.prefix.clone_from(&args.prefix);
    source.strip = args.prefix_strip;
    #[cfg(feature = "debuginfod")]
    {
        source.fetch = args.symbols.debuginfod.is_some();
    }
    options.source = source;
    options
}

/// Returns the functions that the command line asks for, by their indexes.
fn wanted(annotator: &Annotator, args: &AnnotateArgs) -> Result<Vec<usize>, Failure> {
    let symbol = args.symbol.as_deref().or(args.named_symbol.as_deref());
    let selected =
        annotator.select(symbol.map(str::as_bytes), args.percent_limit, args.percent_type.by_samples);
    selected.ok_or_else(|| no_samples(annotator, symbol.unwrap_or_default()))
}

/// Returns the failure of a function without samples, with the names that are like it.
fn no_samples(annotator: &Annotator, symbol: &str) -> Failure {
    const FEW: usize = 3;
    let has =
        |name: &[u8]| !symbol.is_empty() && name.windows(symbol.len()).any(|part| part == symbol.as_bytes());
    let like = annotator.functions().iter().filter(|it| has(&it.name)).take(FEW);
    let like: Vec<_> = like.map(|it| OneLine(&it.name).to_string()).collect();
    let advice = if Path::new(symbol).is_file() {
        "a file is given after the function, or by -i".to_owned()
    } else if like.is_empty() {
        "perfdata report lists the functions that have samples".to_owned()
    } else {
        format!("there are samples in {}", like.join(", "))
    };
    Failure(format!("{}: no sample is in a function of this name; {advice}", OneLine(symbol.as_bytes())))
}
