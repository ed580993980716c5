//! What perf prints of a capture: its records with traces, and the packets that its decoder takes.

use std::fs;
use std::path::Path;
use std::process::Command;

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;

use crate::capture::{PSB, Recorder, TSC_BIT, block, of_cpu};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![snapshots_that_overlap, snapshots_with_few_time_stamps, snapshots_without_time_stamps,];

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
    for case in 0..40 {
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
    assert!(overlaps > 20, "{overlaps}");
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
