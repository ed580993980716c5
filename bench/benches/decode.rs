//! perf-parse against loops written by hand and against the bare walk from header to header.

use std::hint::black_box;

use bench::capture::Capture;
use bench::{hand, parse};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

// Samples in a capture: some 400 to 550 KiB, which first-level caches do not hold and second-level ones do. It is
// decoding that is to be measured, not memory.
const SMALL: u64 = 1 << 13;
const CALLCHAINS: u64 = 1 << 10;
const STACKS: u64 = 1 << 6;

fn decode_48(c: &mut Criterion) {
    let capture = Capture::of_48_bytes(SMALL);
    let expected = hand::samples_48(&capture.bytes).expect("the capture is whole");
    assert_eq!(capture.bytes.len() as u64, 48 * SMALL);
    assert_eq!(expected.samples, SMALL);
    assert_eq!(parse::samples_48(&capture), Ok(expected));
    assert_eq!(parse::samples_48_all_getters(&capture), Ok(expected));

    let mut group = c.benchmark_group("decode_48");
    group.throughput(Throughput::Elements(capture.records));
    group.bench_function("hop by hand", |b| b.iter(|| hand::hop(black_box(&capture.bytes))));
    group.bench_function("hop by perf-parse", |b| b.iter(|| parse::hop(black_box(&capture))));
    group.bench_function("by hand", |b| b.iter(|| hand::samples_48(black_box(&capture.bytes))));
    group.bench_function("perf-parse", |b| b.iter(|| parse::samples_48(black_box(&capture))));
    group.bench_function("perf-parse, all getters", |b| {
        b.iter(|| parse::samples_48_all_getters(black_box(&capture)));
    });
    group.finish();
}

fn decode_callchain(c: &mut Criterion) {
    let capture = Capture::of_callchains(CALLCHAINS);
    let expected = hand::callchains(&capture.bytes).expect("the capture is whole");
    assert_eq!(expected.samples, CALLCHAINS);
    assert_eq!(parse::callchains(&capture), Ok(expected));
    assert_eq!(parse::tails(&capture), Ok(expected));

    let mut group = c.benchmark_group("decode_callchain");
    group.throughput(Throughput::Elements(capture.records));
    group.bench_function("hop by hand", |b| b.iter(|| hand::hop(black_box(&capture.bytes))));
    group.bench_function("by hand", |b| b.iter(|| hand::callchains(black_box(&capture.bytes))));
    group.bench_function("perf-parse, callchain", |b| b.iter(|| parse::callchains(black_box(&capture))));
    group.bench_function("perf-parse, tail", |b| b.iter(|| parse::tails(black_box(&capture))));
    group.finish();
}

fn decode_stack(c: &mut Criterion) {
    let capture = Capture::of_stacks(STACKS);
    let expected = hand::stacks(&capture.bytes).expect("the capture is whole");
    assert_eq!(expected.samples, STACKS);
    assert_eq!(parse::tails(&capture), Ok(expected));

    let mut group = c.benchmark_group("decode_stack");
    group.throughput(Throughput::Elements(capture.records));
    group.bench_function("hop by hand", |b| b.iter(|| hand::hop(black_box(&capture.bytes))));
    group.bench_function("by hand", |b| b.iter(|| hand::stacks(black_box(&capture.bytes))));
    group.bench_function("perf-parse, tail", |b| b.iter(|| parse::tails(black_box(&capture))));
    group.finish();
}

criterion_group!(benches, decode_48, decode_callchain, decode_stack);
criterion_main!(benches);
