//! The packets of Intel PT.

use core::convert::Infallible;
use core::num::NonZero;

use iptr_decoder::{DecodeOptions, DecoderContext, HandlePacket, IpReconstructionPattern, decode};
use perf_aux::pt::{Packet, Packets};

use crate::failure::Failure;
use crate::megabytes_a_second;
use crate::race::{Contestant, Work, race};
use crate::table::{Goal, Table};
use crate::trace;

const OURS: &str = "perf-aux";
const IPTR: &str = "iptr-decoder";
#[cfg(libipt)]
const LIBIPT: &str = "libipt";

/// What a decoder found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Sums {
    branches: u64,
    targets: u64,
    addresses: u64,
    times: u64,
    cycles: u64,
}

pub(crate) fn run(bytes: usize, rounds: usize) -> Result<Table, Failure> {
    let trace = trace::make(bytes);
    let packets = Packets::new(&trace).filter(Result::is_ok).count() as u64;
    let mut contestants =
        vec![Contestant::new(OURS, || ours(&trace)), Contestant::new(IPTR, || iptr(&trace))];
    #[cfg(libipt)]
    contestants.push(Contestant::new(LIBIPT, || libipt(&trace)));
    let standings = race(std::mem::take(&mut contestants), rounds)?;
    let work = Work { bytes: trace.len() as u64, records: packets };
    let mut table = standings.table("Intel PT: packets".into(), work, OURS)?;
    let speed = megabytes_a_second(standings.of(OURS)?, trace.len());
    table.judge("MB a second", speed, Goal::AtLeast(300.0));
    #[cfg(libipt)]
    table.judge("faster than libipt", standings.ratio(LIBIPT, OURS)?, Goal::AtLeast(1.0));
    #[cfg(not(libipt))]
    table.notes.push("libipt is not installed (Debian: libipt-dev)".into());
    table.judge("faster than iptr-decoder", standings.ratio(IPTR, OURS)?, Goal::AtLeast(1.0));
    Ok(table)
}

#[inline(never)]
fn ours(trace: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for packet in Packets::new(trace) {
        match packet?.packet {
            Packet::Tnt(tnt) => sums.branches += u64::from(tnt.count),
            Packet::Tip(ip) => {
                sums.targets += 1;
                sums.addresses = sums.addresses.wrapping_add(ip.payload);
            }
            Packet::Tsc(ticks) => sums.times = sums.times.wrapping_add(ticks),
            Packet::Mtc(ticks) => sums.times = sums.times.wrapping_add(ticks.into()),
            Packet::Cyc(_) => sums.cycles += 1,
            _ => {}
        }
    }
    Ok(sums)
}

#[inline(never)]
fn iptr(trace: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    decode(trace, DecodeOptions::default(), &mut sums).map_err(|error| Failure(format!("{error:?}")))?;
    Ok(sums)
}

impl HandlePacket for Sums {
    type Error = Infallible;

    fn at_decode_begin(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn on_short_tnt_packet(
        &mut self,
        _: &DecoderContext,
        _: NonZero<u8>,
        count: u32,
    ) -> Result<(), Infallible> {
        self.branches += u64::from(count);
        Ok(())
    }

    fn on_tip_packet(&mut self, _: &DecoderContext, ip: IpReconstructionPattern) -> Result<(), Infallible> {
        self.targets += 1;
        let payload = match ip {
            IpReconstructionPattern::OutOfContext => 0,
            IpReconstructionPattern::TwoBytesWithLastIp(payload) => payload.into(),
            IpReconstructionPattern::FourBytesWithLastIp(payload) => payload.into(),
            IpReconstructionPattern::SixBytesExtended(payload)
            | IpReconstructionPattern::SixBytesWithLastIp(payload)
            | IpReconstructionPattern::EightBytes(payload) => payload,
        };
        self.addresses = self.addresses.wrapping_add(payload);
        Ok(())
    }

    fn on_tsc_packet(&mut self, _: &DecoderContext, ticks: u64) -> Result<(), Infallible> {
        self.times = self.times.wrapping_add(ticks);
        Ok(())
    }

    fn on_mtc_packet(&mut self, _: &DecoderContext, ticks: u8) -> Result<(), Infallible> {
        self.times = self.times.wrapping_add(ticks.into());
        Ok(())
    }

    fn on_cyc_packet(&mut self, _: &DecoderContext, _: &[u8]) -> Result<(), Infallible> {
        self.cycles += 1;
        Ok(())
    }
}

#[cfg(libipt)]
unsafe extern "C" {
    fn libipt_sums(begin: *const u8, end: *const u8, sums: *mut Sums) -> core::ffi::c_int;
}

#[cfg(libipt)]
fn libipt(trace: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    let ends = trace.as_ptr_range();
    // SAFETY: the decoder only reads the bytes between the pointers; `Sums` has the layout of the C struct.
    let status = unsafe { libipt_sums(ends.start, ends.end, &mut sums) };
    if status == 0 { Ok(sums) } else { Err(Failure(format!("error {status} of libipt"))) }
}
