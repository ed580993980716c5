//! The parts of a recording of a hardware trace: the traced event, the sizes, and the events that its decoder needs.

use std::fs;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::sample_type::SampleType;
use perf_open::pmu::{Pmu, Pmus};
use perf_open::{EventGroup, EventSpec};

use super::sizes::{AuxMode, AuxSizes};
use super::{Abilities, Tracer, groups};
use crate::{Error, RecordOptions, Targets, terms};

/// The period of Arm SPE if its driver lists none.
const SPE_PERIOD: u64 = 4096;
/// The bytes of an AUX area in a sample if the options do not say it.
const SAMPLE_BYTES: u32 = 4096;

/// The event that records context switches for the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwitchTracking {
    /// None.
    None,
    /// The event that records mappings, names and tasks.
    Tracker,
    /// An event of its own, of all tasks on each cpu.
    AllTasks,
}

/// A recording of a hardware trace.
#[derive(Clone, Debug)]
pub(crate) struct AuxPlan {
    pub(crate) tracer: Tracer,
    pub(crate) pmu: Pmu,
    /// The index of the traced event in all groups.
    pub(crate) event: usize,
    pub(crate) sizes: AuxSizes,
    /// Whether each cpu has a ring, rather than each thread.
    pub(crate) per_cpu: bool,
    pub(crate) switches: SwitchTracking,
    /// Whether the targets are cpus rather than tasks.
    pub(crate) of_cpus: bool,
    /// Whether an event of all tasks on each cpu records changes of the kernel's code.
    pub(crate) text_poke: bool,
    /// `max_nonturbo_ratio` of Intel PT.
    pub(crate) max_nonturbo_ratio: u64,
}

impl AuxPlan {
    /// Returns the plan if an event of `groups` writes to an AUX area. Completes the groups, and the config of that event.
    pub(crate) fn of(
        groups: &mut Vec<EventGroup>,
        targets: &Targets,
        options: &RecordOptions,
        pmus: &Pmus,
        abilities: impl FnOnce() -> Abilities,
    ) -> Result<Option<Self>, Error> {
        let Some((at, tracer)) = groups::tracer(groups)? else {
            let needs = [
                (options.aux_snapshot.is_some(), "a snapshot of AUX areas"),
                (options.aux_sample.is_some(), "a sample of AUX areas"),
                (options.aux_pages.is_some_and(|pages| pages > 0), "the size of AUX areas"),
            ];
            let needs = needs.into_iter().find(|(is_needed, _)| *is_needed).map(|(_, what)| what);
            groups::check_without(groups, needs)?;
            return Ok(None);
        };
        let abilities = abilities();
        let of_option = options.aux_sample.map(|bytes| if bytes == 0 { SAMPLE_BYTES } else { bytes });
        let sample = groups::join(groups, at, of_option)?;
        let per_cpu = !terms::has_rings_of_threads(groups, targets, options);
        let event = groups[..at.0].iter().map(|group| group.events.len()).sum::<usize>() + at.1;
        let traced = &mut groups[at.0].events[at.1];
        if let Some(why) = contradiction(tracer, options, sample, per_cpu, terms::overwrites(traced, options))
        {
            return Err(Error::Request(format!("{}: {why}", traced.name)));
        }
        let name = &traced.pmu.clone().unwrap_or_default();
        let pmu = pmus.get(name).map_err(|error| Error::Request(error.to_string()))?;
        let sizes = AuxSizes::of(tracer, options, sample, &abilities)?;
        complete(traced, tracer, &pmu, sizes.mode, per_cpu, &abilities)?;
        let config = traced.attr.config;
        let has_time = tracer == Tracer::IntelPt && config & term(&pmu, "tsc") != 0;
        let of_cpus = matches!(targets, Targets::Cpus(_));
        let switches = match tracer {
            _ if !per_cpu => SwitchTracking::None,
            Tracer::IntelPt if has_time && !of_cpus && abilities.cpu_wide => SwitchTracking::AllTasks,
            Tracer::IntelPt if has_time => SwitchTracking::Tracker,
            Tracer::ArmSpe => SwitchTracking::Tracker,
            _ => SwitchTracking::None,
        };
        let records_kernel = !traced.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL);
        let text_poke = has_time && per_cpu && records_kernel && abilities.text_poke && abilities.cpu_wide;
        let ratio = fs::read_to_string(pmus.root().join(name).join("max_nonturbo_ratio"));
        let max_nonturbo_ratio = ratio.ok().and_then(|ratio| ratio.trim().parse().ok()).unwrap_or(0);
        Ok(Some(Self {
            tracer,
            pmu,
            event,
            sizes,
            per_cpu,
            switches,
            of_cpus,
            text_poke,
            max_nonturbo_ratio,
        }))
    }

    /// Returns whether this is the event that writes to the AUX area.
    pub(crate) fn is_traced(&self, event: &EventSpec) -> bool {
        event.pmu.as_deref() == Some(self.pmu.name.as_str()) && event.attr.kind == self.pmu.kind
    }

    /// Returns whether an event gets none of the fields that samples have. Its records are in the trace.
    ///
    /// perf: `no_aux_samples`.
    pub(crate) fn is_bare(&self, event: &EventSpec) -> bool {
        self.tracer == Tracer::IntelPt && self.is_traced(event)
    }

    /// Returns the period of the traced event if neither the event nor the options have one; `None` for other events.
    pub(crate) fn period(&self, event: &EventSpec) -> Option<u64> {
        let period = match self.tracer {
            Tracer::ArmSpe => self.pmu.cap("min_interval", 10).unwrap_or(SPE_PERIOD),
            _ => 1,
        };
        self.is_traced(event).then_some(period)
    }

    /// Adds to the attr of the traced event what its decoder needs.
    pub(crate) fn complete(&self, event: &EventSpec, attr: &mut Attr) {
        if !self.is_traced(event) {
            return;
        }
        match self.tracer {
            Tracer::IntelPt => attr.aux_watermark = self.sizes.watermark(),
            Tracer::IntelBts => {}
            Tracer::ArmSpe => {
                attr.sample_type |= SampleType::DATA_SRC;
                if attr.config & term(&self.pmu, "pa_enable") != 0 {
                    attr.sample_type |= SampleType::PHYS_ADDR;
                }
            }
            Tracer::HisiPtt => attr.sample_type |= SampleType::TIME,
        }
        if self.per_cpu && self.tracer != Tracer::HisiPtt {
            attr.sample_type |= SampleType::CPU;
        }
    }
}

/// Returns the bits of `config` that a term without a value sets; 0 if the PMU does not have the term.
pub(super) fn term(pmu: &Pmu, name: &str) -> u64 {
    pmu.format(name).and_then(|format| format.place(1)).unwrap_or(0)
}

/// Returns the bits of `config` of a term.
pub(super) fn bits(pmu: &Pmu, name: &str) -> u64 {
    pmu.format(name).map_or(0, |format| format.mask)
}

/// Returns why a trace cannot be recorded with these options.
fn contradiction(
    tracer: Tracer,
    options: &RecordOptions,
    sample: Option<u32>,
    per_cpu: bool,
    overwrites: bool,
) -> Option<&'static str> {
    if overwrites {
        Some("rings that keep the newest records have no AUX areas; take snapshots of these instead")
    } else if sample.is_some() && options.aux_snapshot.is_some() {
        Some("snapshots and samples of AUX areas cannot be combined")
    } else if sample.is_some() && tracer != Tracer::IntelPt {
        Some("its PMU cannot sample the AUX area; intel_pt can")
    } else if tracer == Tracer::IntelBts && per_cpu {
        Some("intel_bts traces threads, not cpus; give --per-thread")
    } else if tracer == Tracer::HisiPtt && options.aux_snapshot.is_some() {
        Some("its PMU has no snapshots")
    } else if tracer == Tracer::IntelPt && options.clockid.is_some() {
        Some("the times of the trace are those of the kernel's own clock; leave out the other clock")
    } else {
        None
    }
}

/// Completes the config of the traced event.
fn complete(
    event: &mut EventSpec,
    tracer: Tracer,
    pmu: &Pmu,
    mode: AuxMode,
    per_cpu: bool,
    abilities: &Abilities,
) -> Result<(), Error> {
    let is_set = |event: &EventSpec, bits| event.config_set & bits != 0;
    match tracer {
        Tracer::IntelPt => {
            let without = event.attr.flags.without(AttrFlags::EXCLUDE_GUEST);
            let guests = if abilities.guests_trace { AttrFlags::EXCLUDE_GUEST } else { AttrFlags::NONE };
            event.attr.flags = without | guests;
            let period = bits(pmu, "psb_period");
            if mode == AuxMode::Samples && !is_set(event, period) {
                event.attr.config &= !period;
            }
            // A trace without packets is never wanted.
            event.attr.config |= term(pmu, "pt");
            for (name, caps, has) in [
                ("cyc_thresh", "cycle_thresholds", "psb_cyc"),
                ("mtc_period", "mtc_periods", "mtc"),
                ("psb_period", "psb_periods", "psb_cyc"),
            ] {
                check_value(event, pmu, name, caps, has)?;
            }
        }
        Tracer::ArmSpe => {
            let times = bits(pmu, "ts_enable");
            if per_cpu && !is_set(event, times) {
                event.attr.config |= times;
            }
        }
        Tracer::IntelBts | Tracer::HisiPtt => {}
    }
    Ok(())
}

/// Returns an error if the value of a term is not one of those that `caps` lists.
///
/// perf: `intel_pt_val_config_term`.
fn check_value(event: &EventSpec, pmu: &Pmu, name: &str, caps: &str, has: &str) -> Result<(), Error> {
    let mask = bits(pmu, name);
    let listed = if pmu.cap(has, 10) == Some(0) { 0 } else { pmu.cap(caps, 16).unwrap_or(0) };
    let valid = listed | 1;
    let value = (event.attr.config & mask).checked_shr(mask.trailing_zeros()).unwrap_or(0);
    if value < 64 && valid >> value & 1 == 1 {
        return Ok(());
    }
    let values: Vec<_> = (0..64).filter(|bit| valid >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    let values = values.join(", ");
    Err(Error::Request(format!("{}: {name}={value}: the PMU supports {values}", event.name)))
}
