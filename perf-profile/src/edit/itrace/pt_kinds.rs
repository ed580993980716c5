//! The kinds of samples of Intel PT, and the errors of its decoder.

use core::ops::{BitOr, BitOrAssign};

/// A set of the kinds of samples that are made of Intel PT without its instructions.
///
/// perf: `struct itrace_synth_opts`, `tools/perf/util/auxtrace.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PtKinds(pub u8);

impl PtKinds {
    /// No samples.
    pub const NONE: Self = Self(0);
    /// Values of PTWRITE: letter `w` of `--itrace`, event `ptwrite`.
    #[doc(alias = "ptwrites")]
    pub const PTWRITES: Self = Self(1);
    /// Power events: letter `p`, events `cbr` and `psb`, and `mwait`, `pwre`, `exstop` and `pwrx` if they were traced.
    #[doc(alias = "pwr_events")]
    pub const POWER_EVENTS: Self = Self(1 << 1);
    /// Interrupts, exceptions and others of Event Trace, if it was on: letter `I`, event `evt`.
    #[doc(alias = "intr_events")]
    pub const EVENT_TRACE: Self = Self(1 << 2);
    /// All kinds.
    pub const ALL: Self = Self(7);

    /// Returns the kinds that a letter of perf's `--itrace` selects; `None` for another letter.
    #[must_use]
    pub const fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'w' => Some(Self::PTWRITES),
            'p' => Some(Self::POWER_EVENTS),
            'I' => Some(Self::EVENT_TRACE),
            _ => None,
        }
    }

    /// Returns whether the set has these kinds.
    #[must_use]
    pub const fn contains(self, kinds: Self) -> bool {
        self.0 & kinds.0 == kinds.0
    }
}

impl BitOr for PtKinds {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for PtKinds {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Which errors of the decoder become AUXTRACE_ERROR records: letter `e` of `--itrace`. Only Intel PT has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TraceErrors {
    /// Bytes that are no packet.
    pub bad_packets: bool,
    /// Overflows of a buffer of the processor. `e-o` leaves them out.
    #[doc(alias = "AUXTRACE_ERR_FLG_OVERFLOW")]
    pub overflows: bool,
    /// Data that the kernel lost, because the AUX area was full. `e-l` leaves them out.
    #[doc(alias = "AUXTRACE_ERR_FLG_DATA_LOST")]
    pub lost_data: bool,
}

impl TraceErrors {
    /// No errors.
    pub const NONE: Self = Self { bad_packets: false, overflows: false, lost_data: false };
    /// All errors.
    pub const ALL: Self = Self { bad_packets: true, overflows: true, lost_data: true };
}
