//! Hardware traces: the events whose PMU writes to an AUX area, what these need, and the areas.
//!
//! The attrs are those that perf asks for. perf: `auxtrace_record__init` and `recording_options`, `tools/perf/arch`.

mod abilities;
mod area;
mod groups;
mod info;
mod newest;
mod plan;
mod sizes;

pub(crate) use abilities::Abilities;
pub(crate) use area::{AuxTarget, TracedArea};
pub use groups::has_aux_events;
pub(crate) use info::{record as info, times};
pub(crate) use plan::{AuxPlan, SwitchTracking};

#[cfg(test)]
pub(crate) use area::AuxMemory;
#[cfg(test)]
pub(crate) use newest::SnapshotHistory;
#[cfg(test)]
pub(crate) use sizes::AuxMode;

use perf_abi::auxtrace::AuxtraceType;
use rustix::time::{ClockId, clock_gettime};

/// A kind of PMU whose events write to an AUX area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracer {
    IntelPt,
    IntelBts,
    ArmSpe,
    HisiPtt,
}

/// The reason why the events of some PMUs are refused.
const NO_INFO: &str =
    "its trace is described by registers of each CPU, which are not recorded; perf record does it";

impl Tracer {
    /// Returns the tracer of a PMU; `None` if its events write to the ring alone.
    ///
    /// # Errors
    ///
    /// The reason why the trace cannot be recorded.
    pub(crate) fn of(pmu: &str) -> Option<Result<Self, &'static str>> {
        match pmu {
            "intel_pt" => Some(Ok(Self::IntelPt)),
            "intel_bts" => Some(Ok(Self::IntelBts)),
            "cs_etm" => Some(Err(NO_INFO)),
            "vpa_dtl" => Some(Err("the trace of its PMU is not recorded; perf record does it")),
            _ if pmu.starts_with("arm_spe_") => Some(Ok(Self::ArmSpe)),
            _ if pmu.starts_with("hisi_ptt") => Some(Ok(Self::HisiPtt)),
            _ => None,
        }
    }

    /// Returns the type in AUXTRACE_INFO, which selects the decoder.
    pub(crate) fn kind(self) -> AuxtraceType {
        match self {
            Self::IntelPt => AuxtraceType::INTEL_PT,
            Self::IntelBts => AuxtraceType::INTEL_BTS,
            Self::ArmSpe => AuxtraceType::ARM_SPE,
            Self::HisiPtt => AuxtraceType::HISI_PTT,
        }
    }

    /// Returns the bytes of an entry, if entries may not be divided.
    ///
    /// perf: `auxtrace_record.alignment`; three words of BTS.
    fn alignment(self) -> usize {
        match self {
            Self::IntelBts => 24,
            _ => 1,
        }
    }

    /// Returns a number for a piece of the trace. Decoders that find two pieces with the same number drop one.
    ///
    /// perf: `auxtrace_record__reference`.
    fn reference(self) -> u64 {
        match self {
            Self::ArmSpe => {
                let now = clock_gettime(ClockId::MonotonicRaw);
                let word = |part: i64| u64::try_from(part).unwrap_or(0);
                #[allow(clippy::useless_conversion, reason = "32-bit systems have other types")]
                let (seconds, nanoseconds) = (now.tv_sec.into(), now.tv_nsec.into());
                word(seconds) ^ word(nanoseconds)
            }
            _ => perf_open::tsc::now().unwrap_or(0),
        }
    }
}
