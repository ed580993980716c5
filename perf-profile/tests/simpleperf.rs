//! Captures of Android's simpleperf, against the texts that AOSP's scripts print for them.

use std::collections::BTreeMap;
use std::io::Read;

use perf_parse::Reader;
use perf_profile::{NamedFrame, NamedSample, ProfileOptions, Samples, Symbols, event_name};
use perf_symbol::unwind::StackEnd;

/// Reads a capture of `testdata/foreign/simpleperf`, or a text of AOSP.
fn file(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign/simpleperf");
    std::fs::read(std::path::Path::new(folder).join(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(file(name)).unwrap()
}

/// Symbols without the files of this machine.
fn symbols(reader: &Reader<'_>) -> Symbols {
    let mut options = perf_symbol::SymbolOptions::default();
    options.symfs = Some("/nonexistent".into());
    Symbols::new(reader.features(), options)
}

fn samples(capture: &str) -> Vec<NamedSample> {
    let bytes = file(capture);
    let reader = Reader::new(&bytes[..]).unwrap();
    Samples::of(&reader).named(&symbols(&reader)).map(Result::unwrap).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn name(frame: &NamedFrame) -> Option<String> {
    frame.function().map(lossy)
}

/// The file of a frame, as simpleperf prints it.
fn path(frame: &NamedFrame) -> String {
    lossy(frame.mapping().map_or(&b"unknown"[..], |mapping| mapping.dso().name()))
}

fn is_dex(frame: &NamedFrame) -> bool {
    [".jar", ".dex", ".vdex"].iter().any(|end| path(frame).ends_with(end))
}

fn is_java(frame: &NamedFrame) -> bool {
    is_dex(frame) || path(frame) == "[JIT app cache]"
}

/// Returns the frames that AOSP's scripts print: the Android runtime's own frames beside those of Java methods are left out.
///
/// simpleperf: `CallChainReportBuilder`, `system/extras/simpleperf/report_utils.cpp`.
fn reported(stack: &[NamedFrame]) -> Vec<&NamedFrame> {
    let is_trampoline = |frame: &NamedFrame| frame.function() == Some(b"art_jni_trampoline");
    let is_runtime = |frame: &NamedFrame| path(frame).ends_with("/libart.so") || is_trampoline(frame);
    let mut is_hidden = vec![false; stack.len()];
    for (number, _) in stack.iter().enumerate().filter(|(_, frame)| is_java(frame)) {
        let before = (0..number).rev().take_while(|&it| !is_java(&stack[it]) && is_runtime(&stack[it]));
        let after =
            (number + 1..stack.len()).take_while(|&it| !is_java(&stack[it]) && is_runtime(&stack[it]));
        before.chain(after).for_each(|it| is_hidden[it] = true);
    }
    // What a trampoline calls is a native method.
    for number in 1..stack.len() {
        if is_hidden[number] && is_trampoline(&stack[number]) {
            is_hidden[number - 1] = false;
        }
    }
    stack.iter().zip(is_hidden).filter(|(_, is_hidden)| !is_hidden).map(|(frame, _)| frame).collect()
}

/// A sample in the text of `report_sample.py`.
struct ReportedSample<'t> {
    comm: &'t str,
    ids: &'t str,
    period: &'t str,
    event: &'t str,
    /// Address, function and file.
    frames: Vec<(u64, &'t str, &'t str)>,
}

fn reported_samples(text: &str) -> impl Iterator<Item = ReportedSample<'_>> {
    text.split("\n\n").filter_map(reported_sample)
}

fn reported_sample(text: &str) -> Option<ReportedSample<'_>> {
    let mut lines = text.lines();
    let (comm, rest) = lines.next()?.split_once('\t')?;
    let words: Vec<_> = rest.split_whitespace().collect();
    let frames = lines.map(|line| reported_frame(line).unwrap()).collect();
    Some(ReportedSample {
        comm,
        ids: words[0],
        period: words[3],
        event: words[4].trim_end_matches(':'),
        frames,
    })
}

fn reported_frame(line: &str) -> Option<(u64, &str, &str)> {
    let (address, rest) = line.trim_start().split_once(' ')?;
    let (function, file) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    Some((u64::from_str_radix(address, 16).ok()?, function, file))
}

#[test]
fn every_name_is_that_of_report_sample() {
    let mut text = String::new();
    let packed = file("perf_display_bitmaps.perf-script.gz");
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let (expected, found) =
        (reported_samples(&text).collect::<Vec<_>>(), samples("perf_display_bitmaps.data"));
    assert_eq!((expected.len(), found.len()), (525, 525));
    let (mut frames, mut equal, mut unnamed) = (0, 0, 0);
    let mut others: BTreeMap<String, u32> = BTreeMap::new();
    for (expected, found) in expected.iter().zip(&found) {
        let thread = found.thread();
        assert_eq!(
            (expected.comm, expected.ids),
            (&*lossy(thread.comm()), &*format!("{}/{}", thread.pid(), thread.tid()))
        );
        assert_eq!(expected.period, found.period().to_string());
        assert_eq!(expected.event, lossy(&event_name(found.event())).trim_end_matches(":HG"));
        let addresses = |it: &[&NamedFrame]| it.iter().map(|it| it.ip()).collect::<Vec<_>>();
        let shown = reported(found.stack());
        assert_eq!(expected.frames.iter().map(|it| it.0).collect::<Vec<_>>(), addresses(&shown));
        for (&(address, function, file), frame) in expected.frames.iter().zip(shown) {
            frames += 1;
            // AOSP shows a compiled method in the file of the interpreted one, if that has samples too.
            let is_moved = path(frame) == "[JIT app cache]" && file.ends_with(".jar");
            assert!(is_moved || file == path(frame), "{address:x}: {file} is {}", path(frame));
            match name(frame) {
                Some(name) if name == function => equal += 1,
                // simpleperf makes a name of the file and the address.
                None if function.contains("[+") => unnamed += 1,
                name => *others.entry(format!("{function} is {name:?}")).or_default() += 1,
            }
        }
    }
    assert_eq!((frames, unnamed), (16_285, 636));
    // Five names of templates are spelled in another way: spaces around `&&` in an expression, `&&` of a parameter that is a
    // reference to an rvalue by its argument, and two spaces in a reference to a function.
    assert_eq!((equal, others.values().sum::<u32>(), others.len()), (15_641, 8, 5), "{others:#?}");
}

/// Returns the stacks that `stackcollapse.py` prints: of the first sample's event, without the innermost frame.
fn folded(
    capture: &str,
    root: impl Fn(&NamedSample) -> String,
    leaf: impl Fn(&NamedFrame) -> String,
) -> String {
    let samples = samples(capture);
    let event = samples[0].event().index;
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for sample in samples.iter().filter(|it| it.event().index == event) {
        let mut frames = reported(sample.stack());
        // A method that its interpreter calls compiled is one frame.
        let mut number = 0;
        while number + 1 < frames.len() {
            let (inner, outer) = (frames[number], frames[number + 1]);
            if is_java(inner) && !is_dex(inner) && is_dex(outer) && name(inner) == name(outer) {
                frames.remove(number);
            } else {
                number += 1;
            }
        }
        let names = frames.iter().skip(1).rev().map(|it| leaf(it));
        let stack: Vec<_> = [root(sample)].into_iter().chain(names).collect();
        *stacks.entry(stack.join(";")).or_default() += sample.period();
    }
    stacks.iter().map(|(stack, period)| format!("{stack} {period}\n")).collect()
}

#[test]
fn folded_stacks_are_those_of_stackcollapse() {
    let comm = |sample: &NamedSample| lossy(sample.thread().comm());
    let plain = |frame: &NamedFrame| name(frame).unwrap_or_else(|| "unknown".into());
    let of_jit =
        |frame: &NamedFrame| plain(frame) + if path(frame) == "[JIT app cache]" { "_[j]" } else { "" };
    let of_kernel =
        |frame: &NamedFrame| plain(frame) + if path(frame).contains("kallsyms") { "_[k]" } else { "" };
    let ids = |it: &NamedSample| format!("{}-{}/{}", comm(it), it.thread().pid(), it.thread().tid());
    let jit = "perf_with_jit_symbol.data";
    assert_eq!(folded(jit, comm, of_jit), text("perf_with_jit_symbol.foldedstack"));
    assert_eq!(folded(jit, ids, of_jit), text("perf_with_jit_symbol.foldedstack_with_tid"));
    assert_eq!(folded(jit, comm, of_kernel), text("perf_with_jit_symbol.foldedstack_with_kernel"));
    assert_eq!(
        folded("perf_with_two_event_types.data", comm, plain),
        text("perf_with_two_event_types.foldedstack")
    );
}

/// Each function of the samples is in the profile that `gecko_profile_generator.py` writes, with its file.
#[test]
fn functions_are_those_of_gecko_profile_generator() {
    let expected = text("perf_with_tracepoint_event.gecko.json");
    let samples = samples("perf_with_tracepoint_event.data");
    assert_eq!(samples.len(), 45);
    for frame in samples.iter().flat_map(NamedSample::stack) {
        let entry = format!("\"{} (in {})\"", name(frame).unwrap(), path(frame));
        assert!(expected.contains(&entry), "{entry}");
    }
}

/// The sums are those of the periods in simpleperf's report: from a sample of `sched_switch` to the next sample of the thread, or
/// to the SWITCH record with which it is back.
#[test]
fn off_cpu_times_of_trace_offcpu() {
    let bytes = file("perf_with_trace_offcpu_v2.data");
    let reader = Reader::new(&bytes[..]).unwrap();
    let mut options = ProfileOptions::default();
    options.off_cpu = true;
    let profile = Samples::of(&reader).profile_with(&symbols(&reader), &options, &mut ()).unwrap();
    let is_wait = |name: &[u8]| matches!(name, b"off-cpu" | b"runnable");
    let waits = profile.events().iter().filter(|it| is_wait(&event_name(&it.event)));
    let sum = waits.fold((0, 0), |sum, it| (sum.0 + it.total.samples, sum.1 + it.total.period));
    assert_eq!(sum, (91, 344_124_304));
}

/// The files of the device are not here: its programs and threads start with functions whose names the capture has.
#[test]
fn stacks_are_whole_up_to_the_first_function() {
    for (capture, stacks, rooted) in
        [("perf_display_bitmaps.data", 525, 517), ("perf_with_jit_symbol.data", 151, 151)]
    {
        let bytes = file(capture);
        let reader = Reader::new(&bytes[..]).unwrap();
        let options = ProfileOptions::default();
        let profile = Samples::of(&reader).profile_with(&symbols(&reader), &options, &mut ()).unwrap();
        let quality = profile.quality();
        assert_eq!((quality.stacks(), quality.stacks_with(StackEnd::Rooted)), (stacks, rooted), "{capture}");
    }
}
