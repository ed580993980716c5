//! The time stamp counter after each packet.

mod calibration;

use super::info::{Config, Info};
use super::packet::{Packet, Tma};
use super::packets::Packets;

/// Bits of a TSC packet.
const TSC_BITS: u32 = 56;

/// Ticks by which a TSC packet may be earlier than the packets before it, because it can slip past MTC packets.
///
/// perf: `tsc_slip`.
const SLIP: u64 = 0x1_0000;

/// Keeps the time stamp counter (TSC) of a trace, from its TSC, TMA, MTC, CBR and CYC packets.
///
/// It never goes back. Between TSC and MTC packets it is an estimate: CYC packets count cycles of the core, whose frequency
/// changes. It is computed as perf computes it.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::{Clock, Packets};
/// # use perf_aux::pt::{Config, Info};
/// # fn example(info: &Info<'_>, config: Config, reference: u64, trace: &[u8]) -> Result<(), perf_aux::pt::PacketError> {
/// let mut clock = Clock::new(info, config);
/// clock.start(reference);
/// let mut packets = Packets::new(trace);
/// while let Some(found) = packets.next() {
///     let found = found?;
///     clock.apply(&found.packet, &packets);
///     println!("{:#x} {:?} {}", found.offset, clock.tsc().and_then(|tsc| info.time(tsc)), found.packet);
/// }
/// # Ok(())
/// # }
/// ```
///
/// perf: `intel_pt_calc_tsc_timestamp` and those after it, `tools/perf/util/intel-pt-decoder/intel-pt-decoder.c`.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    ratio: Ratio,
    /// Highest ratio of core to bus clock without turbo: then the core runs at the frequency of the TSC.
    max_ratio: f64,
    /// Time of the buffer, which has the bits that TSC packets lack.
    reference: Option<u64>,
    /// Whether a TSC packet is completed by `reference`, because none came before.
    is_new: bool,
    /// The TSC now; `None` before the first TSC packet.
    now: Option<u64>,
    /// That of the last TSC packet.
    exact: Option<u64>,
    crystal: Option<Crystal>,
    cycles: Cycles,
    /// Whether the last packet but for padding was a CYC.
    after_cyc: bool,
}

/// Ratio of time stamp counter to core crystal clock.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    n: u32,
    d: u32,
    /// Lowest bit of the crystal clock that MTC packets have.
    mtc_shift: u32,
}

/// The core crystal clock since the last TMA packet.
#[derive(Clone, Copy, Debug)]
struct Crystal {
    /// TSC when the crystal clock last had the value of an MTC packet, before the TMA packet.
    start: u64,
    /// Ticks of the crystal clock from there to the last MTC packet.
    ticks: u64,
    /// Payload of the last MTC packet.
    mtc: u32,
    /// Whether `mtc` lacks high bits, as it comes from the TMA packet.
    is_partial: bool,
}

/// Cycles of the core since a time that is known better.
#[derive(Clone, Copy, Debug, Default)]
struct Cycles {
    /// That time.
    start: u64,
    count: u64,
    /// Last ratio of core to bus clock; 0 if it is not known.
    cbr: u8,
    /// Ticks of the TSC for a cycle between two MTC packets; `None` if they are not known.
    measured: Option<f64>,
}

impl Clock {
    /// Returns a clock for the traces of an event.
    #[must_use]
    pub fn new(info: &Info<'_>, config: Config) -> Self {
        let n = info.tsc_ctc_n;
        // perf: without the one, the other is not used.
        let d = if n == 0 { 0 } else { info.tsc_ctc_d };
        Self {
            ratio: Ratio { n, d, mtc_shift: config.mtc_period(info) },
            max_ratio: info.max_ratio().map_or(0.0, f64::from),
            reference: None,
            is_new: true,
            now: None,
            exact: None,
            crystal: None,
            cycles: Cycles::default(),
            after_cyc: false,
        }
    }

    /// Starts with a buffer that does not continue the last one.
    ///
    /// `reference` is the field of its AUXTRACE record: the TSC at the end of the buffer.
    pub const fn start(&mut self, reference: u64) {
        self.reference = if reference == 0 { None } else { Some(reference) };
        self.is_new = true;
        self.now = None;
        self.crystal = None;
    }

    /// Returns the TSC after the packets so far; `None` before the first TSC packet.
    #[must_use]
    pub const fn tsc(&self) -> Option<u64> {
        self.now
    }

    /// Returns the TSC of the last TSC packet; `None` if there was none.
    #[must_use]
    pub const fn last_tsc(&self) -> Option<u64> {
        self.exact
    }

    /// Takes a packet into account. `ahead` are the packets after it, of which those up to the next MTC packet are decoded where
    /// CYC packets are to be compared with the crystal clock.
    #[inline]
    pub fn apply(&mut self, packet: &Packet, ahead: &Packets<'_>) {
        match *packet {
            Packet::Pad => return,
            Packet::Tsc(low) => self.tsc_packet(low),
            Packet::Tma(tma) => self.crystal = self.ratio.align(tma, self.exact.unwrap_or(0)),
            Packet::Mtc(mtc) => self.mtc_packet(mtc, ahead),
            Packet::Cbr(cbr) if cbr.ratio() != self.cycles.cbr => {
                let measured = self.cycles.measured;
                self.cycles = Cycles { start: self.now.unwrap_or(0), count: 0, cbr: cbr.ratio(), measured };
            }
            Packet::Cyc(count) => self.cyc_packet(count),
            Packet::TraceStop => self.crystal = None,
            _ => {}
        }
        self.after_cyc = matches!(packet, Packet::Cyc(_));
    }

    /// Takes a byte that is no packet into account: what an MTC packet there would have said is lost.
    pub const fn bad_packet(&mut self) {
        self.crystal = None;
    }

    fn tsc_packet(&mut self, low: u64) {
        self.crystal = None;
        let now = match (self.now, self.reference) {
            (_, Some(reference)) if self.is_new => {
                let near = nearest(low, reference);
                self.exact = Some(near);
                near
            }
            (Some(now), reference) => {
                let tsc = low | now & u64::MAX << TSC_BITS;
                let wrapped = tsc.saturating_add(1 << TSC_BITS);
                self.exact = Some(tsc);
                if tsc >= now {
                    tsc
                } else if now.wrapping_sub(tsc) >= SLIP
                    && reference.is_none_or(|reference| wrapped < reference)
                {
                    self.exact = Some(wrapped);
                    wrapped
                } else {
                    now
                }
            }
            (None, _) => {
                self.exact = Some(low);
                low
            }
        };
        self.is_new = false;
        self.now = Some(now);
        if self.after_cyc {
            self.cycles = Cycles { start: now, count: 0, measured: None, ..self.cycles };
        }
    }

    fn mtc_packet(&mut self, mtc: u8, ahead: &Packets<'_>) {
        let Some(crystal) = &mut self.crystal else {
            return;
        };
        let tsc = crystal.advance(mtc.into(), self.ratio);
        let now = self.now.map_or(tsc, |now| now.max(tsc));
        self.now = Some(now);
        if self.after_cyc {
            let measured = self.calibrate(now, ahead);
            self.cycles = Cycles { start: now, count: 0, measured, ..self.cycles };
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a product that is too large saturates")]
    fn cyc_packet(&mut self, count: u64) {
        self.cycles.count = self.cycles.count.wrapping_add(count);
        let Cycles { start, count, cbr, measured } = self.cycles;
        let ticks = match measured {
            _ if start == 0 => return,
            Some(ticks) => ticks,
            None if cbr != 0 => self.max_ratio / f64::from(cbr),
            None => return,
        };
        let tsc = start.saturating_add((count as f64 * ticks) as u64);
        self.now = Some(self.now.map_or(tsc, |now| now.max(tsc)));
    }
}

impl Ratio {
    /// Ticks of the crystal clock as ticks of the TSC.
    fn tsc(self, ticks: u64) -> u64 {
        let (n, d) = (u64::from(self.n), u64::from(self.d));
        let whole = ticks.checked_div(d).map(|whole| whole.wrapping_mul(n));
        let part = ticks.checked_rem(d).and_then(|rest| rest.wrapping_mul(n).checked_div(d));
        whole.zip(part).map_or(0, |(whole, part)| whole.wrapping_add(part))
    }

    /// The crystal clock at a TMA packet; `None` if its ratio is not known.
    fn align(self, tma: Tma, tsc: u64) -> Option<Crystal> {
        if self.d == 0 {
            return None;
        }
        let ctc = u32::from(tma.ctc);
        let low = ctc & 1_u32.wrapping_shl(self.mtc_shift).wrapping_sub(1);
        let start = tsc.wrapping_sub(tma.fast_counter.into()).wrapping_sub(self.tsc(low.into()));
        let is_partial = self.mtc_shift > 8;
        Some(Crystal { start, ticks: 0, mtc: ctc.wrapping_shr(self.mtc_shift) & 0xff, is_partial })
    }
}

impl Crystal {
    /// Takes an MTC packet into account. Returns the TSC there.
    fn advance(&mut self, mtc: u32, ratio: Ratio) -> u64 {
        if self.is_partial {
            self.is_partial = false;
            self.complete(mtc, ratio.mtc_shift);
        }
        let ticks = if mtc > self.mtc { mtc } else { mtc.wrapping_add(256) }.wrapping_sub(self.mtc);
        self.ticks = self.ticks.wrapping_add(ticks.wrapping_shl(ratio.mtc_shift).into());
        self.mtc = mtc;
        self.start.wrapping_add(ratio.tsc(self.ticks))
    }

    /// Adds the bits that a TMA packet lacks, so that the first MTC packet follows it as closely as possible.
    ///
    /// perf: `intel_pt_fixup_last_mtc`.
    fn complete(&mut self, mtc: u32, mtc_shift: u32) {
        let missing = 1_u32.wrapping_shl(16_u32.saturating_sub(mtc_shift));
        self.mtc |= mtc & !missing.wrapping_sub(1);
        if self.mtc >= mtc {
            self.mtc = self.mtc.wrapping_sub(missing) & 0xff;
        }
    }
}

/// Completes a TSC packet by the time that is nearest to the reference.
///
/// perf: `intel_pt_8b_tsc`.
const fn nearest(low: u64, reference: u64) -> u64 {
    let tsc = low | reference & u64::MAX << TSC_BITS;
    let half = 1 << (TSC_BITS - 1);
    let whole = 1 << TSC_BITS;
    let other = if tsc < reference { tsc.checked_add(whole) } else { tsc.checked_sub(whole) };
    match other {
        Some(other) if tsc.abs_diff(reference) > half => other,
        _ => tsc,
    }
}
