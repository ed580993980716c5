//! Losses: LOST and LOST_SAMPLES.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// Records were lost before this one because the ring was full.
///
/// Kernel: `PERF_RECORD_LOST`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "LostRecord")]
pub struct Lost {
    /// Id of the event that reported the loss. The loss concerns the whole ring.
    pub id: u64,
    /// Number of lost records of all events of the ring.
    pub lost: u64,
}

impl Lost {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawLost { id, lost } = at.fixed::<wire::RawLost<O>>("id")?;
        Ok(Self { id: id.get(), lost: lost.get() })
    }
}

/// Samples were lost before they reached the ring.
///
/// The hardware lost them or, if `misc` has `LOST_SAMPLES_BPF`, a BPF filter dropped them. perf also synthesises such
/// records at exit from the lost counts of events; the trailer of such a record has the id of the event.
///
/// Kernel: `PERF_RECORD_LOST_SAMPLES`; since Linux 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LostSamples {
    /// Number of lost samples.
    pub lost: u64,
}

impl LostSamples {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        Ok(Self { lost: at.word::<O>("lost")? })
    }
}
