//! The events of the samples of Arm SPE.

use perf_abi::branch::BranchSampleType;
use perf_abi::sample_type::SampleType;
use perf_aux::spe::{SampleKind, SampleKinds, SampleOptions, SpeInfo};
use perf_aux::trace::AuxInfo;
use perf_parse::event::Events;
use perf_parse::file::write::EventFields;

use super::made_event::{EventMaker, MadeEvent, attr_like};
use super::{ItraceError, ItraceOptions, PeriodUnit};

/// `PERF_COUNT_HW_INSTRUCTIONS`. The other kinds are no events of the kernel; perf gives them 0.
const INSTRUCTIONS: u64 = 1;

/// The events of the samples, one for each kind that is selected, in perf's order.
///
/// perf: `arm_spe_synth_events`.
#[derive(Debug)]
pub(super) struct SpeEvents {
    events: Vec<(SampleKind, MadeEvent)>,
    pub(super) options: SampleOptions,
    info: AuxInfo,
    is_timed: bool,
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
        let mut maker = EventMaker::new(known, traced)?;
        let added = SampleType::IP
            | SampleType::TID
            | SampleType::PERIOD
            | SampleType::DATA_SRC
            | SampleType::WEIGHT
            | SampleType::ADDR;
        let mut attr = attr_like(&traced.attr, SampleType::PHYS_ADDR, added, events.is_timed);
        attr.sample_period = options.period;
        for kind in SampleKind::ALL.into_iter().filter(|&kind| options.kinds.has(kind)) {
            if matches!(kind, SampleKind::Branch | SampleKind::Instructions) && options.branch_stack > 0 {
                // perf uses one attr for all, so that the kinds after the first of these have branch stacks without branches.
                attr.sample_type |= SampleType::BRANCH_STACK;
                attr.branch_sample_type |= BranchSampleType::HW_INDEX;
            }
            if kind == SampleKind::Instructions {
                attr.config = INSTRUCTIONS;
            }
            events.events.push((kind, maker.add(kind.name(), attr)?));
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
    pub(super) fn fields(&self) -> Vec<EventFields> {
        self.events.iter().map(|(_, event)| event.fields()).collect()
    }

    /// Returns the event of a kind; `None` if it is not selected.
    pub(super) fn of_kind(&self, kind: SampleKind) -> Option<&MadeEvent> {
        self.events.iter().find(|(of, _)| *of == kind).map(|(_, event)| event)
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
