//! `--threads`: several threads read the rings, and write a folder with a file for each ring.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use std::io::{BufWriter, Write};
use std::os::unix::net::UnixStream;

use perf_parse::file::write::WriteOptions;
use perf_record::{Error, PartSink, ReaderThreads, Recorder, Targets, ThreadMask};

use super::TICK;
use super::output::{CHUNK, CaptureOutput};
use super::signals::RecordSignals;
use crate::args::live::record::RecordArgs;
use crate::live::observed;
use crate::outcome::Failure;

/// Returns the threads that `--threads` asks for; `None` without it.
pub(super) fn masks(args: &RecordArgs, observed: &Targets) -> Result<Option<Vec<ThreadMask>>, Failure> {
    let Some(spec) = &args.threads else { return Ok(None) };
    let cpus = match observed {
        Targets::Cpus(cpus) => cpus.clone(),
        _ => observed::cpus(&args.observed)?,
    };
    let masks = spec.masks(&cpus).map_err(|error| Failure(format!("--threads: {error}")))?;
    Ok(Some(masks))
}

/// Returns the cpus that the threads record.
pub(super) fn cpus(masks: &[ThreadMask]) -> Vec<u32> {
    let cpus: BTreeSet<u32> = masks.iter().flat_map(|mask| &mask.cpus).copied().collect();
    cpus.into_iter().collect()
}

/// Returns what is observed: cpus that are in no mask are not.
pub(super) fn observed(observed: Targets, masks: Option<&[ThreadMask]>) -> Targets {
    match (observed, masks) {
        (Targets::Cpus(_), Some(masks)) => Targets::Cpus(cpus(masks)),
        (observed, _) => observed,
    }
}

/// Takes the rings from `recorder`, creates their files in `out`, and starts the threads that read them. They wake the thread
/// that controls the recording when it may be over.
pub(super) fn start(
    masks: Vec<ThreadMask>,
    recorder: &mut Recorder,
    out: &mut CaptureOutput,
    options: &WriteOptions,
    signals: &RecordSignals,
) -> Result<ReaderThreads, Failure> {
    let part = |ring| {
        let file = out.part(ring).map_err(|failure| Error::Request(failure.0))?;
        PartSink::with_options(BufWriter::with_capacity(CHUNK, file), options)
    };
    let waker = Arc::new(signals.waker()?);
    Ok(ReaderThreads::start(recorder, masks, part, TICK, move || wake(&waker))?)
}

/// Ends the wait of the thread that controls the recording.
fn wake(mut waker: &UnixStream) {
    // Fails if so much is unread that it does not wait.
    let _ = waker.write(&[0]);
}
