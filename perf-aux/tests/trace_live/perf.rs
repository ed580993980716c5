//! What perf prints of a capture: its records with traces, and the packets that its decoder takes.

use std::fs;
use std::path::Path;
use std::process::Command;

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;

use crate::capture::{Area, PSB, Recorder, TSC_BIT, block, of_cpu, of_thread};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    snapshots_that_overlap,
    snapshots_with_few_time_stamps,
    snapshots_without_time_stamps,
    buffers_in_the_order_and_with_the_fields_that_perf_prints,
];

/// Random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Returns the bytes of the packets that perf's decoder takes, one after another.
fn packets_of_perf(folder: &Path, capture: &[u8]) -> Vec<u8> {
    fs::write(folder.join("perf.data"), capture).unwrap();
    let log = folder.join("intel_pt.log");
    let _ = fs::remove_file(&log);
    let mut perf = Command::new("perf");
    let out = perf.args(["script", "--itrace=ed"]).current_dir(folder).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let log = fs::read_to_string(log).unwrap();
    let mut bytes = Vec::new();
    for line in log.lines() {
        let Some((offset, rest)) = line.trim_start().split_once(": ") else { continue };
        if offset.len() == 8 && line.starts_with("  ") && u32::from_str_radix(offset, 16).is_ok() {
            let hex = rest.get(..48).unwrap_or(rest).split_whitespace();
            bytes.extend(hex.map(|byte| u8::from_str_radix(byte, 16).unwrap()));
        }
    }
    bytes
}

/// Returns the length of the packet at the start, if it is whole: one of those of [`block`].
fn length(bytes: &[u8]) -> Option<usize> {
    let length = match bytes {
        [0x19, ..] => 8,
        [2, 3, ..] => 4,
        [2, 0x23, ..] | [0x59, ..] => 2,
        [0, ..] => 1,
        _ => 16,
    };
    bytes.get(..length).map(<[u8]>::len)
}

/// Returns the whole packets of the runs of slices, and the number of slices that continue another after repeated bytes. A
/// run begins with its first PSB, as a decoder does.
fn packets_of_slices(capture: &[u8]) -> (Vec<u8>, usize) {
    let reader = Reader::new(capture).unwrap();
    let trace = AuxTrace::of(&reader);
    let (mut runs, mut overlaps) = (Vec::<Vec<u8>>::new(), 0);
    for slice in trace.queues().iter().flat_map(|queue| trace.slices(&reader, queue)) {
        let slice = slice.unwrap();
        if !slice.is_consecutive {
            runs.push(Vec::new());
        }
        overlaps += usize::from(slice.is_consecutive && slice.left_out > 0);
        runs.last_mut().unwrap().extend_from_slice(slice.bytes());
    }
    let whole = runs.iter().flat_map(|run| {
        let psb = run.windows(PSB.len()).position(|window| window == PSB).unwrap_or(run.len());
        let mut end = psb;
        while let Some(length) = length(&run[end..]) {
            end += length;
        }
        &run[psb..end]
    });
    (whole.copied().collect(), overlaps)
}

/// How a trace and its snapshots are made.
#[derive(Clone, Copy)]
struct Snapshots {
    seed: u64,
    /// The `config` of the event.
    config: u64,
    /// The probability that a block of the trace has a time stamp, in quarters.
    time_stamps: usize,
}

/// Compares the new data of random snapshots of a trace.
fn compare(snapshots: Snapshots) {
    needs::all(&[needs::Need::PERF]);
    let (folder, mut random) = (needs::folder(), Random(snapshots.seed));
    let make = Recorder { big: false };
    let mut overlaps = 0;
    for case in 0..20 {
        let mut blocks = Vec::new();
        for index in 0..12 {
            let tsc = (random.below(4) < snapshots.time_stamps).then_some(1000 * (index + 1));
            blocks.push(block(tsc, index as u8, random.below(12) as u8));
        }
        let trace = blocks.concat();
        // Snapshots begin and end between packets: perf's decoder loses its way after a packet with padding in it.
        let mut places = vec![0];
        while let Some(length) = length(&trace[places[places.len() - 1]..]) {
            places.push(places[places.len() - 1] + length);
        }
        let mut records = vec![make.intel_pt(true)];
        let mut from = 0;
        for reference in 1..6 {
            // Each ends later than the one before.
            let to = (from + 1 + random.below(places.len() / 4)).min(places.len() - 1);
            let begin = from.saturating_sub(random.below(places.len() / 3));
            let mut data = trace[places[begin]..places[to]].to_vec();
            data.resize(data.len().next_multiple_of(8), 0);
            records.push(make.piece(of_cpu(1), 0, reference, &data));
            from = to;
        }
        let capture = make.file(snapshots.config, &records);
        let (ours, more) = packets_of_slices(&capture);
        let expected = packets_of_perf(&folder, &capture);
        assert!(expected == ours, "{case}: perf takes {} bytes, not {}", expected.len(), ours.len());
        overlaps += more;
    }
    assert!(overlaps > 10, "{overlaps}");
}

fn snapshots_that_overlap() {
    compare(Snapshots { seed: 1, config: TSC_BIT, time_stamps: 4 });
}

fn snapshots_with_few_time_stamps() {
    compare(Snapshots { seed: 3, config: TSC_BIT, time_stamps: 2 });
}

fn snapshots_without_time_stamps() {
    compare(Snapshots { seed: 4, config: 0, time_stamps: 0 });
}

/// Size, offset and reference of a piece of an area, and its bytes.
type Piece = ([i128; 3], Vec<u8>);

/// Returns the number after a name in a line of perf.
fn field(line: &str, name: &str) -> i128 {
    let text = line.split_once(name).unwrap().1.split_whitespace().next().unwrap();
    let hex = text.strip_prefix("0x").map(|hex| i128::from_str_radix(hex, 16).unwrap());
    hex.unwrap_or_else(|| text.parse().unwrap())
}

/// Compares each AUXTRACE record, and the bytes after it, with the buffers and the slices.
fn buffers_in_the_order_and_with_the_fields_that_perf_prints() {
    needs::all(&[needs::Need::PERF]);
    for big in [false, true] {
        let make = Recorder { big };
        let (mut random, mut records) = (Random(9), vec![make.intel_pt(false)]);
        let areas = [of_cpu(3), of_cpu(0), of_thread(7, 400), Area { idx: 40, tid: 8, cpu: 2 }];
        let mut ends = [0_u64; 4];
        for reference in 0..60 {
            let area = random.below(4);
            let data = block(Some(reference), reference as u8, random.below(20) as u8);
            let data = &data[..data.len() / 8 * 8];
            records.push(make.piece(areas[area], ends[area], reference << 33, data));
            ends[area] += data.len() as u64;
        }
        // perf finds out by the host's name how the features of a big-endian file are stored.
        let hostname = make.bytes().string("host").out;
        let capture = make.builder(TSC_BIT, &records).feature(3, hostname).build().bytes;
        let folder = needs::folder();
        fs::write(folder.join("perf.data"), &capture).unwrap();
        let out = Command::new("perf").args(["script", "-D"]).current_dir(&folder).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        // Of each area: its fields, and the bytes that perf prints as packets.
        let mut expected: Vec<([i128; 3], Vec<Piece>)> = Vec::new();
        let mut packets: Option<usize> = None;
        for line in text.lines() {
            if line.contains("PERF_RECORD_AUXTRACE size:") {
                let key = ["idx: ", "cpu: ", "tid: "].map(|name| field(line, name));
                let at = expected.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                    expected.push((key, Vec::new()));
                    expected.len() - 1
                });
                let piece = ["size: ", "offset: ", "ref: "].map(|name| field(line, name));
                expected[at].1.push((piece, Vec::new()));
                packets = Some(at);
            } else if let (Some(at), Some((offset, rest))) =
                (packets, line.strip_prefix(".  ").and_then(|line| line.split_once(": ")))
            {
                // Records have offsets of four digits.
                if offset.len() == 8 {
                    let hex = rest.get(..48).unwrap_or(rest).split_whitespace();
                    let bytes = hex.map(|byte| u8::from_str_radix(byte, 16).unwrap());
                    expected[at].1.last_mut().unwrap().1.extend(bytes);
                }
            }
        }
        expected.sort();
        let reader = Reader::new(&capture).unwrap();
        let trace = AuxTrace::of(&reader);
        let found: Vec<_> = trace
            .queues()
            .iter()
            .map(|queue| {
                let key =
                    [queue.idx.into(), queue.cpu.map_or(-1, i128::from), queue.tid.map_or(-1, i128::from)];
                let slices = trace.slices(&reader, queue).map(Result::unwrap);
                let pieces = slices.zip(queue.buffers()).map(|(slice, it)| {
                    assert!(it.offset == 0 || slice.is_consecutive);
                    ([it.size, it.offset, it.reference].map(i128::from), slice.bytes().to_vec())
                });
                (key, pieces.collect::<Vec<_>>())
            })
            .collect();
        let count = expected.iter().map(|(_, pieces)| pieces.len()).sum::<usize>();
        assert_eq!(count, 60, "big-endian: {big}; {}", String::from_utf8_lossy(&out.stderr));
        assert!(found == expected, "{found:?}\n{expected:?}");
    }
}
