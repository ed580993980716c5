//! Threads that read the rings of a recording while another thread controls it.

use core::time::Duration;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use crate::{Error, Recorder, RecordingSink, RingReader, ThreadMask};

/// Threads that read the rings of a recording, each those of its cpus: perf's `--threads`.
///
/// # Examples
///
/// ```no_run
/// use core::time::Duration;
/// use std::fs::File;
///
/// use perf_record::open::EventSpec;
/// use perf_record::open::abi::event::SwId;
/// use perf_record::parse::file::write::WriteOptions;
/// use perf_record::{FileSink, PartSink, ReaderThreads, RecordOptions, Recorder, Targets, ThreadSpec, online};
///
/// let events = vec![EventSpec::software(SwId::CPU_CLOCK).into()];
/// let mut recorder = Recorder::open(events, Targets::machine()?, None, RecordOptions::default())?;
/// std::fs::create_dir("perf.data")?;
/// let mut data = FileSink::new(File::create("perf.data/data")?);
/// recorder.begin(&mut data)?;
/// let masks = ThreadSpec::Core.masks(&online()?)?;
/// let part = |ring| {
///     let path = format!("perf.data/data.{ring}");
///     let file = File::create(&path).map_err(|error| perf_record::Error::Io { path, error })?;
///     PartSink::with_options(file, &WriteOptions::default())
/// };
/// let threads = ReaderThreads::start(&mut recorder, masks, part, Duration::from_secs(1), || {})?;
/// recorder.start()?;
/// std::thread::sleep(Duration::from_secs(1));
/// recorder.stop()?;
/// recorder.join(threads.end()?);
/// recorder.finish(&mut data)?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReaderThreads {
    running: Vec<JoinHandle<(RingReader, Result<(), Error>)>>,
    /// The threads end when it is closed.
    end: UnixStream,
}

impl ReaderThreads {
    /// Takes the rings out of the recorder, and starts a thread for each mask, which runs on the cpus of the mask and reads their
    /// rings at least once in each `tick`. `sink` returns the sink of a ring, given its number. The threads call `notify` when
    /// recorded tasks have ended and when one of them has failed.
    ///
    /// # Errors
    ///
    /// Those of [`Recorder::split`] and of `sink`, or if no thread can be started.
    pub fn start<S: RecordingSink + Send + 'static>(
        recorder: &mut Recorder,
        masks: Vec<ThreadMask>,
        mut sink: impl FnMut(usize) -> Result<S, Error>,
        tick: Duration,
        notify: impl Fn() + Clone + Send + 'static,
    ) -> Result<Self, Error> {
        let cpus: Vec<_> = masks.iter().map(|mask| mask.cpus.clone()).collect();
        let mut work = Vec::new();
        for (reader, mask) in recorder.split(&cpus)?.into_iter().zip(masks) {
            let sinks = reader.rings().iter().map(|&ring| sink(ring)).collect::<Result<Vec<S>, Error>>()?;
            work.push((reader, mask, sinks));
        }
        let (end, closed) = UnixStream::pair().map_err(Error::io("socketpair"))?;
        let mut running = Vec::new();
        for (mut reader, mask, mut sinks) in work {
            let closed = closed.try_clone().map_err(Error::io("socketpair"))?;
            let notify = notify.clone();
            let read = move || {
                let pinned = mask.pin_thread();
                let result =
                    pinned.and_then(|()| until_closed(&mut reader, &mut sinks, &closed, tick, &notify));
                if result.is_err() {
                    notify();
                }
                (reader, result)
            };
            let thread = thread::Builder::new().name("reader".to_owned()).spawn(read);
            running.push(thread.map_err(Error::io("a thread that reads rings"))?);
        }
        Ok(Self { running, end })
    }

    /// Returns whether a thread has ended early: its sink has failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.running.iter().any(JoinHandle::is_finished)
    }

    /// Ends the threads, after they have read everything that is in the rings now. Returns their readers, for
    /// [`Recorder::join`].
    ///
    /// # Errors
    ///
    /// The first error of a sink or a ring.
    pub fn end(self) -> Result<Vec<RingReader>, Error> {
        drop(self.end);
        let mut readers = Vec::new();
        for thread in self.running {
            let Ok((reader, result)) = thread.join() else {
                return Err(Error::Request("a thread that reads rings has ended".to_owned()));
            };
            result?;
            readers.push(reader);
        }
        Ok(readers)
    }
}

/// Reads the rings until `closed` is closed, and then what is left in them.
fn until_closed<S: RecordingSink>(
    reader: &mut RingReader,
    sinks: &mut [S],
    closed: &UnixStream,
    tick: Duration,
    notify: &impl Fn(),
) -> Result<(), Error> {
    loop {
        reader.drain(sinks)?;
        let waited = reader.wait(Some(tick), &[closed.as_fd()])?;
        if waited.other {
            return reader.drain_all(sinks).map(drop);
        }
        if waited.hangup {
            // The recording may be over.
            notify();
        }
    }
}
