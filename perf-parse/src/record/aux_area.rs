//! Records about the AUX area: AUX, ITRACE_START, AUX_OUTPUT_HW_ID.

use perf_abi::aux_area::AuxFlags;
use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The AUX area has new data.
///
/// Kernel: `PERF_RECORD_AUX`; since Linux 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Aux {
    /// Position of the data: a byte count that never wraps.
    pub aux_offset: u64,
    /// Bytes of the data. Can be 0; `flags` then has the reason.
    pub aux_size: u64,
    /// State of the data.
    pub flags: AuxFlags,
}

impl Aux {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawAux { aux_offset, aux_size, flags } = at.fixed::<wire::RawAux<O>>("aux_offset")?;
        Ok(Self { aux_offset: aux_offset.get(), aux_size: aux_size.get(), flags: AuxFlags(flags.get()) })
    }
}

/// Instruction tracing of a task started.
///
/// Kernel: `PERF_RECORD_ITRACE_START`; since Linux 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItraceStart {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
}

impl ItraceStart {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawItraceStart { pid, tid } = at.fixed::<wire::RawItraceStart<O>>("pid")?;
        Ok(Self { pid: pid.get(), tid: tid.get() })
    }
}

/// The hardware id that AUX data uses for an event.
///
/// Kernel: `PERF_RECORD_AUX_OUTPUT_HW_ID`; since Linux 5.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AuxOutputHwId {
    /// The id; the PMU defines its meaning.
    pub hw_id: u64,
}

impl AuxOutputHwId {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        Ok(Self { hw_id: at.word::<O>("hw_id")? })
    }
}
