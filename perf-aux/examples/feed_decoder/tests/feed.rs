//! The decoder finds what the trace has.

use feed_decoder::{Counts, feed};
use perf_parse::Reader;
use testdata::Bytes;
use testdata::file::Builder;

use perf_abi::attr::Attr;
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;

/// The bit of `config` that requests time stamps.
const TSC_BIT: u64 = 0x400;

/// A PSB, a time stamp, PSBEND, and packets of three branches and of a target.
fn block(tsc: u8) -> Vec<u8> {
    let mut out = [2, 0x82].repeat(8);
    out.extend([0x19, tsc, 0, 0, 0, 0, 0, 0, 2, 0x23]);
    // TNT of three bits, TIP of two bytes, PAD.
    out.extend([0b1_1010, 0x2d, 0x34, 0x12, 0, 0]);
    out
}

/// A snapshot or another piece of the trace of a CPU.
fn piece(cpu: i32, offset: usize, data: &[u8]) -> Vec<u8> {
    let record = Bytes::new(false).u64s(&[data.len() as u64, offset as u64, 0]);
    [&record.u32(cpu as u32).i32(-1).i32(cpu).u32(0).record(71, 0), data].concat()
}

fn capture(is_snapshot: bool, pieces: &[Vec<u8>]) -> Vec<u8> {
    let words = [6, 0, 1, 0, 1, TSC_BIT, 0, 0, is_snapshot.into(), 1];
    let info = Bytes::new(false).u32(1).u32(0).u64s(&words).record(70, 0);
    let attr = Attr { kind: EventType(6), config: TSC_BIT, sample_type: SampleType::TIME, ..Attr::default() };
    Builder::new(false).event(attr, &[]).data(info).data(pieces.concat()).build().bytes
}

fn counts(runs: u64, failed: u64, blocks: u64) -> Counts {
    Counts { runs, failed, branches: 3 * blocks, targets: blocks, time_stamps: blocks }
}

#[test]
fn a_trace_that_is_divided_within_packets() {
    let trace: Vec<u8> = (0..10).flat_map(block).collect();
    let mut pieces = vec![piece(0, 0, &trace[..40]), piece(3, 0, &trace[..160])];
    pieces.extend([piece(0, 40, &trace[40..200]), piece(0, 200, &trace[200..])]);
    // After a gap, and without a PSB.
    pieces.push(piece(3, 800, &trace[160..]));
    pieces.push(piece(3, 2000, &[0x59, 1, 0, 0, 0, 0, 0, 0]));
    let found = feed(&Reader::new(&capture(false, &pieces)).unwrap()).unwrap();
    assert_eq!(found, [(0, counts(1, 0, 10)), (3, counts(3, 1, 10))]);
}

/// Each block is decoded once, however often a snapshot has it.
#[test]
fn snapshots_that_overlap() {
    let trace: Vec<u8> = (0..10).flat_map(block).collect();
    let size = block(0).len();
    let part = |from: usize, to: usize| piece(1, 0, &trace[from * size..to * size]);
    let pieces = [part(0, 4), part(1, 6), part(2, 5), part(8, 10)];
    let found = feed(&Reader::new(&capture(true, &pieces)).unwrap()).unwrap();
    assert_eq!(found, [(1, counts(2, 0, 8))]);
}
