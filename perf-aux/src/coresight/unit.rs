//! The registers of trace units.

use perf_abi::auxtrace::CsMagic;

use super::CsTraceId;

/// The trace unit of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CsUnit {
    /// ETMv3 or PTM.
    Etmv3(CsEtmv3),
    /// ETMv4.
    Etmv4(CsEtmv4),
    /// ETE.
    Ete(CsEte),
    /// A kind that this crate does not know.
    Other(CsMagic),
}

impl CsUnit {
    const TRACE_ID: u64 = 0x7f;
    const UNUSED: u64 = 1 << 31;

    fn traceidr(&self) -> Option<u64> {
        match self {
            Self::Etmv3(unit) => Some(unit.traceidr),
            Self::Etmv4(unit) => Some(unit.traceidr),
            Self::Ete(unit) => Some(unit.traceidr),
            Self::Other(_) => None,
        }
    }

    /// Returns the trace id of the CPU, the low seven bits of its register; `None` for other kinds of units.
    ///
    /// [AUX_OUTPUT_HW_ID](super::CsHwId) records take precedence.
    #[must_use]
    pub fn trace_id(&self) -> Option<CsTraceId> {
        self.traceidr().map(|word| CsTraceId((word & Self::TRACE_ID) as u8))
    }

    /// Returns whether the trace id is one that perf assumes and the kernel may not use. It is right only if the capture has no
    /// [AUX_OUTPUT_HW_ID](super::CsHwId) records.
    #[must_use]
    #[doc(alias = "CORESIGHT_TRACE_ID_UNUSED_FLAG")]
    pub fn is_trace_id_unused(&self) -> bool {
        self.traceidr().is_some_and(|word| word & Self::UNUSED != 0)
    }
}

/// The registers of an ETMv3 or PTM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CsEtmv3 {
    /// Main control. Arm: ETMCR.
    pub cr: u64,
    /// Trace id. Arm: ETMTRACEIDR.
    pub traceidr: u64,
    /// Configuration code extension. Arm: ETMCCER.
    pub ccer: u64,
    /// Identification. Arm: ETMIDR.
    pub idr: u64,
}

/// The registers of an ETMv4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CsEtmv4 {
    /// Trace configuration. Arm: TRCCONFIGR.
    pub configr: u64,
    /// Trace id. Arm: TRCTRACEIDR.
    pub traceidr: u64,
    /// Identification 0. Arm: TRCIDR0.
    pub idr0: u64,
    /// Identification 1. Arm: TRCIDR1.
    pub idr1: u64,
    /// Identification 2. Arm: TRCIDR2.
    pub idr2: u64,
    /// Identification 8. Arm: TRCIDR8.
    pub idr8: u64,
    /// Authentication status. Arm: TRCAUTHSTATUS.
    pub authstatus: u64,
    /// Source of time stamps; negative if it is unknown. `None` in captures of perf before 6.4.
    pub ts_source: Option<i64>,
}

/// The registers of an ETE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CsEte {
    /// Trace configuration. Arm: TRCCONFIGR.
    pub configr: u64,
    /// Trace id. Arm: TRCTRACEIDR.
    pub traceidr: u64,
    /// Identification 0. Arm: TRCIDR0.
    pub idr0: u64,
    /// Identification 1. Arm: TRCIDR1.
    pub idr1: u64,
    /// Identification 2. Arm: TRCIDR2.
    pub idr2: u64,
    /// Identification 8. Arm: TRCIDR8.
    pub idr8: u64,
    /// Authentication status. Arm: TRCAUTHSTATUS.
    pub authstatus: u64,
    /// Device architecture. Arm: TRCDEVARCH.
    pub devarch: u64,
    /// Source of time stamps; negative if it is unknown. `None` in captures of perf before 6.4.
    pub ts_source: Option<i64>,
}
