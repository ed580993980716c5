//! `--threads`: several threads read the rings, and write a folder with a file for each ring.

use alloc::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use perf_parse::file::write::WriteOptions;
use perf_record::{Error, PartSink, Recorder, RingReader, Targets, ThreadMask};

use super::TICK;
use super::output::{CHUNK, CaptureOutput, named};
use super::signals::RecordSignals;
use crate::Failure;
use crate::args::live::record::RecordArgs;
use crate::live::observed;

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

type PartFile = PartSink<BufWriter<File>>;

/// The threads that read rings.
pub(super) struct ReaderThreads {
    running: Vec<JoinHandle<(RingReader, Result<(), Error>)>>,
    /// The threads end when it is closed.
    end: UnixStream,
}

impl ReaderThreads {
    /// Takes the rings from `recorder`, creates their files in `out`, and starts the threads.
    pub(super) fn start(
        masks: Vec<ThreadMask>,
        recorder: &mut Recorder,
        out: &mut CaptureOutput,
        options: &WriteOptions,
        signals: &RecordSignals,
    ) -> Result<Self, Failure> {
        let cpus: Vec<_> = masks.iter().map(|mask| mask.cpus.clone()).collect();
        let mut work = Vec::new();
        for (reader, mask) in recorder.split(&cpus)?.into_iter().zip(masks) {
            let mut parts = Vec::new();
            for &ring in reader.rings() {
                let file = BufWriter::with_capacity(CHUNK, out.part(ring)?);
                parts.push(PartFile::with_options(file, options)?);
            }
            work.push((reader, mask, parts));
        }
        let (end, closed) = UnixStream::pair()?;
        let mut running = Vec::new();
        for (mut reader, mask, mut parts) in work {
            let (closed, waker) = (closed.try_clone()?, signals.waker()?);
            let read = move || {
                let result =
                    mask.pin_thread().and_then(|()| until_closed(&mut reader, &mut parts, &closed, &waker));
                if result.is_err() {
                    wake(&waker);
                }
                (reader, result)
            };
            running.push(thread::Builder::new().name("reader".to_owned()).spawn(read)?);
        }
        Ok(Self { running, end })
    }

    /// Returns whether a thread has ended early: it cannot write.
    pub(super) fn has_failed(&self) -> bool {
        self.running.iter().any(JoinHandle::is_finished)
    }

    /// Ends the threads, after they have read everything that is in the rings now. `name` is that of the output in
    /// messages.
    pub(super) fn end(self, name: &str) -> Result<Vec<RingReader>, Failure> {
        drop(self.end);
        let mut readers = Vec::new();
        for thread in self.running {
            let Ok((reader, result)) = thread.join() else {
                return Err(Failure("a thread that reads rings has ended".to_owned()));
            };
            result.map_err(|error| named(name, error))?;
            readers.push(reader);
        }
        Ok(readers)
    }
}

/// Reads the rings until `closed` is closed, and then what is left in them.
fn until_closed(
    reader: &mut RingReader,
    parts: &mut [PartFile],
    closed: &UnixStream,
    waker: &UnixStream,
) -> Result<(), Error> {
    loop {
        reader.drain(parts)?;
        let waited = reader.wait(Some(TICK), &[closed.as_fd()])?;
        if waited.other {
            return reader.drain_all(parts).map(drop);
        }
        if waited.hangup {
            // The recording may be over.
            wake(waker);
        }
    }
}

/// Ends the wait of the thread that looks after the recording.
fn wake(mut waker: &UnixStream) {
    // Fails if so much is unread that it does not wait.
    let _ = waker.write(&[0]);
}
