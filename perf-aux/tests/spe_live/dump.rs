//! `perf script -D`: the packets, line by line.

use perf_aux::spe::{Midr, OperationClass, Packet, Packets, SpeText};
use testdata::arm_spe::{Capture, RandomPackets};

use crate::perf::Perf;

pub(crate) const TESTS: &[needs::Test] = needs::tests![PERF: every_header, random_packets, random_records];

/// Neoverse N1, which has a name for an event of its own.
const NEOVERSE_N1: u64 = 0x410f_d0c0;

fn compare(capture: &Capture) {
    let perf = Perf::new();
    let text = match capture.cpu {
        _ if perf.is_6_1 => SpeText::V6_1,
        Some((midr, _)) => SpeText::V7_2(Midr(midr)),
        None => SpeText::default(),
    };
    let printed = perf.script("dump.data", capture, &["-D"]);
    let lines = printed.lines().skip_while(|line| !line.contains("ARM SPE data")).skip(1);
    let theirs: Vec<_> = lines.take_while(|line| line.starts_with(".  ")).collect();
    let mut data = capture.data.clone();
    data.resize(data.len().next_multiple_of(8), 0);
    let mut before = String::new();
    let ours = Packets::new(0, &data).map(|at| {
        let line = at.line(text).to_string();
        let Ok(packet) = at.packet else { return line };
        if is_without_text(packet) && !perf.is_6_1 {
            return format!("{} {before}", &line[..61]);
        }
        before = packet.text(text).to_string();
        line
    });
    let ours: Vec<_> = ours.collect();
    for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "packet {index}");
    }
    assert_eq!(ours.len(), theirs.len());
    println!("{} packets", ours.len());
}

/// Whether perf 7.2 prints the text of the packet before: a reserved subclass, for which it writes none.
fn is_without_text(packet: Packet) -> bool {
    let Packet::Operation(operation) = packet else { return false };
    let is_named = matches!(operation.payload, 0..8) || operation.payload & 9 == 8;
    operation.class == OperationClass::OTHER && !is_named
}

/// Every first byte, every extended pair and every payload of an operation, with zeros after it.
fn every_header() {
    let mut data = Vec::new();
    for first in 0..=255 {
        data.extend_from_slice(&[first, 0xa5, 0x5a, 0xc3, 0x3c, 0x99, 0x66, 0x81, 0x18, 1, 1, 1, 1, 1, 1, 1]);
    }
    for high in 0x20..=0x23 {
        for second in 0..=255 {
            data.extend_from_slice(&[
                high, second, 0xa5, 0x5a, 0xc3, 0x3c, 0x99, 0x66, 0x81, 0x18, 1, 1, 1, 1,
            ]);
        }
    }
    for class in 0x48..=0x4b {
        data.extend((0..=255).flat_map(|payload| [class, payload]));
    }
    for bit in 0..64 {
        data.push(0x72);
        data.extend_from_slice(&(1_u64 << bit | 1).to_le_bytes());
    }
    for cpu in [None, Some((NEOVERSE_N1, 0)), Some((0x410f_d4f0, 0))] {
        compare(&Capture { cpu, data: data.clone(), ..Capture::default() });
    }
}

/// 100,000 packets if the test is thorough.
fn count() -> usize {
    if testdata::is_thorough() { 100_000 } else { 5_000 }
}

fn random_packets() {
    for seed in 0..3 {
        let data = RandomPackets::new(seed).any(count()).out;
        compare(&Capture { cpu: Some((NEOVERSE_N1, 0)), data, ..Capture::default() });
    }
}

/// The last packet is cut at each of its bytes.
fn random_records() {
    for cut in 0..9 {
        let mut data = RandomPackets::new(cut).records(count() / 90).out;
        // To a multiple of 8 before the packet that is cut, so that perf's data ends where it is cut.
        data.resize(data.len().next_multiple_of(8) + 7 - cut as usize % 8, 0);
        data.push(0xb0);
        data.resize(data.len() + cut as usize, 0x7e);
        data.truncate(data.len() / 8 * 8);
        compare(&Capture { data, ..Capture::default() });
    }
}
