//! A recording: from the open events to the finished capture.

use alloc::collections::BTreeMap;
use core::time::Duration;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Instant;

use perf_abi::endian::NativeEndian;
use perf_abi::feature::Feature;
use perf_abi::record::{Misc, RecordType};
use perf_open::ring::PausedRing;
use perf_open::{EventGroup, Overwrite, Ring};
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::record::LostSamples;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{Record, SampleLayout};

use crate::fallback::EventChoices;
use crate::host::ROOT;
use crate::processes::family;
use crate::session::EventSession;
use crate::sink::{CaptureHead, RecordingSink, mark};
use crate::stack_trim::StackTrim;
use crate::summary::Summary;
use crate::survey::RecordSurvey;
use crate::synthesize::{Synthesizer, SynthesizerOptions};
use crate::wait::WaitOutcome;
use crate::{
    Error, FallbackNote, FrozenRings, RecordOptions, RecordWindow, RecordingSnapshot, SidebandSink, Targets,
    drain, features, user_records,
};

/// A recording session.
///
/// [`open`](Self::open) it, [`begin`](Self::begin) a sink, [`start`](Self::start) the events; then
/// [`wait`](Self::wait) and [`drain`](Self::drain) until the end; [`stop`](Self::stop) and [`finish`](Self::finish). The
/// [crate's documentation](crate) has an example.
#[derive(Debug)]
pub struct Recorder {
    pub(crate) options: RecordOptions,
    targets: Targets,
    command: Option<u32>,
    pub(crate) session: EventSession,
    pub(crate) features: FeaturePayloads,
    /// The layout of the event that records mappings, which synthesized records have.
    layout: SampleLayout,
    pub(crate) survey: RecordSurvey,
    pub(crate) stacks: Option<StackTrim>,
    notes: Vec<FallbackNote>,
    pub(crate) skipped: u64,
    /// Whether the command was started before the capture began.
    is_running: bool,
    /// The losses of the captures that are finished, by the id of the event, and by the rings.
    earlier: (BTreeMap<u64, u64>, u64),
    /// The losses by the rings that other threads have read.
    pub(crate) joined: u64,
}

impl Recorder {
    /// Opens the events of `groups` on `targets`. They do not count yet.
    ///
    /// For [`Targets::Command`], `command` is the process id of a prepared
    /// [`Workload`](perf_open::workload::Workload), whose exec starts the events.
    ///
    /// # Errors
    ///
    /// If an event cannot be opened and nothing replaces it; if there are no events; if a ring cannot be mapped.
    pub fn open(
        groups: Vec<EventGroup>,
        targets: Targets,
        command: Option<u32>,
        options: RecordOptions,
    ) -> Result<Self, Error> {
        let mut choices = EventChoices { groups, inherit_read: true, aux: None };
        let (session, notes) = EventSession::open(&mut choices, &targets, command, &options)?;
        let Some(tracker) = session.events.get(session.tracker) else {
            return Err(Error::Request("there are no events to record".to_owned()));
        };
        let layout = SampleLayout::new(&tracker.attr).map_err(|error| Error::Request(error.to_string()))?;
        let features = features::known(&choices.groups, &session, &options)?;
        let attrs = session.events.iter().map(|event| &event.attr);
        let stacks = StackTrim::new(attrs.clone());
        let survey = RecordSurvey::new(attrs, &tracker.attr, layout, (options.build_ids, options.bpf_events));
        Ok(Self {
            options,
            targets,
            command,
            session,
            features,
            layout,
            survey,
            stacks,
            notes,
            skipped: 0,
            is_running: false,
            earlier: Default::default(),
            joined: 0,
        })
    }

    /// Returns the events, in the order in which a capture lists them, with their attrs as the kernel accepted them.
    #[must_use]
    pub fn events(&self) -> &[EventFields] {
        &self.session.events
    }

    /// Returns what is done in another way than it was asked for.
    #[must_use]
    pub fn notes(&self) -> &[FallbackNote] {
        &self.notes
    }

    /// Returns the features of the capture. They can be changed until [`begin`](Self::begin) for a pipe, and until
    /// [`finish`](Self::finish) for a file.
    pub fn features(&mut self) -> &mut FeaturePayloads {
        &mut self.features
    }

    /// Returns whether the rings keep the newest records, so that samples are taken by [`freeze`](Self::freeze).
    #[must_use]
    pub fn overwrites(&self) -> bool {
        !self.session.overwrites.is_empty()
    }

    /// Begins a capture: its head, and the records of the tasks and mappings that already exist. A recording that
    /// overwrites begins a [`SidebandSink`](crate::SidebandSink).
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn begin<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), Error> {
        self.programs();
        if let Some(programs) = &self.survey.programs {
            // The features of a pipe precede its records.
            programs.describe(&mut self.features)?;
        }
        if self.targets != Targets::Command {
            // Before tasks are looked at, so that none that starts meanwhile is missed.
            self.session.enable_tracker()?;
        }
        sink.begin(&CaptureHead { events: &self.session.events, features: &self.features })?;
        user_records::synthesize(&self.session, &self.targets, self.command, &mut |record| {
            sink.records(record)
        })?;
        self.describe_trace(sink)?;
        if !self.options.tail_synthesize || self.overwrites() {
            self.synthesize(sink)?;
        }
        sink.records(&mark(RecordType::FINISHED_INIT))?;
        sink.flush()?;
        Ok(())
    }

    /// Starts the events. Those of a command start with its exec instead, unless they are
    /// [delayed](RecordOptions::delayed).
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn start(&self) -> Result<(), Error> {
        self.session.enable()
    }

    /// Starts the events again after [`pause`](Self::pause) or [`stop`](Self::stop), or those of a delayed recording.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn resume(&self) -> Result<(), Error> {
        self.session.resume()
    }

    /// Stops the events until [`resume`](Self::resume). Mappings, names and tasks are still recorded, if the recording is
    /// [pausable](RecordOptions::pausable).
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn pause(&self) -> Result<(), Error> {
        self.session.pause()
    }

    /// Starts or stops one event, by its index in [`events`](Self::events). A member of a group counts only while the
    /// leader does.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn switch_event(&self, event: usize, on: bool) -> Result<(), Error> {
        self.session.switch(event, on)
    }

    /// Stops the events. Their records stay in the rings for [`drain`](Self::drain).
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn stop(&self) -> Result<(), Error> {
        self.session.disable()
    }

    /// Waits until a ring is half full, or one of `others` is readable. `None` waits forever.
    ///
    /// It returns at once while a ring gives half its size in less than a millisecond: it could be full before the caller
    /// is awake again. Call [`drain`](Self::drain) after each wait.
    ///
    /// # Errors
    ///
    /// The errno of `poll`.
    pub fn wait(
        &mut self,
        timeout: Option<Duration>,
        others: &[BorrowedFd<'_>],
    ) -> Result<WaitOutcome, Error> {
        self.session.wait(timeout, others)
    }

    /// Passes the records that are in the rings now to `sink`, as one round. Returns their number of bytes.
    ///
    /// The records are passed in whole spans of a ring, without a copy. A ring with less than
    /// [`mmap_flush`](RecordOptions::mmap_flush) bytes is not read. Records with copies of the stack are copied, without the
    /// bytes of the room for the stack that the kernel left undefined.
    ///
    /// # Errors
    ///
    /// Those of the sink. A ring that cannot be read is skipped, and [`Summary::skipped`] counts it.
    pub fn drain<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<u64, Error> {
        self.drain_above(self.options.mmap_flush, sink)
    }

    /// Passes the records of the rings that have at least `least` bytes to `sink`, as one round.
    pub(crate) fn drain_above<S: RecordingSink + ?Sized>(
        &mut self,
        least: usize,
        sink: &mut S,
    ) -> Result<u64, Error> {
        let mut bytes = 0_u64;
        for ring in &mut self.session.rings {
            match drain::ring(ring, least, &mut self.survey, &mut self.stacks, sink)? {
                Some(of_ring) => {
                    bytes += of_ring;
                    self.session.pace.ring(of_ring, ring.size());
                }
                None => self.skipped += ring.skip(),
            }
        }
        self.session.pace.drained(Instant::now());
        self.survey.identify_files();
        bytes += self.session.drain_areas(sink)?;
        if bytes > 0 {
            sink.round()?;
        }
        Ok(bytes)
    }

    /// Ends the capture: drains the rings, counts the losses, and adds the features that depend on the records.
    ///
    /// # Errors
    ///
    /// Those of the sink, or of reading the counters.
    pub fn finish<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<Summary, Error> {
        self.drain_above(1, sink)?;
        if self.options.tail_synthesize {
            self.is_running = true;
            self.synthesize(sink)?;
        }
        let lost = self.lost(sink)?;
        // Those that tasks loaded that are not recorded.
        self.programs();
        let unreadable_files = self.survey.describe(&mut self.features)?;
        sink.finish(&self.features)?;
        // A ring reports losses when it has room again, which may be never. It also counts lost records that are not
        // samples.
        let own: u64 = self.session.rings.iter().map(|ring| ring.account().lost).sum();
        let all = own + self.joined;
        let reported = all.saturating_sub(core::mem::replace(&mut self.earlier.1, all));
        let skipped = core::mem::take(&mut self.skipped);
        Ok(Summary { samples: self.survey.samples, lost: lost.max(reported), skipped, unreadable_files })
    }

    /// Adds the files that were mapped so far to perf's cache, as
    /// [`BuildIdCollector::cache`](crate::BuildIdCollector::cache) does; nothing if [`RecordOptions::build_ids`] is false.
    ///
    /// # Errors
    ///
    /// Those of [`BuildIdCollector::cache`](crate::BuildIdCollector::cache).
    pub fn cache_files(&self, folder: &Path) -> io::Result<()> {
        self.survey.files.as_ref().map_or(Ok(()), |files| files.cache(Path::new(ROOT), folder))
    }

    /// Finishes the capture in `old` and begins one in `new`, while the events continue. No record is lost between the
    /// two. The new one begins with the records of the tasks and mappings that exist then.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish) and [`begin`](Self::begin).
    pub fn switch<S: RecordingSink + ?Sized>(&mut self, old: &mut S, new: &mut S) -> Result<Summary, Error> {
        let summary = self.finish(old)?;
        self.survey = self.survey.without_samples();
        self.features.remove(Feature::SAMPLE_TIME);
        self.is_running = true;
        self.begin(new)?;
        Ok(summary)
    }

    /// Pauses the rings that keep the newest records. [`FrozenRings::take`] takes the records and lets the rings continue.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn freeze(&mut self) -> Result<FrozenRings<'_>, Error> {
        self.programs();
        // Pause all rings before reading the first, so that they end at the same time.
        let EventSession { overwrites, events, .. } = &mut self.session;
        let paused = overwrites.iter_mut().map(Overwrite::pause);
        let paused: Vec<PausedRing<'_>> = paused.collect::<Result<_, _>>()?;
        Ok(FrozenRings { paused, events, features: &self.features, survey: &self.survey })
    }

    /// Removes from `kept` the records of tasks that have ended and have no samples in the rings, each time that it has doubled.
    /// Call it after each [`drain`](Self::drain) into it.
    ///
    /// To look at the samples, each ring is paused for some milliseconds, one after the other, and loses its samples of this
    /// time.
    ///
    /// # Errors
    ///
    /// If the kernel refuses to pause a ring.
    pub fn trim(&mut self, kept: &mut SidebandSink) -> Result<(), Error> {
        if !kept.is_due() {
            return Ok(());
        }
        let mut samples = Some(Vec::new());
        for ring in &mut self.session.overwrites {
            let mut paused = ring.pause()?;
            samples = samples.and_then(|mut samples| {
                let mut records = paused.records().ok()?;
                while let Some(record) = records.next_record() {
                    // Without the place of the ids, no sample tells its task.
                    let record = record.ok()?;
                    let task = self.survey.task_of(&record);
                    if record.kind() == RecordType::SAMPLE && task.is_none() {
                        return None;
                    }
                    samples.extend(task);
                }
                Some(samples)
            });
            paused.resume()?;
        }
        kept.trim(&self.layout, samples.as_deref());
        if samples.is_some() {
            self.survey.keep_files_of(&[kept.bytes()]);
        }
        Ok(())
    }

    /// Removes from `window` the records of tasks that have ended and have no samples in it, each time that they have doubled. Call it
    /// after each [`drain`](Self::drain) into it.
    pub fn trim_window(&mut self, window: &mut RecordWindow) {
        if !window.sideband().is_due() {
            return;
        }
        let samples = self.survey.tasks_of(&window.last(Duration::MAX));
        let is_alone = !window.is_beside_capture();
        let kept = window.sideband_mut();
        kept.trim(&self.layout, samples.as_deref());
        if samples.is_some() && is_alone {
            self.survey.keep_files_of(&[kept.bytes()]);
        }
    }

    /// Returns what `window` has of the last `span`, to be [written](RecordingSnapshot::write) with its
    /// [`sideband`](RecordWindow::sideband). The recording goes on.
    #[must_use]
    pub fn snapshot(&mut self, window: &RecordWindow, span: Duration) -> RecordingSnapshot {
        self.programs();
        let records = window.last(span);
        let mut survey = self.survey.without_samples();
        survey.look(&records);
        let (events, features) = (self.session.events.clone(), self.features.clone());
        RecordingSnapshot { records, survey, events, features }
    }

    /// Copies the rings that are read while they are written, as [`Ring::dump`] does.
    #[must_use]
    pub fn dumps(&self) -> Vec<Vec<u8>> {
        self.session.rings.iter().map(Ring::dump).collect()
    }

    /// Reads the BPF programs that are loaded now.
    fn programs(&mut self) {
        if let Some(programs) = &mut self.survey.programs
            && let Err(error) = programs.load_all()
        {
            self.note(FallbackNote::HiddenPrograms(error.to_string()));
        }
    }

    fn note(&mut self, note: FallbackNote) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Synthesizes the records of the tasks and mappings that already exist.
    fn synthesize<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), Error> {
        let (options, survey) = (&self.options, &mut self.survey);
        let data = self.session.events[self.session.tracker].attr.flags;
        let data = data.contains(perf_abi::attr::AttrFlags::MMAP_DATA);
        let without_mappings = !options.synthesize.mappings;
        let wanted = SynthesizerOptions { data, namespaces: options.namespaces, without_mappings };
        // What is synthesized of them is not looked at.
        let programs = survey.programs.take();
        let mut put = |record: &[u8]| {
            survey.look(record);
            sink.records(record)
        };
        let mut made_up = Synthesizer::new(Path::new(ROOT), &self.layout, wanted, &mut put);
        let is_hidden = !made_up.kernel()?;
        if let Some(programs) = &programs {
            made_up.bpf(programs)?;
        }
        if options.cgroups && options.synthesize.cgroups {
            made_up.cgroups()?;
        }
        let thread = |tid: &u32| i32::try_from(*tid).ok();
        match &self.targets {
            _ if !options.synthesize.tasks => Ok(()),
            Targets::Cpus(_) => made_up.all(),
            Targets::Threads(tids) => made_up.threads(&tids.iter().filter_map(thread).collect::<Vec<_>>()),
            Targets::Command if self.is_running => {
                made_up.threads(&self.command.map(|pid| family(Path::new(ROOT), pid)).unwrap_or_default())
            }
            // The exec starts the recording, and the kernel records it.
            Targets::Command => match self.command.as_ref().and_then(thread) {
                Some(pid) if options.namespaces => made_up.namespaces_of(pid),
                _ => Ok(()),
            },
        }?;
        let unreadable = made_up.unreadable();
        self.survey.programs = programs;
        if is_hidden {
            let has_proc = Path::new(ROOT).join("proc/self").exists();
            self.note(if has_proc { FallbackNote::HiddenKernel } else { FallbackNote::NoProc });
        }
        if unreadable > 0 {
            self.note(FallbackNote::UnreadableMaps(unreadable));
        }
        Ok(())
    }

    /// Writes a LOST_SAMPLES record for each event that lost samples because its ring was full, by the kernel's count.
    /// Returns the number for all events.
    ///
    /// perf: `record__read_lost_samples`.
    fn lost<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<u64, Error> {
        let mut sum = 0_u64;
        for (id, all) in self.session.lost()? {
            let lost = all.saturating_sub(self.earlier.0.insert(id, all).unwrap_or(0));
            if lost == 0 {
                continue;
            }
            sum += lost;
            let mut record = Vec::new();
            let trailer = SampleIdFields { id, ..SampleIdFields::default() };
            let lost = Record::LostSamples(LostSamples { lost });
            write::record::<NativeEndian>(&mut record, &self.layout, Misc(0), &lost, &trailer)
                .map_err(|error| Error::Request(error.to_string()))?;
            sink.records(&record)?;
        }
        Ok(sum)
    }
}
