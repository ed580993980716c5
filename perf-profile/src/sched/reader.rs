//! The reader of the scheduler's tracepoints.

use perf_abi::attr::AttrFlags;
use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Format, FormatField, Tracepoints, TracingData};
use perf_session::SampleContext;

use super::event::{
    MigrationEvent, RuntimeEvent, SchedEvent, SchedSample, SwitchEvent, WakeupEvent, WakeupKind,
};
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::int_field::IntField;
use crate::off_cpu::{StateReader, ThreadState};
use crate::tracepoints::tracing_data;

/// Reads the samples of the scheduler's tracepoints.
///
/// # Examples
///
/// ```
/// use perf_parse::Reader;
/// use perf_profile::sched::SchedReader;
///
/// let reader = Reader::open("examples/captures/plain.data")?;
/// assert!(SchedReader::new(&reader).is_err(), "it has no tracepoints");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SchedReader<'a> {
    tracepoints: Vec<SchedTracepoint<'a>>,
    states: Option<StateReader<'a>>,
    /// The state of a thread whose sample does not have one.
    unknown: ThreadState,
    endianness: Endianness,
    /// Whether `sched_wakeup` is left out, because the capture has `sched_waking`.
    has_waking: bool,
}

/// A tracepoint of the scheduler, with the fields that are read.
#[derive(Clone, Copy, Debug)]
struct SchedTracepoint<'a> {
    /// The `config` of its events.
    id: u64,
    fields: SchedFields<'a>,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "a capture has six of them")]
enum SchedFields<'a> {
    Switch {
        prev_tid: IntField,
        prev_comm: Option<FormatField<'a>>,
        prev_prio: Option<IntField>,
        prev_state: Option<IntField>,
        next_tid: IntField,
        next_comm: Option<FormatField<'a>>,
        next_prio: Option<IntField>,
    },
    Wakeup {
        kind: WakeupKind,
        tid: IntField,
        comm: Option<FormatField<'a>>,
        target_cpu: Option<IntField>,
    },
    Migration {
        tid: IntField,
        from: IntField,
        to: IntField,
    },
    Runtime {
        tid: IntField,
        nanoseconds: IntField,
    },
}

impl<'a> SchedFields<'a> {
    /// `None` if the tracepoint is none of those that are read, or lacks the id of the thread.
    fn new(format: &Format<'a>) -> Option<Self> {
        let field = |name: &[u8]| format.own_fields().iter().find(|it| it.name == name);
        let int = |name| IntField::new(field(name)?);
        let name = |name| field(name).copied();
        let wakeup = |kind| {
            let (tid, comm, target_cpu) = (int(b"pid")?, name(b"comm"), int(b"target_cpu"));
            Some(Self::Wakeup { kind, tid, comm, target_cpu })
        };
        match format.name {
            b"sched_switch" => Some(Self::Switch {
                prev_tid: int(b"prev_pid")?,
                prev_comm: name(b"prev_comm"),
                prev_prio: int(b"prev_prio"),
                prev_state: int(b"prev_state"),
                next_tid: int(b"next_pid")?,
                next_comm: name(b"next_comm"),
                next_prio: int(b"next_prio"),
            }),
            b"sched_waking" => wakeup(WakeupKind::Waking),
            b"sched_wakeup" => wakeup(WakeupKind::Wakeup),
            b"sched_wakeup_new" => wakeup(WakeupKind::New),
            b"sched_migrate_task" => {
                Some(Self::Migration { tid: int(b"pid")?, from: int(b"orig_cpu")?, to: int(b"dest_cpu")? })
            }
            b"sched_stat_runtime" => Some(Self::Runtime { tid: int(b"pid")?, nanoseconds: int(b"runtime")? }),
            _ => None,
        }
    }
}

/// The raw data of a sample.
#[derive(Clone, Copy)]
struct RawData<'r>(&'r [u8], Endianness);

impl<'r> RawData<'r> {
    #[inline]
    fn number(self, field: &IntField) -> Option<i64> {
        field.value(self.0, self.1)
    }

    /// Returns the id of a thread, or a priority.
    #[inline]
    fn int(self, field: &IntField) -> Option<i32> {
        field.int(self.0, self.1)
    }

    #[inline]
    fn cpu(self, field: &IntField) -> Option<u32> {
        u32::try_from(self.number(field)?).ok()
    }

    fn text(self, field: Option<&FormatField<'_>>) -> &'r [u8] {
        let text = field.and_then(|field| field.value(self.0, self.1).ok()?.as_str());
        text.unwrap_or_default()
    }
}

impl<'a> SchedReader<'a> {
    /// Finds the scheduler's tracepoints of a capture.
    ///
    /// # Errors
    ///
    /// [`ProfileError::SchedNotRecorded`] if the capture does not have `sched:sched_switch`.
    pub fn new(capture: impl Into<CaptureInfo<'a>>) -> Result<Self, ProfileError> {
        let reader = Self::any(capture);
        if reader.is_traced() { Ok(reader) } else { Err(ProfileError::SchedNotRecorded) }
    }

    /// Finds those that a capture has, which may be none.
    pub(super) fn any(capture: impl Into<CaptureInfo<'a>>) -> Self {
        let info = capture.into();
        let endianness = info.endianness();
        let (mut tracepoints, mut states, mut has_waking) = (Vec::new(), None, false);
        if let Ok(tracing) = TracingData::parse(tracing_data(info)) {
            let formats = Tracepoints::new(&tracing);
            for format in formats.formats().iter().filter(|format| format.system == b"sched") {
                let id = u64::from(format.id);
                let is_of =
                    |event: &Event| event.attr.kind == EventType::TRACEPOINT && event.attr.config == id;
                let is_recorded = info.events().iter().any(|event| is_of(event));
                let Some(fields) = SchedFields::new(format).filter(|_| is_recorded) else { continue };
                if matches!(fields, SchedFields::Switch { .. }) {
                    states = StateReader::new(format, endianness);
                }
                has_waking |= matches!(fields, SchedFields::Wakeup { kind: WakeupKind::Waking, .. });
                tracepoints.push(SchedTracepoint { id, fields });
            }
        }
        Self { tracepoints, states, unknown: ThreadState::unknown(), endianness, has_waking }
    }

    /// Returns whether the capture has switches of threads: samples of the tracepoint, or SWITCH records.
    pub(super) fn has_switches(&self, info: CaptureInfo<'_>) -> bool {
        self.is_traced()
            || info.events().iter().any(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH))
    }

    /// Returns whether the capture has `sched:sched_switch`.
    pub(super) fn is_traced(&self) -> bool {
        self.tracepoints.iter().any(|it| matches!(it.fields, SchedFields::Switch { .. }))
    }

    /// Reads no `sched:sched_waking`, and `sched_wakeup` in its place, as `perf sched latency` of Linux 6.1 does.
    #[must_use]
    pub fn without_waking(mut self) -> Self {
        let is_waking = |it: &SchedTracepoint<'_>| {
            matches!(it.fields, SchedFields::Wakeup { kind: WakeupKind::Waking, .. })
        };
        self.tracepoints.retain(|it| !is_waking(it));
        self.has_waking = false;
        self
    }

    /// Returns whether an event is `sched:sched_switch`.
    #[must_use]
    pub fn is_switch(&self, event: &Event) -> bool {
        let is_of = |it: &&SchedTracepoint<'_>| it.id == event.attr.config;
        event.attr.kind == EventType::TRACEPOINT
            && self.tracepoints.iter().filter(is_of).any(|it| matches!(it.fields, SchedFields::Switch { .. }))
    }

    /// Returns whether the capture tells when threads are woken up.
    #[must_use]
    pub fn has_wakeups(&self) -> bool {
        self.tracepoints.iter().any(|it| matches!(it.fields, SchedFields::Wakeup { .. }))
    }

    /// Returns whether the capture has `sched:sched_stat_runtime`.
    #[must_use]
    pub fn has_runtimes(&self) -> bool {
        self.tracepoints.iter().any(|it| matches!(it.fields, SchedFields::Runtime { .. }))
    }

    /// Reads a sample. `None` if it is of another event, if it is a `sched_wakeup` of a capture with `sched_waking`, or if its
    /// raw data or fields are too short.
    #[must_use]
    pub fn read<'r>(&self, at: &SampleContext<'_, 'r>) -> Option<SchedSample<'r>> {
        let event = at.record().event()?;
        if event.attr.kind != EventType::TRACEPOINT {
            return None;
        }
        let tracepoint = self.tracepoints.iter().find(|it| it.id == event.attr.config)?;
        let sample = at.sample();
        let raw = RawData(sample.tail().ok()?.raw?, self.endianness);
        let event = match &tracepoint.fields {
            SchedFields::Switch {
                prev_tid,
                prev_comm,
                prev_prio,
                prev_state,
                next_tid,
                next_comm,
                next_prio,
            } => SchedEvent::Switch(SwitchEvent {
                prev_tid: raw.int(prev_tid)?,
                prev_comm: raw.text(prev_comm.as_ref()),
                prev_prio: prev_prio.as_ref().and_then(|field| raw.int(field)),
                prev_state: prev_state.as_ref().and_then(|field| raw.number(field)).unwrap_or(0),
                next_tid: raw.int(next_tid)?,
                next_comm: raw.text(next_comm.as_ref()),
                next_prio: next_prio.as_ref().and_then(|field| raw.int(field)),
            }),
            SchedFields::Wakeup { kind: WakeupKind::Wakeup, .. } if self.has_waking => return None,
            SchedFields::Wakeup { kind, tid, comm, target_cpu } => SchedEvent::Wakeup(WakeupEvent {
                kind: *kind,
                tid: raw.int(tid)?,
                comm: raw.text(comm.as_ref()),
                target_cpu: target_cpu.as_ref().and_then(|field| raw.cpu(field)),
            }),
            SchedFields::Migration { tid, from, to } => SchedEvent::Migration(MigrationEvent {
                tid: raw.int(tid)?,
                from: raw.cpu(from)?,
                to: raw.cpu(to)?,
            }),
            SchedFields::Runtime { tid, nanoseconds } => SchedEvent::Runtime(RuntimeEvent {
                tid: raw.int(tid)?,
                nanoseconds: u64::try_from(raw.number(nanoseconds)?).ok()?,
            }),
        };
        let (pid, tid) = (sample.pid().unwrap_or(-1), sample.tid().unwrap_or(-1));
        Some(SchedSample { time: sample.time()?, cpu: sample.cpu()?, pid, tid, event })
    }

    /// Returns the state in which the thread of a sample of `sched_switch` leaves the CPU, by the capture's own print format.
    #[must_use]
    pub fn state(&mut self, at: &SampleContext<'_, '_>) -> &ThreadState {
        let raw = at.sample().tail().ok().and_then(|tail| tail.raw);
        let state = self.states.as_mut().zip(raw).and_then(|(states, raw)| states.of(raw));
        state.unwrap_or(&self.unknown)
    }
}
