//! Recordings that stay in memory, for the verbs that show what happens now.
//!
//! The recording is that of `perfdata record`. One thread reads the rings, another one shows, so that slow work of the latter loses
//! nothing.

mod own_cost;
mod requests;

use core::time::Duration;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use perf_open::limits;
use perf_record::Targets;

use crate::args::live::SampledArgs;
use crate::live::record;
use crate::outcome::{Failure, Outcome};
pub(super) use requests::{LiveRecording, LiveRequest, answer_all};

/// The stack of the thread that shows: names of deeply nested types need more than the usual 2 MiB.
const STACK: usize = 8 << 20;

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
        with_view(until.signals.waker()?, show, |asked| requests::answer(recorder, until, &asked, keep))
    })
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
    let (requests, asked) = mpsc::channel();
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

/// Returns whether this user may observe the whole machine.
fn may_observe_all() -> bool {
    rustix::process::geteuid().is_root() || limits::paranoid().is_ok_and(|level| level <= 0)
}
