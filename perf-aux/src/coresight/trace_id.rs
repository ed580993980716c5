//! Trace ids, and the records that assign them.

use core::fmt;

/// The id of a source of trace, seven bits: which of them wrote a byte of a trace that several share.
///
/// Arm: ATID, IHI 0029, CoreSight Architecture Specification.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CsTraceId(pub u8);

impl CsTraceId {
    /// No source: padding.
    pub const NULL: Self = Self(0);
    /// A trigger, which is not trace.
    pub const TRIGGER: Self = Self(0x7d);

    /// Returns whether a source of trace may have the id: 0x01 to 0x6f. The others are reserved.
    #[must_use]
    pub const fn is_source(self) -> bool {
        matches!(self.0, 0x01..=0x6f)
    }
}

impl fmt::Display for CsTraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}", self.0)
    }
}

impl fmt::Debug for CsTraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CsTraceId({self})")
    }
}

/// The hardware id of a CoreSight event: `hw_id` of an AUX_OUTPUT_HW_ID record.
///
/// It assigns a trace id to the CPU of the record, the `cpu` of its trailer. Kernels write such records since Linux 6.3; without
/// them the trace ids are those of the [metadata](super::CsUnit::trace_id).
///
/// Kernel: `CS_AUX_HW_ID_*`, `include/linux/coresight-pmu.h`.
///
/// # Examples
///
/// ```
/// use perf_aux::coresight::{CsHwId, CsTraceId};
///
/// let id = CsHwId(0x0100_0012_3456_7810);
/// assert_eq!((id.major(), id.minor()), (0, 1));
/// assert_eq!((id.trace_id(), id.sink_id()), (Some(CsTraceId(0x10)), Some(0x1234_5678)));
/// // The fields of another major version are unknown.
/// assert_eq!(CsHwId(0x1000_0000_0000_0010).trace_id(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CsHwId(pub u64);

impl CsHwId {
    /// Returns the major version. Versions other than 0 have other fields.
    #[must_use]
    #[doc(alias = "CS_AUX_HW_ID_MAJOR_VERSION_MASK")]
    pub const fn major(self) -> u8 {
        (self.0 >> 60) as u8
    }

    /// Returns the minor version. Each adds fields.
    #[must_use]
    #[doc(alias = "CS_AUX_HW_ID_MINOR_VERSION_MASK")]
    pub const fn minor(self) -> u8 {
        (self.0 >> 56) as u8 & 0xf
    }

    /// Returns the trace id of the CPU; `None` in other major versions.
    #[must_use]
    #[doc(alias = "CS_AUX_HW_ID_TRACE_ID_MASK")]
    pub const fn trace_id(self) -> Option<CsTraceId> {
        if self.major() == 0 { Some(CsTraceId(self.0 as u8)) } else { None }
    }

    /// Returns the id of the sink that the trace goes to, which is the name of a file in `sinks` of the PMU in sysfs. Two sinks
    /// may use the same trace id for different CPUs. `None` before minor version 1, and in other major versions.
    #[must_use]
    #[doc(alias = "CS_AUX_HW_ID_SINK_ID_MASK")]
    pub const fn sink_id(self) -> Option<u32> {
        if self.major() == 0 && self.minor() >= 1 { Some((self.0 >> 8) as u32) } else { None }
    }
}
