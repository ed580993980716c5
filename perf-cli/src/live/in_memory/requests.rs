//! What the thread that shows a recording asks the thread that reads it.

use core::time::Duration;
use std::io::{Cursor, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use perf_parse::file::write::WriteOptions;
use perf_record::{FileSink, RecordWindow, Recorder};

use super::own_cost::OwnCost;
use crate::live::record::output::CaptureOutput;
use crate::live::record::until::StopConditions;
use crate::outcome::Failure;
use crate::report::live_view::LiveCaptures;

/// The time for which the rings may fill.
const TICK: Duration = Duration::from_millis(100);
/// The file of the last while.
const SAVED: &str = "perf.data";

/// What the thread that shows the recording asks for. Each request has the place of its answer.
#[derive(Debug)]
pub(in crate::live) enum LiveRequest {
    /// The capture of the last while, in memory.
    Capture(Duration, Sender<Result<Vec<u8>, Failure>>),
    /// Whether the recording goes on.
    Sign(Sender<()>),
    /// All that is kept, as a file.
    Save(Sender<Result<String, Failure>>),
}

/// The recording, as the thread that shows it sees it.
#[derive(Debug)]
pub(in crate::live) struct LiveRecording {
    requests: Sender<LiveRequest>,
    /// Ends a wait of the recorder.
    waker: UnixStream,
    cost: OwnCost,
}

impl LiveRecording {
    pub(in crate::live) fn new(requests: Sender<LiveRequest>, waker: UnixStream) -> Self {
        Self { requests, waker, cost: OwnCost::new() }
    }

    /// Asks the recorder, and waits for its answer; `None` if it has ended.
    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> LiveRequest) -> Option<T> {
        let (answer, answers) = channel();
        self.requests.send(request(answer)).ok()?;
        // If it is full, the recorder is awake already.
        let _ = (&self.waker).write(&[0]);
        answers.recv().ok()
    }

    /// Returns whether the recording goes on.
    pub(in crate::live) fn goes_on(&self) -> bool {
        self.ask(LiveRequest::Sign).is_some()
    }
}

impl LiveCaptures for LiveRecording {
    fn capture(&mut self, span: Duration) -> Option<Result<Vec<u8>, Failure>> {
        self.ask(|answer| LiveRequest::Capture(span, answer))
    }

    fn save(&mut self) -> Option<Result<String, Failure>> {
        self.ask(LiveRequest::Save)
    }

    fn own_percent(&mut self) -> f64 {
        self.cost.percent()
    }
}

/// Reads the rings and answers requests until the recording or the thread that shows it ends.
pub(in crate::live) fn answer(
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

/// Answers what was asked so far; `save` saves all that is kept. Returns whether the recording is still shown.
pub(in crate::live) fn answer_all(
    recorder: &mut Recorder,
    window: &RecordWindow,
    requests: &Receiver<LiveRequest>,
    mut save: impl FnMut(&mut Recorder) -> Result<String, Failure>,
) -> bool {
    loop {
        // Who asked may be gone.
        let _ = match requests.try_recv() {
            Ok(LiveRequest::Capture(span, answer)) => answer.send(capture(recorder, window, span)).is_ok(),
            Ok(LiveRequest::Sign(answer)) => answer.send(()).is_ok(),
            Ok(LiveRequest::Save(answer)) => answer.send(save(recorder)).is_ok(),
            Err(TryRecvError::Empty) => return true,
            Err(TryRecvError::Disconnected) => return false,
        };
    }
}

/// Returns the capture of the last while.
fn capture(recorder: &mut Recorder, window: &RecordWindow, span: Duration) -> Result<Vec<u8>, Failure> {
    let mut sink = FileSink::new(Cursor::new(Vec::new()));
    recorder.snapshot(window, span).without_build_ids().write(window.sideband(), &mut sink)?;
    Ok(sink.into_inner().unwrap_or_default().into_inner())
}

/// Writes all that is kept to a file. Returns its name, and what it has.
fn save(recorder: &mut Recorder, window: &RecordWindow) -> Result<String, Failure> {
    let mut out = CaptureOutput::create(Path::new(SAVED), WriteOptions::default())?;
    let summary = recorder.snapshot(window, Duration::MAX).write(window.sideband(), &mut out)?;
    out.publish()?;
    Ok(format!("{SAVED}, {} samples", summary.samples))
}
