//! `perfdata export --to parquet`: captures added to a data set.

use core::num::NonZero;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use perf_export::columns::{self, ColumnsBuilder, Options};
use perf_export::parquet;
use perf_parse::file::Reader;
use perf_profile::Symbols;
use perf_profile::edit::{ItraceOptions, TraceSamples};

use super::data_set::CaptureFiles;
use crate::args::export::{DroppedPart, ExportArgs, ExtraColumn};
use crate::escape::shown;
use crate::input::Memory;
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::{itrace, names, selection, streams};

pub(super) fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    if args.profile.off_cpu {
        return Err("--off-cpu: the table switches has these times; leave the option out".into());
    }
    if args.profile.lock_waits {
        return Err(
            "--lock-waits: there is no table of these times; use perfdata lock waits, or another format"
                .into(),
        );
    }
    if args.out() == Path::new("-") {
        return Err("-o -: Parquet needs a folder; give its name".into());
    }
    let files = &args.profile.files.0;
    let threads = args.profile.naming.threads.or_else(|| thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZero::get);
    // Streams that are not those of the process belong to this thread.
    let workers = if streams::are_of_process() { threads.min(files.len()) } else { 1 };
    // A capture alone may use all threads for its names.
    let of_names = NonZero::new(threads / workers.max(1)).unwrap_or(NonZero::<usize>::MIN);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = export(path, args, of_names);
            results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    outcome(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the outcome of all captures. The failures of some do not keep the others from being exported.
fn outcome(results: Vec<Result<Outcome, Failure>>) -> Result<Outcome, Failure> {
    let all = results.len();
    let (mut failures, mut outcome) = (Vec::new(), Outcome::Clean);
    for result in results {
        match result {
            Ok(Outcome::Clean) => {}
            Ok(other) => outcome = other,
            Err(failure) => failures.push(failure),
        }
    }
    let Some(last) = failures.pop() else { return Ok(outcome) };
    let count = failures.len() + 1;
    failures.into_iter().for_each(|Failure(why)| say!("perfdata: {why}"));
    if count == all {
        return Err(last);
    }
    let Failure(why) = last;
    say!("perfdata: {why}");
    say!("perfdata: captures that were not exported: {count} of {all}");
    Ok(Outcome::Partial)
}

/// Exports a capture.
fn export(path: &Path, args: &ExportArgs, threads: NonZero<usize>) -> Result<Outcome, Failure> {
    let work = |reader: Reader<'_>, memory: Memory<'_>| {
        let default = ItraceOptions::default();
        let options = itrace::options(args.profile.itrace, default, &reader);
        let made = options.map(|options| itrace::make(&reader, &options, None)).transpose()?.flatten();
        let result = match made {
            None => add(&reader, memory, path, args, threads, None),
            Some(made) => {
                let memory = Memory { is_made: true, ..memory };
                let outcome = add(&made.reader, memory, path, args, threads, Some((&made.samples, &reader)));
                if made.is_whole { outcome } else { outcome.map(|_| Outcome::Partial) }
            }
        };
        result.map_err(|Failure(why)| Failure(format!("{}: {why}", shown(path))))
    };
    crate::input::read_by_windows(path, args.profile.only.time.is_some(), work)
}

/// Adds a capture to the data set. `traced` is what its samples were made of, whose records are added too.
fn add(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    path: &Path,
    args: &ExportArgs,
    threads: NonZero<usize>,
    mut traced: Option<(&TraceSamples, &Reader<'_>)>,
) -> Result<Outcome, Failure> {
    let samples = selection::samples(reader, memory, &args.profile.only)?.threads(threads.get());
    let names = names::symbols(&args.profile.symbols, reader.features(), memory)?;
    let mut partition = parquet::Options::default();
    partition.host.clone_from(&args.columns.host);
    partition.date.clone_from(&args.columns.date);
    let folder = args.out();
    let mut files = CaptureFiles::new(&folder, memory.inputs, partition);
    let mut observer = StderrObserver::new(memory, false);
    let max_stack = Symbols::max_stack(reader.features(), args.profile.naming.max_stack);
    let options = options(args, path, threads, max_stack);
    let end = columns::walk(reader, samples, &names, options, &mut observer, |tables| {
        if let Some((samples, traced)) = traced.take() {
            add_trace(samples, traced, tables, &mut files)?;
        }
        files.write(tables)
    })?;
    files.publish()?;
    Ok(observer.finish(end.account(), end.omitted(), "exported"))
}

/// Adds the records of the AUX data of a capture.
fn add_trace(
    samples: &TraceSamples,
    reader: &Reader<'_>,
    tables: &mut ColumnsBuilder<'_>,
    files: &mut CaptureFiles<'_>,
) -> Result<(), Failure> {
    let mut written = Ok(());
    samples.for_each_record(reader, |record| {
        if written.is_ok() {
            tables.trace_record(record);
            written = files.write(tables);
        }
    });
    tables.end_trace_records();
    written
}

fn options(args: &ExportArgs, path: &Path, threads: NonZero<usize>, max_stack: usize) -> Options {
    let mut options = Options::default();
    let columns = &args.columns;
    options.path = (path != Path::new("-")).then(|| path.as_os_str().as_encoded_bytes().to_vec());
    options.flat = columns.flat;
    options.with.branches = columns.with.contains(&ExtraColumn::Branches);
    options.with.registers = columns.with.contains(&ExtraColumn::Registers);
    options.with.trace = columns.with.contains(&ExtraColumn::Trace);
    options.redaction.comm = columns.drop.contains(&DroppedPart::Comm);
    options.redaction.cmdline = columns.drop.contains(&DroppedPart::Cmdline);
    options.redaction.paths = columns.drop.contains(&DroppedPart::Paths);
    options.redaction.salt.clone_from(&columns.hash_paths);
    options.max_stack = Some(max_stack);
    options.naming = args.profile.symbols.naming(Some(threads));
    options
}
