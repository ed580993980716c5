//! Reading the rings of a recording on several threads.

use core::time::Duration;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use perf_abi::file::DirVersion;
use perf_open::Ring;
use perf_parse::feature::{DirFormat, FeatureData};

use crate::pace::Pace;
use crate::sink::RecordingSink;
use crate::stack_trim::StackTrim;
use crate::survey::RecordSurvey;
use crate::wait::{self, WaitOutcome};
use crate::{Error, Recorder, drain};

/// Some of the rings of a recording, which a thread of its own can read. [`Recorder::split`](crate::Recorder::split) returns it,
/// and [`Recorder::join`](crate::Recorder::join) takes it back. [`ReaderThreads`](crate::ReaderThreads) are such threads.
///
/// # Examples
///
/// ```no_run
/// use perf_record::open::abi::event::SwId;
/// use perf_record::open::EventSpec;
/// use perf_record::parse::file::write;
/// use perf_record::{FileSink, Targets, RecordOptions, PartSink, Recorder, online};
/// use std::fs::File;
///
/// let events = vec![EventSpec::software(SwId::CPU_CLOCK).into()];
/// let cpus = online()?;
/// let mut recorder = Recorder::open(events, Targets::Cpus(cpus.clone()), None, RecordOptions::default())?;
/// std::fs::create_dir("perf.data")?;
/// let mut data = FileSink::new(File::create("perf.data/data")?);
/// recorder.begin(&mut data)?;
/// let each: Vec<Vec<u32>> = cpus.into_iter().map(|cpu| vec![cpu]).collect();
/// let mut readers = recorder.split(&each)?;
/// recorder.start()?;
/// std::thread::scope(|scope| {
///     for reader in &mut readers {
///         scope.spawn(move || {
///             let mut parts = Vec::new();
///             for ring in reader.rings() {
///                 let file = File::create(format!("perf.data/data.{ring}"))?;
///                 parts.push(PartSink::with_options(file, &write::WriteOptions::default())?);
///             }
///             for _ in 0..10 {
///                 reader.wait(Some(core::time::Duration::from_millis(100)), &[])?;
///                 reader.drain(&mut parts)?;
///             }
///             Ok::<(), Box<dyn core::error::Error + Send + Sync>>(())
///         });
///     }
/// });
/// recorder.stop()?;
/// recorder.join(readers);
/// recorder.finish(&mut data)?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RingReader {
    pub(crate) rings: Vec<Ring>,
    /// The number of each ring among all rings of the recording.
    pub(crate) numbers: Vec<usize>,
    /// Whether the tasks of each ring have ended.
    pub(crate) ended: Vec<bool>,
    /// The rate at which the rings fill.
    pub(crate) pace: Pace,
    /// The bytes that a ring must hold before it is read.
    pub(crate) least: usize,
    /// Facts about the records of these rings alone.
    pub(crate) survey: RecordSurvey,
    pub(crate) stacks: Option<StackTrim>,
    pub(crate) skipped: u64,
}

impl RingReader {
    /// Returns the number of each ring among all rings of the recording, as perf numbers the files of a folder.
    #[must_use]
    pub fn rings(&self) -> &[usize] {
        &self.numbers
    }

    /// Waits as [`Recorder::wait`](crate::Recorder::wait), for these rings.
    ///
    /// # Errors
    ///
    /// The errno of `poll`.
    pub fn wait(
        &mut self,
        timeout: Option<Duration>,
        others: &[BorrowedFd<'_>],
    ) -> Result<WaitOutcome, Error> {
        wait::wait(&self.rings, &mut self.ended, &self.pace, timeout, others)
    }

    /// Passes the records that are in each ring now to the sink at the same place in `sinks`, as
    /// [`Recorder::drain`](crate::Recorder::drain) does. Returns their number of bytes. A ring without a sink is not read.
    ///
    /// # Errors
    ///
    /// Those of the sinks.
    pub fn drain<S: RecordingSink>(&mut self, sinks: &mut [S]) -> Result<u64, Error> {
        self.drain_above(self.least, sinks)
    }

    /// Does the same with rings of any number of bytes, as the end of a recording needs it.
    ///
    /// # Errors
    ///
    /// Those of the sinks.
    pub fn drain_all<S: RecordingSink>(&mut self, sinks: &mut [S]) -> Result<u64, Error> {
        self.drain_above(1, sinks)
    }

    fn drain_above<S: RecordingSink>(&mut self, least: usize, sinks: &mut [S]) -> Result<u64, Error> {
        let mut bytes = 0_u64;
        for (ring, sink) in self.rings.iter_mut().zip(sinks) {
            match drain::ring(ring, least, &mut self.survey, &mut self.stacks, sink)? {
                Some(0) => {}
                Some(of_ring) => {
                    bytes += of_ring;
                    self.pace.ring(of_ring, ring.size());
                    sink.round()?;
                }
                None => self.skipped += ring.skip(),
            }
        }
        self.pace.drained(Instant::now());
        self.survey.identify_files();
        Ok(bytes)
    }
}

impl Recorder {
    /// Takes the rings out of the recorder, to be read by several threads: one [`RingReader`] for each of `cpus`, which has the
    /// rings of these cpus. The first has those of other cpus too. The capture becomes a folder: its `data` says so, and
    /// each ring needs a file of its own, a [`PartSink`](crate::PartSink).
    ///
    /// Call it after [`begin`](Self::begin). The recorder no longer drains these rings.
    ///
    /// # Errors
    ///
    /// If there is no list of cpus, or the rings are of threads on any cpu; if a hardware trace is recorded, because a
    /// folder has no index of the pieces in its other files.
    pub fn split(&mut self, cpus: &[Vec<u32>]) -> Result<Vec<RingReader>, Error> {
        let request = |what: &str| Error::Request(what.to_owned());
        if self.session.plan.is_some() {
            return Err(request("a hardware trace is written by one thread; leave --threads out"));
        }
        let rings = 0..self.session.rings.len();
        let cpu = |ring| self.session.opened.iter().find(|opened| opened.ring == ring)?.cpu;
        let of_rings: Option<Vec<u32>> = rings.map(cpu).collect();
        let of_rings =
            of_rings.ok_or_else(|| request("rings of threads on any cpu have no order of cpus"))?;
        self.features.set(&FeatureData::DirFormat(DirFormat { version: DirVersion::VERSION }))?;
        let reader = |_: &Vec<u32>| RingReader {
            rings: Vec::new(),
            numbers: Vec::new(),
            ended: Vec::new(),
            pace: Pace::default(),
            least: self.options.mmap_flush,
            survey: self.survey.empty(),
            stacks: self.stacks.clone(),
            skipped: 0,
        };
        let mut readers: Vec<RingReader> = cpus.iter().map(reader).collect();
        let rings = self.session.rings.drain(..).zip(self.session.ended.drain(..));
        for ((number, (ring, ended)), cpu) in rings.enumerate().zip(of_rings) {
            let reader = cpus.iter().position(|cpus| cpus.contains(&cpu)).unwrap_or(0);
            let Some(reader) = readers.get_mut(reader) else {
                return Err(request("there is no thread that reads the rings"));
            };
            reader.rings.push(ring);
            reader.numbers.push(number);
            reader.ended.push(ended);
        }
        Ok(readers)
    }

    /// Takes back the readers of [`split`](Self::split), with what they counted. Their rings are unmapped: call
    /// [`RingReader::drain_all`] before.
    pub fn join(&mut self, readers: impl IntoIterator<Item = RingReader>) {
        for reader in readers {
            self.survey.add(reader.survey);
            self.skipped += reader.skipped;
            self.joined += reader.rings.iter().map(|ring| ring.account().lost).sum::<u64>();
        }
    }
}
