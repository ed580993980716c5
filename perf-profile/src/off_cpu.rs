//! The time that threads spend off the CPU, by the state and the stack in which they left it, and on it.

mod scheduler;
mod state;
mod tally;
mod tracker;

use std::sync::Arc;

use perf_abi::attr::AttrFlags;
use perf_abi::event::{EventType, SwId};
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Tracepoints, TracingData};
use perf_parse::{EventRecord, Record};
use perf_session::SampleContext;

use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::selection::Selection;
use crate::tid_field::TidField;
use crate::tracepoints::tracing_data;
pub use scheduler::SchedulerFrames;
pub(crate) use state::StateReader;
pub use state::{ThreadState, WaitKind};
pub use tally::WaitTotal;
pub use tracker::{OffCpuSummary, OffCpuTracker, WaitEnd};

/// The name of the event whose periods are the times for which threads were blocked.
pub(crate) const NAME: &str = "off-cpu";

/// Reads what samples and records say of threads that leave the CPU and come back.
///
/// A thread leaves the CPU with a sample of the tracepoint `sched:sched_switch`, whose stack and state are exact. Captures
/// without this tracepoint may have SWITCH records (`--switch-events`); then the stack is that of the thread's last sample
/// before, and one bit tells whether the thread was preempted, which Linux sets from version 4.17 on. A thread is back with a
/// `sched_switch` that names it as the next one, or with a SWITCH record.
///
/// If the capture has wake-ups too, a thread that waits is blocked up to its wake-up, and runnable from then on; and the times for
/// which it runs are counted, with the stack at which it stopped. Without them, it counts as blocked until it runs.
///
/// simpleperf's `--trace-offcpu` records `sched_switch` without its fields. A thread is then back with its next sample, or with
/// a SWITCH record before.
#[derive(Debug)]
pub struct SwitchReader<'a> {
    /// By the kind of wait.
    events: [Arc<Event>; 4],
    source: SwitchSource<'a>,
}

/// The samples and records that tell when threads leave the CPU.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a walk")]
enum SwitchSource<'a> {
    Tracepoint(SwitchTracepoint<'a>),
    /// simpleperf's samples of the tracepoint with this number.
    OffCpuTrace(u64),
    Records,
}

/// The tracepoint `sched:sched_switch`.
#[derive(Debug)]
struct SwitchTracepoint<'a> {
    /// The thread that is next.
    next: TidField,
    /// `None` if the capture does not tell the states.
    states: Option<StateReader<'a>>,
    /// The thread that is woken up; `None` if the capture does not have wake-ups.
    woken: Option<TidField>,
}

/// What a sample or a record says of a thread that leaves the CPU or comes back.
#[derive(Clone, Debug)]
pub struct ThreadSwitch(SwitchKind);

#[derive(Clone, Debug)]
enum SwitchKind {
    /// A sample of a thread, selected or not, of a capture without the tracepoint.
    Sampled {
        tid: i32,
    },
    /// A selected one.
    Last {
        tid: i32,
    },
    /// A selected sample of the tracepoint.
    Away {
        tid: i32,
        since: u64,
        state: ThreadState,
    },
    Back {
        tid: i32,
        time: u64,
    },
    /// A sample of a wake-up.
    Woken {
        tid: i32,
        time: u64,
    },
    /// A SWITCH record of a capture without the tracepoint.
    Out {
        tid: i32,
        time: u64,
        is_preempted: bool,
    },
    /// A SWITCH record says that the thread that left was preempted.
    Preempted {
        tid: i32,
    },
    Begins {
        tid: i32,
    },
    Ends {
        tid: i32,
    },
}

impl<'a> SwitchReader<'a> {
    /// Finds the tracepoint or the SWITCH records of a capture.
    ///
    /// # Errors
    ///
    /// If the capture does not tell when threads switch.
    pub fn new(capture: impl Into<CaptureInfo<'a>>) -> Result<Self, ProfileError> {
        let info = capture.into();
        let traced = TidField::find(info, &[(b"sched_switch", b"next_pid")]);
        let events = info.events();
        let traced = traced.and_then(|(event, next)| {
            let wanted: [(&[u8], &[u8]); 2] = [(b"sched_waking", b"pid"), (b"sched_wakeup", b"pid")];
            let woken = TidField::find(info, &wanted).map(|(_, woken)| woken);
            let tracepoint = SwitchTracepoint { next, states: states(info), woken };
            Some((events.get(event)?, SwitchSource::Tracepoint(tracepoint)))
        });
        let traced = traced.or_else(|| {
            let event = off_cpu_trace(info)?;
            Some((event, SwitchSource::OffCpuTrace(event.attr.config)))
        });
        let recorded = || {
            let recorded = events.iter().find(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
            recorded.map(|event| (event, SwitchSource::Records))
        };
        let Some((event, source)) = traced.or_else(recorded) else {
            return Err(ProfileError::OffCpuNotRecorded);
        };
        let made = |number: usize| {
            let mut event = (**event).clone();
            event.index = events.len() + number;
            event.name = WaitKind::ALL.get(number).map(|wait| wait.event_name().into());
            event.update = None;
            event.ids = Vec::new();
            (event.attr.kind, event.attr.config) = (EventType::SOFTWARE, SwId::TASK_CLOCK.0);
            event.attr.sample_type |= SampleType::PERIOD;
            Arc::new(event)
        };
        Ok(Self { events: core::array::from_fn(made), source })
    }

    /// Returns the event that times of this kind are samples of.
    #[must_use]
    pub fn event(&self, wait: WaitKind) -> &Arc<Event> {
        let [blocked, runnable, stopped, running] = &self.events;
        match wait {
            WaitKind::Blocked => blocked,
            WaitKind::Runnable => runnable,
            WaitKind::Stopped => stopped,
            WaitKind::Running => running,
        }
    }

    /// Returns whether a sample is one of the tracepoint: its innermost frames are the scheduler's.
    #[must_use]
    pub fn is_switch(&self, at: &SampleContext<'_, '_>) -> bool {
        match &self.source {
            SwitchSource::Tracepoint(tracepoint) => tracepoint.next.is_of(at),
            SwitchSource::OffCpuTrace(config) => at.record().event().is_some_and(|event| {
                event.attr.kind == EventType::TRACEPOINT && event.attr.config == *config
            }),
            SwitchSource::Records => false,
        }
    }

    /// Reads any sample, selected or not.
    #[must_use]
    pub fn any_sample(&self, at: &SampleContext<'_, '_>) -> Option<ThreadSwitch> {
        let tid = match &self.source {
            SwitchSource::Tracepoint(SwitchTracepoint { next, woken, .. }) => match next.of(at) {
                Some(tid) => tid,
                None => {
                    let tid = woken.as_ref()?.of(at)?;
                    return Some(ThreadSwitch(SwitchKind::Woken { tid, time: at.sample().time()? }));
                }
            },
            SwitchSource::OffCpuTrace(_) => at.thread().tid(),
            SwitchSource::Records => {
                return Some(ThreadSwitch(SwitchKind::Sampled { tid: at.thread().tid() }));
            }
        };
        Some(ThreadSwitch(SwitchKind::Back { tid, time: at.sample().time()? }))
    }

    /// Reads a selected sample, with which its thread may leave the CPU.
    pub fn selected_sample(&mut self, at: &SampleContext<'_, '_>) -> Option<ThreadSwitch> {
        let tid = at.thread().tid();
        let is_switch = self.is_switch(at);
        let states = match &mut self.source {
            SwitchSource::Tracepoint(tracepoint) => tracepoint.states.as_mut(),
            SwitchSource::OffCpuTrace(_) => None,
            SwitchSource::Records => return Some(ThreadSwitch(SwitchKind::Last { tid })),
        };
        // The idle task is never away.
        let since = at.sample().time().filter(|_| is_switch && tid != 0)?;
        let raw = at.sample().tail().ok().and_then(|tail| tail.raw);
        let state = states.zip(raw).and_then(|(states, raw)| states.of(raw));
        let state = state.cloned().unwrap_or_else(ThreadState::unknown);
        Some(ThreadSwitch(SwitchKind::Away { tid, since, state }))
    }

    /// Reads a record that is not a sample.
    #[must_use]
    pub fn record(&self, record: &EventRecord<'_>) -> Option<ThreadSwitch> {
        let kind = match record.kind() {
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => {
                let ((_, tid), time) = (record.pid_tid()?, record.time()?);
                let misc = record.misc();
                match () {
                    () if !misc.contains(Misc::SWITCH_OUT) => SwitchKind::Back { tid, time },
                    () if tid == 0 => return None,
                    () => {
                        let is_preempted = misc.contains(Misc::SWITCH_OUT_PREEMPT);
                        match self.source {
                            SwitchSource::Records => SwitchKind::Out { tid, time, is_preempted },
                            SwitchSource::OffCpuTrace(_) if is_preempted => SwitchKind::Preempted { tid },
                            // The tracepoint has what is exact.
                            SwitchSource::Tracepoint(_) | SwitchSource::OffCpuTrace(_) => return None,
                        }
                    }
                }
            }
            RecordType::FORK | RecordType::EXIT => match record.decode().ok()? {
                Record::Fork(it) => SwitchKind::Begins { tid: it.tid },
                Record::Exit(it) => SwitchKind::Ends { tid: it.tid },
                _ => return None,
            },
            _ => return None,
        };
        Some(ThreadSwitch(kind))
    }
}

/// Returns the kind of wait that the event of a selection names, and the selection of samples without that event. `None` with
/// the selection as it is if it names another event, or none.
#[must_use]
pub fn selected_kind(selection: Selection) -> (Option<WaitKind>, Selection) {
    match selection.event.as_deref().and_then(WaitKind::of_event) {
        None => (None, selection),
        kind => (kind, Selection { event: None, ..selection }),
    }
}

/// Returns the tracepoint of simpleperf's `--trace-offcpu`; `None` if the capture was not recorded with that.
///
/// simpleperf: `ReportLib::ProcessSampleRecord`, `system/extras/simpleperf/report_lib_interface.cpp`.
fn off_cpu_trace(info: CaptureInfo<'_>) -> Option<&Arc<Event>> {
    let meta = info.features().meta_info().ok().flatten()?;
    if meta.get("trace_offcpu")? != "true" {
        return None;
    }
    info.events().iter().find(|event| event.attr.kind == EventType::TRACEPOINT)
}

/// Returns what reads the states of threads.
fn states(info: CaptureInfo<'_>) -> Option<StateReader<'_>> {
    let tracing = TracingData::parse(tracing_data(info)).ok()?;
    let tracepoints = Tracepoints::new(&tracing);
    StateReader::new(tracepoints.find(b"sched", b"sched_switch")?, info.endianness())
}
