//! Samples of AUX data: a capture with the samples that a decoder makes of its traces.

mod account;
mod area;
mod error;
mod made_event;
mod options;
mod pt_events;
mod pt_kinds;
mod pt_queue;
mod pt_sample;
mod pt_tracer;
mod sample_writer;
mod spe_events;
mod spe_queue;
mod spe_tracer;
mod threads;
mod traced_capture;
mod walk;

pub use account::TraceAccount;
pub use error::ItraceError;
pub use options::{ItraceLetters, ItraceOptions, ItraceOptionsError, PeriodUnit};
pub use pt_kinds::{PtKinds, TraceErrors};
pub use traced_capture::TracedCapture;

use std::io::{Seek, Write};

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_aux::spe::SpeRecord;
use perf_aux::trace::{AuxInfo, AuxTrace};
use perf_parse::file::write::{EventFields, FeaturePayloads, WriteFileError};
use perf_parse::rewrite::{CaptureFilter, Edit, EditSummary, EditedRecord, RepairOrder, RepairStep};
use perf_parse::{RawRecord, Reader, SampleLayout};

use pt_events::PtEvents;
use pt_tracer::PtTracer;
use sample_writer::SampleWriter;
use spe_events::SpeEvents;
use spe_tracer::SpeTracer;
use walk::{TraceWalk, Tracer};

/// The samples that a decoder makes of the AUX data of a capture, as another capture that has them in place of the data: what
/// `perf inject --itrace` writes.
///
/// It has an event for each kind of sample, after those of the capture, with ids of its own. The samples are among the other
/// records by their times, and at the end if no event of the capture has times. The records of the AUX data are left out.
///
/// A sample is of the thread on the CPU at that time by the records of context switches, or else of the thread of the AUX area. Its
/// process is that of the records before it, -1 if there was none.
///
/// # Arm SPE
///
/// Each record makes samples ([`perf_aux::spe`]) of perf 7.2. If the record names a thread, they are of this thread.
///
/// perf stops at a record that names a thread in the AUX area of a thread, and if no record converts times; here such samples have
/// the thread, and the time 0.
///
/// # Intel PT
///
/// The flow of instructions is not rebuilt, so that there are samples of those events alone that need none ([`perf_aux::pt::Events`]):
/// values of PTWRITE, power events, changes of the core's frequency, PSB packets and events of Event Trace. Their raw data is that of
/// perf: `struct perf_synth_intel_ptwrite` and others. Overflows, bytes that are no packet and lost data become AUXTRACE_ERROR records.
///
/// perf walks the instructions. It has the address of an event for which the trace has none, where the address is 0 here. It loses
/// events where it lacks the code, and reports these places as errors. It also has samples of changes of the interrupt flag.
///
/// # Memory
///
/// The result is written as the capture is walked in order of time, so that nothing of it is held. Of each AUX area, one buffer is
/// in memory at a time; and [`AuxTrace`] has the positions of all. A program that needs the samples but no file writes them into one
/// without a name, and reads that: a capture of AUX data has few records of other kinds, and each record of SPE makes a few samples
/// of some 80 bytes.
///
/// # Examples
///
/// The loads and stores of a capture, and its branches as branch stacks, as `perfdata edit --itrace=Mbl` writes them:
///
/// ```
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_profile::edit::{ItraceOptions, TraceSamples};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let options: ItraceOptions = "Mbl".parse()?;
/// // `None` for a capture without AUX data of which samples are made.
/// if let Some(samples) = TraceSamples::of(&reader, &options)? {
///     let (edited, account) = samples.write_file(&reader, Cursor::new(Vec::new()), |_| {})?;
///     println!("{} samples, {} damaged records", account.samples, account.damaged);
///     # drop(edited);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// perf: `arm_spe_process_event` and `arm_spe_synth_events`, `tools/perf/util/arm-spe.c`; those of `intel-pt.c`; `__cmd_inject`.
#[derive(Debug)]
pub struct TraceSamples {
    trace: AuxTrace,
    events: TraceEvents,
}

/// The events of the samples of a tracer.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a capture has one")]
enum TraceEvents {
    Spe(SpeEvents),
    Pt(PtEvents),
}

impl TraceEvents {
    fn fields(&self) -> Vec<EventFields> {
        match self {
            Self::Spe(events) => events.fields(),
            Self::Pt(events) => events.fields(),
        }
    }

    fn are_timed(&self) -> bool {
        match self {
            Self::Spe(events) => events.are_timed(),
            Self::Pt(events) => events.are_timed(),
        }
    }

    fn have_branch_stacks(&self) -> bool {
        matches!(self, Self::Spe(events) if events.have_branch_stacks())
    }
}

impl TraceSamples {
    /// Returns whether a capture has a trace of which samples are made without being asked for: that of Arm SPE, as in perf. Of Intel PT,
    /// perf's are mostly of instructions. Reads only the first records.
    #[must_use]
    pub fn are_in(reader: &Reader<'_>) -> bool {
        AuxInfo::find(reader).is_some_and(|info| info.kind == AuxtraceType::ARM_SPE)
    }

    /// Finds the traces of a capture, in one walk over its records; `None` if there is none of which samples are made.
    ///
    /// # Errors
    ///
    /// Those of [`ItraceError`].
    pub fn of(reader: &Reader<'_>, options: &ItraceOptions) -> Result<Option<Self>, ItraceError> {
        if !reader.can_walk_again() {
            return Err(ItraceError::Stream);
        }
        let trace = AuxTrace::of(reader);
        let Some(info) = trace.info().filter(|info| TRACERS.contains(&info.kind)) else {
            return Ok(None);
        };
        let mut records = reader.records();
        if matches!(reader.mode(), perf_parse::file::Mode::Pipe) {
            // The events of a pipe are only known at its end.
            records.by_ref().for_each(drop);
        }
        let known = records.events();
        let events = if info.kind == AuxtraceType::ARM_SPE {
            SpeEvents::of(known, info, options)?.map(TraceEvents::Spe)
        } else {
            PtEvents::of(known, info, options)?.map(TraceEvents::Pt)
        };
        Ok(events.map(|events| Self { trace, events }))
    }

    /// Returns the tracer of the capture.
    #[must_use]
    pub fn tracer(&self) -> AuxtraceType {
        match self.events {
            TraceEvents::Spe(_) => AuxtraceType::ARM_SPE,
            TraceEvents::Pt(_) => AuxtraceType::INTEL_PT,
        }
    }

    /// Returns the trace of the capture, which has its own account.
    #[must_use]
    pub fn trace(&self) -> &AuxTrace {
        &self.trace
    }

    /// Writes the capture with the samples as a file at the start of `out`, which should be empty. `reader` must be of the same
    /// capture. Calls `report` at each step.
    ///
    /// # Errors
    ///
    /// Those of [`Edit::write_file`].
    pub fn write_file<W: Write + Seek>(
        &self,
        reader: &Reader<'_>,
        out: W,
        report: impl FnMut(RepairStep<'_>),
    ) -> Result<(EditSummary<W>, TraceAccount), WriteFileError> {
        let Self { trace, events } = self;
        let tracer = match events {
            TraceEvents::Spe(events) => Tracer::Spe(SpeTracer::new(reader, trace, events, None)),
            TraceEvents::Pt(events) => Tracer::Pt(PtTracer::new(reader, trace, events)),
        };
        let writer = SampleWriter::new(reader.endianness(), events.are_timed());
        let mut walk = TraceWalk::new(trace, tracer, events.are_timed(), writer);
        let has_branches = events.have_branch_stacks();
        let edit = Edit::new()
            .add_events(events.fields())
            .others(WithoutTrace { has_branches })
            .records_before(|record, out| walk.before(record, out));
        let edit = if events.are_timed() { edit.order(RepairOrder::Time) } else { edit };
        let edited = edit.write_file(reader, out, report)?;
        Ok((edited, walk.account()))
    }
}

impl TraceSamples {
    /// Calls `each` with the records of Arm SPE, in the order in which samples are made of them: by time, or area by area if no
    /// event has times. The options have no effect. Intel PT has no records.
    pub fn for_each_record(&self, reader: &Reader<'_>, mut each: impl FnMut(&TraceRecord)) -> TraceAccount {
        let TraceEvents::Spe(events) = &self.events else { return TraceAccount::default() };
        let (events, is_timed) = (events.without_samples(), events.are_timed());
        let tracer = Tracer::Spe(SpeTracer::new(reader, &self.trace, &events, Some(&mut each)));
        let writer = SampleWriter::new(reader.endianness(), is_timed);
        let mut walk = TraceWalk::new(&self.trace, tracer, is_timed, writer);
        let records = if is_timed { reader.records().in_time_order() } else { reader.records() };
        let mut out = Vec::new();
        for record in records.flatten() {
            while walk.before(Some(&record), &mut out) {}
        }
        while walk.before(None, &mut out) {}
        walk.account()
    }
}

/// A record of Arm SPE, and the thread that ran the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceRecord {
    /// What the record has.
    pub record: SpeRecord,
    /// Process id; -1 if unknown.
    pub pid: i32,
    /// Thread id; -1 if unknown.
    pub tid: i32,
    /// CPU; `None` in the AUX area of a thread.
    pub cpu: Option<u32>,
    /// Time in nanoseconds of the events' clock; `None` if no record converts it.
    pub time: Option<u64>,
}

/// The tracers of which samples are made.
const TRACERS: [AuxtraceType; 2] = [AuxtraceType::ARM_SPE, AuxtraceType::INTEL_PT];

/// The types of the records that go with the AUX data. Rounds end elsewhere with the samples, whose walk writes their ends.
const OF_TRACE: [RecordType; 7] = [
    RecordType::AUXTRACE_INFO,
    RecordType::AUXTRACE,
    RecordType::ID_INDEX,
    RecordType::AUX,
    RecordType::ITRACE_START,
    RecordType::AUX_OUTPUT_HW_ID,
    RecordType::FINISHED_ROUND,
];

/// Leaves out the AUX data.
struct WithoutTrace {
    has_branches: bool,
}

impl CaptureFilter for WithoutTrace {
    fn features(&mut self, features: &mut FeaturePayloads) {
        if self.has_branches {
            // Has no content, so that every writer takes it.
            let _ = features.raw(Feature::BRANCH_STACK, &[]);
        }
    }

    fn event(&mut self, _: &mut EventFields) {}

    fn record(&mut self, record: &RawRecord<'_>, _: Option<&SampleLayout>) -> EditedRecord {
        if OF_TRACE.contains(&record.kind()) { EditedRecord::LeftOut } else { EditedRecord::Kept }
    }
}
