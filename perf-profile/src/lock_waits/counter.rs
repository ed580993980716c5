//! Waits for locks as samples of a profile.

use std::sync::Arc;

use perf_abi::event::{EventType, SwId};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_session::SampleContext;

use super::event::{LockEvent, LockSample};
use super::reader::LockReader;
use super::tracker::{LockTracker, LockWait};
use crate::builder::PendingSample;
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;

/// The names of the events of a profile whose periods are the times of waits: for locks of the kernel, and for futexes. See
/// [`ProfileOptions::lock_waits`](crate::samples::ProfileOptions::lock_waits).
pub const WAIT_EVENTS: [&str; 2] = ["lock-wait", "futex-wait"];

/// Follows waits, and has the events that their times are samples of.
#[derive(Debug)]
pub(crate) struct LockCounter<'a> {
    reader: LockReader<'a>,
    tracker: LockTracker<Option<PendingSample>>,
    events: [Arc<Event>; 2],
    /// Whether only futexes are counted, or only locks of the kernel.
    only_futexes: Option<bool>,
}

/// What a sample says of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockNote {
    sample: LockSample,
    cpu: Option<u32>,
    /// The number of innermost frames that take the lock.
    pub(crate) frames: usize,
}

impl LockNote {
    /// Returns whether a wait for a futex begins, or one for a lock of the kernel; `None` if none begins.
    pub(crate) fn begins_futex(&self) -> Option<bool> {
        match self.sample.event {
            LockEvent::Begin { .. } => Some(false),
            LockEvent::FutexBegin { .. } => Some(true),
            LockEvent::End { .. } | LockEvent::FutexEnd => None,
        }
    }
}

impl<'a> LockCounter<'a> {
    pub(crate) fn new(info: CaptureInfo<'a>, only_futexes: Option<bool>) -> Result<Self, ProfileError> {
        let reader = LockReader::new(info)?;
        let events = info.events();
        let Some(first) = events.iter().find(|event| reader.is_read(event)) else {
            return Err(ProfileError::LocksNotRecorded);
        };
        let made = |number: usize| {
            let mut event = (**first).clone();
            event.index = events.len() + number;
            event.name = WAIT_EVENTS.get(number).map(|&name| name.into());
            event.update = None;
            event.ids = Vec::new();
            (event.attr.kind, event.attr.config) = (EventType::SOFTWARE, SwId::TASK_CLOCK.0);
            event.attr.sample_type |= SampleType::PERIOD;
            Arc::new(event)
        };
        let (tracker, events) = (LockTracker::default(), core::array::from_fn(made));
        Ok(Self { reader, tracker, events, only_futexes })
    }

    /// Returns whether an event of this name is that of futexes; `None` if it is that of neither.
    pub(crate) fn is_futex_event(name: &str) -> Option<bool> {
        WAIT_EVENTS.iter().position(|it| *it == name).map(|number| number == 1)
    }

    /// Returns what a sample says of a wait; `None` if it says nothing.
    pub(crate) fn note(&self, at: &SampleContext<'_, '_>) -> Option<LockNote> {
        Some(LockNote { sample: self.reader.read(at)?, cpu: at.sample().cpu(), frames: 0 })
    }

    /// Takes what a sample says, and what is kept of it. Returns the wait that ends with it.
    pub(crate) fn sample(
        &mut self,
        note: &LockNote,
        kept: Option<PendingSample>,
    ) -> Option<LockWait<Option<PendingSample>>> {
        self.tracker.sample(&note.sample, note.cpu, kept)
    }

    /// Returns the event that a wait is a sample of; `None` if it is not counted.
    pub(crate) fn event<T>(&self, wait: &LockWait<T>) -> Option<&Arc<Event>> {
        let is_futex = wait.lock.is_futex();
        let is_counted = self.only_futexes.is_none_or(|only| only == is_futex);
        self.events.get(usize::from(is_futex)).filter(|_| is_counted)
    }
}
