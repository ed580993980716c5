//! The output of several threads, held against that of one; and of samples that were counted together.

#![cfg(all(
    feature = "firefox",
    feature = "flamegraph",
    feature = "fold",
    feature = "otlp",
    feature = "pprof",
    feature = "speedscope"
))]

use std::num::NonZero;

use perf_abi::record::CpuMode;
use perf_abi::regs::Arch;
use perf_export::otlp::OtlpEncoding;
use perf_export::{firefox, flamegraph, fold, otlp, pprof, speedscope};
use perf_parse::Reader;
use perf_profile::{Limits, NamingOptions, Profile, ProfileBuilder, SampleDetail, TimeDetail};
use perf_session::{Frame, Session};
use perf_symbol::unwind::FrameSource;
use perf_symbol::{StackFinder, StackFrame, SymbolOptions, Symbolizer};

const CAPTURES: [&str; 4] = ["callchain.data", "everything.data", "system_wide.data", "switch.data"];

/// A frame of the kernel, or of a user program if the number is even.
fn frame(number: u64) -> StackFrame<'static> {
    let mode = if number.is_multiple_of(2) { CpuMode::USER } else { CpuMode::KERNEL };
    let frame = Frame { ip: 0x1000 + number, mode, mapping: None };
    StackFrame { frame, is_caller: number.is_multiple_of(3), source: FrameSource::Chain }
}

/// Reads a capture. Each sample is followed by `more` with other stacks, some of which come again.
fn profile(capture: &str, detail: SampleDetail, more: u64, threads: NonZero<usize>) -> Profile {
    let reader = Reader::open(testdata::path(capture)).unwrap();
    let mut session = Session::new();
    session.add_features(reader.features());
    let symbolizer = Symbolizer::new(SymbolOptions::default());
    let mut finder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
    let mut builder = ProfileBuilder::new(detail, Limits::default());
    let mut number = 1_u64;
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else {
            // Each thread leaves the CPU now and then.
            if let Some(id) = record.sample_id().ok().flatten()
                && let Some((thread, time)) = id.tid().and_then(|tid| session.thread(tid)).zip(id.time())
            {
                builder.switch(thread, time, true, false);
                builder.switch(thread, time + 10, false, false);
            }
            continue;
        };
        let Some(event) = record.event() else { continue };
        let mut stack = Vec::new();
        let end = finder.push(&at, None, &mut stack).unwrap();
        let period = at.sample().period().unwrap_or(event.attr.sample_period);
        builder.sample(&at, event, period, &stack, end, None);
        if number.is_multiple_of(5) {
            builder.describe(format!("text {number}").into_bytes());
        }
        for _ in 0..more {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let stack: Vec<_> =
                (1..=number >> 61).map(|depth| frame(number >> 50 & 0x3fff | depth)).collect();
            builder.sample(&at, event, number >> 40, &stack, None, None);
        }
    }
    let naming = NamingOptions { threads, ..NamingOptions::default() };
    builder.finish(&session, &mut finder, None, naming, &mut |_, _| {})
}

/// Returns what is written in each format on so many threads.
fn written(capture: &str, more: u64, threads: usize) -> [Vec<u8>; 7] {
    let threads = NonZero::new(threads).unwrap();
    let of = |times| {
        profile(capture, SampleDetail { times, cpus: true, ..SampleDetail::default() }, more, threads)
    };
    let [mut pprof, mut otlp, mut otlp_json, mut speedscope, mut firefox, mut page, mut folded] =
        [const { Vec::new() }; 7];
    let twice = [of(TimeDetail::Nothing), of(TimeDetail::Nothing)];
    let mut options = pprof::Options::default();
    options.threads = threads;
    pprof::write(&twice, &options, &mut pprof).unwrap();
    let mut options = otlp::Options::default();
    options.threads = threads;
    otlp::write(&twice, &options, &mut otlp).unwrap();
    options.encoding = OtlpEncoding::Json;
    otlp::write(&twice, &options, &mut otlp_json).unwrap();
    let mut options = speedscope::Options::default();
    options.threads = threads;
    speedscope::write(&twice, &options, &mut speedscope).unwrap();
    let mut options = fold::Options::default();
    options.threads = threads;
    fold::write(&twice, &options, &mut folded).unwrap();
    let mut options = flamegraph::Options::default();
    options.threads = threads;
    flamegraph::write(&[of(TimeDetail::Spans)], &options, &mut page).unwrap();
    let mut options = firefox::Options::default();
    options.threads = threads;
    firefox::write(&[of(TimeDetail::Each)], &options, &mut firefox).unwrap();
    [pprof, otlp, otlp_json, speedscope, firefox, page, folded]
}

#[test]
fn any_number_of_threads_writes_the_same() {
    // With few samples, one thread has all the work. With many, each has several parts.
    let few = CAPTURES.map(|capture| (capture, 0));
    for (capture, more) in few.into_iter().chain([("callchain.data", 100)]) {
        let one = written(capture, more, 1);
        assert!(one.iter().all(|written| !written.is_empty()), "{capture}");
        for threads in [2, 3, 5] {
            assert!(written(capture, more, threads) == one, "{capture} {more} {threads}");
        }
        if more > 0 {
            // More than a part of each list that is divided.
            let all = profile(
                capture,
                SampleDetail { times: TimeDetail::Each, ..SampleDetail::default() },
                more,
                NonZero::<usize>::MIN,
            );
            assert!(all.samples().len() > 10_000 && all.frames().locations().len() > 10_000);
        }
    }
}

/// A page is the same whether its samples were counted together or not, as long as times are exact.
#[test]
fn pages_of_spans_are_those_of_each_sample() {
    for capture in ["callchain.data", "everything.data", "system_wide.data", "group_read.data"] {
        let page = |times| {
            let profile =
                profile(capture, SampleDetail { times, ..SampleDetail::default() }, 0, NonZero::<usize>::MIN);
            let mut page = Vec::new();
            flamegraph::write(&[profile], &flamegraph::Options::default(), &mut page).unwrap();
            page
        };
        assert!(page(TimeDetail::Spans) == page(TimeDetail::Each), "{capture}");
    }
}

/// The format has one clock and one machine.
#[test]
fn firefox_takes_one_capture() {
    let of_capture = || profile("callchain.data", SampleDetail::default(), 0, NonZero::<usize>::MIN);
    for profiles in [Vec::new(), vec![of_capture(), of_capture()]] {
        let mut out = Vec::new();
        let error = firefox::write(&profiles, &firefox::Options::default(), &mut out).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        let expected = format!("a Firefox profile has one capture, and these are {}", profiles.len());
        assert_eq!(error.to_string(), expected);
        assert!(out.is_empty());
    }
}
