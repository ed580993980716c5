//! The events of the samples of Arm SPE.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;
use perf_aux::spe::{SampleKind, SampleKinds, SampleOptions, SpeInfo};
use perf_aux::trace::AuxInfo;
use perf_parse::SampleLayout;
use perf_parse::event::Events;
use perf_parse::file::write::EventFields;

use super::{ItraceError, ItraceOptions, PeriodUnit};

/// The difference of the first new id and that of the trace's event.
const FIRST_ID: u64 = 1_000_000_000;
/// `PERF_COUNT_HW_INSTRUCTIONS`. The other kinds are no events of the kernel; perf gives them 0.
const INSTRUCTIONS: u64 = 1;

/// The events of the samples, one for each kind that is selected, in perf's order.
///
/// perf: `arm_spe_synth_events`.
#[derive(Debug)]
pub(super) struct SpeEvents {
    events: Vec<SpeEvent>,
    pub(super) options: SampleOptions,
    info: AuxInfo,
    is_timed: bool,
}

/// The event of a kind of samples.
#[derive(Debug)]
pub(super) struct SpeEvent {
    pub(super) kind: SampleKind,
    pub(super) id: u64,
    pub(super) layout: SampleLayout,
    attr: Attr,
}

impl SpeEvents {
    /// Returns the events for a capture with these events; `None` if none of them is of Arm SPE.
    pub(super) fn of(
        known: &Events,
        info: &AuxInfo,
        options: &ItraceOptions,
    ) -> Result<Option<Self>, ItraceError> {
        let mut events = Self {
            events: Vec::new(),
            options: SampleOptions::default(),
            info: info.clone(),
            is_timed: false,
        };
        let pmu_type = events.info()?.pmu_type();
        let Some(traced) = known.iter().find(|event| u64::from(event.attr.kind.0) == pmu_type) else {
            return Ok(None);
        };
        if options.unit != PeriodUnit::Instructions {
            return Err(ItraceError::Unit(options.unit));
        }
        events.options = SampleOptions {
            kinds: options.kinds,
            period: options.period,
            branch_stack: options.branch_stack,
            ..SampleOptions::default()
        };
        events.is_timed = known.iter().any(|event| event.attr.sample_type.contains(SampleType::TIME));
        if !traced.attr.sample_type.intersects(SampleType::IDENTIFIER | SampleType::ID) {
            return Err(ItraceError::NoIds);
        }
        let mut attr = attr_like(&traced.attr, events.is_timed, options.period);
        let first = traced.ids.first().copied().unwrap_or_default().wrapping_add(FIRST_ID).max(1);
        let selected = SampleKind::ALL.into_iter().filter(|&kind| options.kinds.has(kind));
        for (id, kind) in (first..).zip(selected) {
            if known.iter().any(|event| event.ids.contains(&id)) {
                return Err(ItraceError::TooManyEvents);
            }
            if matches!(kind, SampleKind::Branch | SampleKind::Instructions) && options.branch_stack > 0 {
                // perf uses one attr for all, so that the kinds after the first of these have branch stacks without branches.
                attr.sample_type |= SampleType::BRANCH_STACK;
                attr.branch_sample_type |= BranchSampleType::HW_INDEX;
            }
            if kind == SampleKind::Instructions {
                attr.config = INSTRUCTIONS;
            }
            let layout = SampleLayout::new(&attr).map_err(|_| ItraceError::NoIds)?;
            events.events.push(SpeEvent { kind, id, layout, attr });
        }
        Ok(Some(events))
    }

    /// Returns the same without events, so that no samples are made.
    pub(super) fn without_samples(&self) -> Self {
        let options = SampleOptions { kinds: SampleKinds::NONE, ..self.options };
        Self { events: Vec::new(), options, info: self.info.clone(), is_timed: self.is_timed }
    }

    /// Returns the settings of the recording.
    pub(super) fn info(&self) -> Result<SpeInfo<'_>, ItraceError> {
        Ok(SpeInfo::new(&self.info.record())?)
    }

    /// Returns the events as they are written.
    pub(super) fn fields(&self) -> impl Iterator<Item = EventFields> {
        self.events.iter().map(|event| EventFields {
            attr: event.attr,
            ids: vec![event.id],
            name: Some(event.kind.name().into()),
            ..EventFields::default()
        })
    }

    /// Returns the event of a kind; `None` if it is not selected.
    pub(super) fn of_kind(&self, kind: SampleKind) -> Option<&SpeEvent> {
        self.events.iter().find(|event| event.kind == kind)
    }

    /// Returns whether samples have times.
    pub(super) fn are_timed(&self) -> bool {
        self.is_timed
    }

    /// Returns whether samples have branch stacks.
    pub(super) fn have_branch_stacks(&self) -> bool {
        let kinds = SampleKinds::BRANCHES | SampleKinds::INSTRUCTIONS;
        self.options.branch_stack > 0 && self.options.kinds.intersects(kinds)
    }
}

/// Returns the attr of the first events. It counts what the attr of the trace's event counts, and records what the samples have.
fn attr_like(traced: &Attr, is_timed: bool, period: u64) -> Attr {
    let kept = SampleType::IP
        | SampleType::TID
        | SampleType::TIME
        | SampleType::ADDR
        | SampleType::ID
        | SampleType::STREAM_ID
        | SampleType::CPU
        | SampleType::PERIOD
        | SampleType::IDENTIFIER
        | SampleType::PHYS_ADDR;
    let added = SampleType::IP
        | SampleType::TID
        | SampleType::PERIOD
        | SampleType::DATA_SRC
        | SampleType::WEIGHT
        | SampleType::ADDR;
    let fields = SampleType(traced.sample_type.0 & kept.0) | added;
    let flags = AttrFlags::EXCLUDE_USER
        | AttrFlags::EXCLUDE_KERNEL
        | AttrFlags::EXCLUDE_HV
        | AttrFlags::EXCLUDE_HOST
        | AttrFlags::EXCLUDE_GUEST
        | AttrFlags::SAMPLE_ID_ALL;
    Attr {
        kind: EventType::HARDWARE,
        sample_period: period,
        sample_type: if is_timed { fields | SampleType::TIME } else { fields.without(SampleType::TIME) },
        read_format: traced.read_format,
        flags: AttrFlags(traced.flags.0 & flags.0),
        ..Attr::default()
    }
}
