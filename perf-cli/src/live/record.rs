//! `perfdata record`: samples a command, tasks or the whole machine, and writes a perf.data.
//!
//! The recording itself is that of the crate perf-record. Here are the command line, the files, and the conditions that
//! end a recording.

mod cache;
mod dump;
mod options;
mod output;
mod overwrite;
mod rotation;
mod signals;
mod users;

use core::time::Duration;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Instant;

use perf_open::workload::Workload;
use perf_parse::file::write::{Options as WriteOptions, Zstd};
use perf_record::{Recorder, Summary};

use crate::args::live::record::RecordArgs;
use crate::escape::shown;
use crate::live::exit_code;
use crate::live::observed::{self, Observed};
use crate::output::say;
use crate::{Failure, Outcome};
use output::Output;
use rotation::Rotation;
use signals::Signals;

/// How long the rings may fill if no wakeup asks to read them earlier. A recorder that is killed loses at most that
/// much.
const TICK: Duration = Duration::from_secs(1);
/// The same for a stream, whose reader may be waiting.
const STREAM_TICK: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &RecordArgs) -> Result<Outcome, Failure> {
    if args.overwrite && args.output == Path::new("-") {
        return Err(Failure(
            "--overwrite cannot write to standard output; give --output the name of a file".to_owned(),
        ));
    }
    if (args.switch_output.is_some() || args.timestamp_filename) && args.output == Path::new("-") {
        return Err(Failure(
            "--switch-output and --timestamp-filename need a file; give --output the name of one".to_owned(),
        ));
    }
    if let Some(folder) = &args.dump_rings {
        dump::check(folder, &args.output)?;
    }
    let (groups, filters) = options::events(args)?;
    let observed = match &args.uid {
        Some(user) => Observed::Threads(users::threads(user)?),
        None => observed::of(&args.observed, !args.command.is_empty())?,
    };
    let options = options::of(args, filters)?;
    if args.dry_run {
        return Ok(Outcome::Clean);
    }
    let mut workload = match args.command.split_first() {
        Some((program, words)) => Some(Workload::prepare(program, words.iter().cloned())?),
        None => None,
    };
    let command = workload.as_ref().map(Workload::pid);
    let mut recorder = Recorder::open(groups, observed.clone(), command, options)?;
    let signals = Signals::new()?;
    let mut until = Until { workload: workload.as_mut(), observed: &observed, signals: &signals };
    if recorder.overwrites() {
        overwrite::run(&mut recorder, args, &mut until)?;
    } else {
        stream(&mut recorder, args, &mut until)?;
    }
    cache::fill(&recorder, args);
    match workload {
        Some(mut workload) => Ok(Outcome::Command(exit_code(end(&mut workload)?))),
        None => Ok(Outcome::Clean),
    }
}

/// Records until the end, writing the records as the rings fill.
fn stream(recorder: &mut Recorder, args: &RecordArgs, until: &mut Until<'_>) -> Result<(), Failure> {
    let mut out = Output::create(&args.output, written_as(args))?;
    recorder.begin(&mut out)?;
    // If the start fails, existing files remain unchanged.
    start(recorder, args, until)?;
    out.publish()?;
    let tick = if args.output == Path::new("-") { STREAM_TICK } else { TICK };
    let mut rotation = Rotation::new(args);
    let mut starts = args.delay.map(|delay| Instant::now() + Duration::from_millis(delay));
    loop {
        if starts.is_some_and(|at| Instant::now() >= at) {
            recorder.resume()?;
            starts = None;
        }
        until.signals.clear();
        let is_full = args.max_size.is_some_and(|most| out.size().is_some_and(|size| size >= most));
        let is_over = is_full || until.is_over()?;
        if is_over {
            recorder.stop()?;
        }
        if is_full && !args.quiet {
            say!("perfdata: {}: reached --max-size", out.name);
        }
        let is_signalled = until.signals.takes_snapshot();
        if !is_over && rotation.is_due(is_signalled, out.size()) {
            let mut next = Output::create(&args.output, written_as(args))?;
            let summary = recorder.switch(&mut out, &mut next)?;
            // The name is free once the finished file has its own.
            said(args, &out, &summary, &rotation.finished()?);
            next.publish()?;
            out = next;
        } else if is_signalled && args.switch_output.is_none() {
            match &args.dump_rings {
                Some(folder) => {
                    let (events, features) = (recorder.events().to_vec(), recorder.features().clone());
                    dump::rings(folder, (&events, &features), recorder.dumps(), args.quiet)?;
                }
                None => say!("perfdata: SIGUSR2 is ignored without --overwrite or --dump-rings"),
            }
        }
        if is_over {
            break;
        }
        recorder.drain(&mut out)?;
        if out.is_closed() {
            return Ok(recorder.stop()?);
        }
        let tick = starts.map_or(tick, |at| at.saturating_duration_since(Instant::now()).min(tick));
        recorder.wait(Some(tick), &[until.signals.fd()])?;
    }
    let summary = recorder.finish(&mut out)?;
    let name = rotation.finished()?;
    said(args, &out, &summary, &name);
    Ok(())
}

/// Says what was written, and what was lost.
fn said(args: &RecordArgs, out: &Output, summary: &Summary, name: &Path) {
    written(args, out, summary, name);
    if summary.lost > 0 {
        say!(
            "perfdata: {} records lost, because the rings were full; try a larger --mmap-pages",
            summary.lost
        );
    }
    if summary.skipped > 0 {
        say!("perfdata: {} bytes of the rings cannot be read", summary.skipped);
    }
}

/// Returns how the records are written.
fn written_as(args: &RecordArgs) -> WriteOptions {
    let zstd = args.compression_level.map(|level| Zstd { level, ..Zstd::default() });
    WriteOptions { zstd, ..WriteOptions::default() }
}

/// Says what was written to a file.
fn written(args: &RecordArgs, out: &Output, summary: &Summary, name: &Path) {
    if let (Some(size), false) = (out.size(), args.quiet) {
        say!("perfdata: {}: {} samples, {size} bytes", shown(name), summary.samples);
    }
}

/// Starts the recording: by the exec of the command, or at once.
fn start(recorder: &Recorder, args: &RecordArgs, until: &mut Until<'_>) -> Result<(), Failure> {
    if !args.quiet {
        let notes = recorder.notes().iter().filter(|note| args.accepted.verbose > 0 || !note.is_detail());
        notes.for_each(|note| say!("perfdata: {note}"));
    }
    if args.delay.is_none() {
        recorder.start()?;
    }
    if let (Some(workload), Some(program)) = (&mut until.workload, args.command.first()) {
        workload.start().map_err(|error| {
            let why = error.errno().map(io::Error::from_raw_os_error);
            let why = why.map_or_else(|| error.to_string(), |why| why.to_string());
            format!("{}: {why}", shown(program))
        })?;
    }
    Ok(())
}

/// The conditions that end a recording.
struct Until<'a> {
    workload: Option<&'a mut Workload>,
    observed: &'a Observed,
    signals: &'a Signals,
}

impl Until<'_> {
    /// Returns whether the recording ends: the command or all threads have ended, or Ctrl-C was pressed.
    fn is_over(&mut self) -> Result<bool, Failure> {
        if self.signals.is_over() {
            return Ok(true);
        }
        if let Some(workload) = &mut self.workload {
            return Ok(workload.try_wait()?.is_some());
        }
        Ok(match self.observed {
            Observed::Threads(tids) => !tids.iter().any(|&tid| observed::is_alive(tid)),
            Observed::Command | Observed::Cpus(_) => false,
        })
    }
}

/// Ends the command if it still runs, for example after Ctrl-C.
fn end(workload: &mut Workload) -> Result<ExitStatus, Failure> {
    if workload.try_wait()?.is_none() {
        // The command may end between the two calls.
        let _ = workload.terminate();
    }
    Ok(workload.wait()?)
}
