//! Gives the Intel PT traces of a capture to a decoder. Needs an allocator, and no std.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use core::convert::Infallible;
use core::num::NonZero;

use iptr_decoder::{DecodeOptions, DecoderContext, HandlePacket, IpReconstructionPattern, decode};
use perf_aux::trace::AuxTrace;
use perf_parse::{FileError, Reader};

/// What the decoder found in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of data, each of which begins without a past.
    pub runs: u64,
    /// Runs that the decoder gave up, such as those without a PSB packet.
    pub failed: u64,
    /// Conditional branches.
    pub branches: u64,
    /// Branches with a target: TIP packets.
    pub targets: u64,
    /// Time stamps.
    pub time_stamps: u64,
}

/// Decodes the traces of a capture. Returns the CPU or the thread id of each queue, and what is in it.
pub fn feed(reader: &Reader<'_>) -> Result<Vec<(i64, Counts)>, FileError> {
    let trace = AuxTrace::of(reader);
    let mut found = Vec::new();
    for queue in trace.queues() {
        let mut counts = Counts::default();
        let mut run = Vec::new();
        for slice in trace.slices(reader, queue) {
            let slice = slice?;
            if !slice.is_consecutive {
                counts.decode(&run);
                run.clear();
            }
            run.extend_from_slice(slice.bytes());
        }
        counts.decode(&run);
        let owner = queue.cpu.map(i64::from).or(queue.tid.map(i64::from));
        found.push((owner.unwrap_or(-1), counts));
    }
    Ok(found)
}

impl Counts {
    fn decode(&mut self, run: &[u8]) {
        if !run.is_empty() {
            self.runs += 1;
            self.failed += u64::from(decode(run, DecodeOptions::default(), self).is_err());
        }
    }
}

impl HandlePacket for Counts {
    type Error = Infallible;

    fn at_decode_begin(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn on_short_tnt_packet(
        &mut self,
        _: &DecoderContext,
        _: NonZero<u8>,
        highest: u32,
    ) -> Result<(), Infallible> {
        // The bits below the highest that is set, without the type of the packet.
        self.branches += u64::from(highest);
        Ok(())
    }

    fn on_tip_packet(&mut self, _: &DecoderContext, _: IpReconstructionPattern) -> Result<(), Infallible> {
        self.targets += 1;
        Ok(())
    }

    fn on_tsc_packet(&mut self, _: &DecoderContext, _: u64) -> Result<(), Infallible> {
        self.time_stamps += 1;
        Ok(())
    }
}
