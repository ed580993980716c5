//! Events as the raw data of perf's samples.

use core::fmt;

use perf_abi::event::SynthId;

use super::event::{EventKind, write_evd, write_evt};
use super::mode::Cbr;
use super::packet::PtWrite;
use super::power::{Mwait, Pwre, Pwrx};
use super::trace_event::{Cfe, CfeType, Evd, EvdType};

/// An event as it is in the raw data of a sample of [`EventType::SYNTH`](perf_abi::event::EventType::SYNTH), which perf makes of it.
///
/// `Display` prints what `perf script` prints of it, without the padding.
///
/// # Examples
///
/// ```
/// use perf_abi::event::SynthId;
/// use perf_aux::pt::RawEvent;
///
/// let raw = [1, 0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0, 0];
/// let event = RawEvent::parse(SynthId::INTEL_PTWRITE, &raw).unwrap();
/// assert_eq!(event.to_string(), "IP: 1 payload: 0x2a *");
/// assert!(RawEvent::parse(SynthId::INTEL_PTWRITE, &raw[..11]).is_none());
/// ```
///
/// perf: `struct perf_synth_intel_ptwrite` and those after it, `tools/perf/util/event.h`.
#[derive(Clone, Debug)]
pub struct RawEvent<'a>(Content<'a>);

#[derive(Clone, Debug)]
enum Content<'a> {
    Event(EventKind<'static>),
    /// The data has 16 bytes each.
    Evt {
        cfe: Cfe,
        data: &'a [u8],
    },
    Iflag {
        is_set: bool,
        by_branch: bool,
    },
}

/// Bytes of a type and of a payload.
const EVD: usize = 16;

impl<'a> RawEvent<'a> {
    /// Decodes raw data. `id` is the `config` of the event.
    ///
    /// `None` if the event is not one of Intel PT, or if the data is too short.
    #[must_use]
    pub fn parse(id: SynthId, raw: &'a [u8]) -> Option<Self> {
        let (flags, rest) = raw.split_first_chunk()?;
        let flags = u32::from_le_bytes(*flags);
        let payload = rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let [low, second, third, fourth] = flags.to_le_bytes();
        let ip = flags & 1 != 0;
        let event = match id {
            SynthId::INTEL_PTWRITE => EventKind::PtWrite(PtWrite { payload: payload?, size: 8, ip }),
            SynthId::INTEL_MWAIT => EventKind::Mwait(Mwait(payload?)),
            SynthId::INTEL_PWRE => {
                let [first, second, ..] = payload?.to_le_bytes();
                EventKind::Pwre(Pwre(u16::from_le_bytes([first, second])))
            }
            SynthId::INTEL_EXSTOP => EventKind::ExStop { ip },
            SynthId::INTEL_PWRX => EventKind::Pwrx(Pwrx(payload?)),
            SynthId::INTEL_CBR => EventKind::Cbr {
                cbr: Cbr(u16::from_le_bytes([low, second])),
                khz: payload? & u64::from(u32::MAX),
                max_ratio: third.into(),
            },
            SynthId::INTEL_PSB => EventKind::Psb { position: payload? },
            SynthId::INTEL_EVT => {
                let count = usize::from(u16::from_le_bytes([third, fourth]));
                let data = rest.get(..count.saturating_mul(EVD)).unwrap_or(rest);
                let cfe = Cfe { kind: CfeType(low & 0x1f), vector: second, ip: low & 0x80 != 0 };
                return Some(Self(Content::Evt { cfe, data }));
            }
            SynthId::INTEL_IFLAG_CHG => {
                return Some(Self(Content::Iflag { is_set: ip, by_branch: flags & 2 != 0 }));
            }
            _ => return None,
        };
        Some(Self(Content::Event(event)))
    }
}

impl fmt::Display for RawEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Content::Event(event) => event.fmt(f),
            Content::Evt { cfe, data } => {
                write_evt(f, *cfe, cfe.ip)?;
                let (all, _) = data.as_chunks::<EVD>();
                all.iter().try_for_each(|evd| {
                    let payload = evd.last_chunk().map_or(0, |payload| u64::from_le_bytes(*payload));
                    write_evd(f, Evd { kind: EvdType(evd[0]), payload })
                })
            }
            Content::Iflag { is_set, by_branch } => {
                let (before, after) = (u8::from(!is_set), u8::from(*is_set));
                write!(f, "IFLAG: {before}->{after} {} branch", if *by_branch { "via" } else { "non" })
            }
        }
    }
}
