//! The events of a trace that need no instructions to be understood.

use core::fmt;

use super::error::PacketError;
use super::evds::Evds;
use super::mode::Cbr;
use super::packet::PtWrite;
use super::power::{Mwait, Pwre, Pwrx};
use super::trace_event::{Cfe, Evd};

/// An event of a trace. Borrows from the trace.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Offset of the packet that completes the event, in its buffer: the event's own, or the FUP that has its address.
    pub offset: usize,
    /// Time stamp counter; `None` before the first TSC packet. [`Info::time`](super::Info::time) makes it a time.
    pub tsc: Option<u64>,
    /// Address of the instruction; `None` if the trace does not have it without its branches.
    pub ip: Option<u64>,
    /// The event.
    pub kind: EventKind<'a>,
}

/// What happened.
///
/// `Display` prints what `perf script --itrace=pweI` prints after the name of the event. perf pads it to 34 characters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// Operand of an instruction PTWRITE.
    #[doc(alias = "PERF_SYNTH_INTEL_PTWRITE")]
    PtWrite(PtWrite),
    /// Another ratio of core to bus clock.
    #[doc(alias = "PERF_SYNTH_INTEL_CBR")]
    Cbr {
        /// The ratio.
        cbr: Cbr,
        /// Frequency of the core in kHz; 0 if the capture does not say that of the TSC.
        khz: u64,
        /// Highest ratio without turbo; 0 if the capture does not say it.
        max_ratio: u32,
    },
    /// A stream boundary, and the packets with the state of the processor.
    #[doc(alias = "PERF_SYNTH_INTEL_PSB")]
    Psb {
        /// Offset of the PSB packet in all buffers so far.
        position: u64,
    },
    /// An instruction MWAIT or UMWAIT.
    #[doc(alias = "PERF_SYNTH_INTEL_MWAIT")]
    Mwait(Mwait),
    /// Entry to a C-state.
    #[doc(alias = "PERF_SYNTH_INTEL_PWRE")]
    Pwre(Pwre),
    /// Execution stopped.
    #[doc(alias = "PERF_SYNTH_INTEL_EXSTOP")]
    ExStop {
        /// Whether the trace has the address of the instruction.
        ip: bool,
    },
    /// Exit from a C-state.
    #[doc(alias = "PERF_SYNTH_INTEL_PWRX")]
    Pwrx(Pwrx),
    /// Control flow event of Event Trace.
    #[doc(alias = "PERF_SYNTH_INTEL_EVT")]
    Evt {
        /// The event.
        cfe: Cfe,
        /// Whether the trace has its address.
        ip: bool,
        /// Its data.
        data: Evds<'a>,
    },
    /// Packets were lost, because an internal buffer of the processor overflowed.
    Overflow,
    /// A byte that is no packet. What follows may be decoded wrongly until the next PSB.
    Bad(PacketError),
}

impl EventKind<'_> {
    /// Returns the name that perf gives the event.
    ///
    /// `None` for [`Overflow`](Self::Overflow) and [`Bad`](Self::Bad), which perf reports as errors.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::PtWrite(_) => "ptwrite",
            Self::Cbr { .. } => "cbr",
            Self::Psb { .. } => "psb",
            Self::Mwait(_) => "mwait",
            Self::Pwre(_) => "pwre",
            Self::ExStop { .. } => "exstop",
            Self::Pwrx(_) => "pwrx",
            Self::Evt { .. } => "evt",
            Self::Overflow | Self::Bad(_) => return None,
        })
    }
}

/// perf: `perf_sample__fprintf_synth_ptwrite` and those after it, `tools/perf/builtin-script.c`.
impl fmt::Display for EventKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PtWrite(write) => {
                write!(f, "IP: {} payload: {}", u8::from(write.ip), Hex(write.payload))?;
                let bytes = write.payload.to_le_bytes();
                match printable(&bytes) {
                    Some(text) if !text.is_empty() => write!(f, " {text}"),
                    _ => Ok(()),
                }
            }
            Self::Cbr { cbr, khz, max_ratio } => {
                let (ratio, megahertz) = (cbr.ratio(), khz.saturating_add(500) / 1000);
                write!(f, "cbr: {ratio:2} freq: {megahertz:4} MHz")?;
                match u32::from(ratio).saturating_mul(1000).checked_div(*max_ratio) {
                    Some(tenths) => write!(f, " ({:3}%)", tenths.saturating_add(5) / 10),
                    None => Ok(()),
                }
            }
            Self::Psb { position } => write!(f, "psb offs: {}", Hex(*position)),
            Self::Mwait(mwait) => {
                write!(
                    f,
                    "hints: {} extensions: {}",
                    Hex(mwait.hints().into()),
                    Hex(mwait.extensions().into())
                )
            }
            Self::Pwre(pwre) => {
                let (hardware, state, sub) =
                    (u8::from(pwre.by_hardware()), pwre.c_state(), pwre.sub_c_state());
                write!(f, "hw: {hardware} cstate: {state} sub-cstate: {sub}")
            }
            Self::ExStop { ip } => write!(f, "IP: {}", u8::from(*ip)),
            Self::Pwrx(pwrx) => {
                let (deepest, last, reason) =
                    (pwrx.deepest_c_state(), pwrx.last_c_state(), Hex(pwrx.wake_reason().into()));
                write!(f, "deepest cstate: {deepest} last cstate: {last} wake reason: {reason}")
            }
            Self::Evt { cfe, ip, data } => {
                write_evt(f, *cfe, *ip)?;
                data.clone().try_for_each(|evd| write_evd(f, evd))
            }
            Self::Overflow => f.write_str("Overflow packet"),
            Self::Bad(_) => f.write_str("Bad packet"),
        }
    }
}

/// Prints a control flow event.
pub(super) fn write_evt(f: &mut fmt::Formatter<'_>, cfe: Cfe, ip: bool) -> fmt::Result {
    match cfe.kind.name() {
        Some(name) => write!(f, "cfe: {name}")?,
        None => write!(f, "cfe: {}", cfe.kind.0)?,
    }
    write!(f, " IP: {} vector: {}", u8::from(ip), cfe.vector)
}

/// Prints data of a control flow event.
pub(super) fn write_evd(f: &mut fmt::Formatter<'_>, evd: Evd) -> fmt::Result {
    match evd.kind.name() {
        Some(name) => write!(f, " {name}: {}", Hex(evd.payload)),
        None => write!(f, " EVD_{}: {}", evd.kind.0, Hex(evd.payload)),
    }
}

/// The bytes up to the zeros at the end, if they are text; perf prints these as well.
///
/// perf: `ptw_is_prt`.
fn printable(bytes: &[u8; 8]) -> Option<&str> {
    let len = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (text, zeros) = bytes.split_at_checked(len)?;
    let is_text = text.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
        && zeros.iter().all(|&byte| byte == 0);
    core::str::from_utf8(text).ok().filter(|_| is_text)
}

/// A number as C's `%#x` prints it: 0 has no prefix.
struct Hex(u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            number => write!(f, "{number:#x}"),
        }
    }
}
