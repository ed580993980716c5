//! The packets, records and samples of Arm SPE.

use perf_aux::spe::{Decoder, Midr, Packet, Packets, SampleOptions, SpeCpu, Synthesis};
use testdata::arm_spe::RandomPackets;

use crate::failure::Failure;
use crate::megabytes_a_second;
use crate::race::{Contestant, Work, race};
use crate::table::{Goal, Table};

const PACKETS: &str = "packets";
const RECORDS: &str = "records";
const SAMPLES: &str = "records and samples";

/// Bytes of a record of [`RandomPackets`], at least.
const LEAST: usize = 8;

pub(crate) fn run(bytes: usize, rounds: usize) -> Result<Table, Failure> {
    let mut data = RandomPackets::new(1).records(bytes / LEAST).out;
    data.truncate(bytes);
    let data = &data[..];
    let cpu = SpeCpu::with_midr(Midr(0x410f_d0c0));
    let mut decoder = Decoder::new();
    let records = decoder.records(0, data).count() as u64;
    // Each does more than the one before, so that no two find the same.
    let contestants = vec![
        Contestant::bound(PACKETS, || {
            Packets::new(0, data).fold(0_u64, |sum, at| match at.packet {
                Ok(Packet::Timestamp(ticks)) => sum.wrapping_add(ticks),
                Ok(Packet::Address(address)) => sum.wrapping_add(address.payload),
                _ => sum,
            })
        }),
        Contestant::bound(RECORDS, || {
            let records = &mut Decoder::new();
            records.records(0, data).fold(0_u64, |sum, it| sum.wrapping_add(it.virt_addr ^ it.timestamp))
        }),
        Contestant::bound(SAMPLES, || {
            let mut synthesis = Synthesis::new(SampleOptions::default());
            let mut sum = 0_u64;
            for record in Decoder::new().records(0, data) {
                for sample in synthesis.samples(&record, &cpu) {
                    sum = sum.wrapping_add(sample.ip ^ sample.data_src.0);
                }
            }
            sum
        }),
    ];
    let standings = race::<()>(contestants, rounds)?;
    let work = Work { bytes: data.len() as u64, records };
    let mut table = standings.table("Arm SPE".into(), work, RECORDS)?;
    let speed = megabytes_a_second(standings.of(RECORDS)?, data.len());
    table.judge("MB a second to records", speed, Goal::AtLeast(100.0));
    Ok(table)
}
