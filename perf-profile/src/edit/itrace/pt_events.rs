//! The events of the samples of Intel PT.

use perf_abi::event::{EventType, SynthId};
use perf_abi::sample_type::SampleType;
use perf_aux::pt::{Config, EventState, Info};
use perf_aux::trace::AuxInfo;
use perf_parse::event::{Event, Events};
use perf_parse::file::write::EventFields;

use super::made_event::{EventMaker, MadeEvent, attr_like};
use super::{ItraceError, ItraceOptions, PtKinds, TraceErrors};

/// The events of the samples, in perf's order.
///
/// perf: `intel_pt_synth_events`.
#[derive(Debug)]
pub(super) struct PtEvents {
    events: Vec<(SynthId, MadeEvent)>,
    pub(super) errors: TraceErrors,
    /// How context switches were recorded.
    pub(super) have_sched_switch: u64,
    /// Whether each CPU had an area of its own.
    pub(super) per_cpu_mmaps: bool,
    /// The state before the first buffer of an area.
    pub(super) state: EventState,
    is_timed: bool,
}

impl PtEvents {
    /// Returns the events for a capture with these events; `None` if none of them is of Intel PT.
    pub(super) fn of(
        known: &Events,
        info: &AuxInfo,
        options: &ItraceOptions,
    ) -> Result<Option<Self>, ItraceError> {
        let record = info.record();
        let settings = Info::new(&record)?;
        let Some(traced) = known.iter().find(|event| event.attr.kind.0 == settings.pmu_type) else {
            return Ok(None);
        };
        let config = Config(traced.attr.config);
        let is_timed = !options.ignores_times && are_timed(known, &settings);
        let mut maker = EventMaker::new(known, traced)?;
        let fields = SampleType::IP | SampleType::TID | SampleType::RAW;
        let mut attr = attr_like(&traced.attr, SampleType(0), fields, is_timed);
        attr.kind = EventType::SYNTH;
        attr.sample_period = 1;
        attr.sample_type = attr.sample_type.without(SampleType::PERIOD);
        if !settings.per_cpu_mmaps {
            attr.sample_type = attr.sample_type.without(SampleType::CPU);
        }
        let mut events = Vec::new();
        for (id, name) in selected(options.pt_kinds, config) {
            attr.config = id.0;
            events.push((id, maker.add(name, attr)?));
        }
        Ok(Some(Self {
            events,
            errors: options.errors,
            have_sched_switch: settings.have_sched_switch,
            per_cpu_mmaps: settings.per_cpu_mmaps,
            state: EventState::new(&settings, config),
            is_timed,
        }))
    }

    /// Returns the events as they are written.
    pub(super) fn fields(&self) -> Vec<EventFields> {
        self.events.iter().map(|(_, event)| event.fields()).collect()
    }

    /// Returns the event of a kind of samples; `None` if it is not selected.
    pub(super) fn of_kind(&self, id: SynthId) -> Option<&MadeEvent> {
        self.events.iter().find(|(of, _)| *of == id).map(|(_, event)| event)
    }

    /// Returns whether samples have times.
    pub(super) fn are_timed(&self) -> bool {
        self.is_timed
    }
}

/// Returns the events of kinds, of those that the trace can have.
fn selected(kinds: PtKinds, config: Config) -> impl Iterator<Item = (SynthId, &'static str)> {
    let has_power = kinds.contains(PtKinds::POWER_EVENTS);
    let is_traced = has_power && config.has_power_events();
    let all = [
        (SynthId::INTEL_PTWRITE, "ptwrite", kinds.contains(PtKinds::PTWRITES)),
        (SynthId::INTEL_CBR, "cbr", has_power),
        (SynthId::INTEL_PSB, "psb", has_power),
        (SynthId::INTEL_MWAIT, "mwait", is_traced),
        (SynthId::INTEL_PWRE, "pwre", is_traced),
        (SynthId::INTEL_EXSTOP, "exstop", is_traced),
        (SynthId::INTEL_PWRX, "pwrx", is_traced),
        (SynthId::INTEL_EVT, "evt", kinds.contains(PtKinds::EVENT_TRACE) && config.has_event_trace()),
    ];
    all.into_iter().filter(|&(.., is_selected)| is_selected).map(|(id, name, _)| (id, name))
}

/// Returns whether the trace has times that can be compared with those of all events.
///
/// perf: `intel_pt_timeless_decoding`.
fn are_timed(known: &Events, info: &Info<'_>) -> bool {
    let has_tsc = |event: &Event| event.attr.kind.0 != info.pmu_type || event.attr.config & info.tsc_bit != 0;
    let has_time = |event: &Event| event.attr.sample_type.contains(SampleType::TIME);
    info.cap_user_time_zero
        && info.tsc_bit != 0
        && known.iter().all(|event| has_time(event) && has_tsc(event))
}
