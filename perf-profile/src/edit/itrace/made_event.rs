//! The events of samples that are made of AUX data.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;
use perf_parse::SampleLayout;
use perf_parse::event::{Event, Events};
use perf_parse::file::write::EventFields;
use perf_parse::write::SampleFields;

use super::ItraceError;
use super::area::Owner;

/// The difference of the first new id and that of the trace's event.
const FIRST_ID: u64 = 1_000_000_000;

/// An event of samples that are made.
#[derive(Debug)]
pub(super) struct MadeEvent {
    pub(super) id: u64,
    pub(super) layout: SampleLayout,
    name: &'static str,
    attr: Attr,
}

impl MadeEvent {
    /// Returns the event as it is written.
    pub(super) fn fields(&self) -> EventFields {
        EventFields {
            attr: self.attr,
            ids: vec![self.id],
            name: Some(self.name.into()),
            ..EventFields::default()
        }
    }

    /// Returns the fields that samples of all tracers have.
    pub(super) fn common_fields(&self, ip: u64, owner: Owner, time: u64) -> SampleFields {
        let recorded = self.layout.sample_type();
        let has = |field| recorded.contains(field);
        SampleFields {
            identifier: has(SampleType::IDENTIFIER).then_some(self.id),
            ip: Some(ip),
            pid_tid: Some((owner.pid, owner.tid)),
            time: has(SampleType::TIME).then_some(time),
            addr: has(SampleType::ADDR).then_some(0),
            id: has(SampleType::ID).then_some(self.id),
            stream_id: has(SampleType::STREAM_ID).then_some(self.id),
            cpu: has(SampleType::CPU).then_some(owner.cpu.cast_unsigned()),
            ..SampleFields::default()
        }
    }
}

/// Creates the events, each with the next id.
///
/// perf: `arm_spe_synth_events`, `intel_pt_synth_events`.
#[derive(Debug)]
pub(super) struct EventMaker<'e> {
    known: &'e Events,
    next_id: u64,
}

impl<'e> EventMaker<'e> {
    /// Creates events for a capture with these events, of which `traced` is that of the trace.
    pub(super) fn new(known: &'e Events, traced: &Event) -> Result<Self, ItraceError> {
        if !traced.attr.sample_type.intersects(SampleType::IDENTIFIER | SampleType::ID) {
            return Err(ItraceError::NoIds);
        }
        let first = traced.ids.first().copied().unwrap_or_default();
        Ok(Self { known, next_id: first.wrapping_add(FIRST_ID).max(1) })
    }

    pub(super) fn add(&mut self, name: &'static str, attr: Attr) -> Result<MadeEvent, ItraceError> {
        let id = self.next_id;
        self.next_id = id.checked_add(1).ok_or(ItraceError::TooManyEvents)?;
        if self.known.iter().any(|event| event.ids.contains(&id)) {
            return Err(ItraceError::TooManyEvents);
        }
        let layout = SampleLayout::new(&attr).map_err(|_| ItraceError::NoIds)?;
        Ok(MadeEvent { id, layout, name, attr })
    }
}

/// Returns an attr that counts what the attr of the trace's event counts, and records `added` and what this event records of the
/// fields that perf keeps, which are those and `kept`.
pub(super) fn attr_like(traced: &Attr, kept: SampleType, added: SampleType, is_timed: bool) -> Attr {
    let kept = SampleType::IP
        | SampleType::TID
        | SampleType::TIME
        | SampleType::ADDR
        | SampleType::ID
        | SampleType::STREAM_ID
        | SampleType::CPU
        | SampleType::PERIOD
        | SampleType::IDENTIFIER
        | kept;
    let fields = SampleType(traced.sample_type.0 & kept.0) | added;
    let flags = AttrFlags::EXCLUDE_USER
        | AttrFlags::EXCLUDE_KERNEL
        | AttrFlags::EXCLUDE_HV
        | AttrFlags::EXCLUDE_HOST
        | AttrFlags::EXCLUDE_GUEST
        | AttrFlags::SAMPLE_ID_ALL;
    Attr {
        kind: EventType::HARDWARE,
        sample_type: if is_timed { fields | SampleType::TIME } else { fields.without(SampleType::TIME) },
        read_format: traced.read_format,
        flags: AttrFlags(traced.flags.0 & flags.0),
        ..Attr::default()
    }
}
