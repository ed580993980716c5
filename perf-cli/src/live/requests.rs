//! What the thread that shows a recording asks the thread that reads it.

mod own_cost;

use core::time::Duration;
use std::io::{Cursor, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use perf_record::{FileSink, RecordWindow, Recorder};

use crate::outcome::Failure;
use crate::report::live_view::LiveCaptures;
use own_cost::OwnCost;

/// The stack of the thread that shows: names of deeply nested types need more than the usual 2 MiB.
const STACK: usize = 8 << 20;

/// What the thread that shows the recording asks for. Each request has the place of its answer.
#[derive(Debug)]
pub(super) enum LiveRequest {
    /// The capture of the last while, in memory.
    Capture(Duration, Sender<Result<Vec<u8>, Failure>>),
    /// Whether the recording goes on.
    Sign(Sender<()>),
    /// All that is kept, as a file.
    Save(Sender<Result<String, Failure>>),
}

/// The recording, as the thread that shows it sees it.
#[derive(Debug)]
pub(super) struct LiveRecording {
    requests: Sender<LiveRequest>,
    /// Ends a wait of the recorder.
    waker: UnixStream,
    cost: OwnCost,
}

impl LiveRecording {
    pub(super) fn new(requests: Sender<LiveRequest>, waker: UnixStream) -> Self {
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
    pub(super) fn goes_on(&self) -> bool {
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

/// Calls `show` on a thread of its own, and `read`, which reads the rings, on this one; `waker` ends a wait of `read`.
///
/// # Errors
///
/// Those of both.
pub(super) fn with_view<T>(
    waker: UnixStream,
    show: impl FnOnce(&mut LiveRecording) -> Result<(), Failure> + Send,
    read: impl FnOnce(Receiver<LiveRequest>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (requests, asked) = channel();
    let mut recording = LiveRecording::new(requests, waker);
    thread::scope(|scope| {
        // The reader ends when the thread drops its end of the requests, and the thread when the reader drops its own.
        let shown = thread::Builder::new()
            .name("show".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, move || show(&mut recording))?;
        let read = read(asked);
        let shown = shown.join().map_err(|_| Failure("the view panicked".to_owned()))?;
        read.and_then(|it| shown.map(|()| it))
    })
}

/// Answers what was asked so far; `save` saves all that is kept. Returns whether the recording is still shown.
pub(super) fn answer_all(
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
