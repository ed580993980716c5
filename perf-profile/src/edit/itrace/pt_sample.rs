//! The raw data of the samples of Intel PT.
//!
//! After the size, each is a struct of perf without its first member, which is 4 bytes of padding before the size.

use perf_abi::event::SynthId;
use perf_aux::pt::EventKind;

/// Maximum number of event data of a sample: more than one of each type is no trace of a processor.
#[doc(alias = "INTEL_PT_MAX_EVDS")]
const MOST_DATA: usize = 64;

/// An error of the decoder.
///
/// perf: `enum` with `INTEL_PT_ERR_OVR`, `tools/perf/util/intel-pt-decoder/intel-pt-decoder.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PtError {
    BadPacket,
    Overflow,
    LostData,
}

impl PtError {
    pub(super) const fn code(self) -> u32 {
        match self {
            Self::BadPacket => 3,
            Self::Overflow => 7,
            Self::LostData => 8,
        }
    }

    pub(super) const fn message(self) -> &'static [u8] {
        match self {
            Self::BadPacket => b"Bad packet",
            Self::Overflow => b"Overflow packet",
            Self::LostData => b"Lost trace data",
        }
    }
}

/// What an event of a trace becomes.
#[derive(Clone, Debug)]
pub(super) enum PtContent {
    /// A sample with raw data.
    Sample(SynthId, Vec<u8>),
    Error(PtError),
    /// An event that this crate does not know yet.
    Other,
}

impl PtContent {
    pub(super) fn of(event: &EventKind<'_>) -> Self {
        match event {
            EventKind::PtWrite(it) => pair(SynthId::INTEL_PTWRITE, it.ip.into(), it.payload),
            EventKind::Mwait(it) => pair(SynthId::INTEL_MWAIT, 0, it.0),
            EventKind::Pwre(it) => pair(SynthId::INTEL_PWRE, 0, it.0.into()),
            EventKind::Pwrx(it) => pair(SynthId::INTEL_PWRX, 0, it.0),
            EventKind::Psb { position } => pair(SynthId::INTEL_PSB, 0, *position),
            EventKind::ExStop { ip } => {
                Self::Sample(SynthId::INTEL_EXSTOP, u32::from(*ip).to_le_bytes().into())
            }
            EventKind::Cbr { cbr, khz, max_ratio } => {
                // The frequency, and a reserved half.
                let flags = u32::from(cbr.0) | max_ratio.wrapping_shl(16);
                pair(SynthId::INTEL_CBR, flags, khz & u64::from(u32::MAX))
            }
            EventKind::Evt { cfe, ip, data } => {
                let data: Vec<_> = data.clone().take(MOST_DATA).collect();
                let count = u32::try_from(data.len()).unwrap_or(0);
                let bits = u32::from(cfe.kind.0 & 0x1f) | u32::from(*ip) << 7;
                let mut raw = (bits | u32::from(cfe.vector) << 8 | count << 16).to_le_bytes().to_vec();
                for evd in data {
                    raw.extend(u64::from(evd.kind.0).to_le_bytes());
                    raw.extend(evd.payload.to_le_bytes());
                }
                Self::Sample(SynthId::INTEL_EVT, raw)
            }
            EventKind::Overflow => Self::Error(PtError::Overflow),
            EventKind::Bad(_) => Self::Error(PtError::BadPacket),
            _ => Self::Other,
        }
    }
}

/// A sample of flags and a payload.
fn pair(id: SynthId, flags: u32, payload: u64) -> PtContent {
    let mut raw = flags.to_le_bytes().to_vec();
    raw.extend(payload.to_le_bytes());
    PtContent::Sample(id, raw)
}
