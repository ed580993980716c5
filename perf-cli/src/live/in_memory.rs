//! Recordings that stay in memory, for the verbs that show what happens now.
//!
//! The recording is that of `perfdata record`. One thread reads the rings, another one shows, so that slow work of the latter loses
//! nothing.

use core::time::Duration;
use std::path::Path;
use std::sync::mpsc::Receiver;

use perf_open::limits;
use perf_parse::file::write::WriteOptions;
use perf_record::{RecordWindow, Recorder, Targets};

use crate::args::live::SampledArgs;
use crate::live::record;
use crate::live::record::output::CaptureOutput;
use crate::live::record::until::StopConditions;
use crate::live::requests::{LiveRecording, LiveRequest, answer_all, with_view};
use crate::outcome::{Failure, Outcome};

/// The time for which the rings may fill.
const TICK: Duration = Duration::from_millis(100);
/// The file of the last while.
const SAVED: &str = "perf.data";

/// Records, keeps the samples of the last while, and calls `show` on another thread, until it or the recording ends.
///
/// # Errors
///
/// Those of the recording, and of `show`.
pub(super) fn record(
    args: &SampledArgs,
    keep: Duration,
    show: impl FnOnce(&mut LiveRecording) -> Result<(), Failure> + Send,
) -> Result<Outcome, Failure> {
    let mut recorded = args.record().ok_or("the command line cannot be recorded")?;
    if !args.names_something() && !may_observe_all() {
        let own = rustix::process::geteuid().as_raw();
        if matches!(Targets::user(own)?, Targets::Threads(threads) if threads.is_empty()) {
            return Err("you have no other process, and only root may observe those of others".into());
        }
        recorded.uid = Some(own.to_string());
    }
    record::record(&recorded, |recorder, until, _| {
        record::start(recorder, &recorded, until)?;
        with_view(until.signals.waker()?, show, |asked| answer(recorder, until, &asked, keep))
    })
}

/// Returns whether this user may observe the whole machine.
fn may_observe_all() -> bool {
    rustix::process::geteuid().is_root() || limits::paranoid().is_ok_and(|level| level <= 0)
}

/// Reads the rings and answers requests until the recording or the thread that shows it ends.
fn answer(
    recorder: &mut Recorder,
    until: &mut StopConditions<'_>,
    requests: &Receiver<LiveRequest>,
    keep: Duration,
) -> Result<(), Failure> {
    let mut window = RecordWindow::new(keep);
    recorder.begin(&mut window)?;
    loop {
        let due = until.look(recorder)?;
        recorder.drain(&mut window)?;
        recorder.trim_window(&mut window);
        if !answer_all(recorder, &window, requests, |recorder| save(recorder, &window)) {
            return Ok(recorder.stop()?);
        }
        if due.end {
            return Ok(());
        }
        until.wait(recorder, TICK)?;
    }
}

/// Writes all that is kept to a file. Returns its name, and what it has.
fn save(recorder: &mut Recorder, window: &RecordWindow) -> Result<String, Failure> {
    let mut out = CaptureOutput::create(Path::new(SAVED), WriteOptions::default())?;
    let summary = recorder.snapshot(window, Duration::MAX).write(window.sideband(), &mut out)?;
    out.publish()?;
    Ok(format!("{SAVED}, {} samples", summary.samples))
}
