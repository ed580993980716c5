//! `perfdata record`: samples a command, tasks or the whole machine, and writes a perf.data.
//!
//! The recording itself is that of the crate perf-record. Here are the command line, the files, and the conditions that
//! end a recording.

mod cache;
mod collect;
mod commands;
mod dump;
mod folder;
mod hints;
mod lock;
mod off_cpu;
mod options;
pub(super) mod output;
mod overwrite;
mod rotation;
mod sched;
mod schedule;
mod signals;
mod threads;
mod tracer;
pub(super) mod until;
mod users;

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use perf_open::workload::Workload;
use perf_parse::file::write::{WriteOptions, ZstdOptions};
use perf_record::{ReaderThreads, RecordWindow, Recorder, Summary, ThreadMask, Trigger};

use crate::args::live::record::{Delay, RecordArgs, Switch};
use crate::escape::shown;
use crate::live::requests::{LiveRequest, answer_all, with_view};
use crate::live::{exit_code, observed};
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::report::live_view::LiveView;
use commands::Commands;
use output::CaptureOutput;
use rotation::Rotation;
use schedule::Schedule;
use signals::RecordSignals;
use until::{LastWait, StopConditions};

/// The time for which the rings may fill if no wakeup asks to read them earlier. A recorder that is killed loses at most that
/// much.
const TICK: Duration = Duration::from_secs(1);
/// The same for a stream, whose reader may be waiting, and for a view.
const STREAM_TICK: Duration = Duration::from_millis(100);
/// What a view beside the capture shows.
const KEPT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &RecordArgs) -> Result<Outcome, Failure> {
    if options::prints_registers(args)? {
        return Ok(Outcome::Clean);
    }
    contradictions(args)?;
    record(args, |recorder, until, masks| {
        let capture = if recorder.overwrites() {
            overwrite::run(recorder, args, until)?;
            None
        } else if args.live {
            let view = LiveView::beside_recording().ok_or("the recording cannot be shown")?;
            with_view(
                until.signals.waker()?,
                |recording| view.run(recording),
                |requests| stream(recorder, args, masks, until, Some(requests)),
            )?
        } else {
            stream(recorder, args, masks, until, None)?
        };
        cache::fill(recorder, args);
        if let Some(capture) = capture.filter(|_| args.collect) {
            collect::write(args, &capture)?;
        }
        Ok(())
    })
}

/// Opens the events of the command line, and calls `act`, which starts and reads them until the recording is over. Then ends the
/// command, if there is one.
pub(super) fn record(
    args: &RecordArgs,
    act: impl FnOnce(&mut Recorder, &mut StopConditions<'_>, Option<Vec<ThreadMask>>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let (groups, filters) = options::events(args)?;
    let observed = match &args.uid {
        Some(user) => users::observed(user)?,
        None => observed::of(&args.observed, !args.command.is_empty())?,
    };
    let masks = threads::masks(args, &observed)?;
    let observed = threads::observed(observed, masks.as_deref());
    let options = options::of(args, &groups, filters, &observed, masks.as_deref())?;
    if args.dry_run {
        return Ok(Outcome::Clean);
    }
    hints::print(args, &groups);
    let mut workload = match args.command.split_first() {
        Some((program, words)) => Some(Workload::prepare(program, words.iter().cloned())?),
        None => None,
    };
    let command = workload.as_ref().map(Workload::pid);
    if let Some(priority) = args.realtime {
        // After the fork, so that the command keeps its own.
        perf_open::realtime(priority)?;
    }
    let signals = RecordSignals::new()?;
    let commands =
        args.when.control.as_ref().map(|it| Commands::listen(it, &signals, &groups)).transpose()?;
    let trigger = match &args.when.switch_output_event {
        Some(events) => Some(Trigger::open(options::parsed(events)?, &observed, command)?),
        None => None,
    };
    let mut recorder = Recorder::open(groups, observed.clone(), command, options)?;
    let mut until = StopConditions {
        workload: workload.as_mut(),
        observed: &observed,
        signals: &signals,
        commands,
        trigger,
        schedule: Schedule::of(args.when.delay.as_ref()),
        began: Instant::now(),
        last: LastWait::default(),
    };
    act(&mut recorder, &mut until, masks)?;
    match workload {
        Some(mut workload) => Ok(Outcome::Command(exit_code(end(&mut workload)?))),
        None => Ok(Outcome::Clean),
    }
}

/// Returns an error if options contradict each other.
fn contradictions(args: &RecordArgs) -> Result<(), Failure> {
    let when = &args.when;
    if let Some(why) = folder::contradiction(args).or_else(|| collect::contradiction(args)) {
        return Err(Failure(why));
    }
    let to_stream = args.output == Path::new("-");
    let why = if args.live
        && (to_stream || args.overwrite || args.threads.is_some() || switch_of(args).is_some())
    {
        "--live needs one file that is written by one thread: leave out --overwrite, --threads and --switch-output, and \
         give --output the name of a file"
    } else if args.overwrite && to_stream {
        "--overwrite cannot write to standard output; give --output the name of a file"
    } else if (switch_of(args).is_some() || when.timestamp_filename) && to_stream {
        "--switch-output and --timestamp-filename need a file; give --output the name of one"
    } else if when.switch_max_files.is_some() && switch_of(args).is_none() {
        "--switch-max-files is for the files of --switch-output"
    } else if matches!(when.delay, Some(Delay::Never)) && when.control.is_none() {
        "--delay -1 needs --control, to start the events"
    } else {
        return match &args.dump_rings {
            Some(folder) => dump::check(folder, &args.output),
            None => Ok(()),
        };
    };
    Err(Failure(why.to_owned()))
}

/// Returns when another file begins. An event that does what SIGUSR2 does begins one, if nothing else is asked for.
fn switch_of(args: &RecordArgs) -> Option<Switch> {
    let by_event = args.when.switch_output_event.is_some() && !args.overwrite && args.dump_rings.is_none();
    args.when.switch_output.or(by_event.then_some(Switch::Signal))
}

/// Records until the end, writing the records as the rings fill, and answering what a view asks for. Returns the path of the capture; `None` if the reader of a stream
/// has closed its end.
fn stream(
    recorder: &mut Recorder,
    args: &RecordArgs,
    masks: Option<Vec<ThreadMask>>,
    until: &mut StopConditions<'_>,
    asked: Option<Receiver<LiveRequest>>,
) -> Result<Option<PathBuf>, Failure> {
    let mut out = if folder::is_asked_for(args) {
        CaptureOutput::create_folder(&args.output, written_as(args))?
    } else {
        CaptureOutput::create(&args.output, written_as(args))?
    };
    if args.kcore {
        out.copy_kcore()?;
    }
    if asked.is_some() {
        out.window = Some(RecordWindow::new(KEPT).beside_capture());
    }
    recorder.begin(&mut out)?;
    let mut threads = masks
        .map(|masks| threads::start(masks, recorder, &mut out, &written_as(args), until.signals))
        .transpose()?;
    // If the start fails, existing files remain unchanged.
    start(recorder, args, until)?;
    out.publish()?;
    let tick = if args.output == Path::new("-") || asked.is_some() { STREAM_TICK } else { TICK };
    let mut rotation = Rotation::new(args);
    loop {
        let due = until.look(recorder)?;
        let is_full = args.when.max_size.is_some_and(|most| out.size().is_some_and(|size| size >= most));
        let has_failed = threads.as_ref().is_some_and(ReaderThreads::has_failed);
        let is_over = is_full || has_failed || due.end;
        if is_full || has_failed {
            recorder.stop()?;
        }
        if is_full && !args.quiet {
            say!("perfdata: {}: reached --max-size", out.name);
        }
        let takes_snapshot = due.snapshot && recorder.takes_snapshots_of_areas();
        if takes_snapshot {
            recorder.snapshot_areas(&mut out)?;
        }
        if !is_over && rotation.is_due(due.snapshot, || out.size()) {
            let mut next = CaptureOutput::create(&args.output, written_as(args))?;
            let summary = recorder.switch(&mut out, &mut next)?;
            // The name is free once the finished file has its own.
            said(args, &out, &summary, &rotation.finished()?);
            next.publish()?;
            out = next;
        } else if due.snapshot && switch_of(args).is_none() {
            match &args.dump_rings {
                Some(folder) => {
                    let (events, features) = (recorder.events().to_vec(), recorder.features().clone());
                    dump::rings(folder, (&events, &features), recorder.dumps(), args.quiet)?;
                }
                None if takes_snapshot => {}
                None => say!(
                    "perfdata: SIGUSR2 and snapshot are ignored without --snapshot, --overwrite, --dump-rings or \
                     --switch-output"
                ),
            }
        }
        until.answer(due);
        if is_over {
            break;
        }
        recorder.drain(&mut out)?;
        if out.is_closed() {
            recorder.stop()?;
            return Ok(None);
        }
        if let (Some(asked), Some(window)) = (&asked, &mut out.window) {
            recorder.trim_window(window);
            let save = |_: &mut Recorder| Err(Failure(format!("{} has all samples at the end", out.name)));
            if !answer_all(recorder, window, asked, save) {
                recorder.stop()?;
                break;
            }
        }
        until.wait(recorder, tick)?;
    }
    if args.aux_area.snapshot.is_some_and(|snapshot| snapshot.at_end) {
        recorder.snapshot_areas(&mut out)?;
    }
    if let Some(threads) = threads.take() {
        recorder.join(threads.end().map_err(|error| output::named(&out.name, error))?);
    }
    let summary = recorder.finish(&mut out)?;
    let name = rotation.finished()?;
    said(args, &out, &summary, &name);
    Ok(Some(name))
}

/// Says what was written, and what was lost.
fn said(args: &RecordArgs, out: &CaptureOutput, summary: &Summary, name: &Path) {
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
    if summary.unreadable_files > 0 && args.accepted.verbose > 0 {
        say!(
            "perfdata: {} mapped files have no build ID, because they were replaced or deleted, or their container has \
             ended; only root can read the files that a process has mapped",
            summary.unreadable_files
        );
    }
}

/// Returns how the records are written.
fn written_as(args: &RecordArgs) -> WriteOptions {
    let zstd = args.compression_level.map(|level| ZstdOptions { level, ..ZstdOptions::default() });
    WriteOptions { zstd, ..WriteOptions::default() }
}

/// Says what was written to a file.
fn written(args: &RecordArgs, out: &CaptureOutput, summary: &Summary, name: &Path) {
    if let (Some(size), false) = (out.size(), args.quiet) {
        say!("perfdata: {}: {} samples, {size} bytes", shown(name), summary.samples);
    }
}

/// Starts the recording: by the exec of the command, or at once.
pub(super) fn start(
    recorder: &Recorder,
    args: &RecordArgs,
    until: &mut StopConditions<'_>,
) -> Result<(), Failure> {
    if !args.quiet {
        let notes = recorder.notes().iter().filter(|note| args.accepted.verbose > 0 || !note.is_detail());
        notes.for_each(|note| say!("perfdata: {note}"));
    }
    if args.when.delay.is_none() {
        recorder.start()?;
    }
    if let Some(trigger) = &until.trigger {
        trigger.start()?;
    }
    until.began = Instant::now();
    if let (Some(workload), Some(program)) = (&mut until.workload, args.command.first()) {
        workload.start().map_err(|error| {
            let why = error.errno().map(io::Error::from_raw_os_error);
            let why = why.map_or_else(|| error.to_string(), |why| why.to_string());
            format!("{}: {why}", shown(program))
        })?;
    }
    Ok(())
}

/// Ends the command if it still runs, for example after Ctrl-C.
fn end(workload: &mut Workload) -> Result<ExitStatus, Failure> {
    if workload.try_wait()?.is_none() {
        // The command may end between the two calls.
        let _ = workload.terminate();
    }
    Ok(workload.wait()?)
}
