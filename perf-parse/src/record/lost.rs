//! What was lost: LOST and LOST_SAMPLES.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The ring was full: records were lost before this one.
///
/// Kernel: `PERF_RECORD_LOST`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Id of the event that noticed; the loss is the whole ring's.
    pub id: u64,
    /// Records lost, of any event of the ring.
    pub lost: u64,
}

impl Lost {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::Lost { id, lost } = at.fixed::<wire::Lost<O>>("id")?;
        Ok(Self { id: id.get(), lost: lost.get() })
    }
}

/// Samples were lost before they reached the ring: by the hardware, or, in records that perf made from counts at
/// exit, by the event named in the trailer; with `LOST_SAMPLES_BPF` in `misc`, by a BPF filter.
///
/// Kernel: `PERF_RECORD_LOST_SAMPLES`; since Linux 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSamples {
    /// Samples lost.
    pub lost: u64,
}

impl LostSamples {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        Ok(Self { lost: at.word::<O>("lost")? })
    }
}
