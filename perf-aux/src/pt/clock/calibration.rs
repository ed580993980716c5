//! The frequency of the core between two MTC packets, each of which follows a CYC packet.

use super::Clock;
use crate::pt::packet::Packet;
use crate::pt::packets::Packets;

/// A measured frequency is not used if the core seems slower than its CBR packet says by this factor: it was probably halted.
const TOO_SLOW: f64 = 1.25;

impl Clock {
    /// Returns the ticks of the TSC for each cycle from an MTC packet to the next one that follows a CYC packet.
    ///
    /// `None` if packets between them show that the core did not run all the time or at one frequency. Each packet is decoded once
    /// more at most, because the next measurement starts where this one ends.
    ///
    /// perf: `intel_pt_calc_cyc_cb`.
    pub(super) fn calibrate(&self, start: u64, ahead: &Packets<'_>) -> Option<f64> {
        let mut crystal = self.crystal?;
        let mut now = start;
        let mut cycles = 0_u64;
        let mut cbr = 0_u8;
        // As perf does, which does not measure if the very next packet is an MTC packet.
        let mut after_cyc = true;
        let mut ahead = ahead.clone();
        loop {
            let packet = ahead.next()?.ok()?.packet;
            match packet {
                Packet::Pad => continue,
                Packet::Mtc(mtc) => {
                    let tsc = crystal.advance(mtc.into(), self.ratio);
                    if tsc < now {
                        return None;
                    }
                    now = tsc;
                    if after_cyc {
                        break;
                    }
                }
                Packet::Cyc(count) => cycles = cycles.wrapping_add(count),
                Packet::Cbr(ratio) if cbr != 0 && ratio.ratio() != cbr => return None,
                Packet::Cbr(ratio) => cbr = ratio.ratio(),
                Packet::Tsc(_)
                | Packet::Tma(_)
                | Packet::TipPgd(_)
                | Packet::TraceStop
                | Packet::ExStop { .. }
                | Packet::Mwait(_)
                | Packet::Pwre(_)
                | Packet::Pwrx(_)
                | Packet::Ovf => return None,
                _ => {}
            }
            after_cyc = matches!(packet, Packet::Cyc(_));
        }
        if cycles == 0 {
            return None;
        }
        let measured = now.wrapping_sub(start) as f64 / cycles as f64;
        let cbr = if cbr == 0 { self.cycles.cbr } else { cbr };
        let expected = self.max_ratio / f64::from(cbr);
        (cbr == 0 || measured <= expected * TOO_SLOW).then_some(measured)
    }
}
