//! A capture, and limits of its profile: each sample is in the profile or counted as beyond the limits, and every format
//! has all that the profile has, whatever the names are. Threads that share the stacks make the same profile, and so do all
//! sources of the records of a walk.
//!
//! The walk of `perf-profile` is held against itself, with other threads and sources. Two loops of this module are no such walk:
//! they give a builder what it would get from one, in blocks of any number of records, which a walk has far more of.

use std::io;
use std::path::Path;
use std::sync::Arc;

use perf_abi::regs::Arch;
use perf_export::fold;
use perf_parse::{EventRecord, Reader};
use perf_profile::{
    CaptureInfo, Functions, Limits, NamingOptions, Profile, ProfileBuilder, ProfileOptions, Sample,
    SampleDetail, SampleTask, Samples, Symbols, TimeDetail, Weight, event_name,
};
use perf_session::Session;
use perf_symbol::{FileBytes, Files, StackFinder, StackFrame, SymbolOptions, Symbolizer};

use super::walk::walk;

/// No files, so that only the capture counts.
#[derive(Debug)]
pub(crate) struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> io::Result<FileBytes> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The first byte of `data` has what is kept and one of the limits. The other bytes are a capture.
pub fn run(data: &[u8]) -> bool {
    let Some((&choice, capture)) = data.split_first() else { return false };
    let Ok(reader) = Reader::new(capture) else { return false };
    let mut limits = Limits::default();
    let small = usize::from(choice >> 4);
    match choice & 3 {
        0 => limits.frames = small,
        1 => limits.stack_nodes = small,
        2 => limits.samples = small,
        _ => limits.threads = small,
    }
    // Half of all runs are without a small limit.
    if choice & 4 == 0 {
        limits = Limits::default();
    }
    let times = match choice & 24 {
        8 => TimeDetail::Each,
        24 => TimeDetail::Spans,
        _ => TimeDetail::Nothing,
    };
    let detail = SampleDetail { times, cpus: times != TimeDetail::Nothing, max_stack: 127 };
    let (profile, samples) = profile(&reader, capture.len(), detail, limits);
    check(&profile, samples, times);
    check_fold(&profile);
    let of_parts = profile_of_parts(&reader, capture.len(), detail, limits, 1 + small);
    assert_eq!(shown(&of_parts), shown(&profile));
    check_walk(&reader, capture.len(), detail, limits, times);
    samples > 0
}

/// A walk has the same profile on several threads, and from a stream of records.
fn check_walk(reader: &Reader<'_>, size: usize, detail: SampleDetail, limits: Limits, times: TimeDetail) {
    let symbols = Symbols::with_files(reader.features(), SymbolOptions::default(), Arc::new(NoFiles));
    let mut options = ProfileOptions::default();
    (options.detail, options.limits) = (detail, limits);
    let profile = |samples: Samples<'_>| {
        samples.profile_with(&symbols, &options, &mut ()).expect("nothing is selected, and nobody cancels")
    };
    let walked = profile(Samples::of(reader));
    let samples = walked.events().iter().map(|event| event.total.samples).sum();
    check(&walked, samples, times);
    check_fold(&walked);
    let expected = shown(&walked);
    assert_eq!(shown(&profile(Samples::of(reader).threads(4))), expected);
    // The records of a pipe may have more events later, which a stream does not know.
    let info = CaptureInfo::from(reader);
    if !info.is_complete() {
        return;
    }
    let mut records = Vec::new();
    walk(&mut reader.records().in_time_order(), size, |record| records.push(Ok(record.clone())));
    let pushed = profile(Samples::of_records(info, records));
    assert_eq!(shown(&pushed), expected);
}

/// Returns the profile of a capture, and the number of its samples.
fn profile(reader: &Reader<'_>, size: usize, detail: SampleDetail, limits: Limits) -> (Profile, u64) {
    let mut session = Session::new();
    session.add_features(reader.features());
    let mut symbolizer = Symbolizer::with_files(SymbolOptions::default(), Arc::new(NoFiles));
    let mut finder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
    let mut builder = ProfileBuilder::new(detail, limits);
    let mut samples = 0;
    walk(&mut reader.records().in_time_order(), size, |record| {
        let (Ok(Some(at)), Some(event)) = (session.update_at(record), record.event()) else { return };
        let mut stack = Vec::new();
        let Ok(end) = finder.push(&at, None, &mut stack) else { return };
        let period = at.sample().period().unwrap_or(event.attr.sample_period);
        builder.sample(&at, event, period, &stack, end, Some(&mut symbolizer));
        samples += 1;
    });
    let profile =
        builder.finish(&session, &mut finder, Some(&symbolizer), NamingOptions::default(), &mut |_, _| {});
    (profile, samples)
}

/// Returns the profile of a capture whose stacks are numbered by three parts, in blocks of so many records.
fn profile_of_parts(
    reader: &Reader<'_>,
    size: usize,
    detail: SampleDetail,
    limits: Limits,
    of_block: usize,
) -> Profile {
    let mut session = Session::new();
    session.add_features(reader.features());
    let symbolizer = Symbolizer::with_files(SymbolOptions::default(), Arc::new(NoFiles));
    let mut unwinder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
    let mut earlier = unwinder.earlier();
    let mut builder = ProfileBuilder::new(detail, limits);
    let first = builder.part();
    let mut workers = [(); 3].map(|()| {
        let finder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
        (first.clone(), finder, symbolizer.clone())
    });
    let (mut before, mut block, mut count) = (session.clone(), Vec::new(), 0);
    let mut end_block =
        |builder: &mut ProfileBuilder, before: Session, session: &Session, block: &mut Vec<_>| {
            let mut before = before.with_dsos_of(session);
            let (part, finder, symbolizer) = &mut workers[count % 3];
            count += 1;
            let mut found = Vec::new();
            for (record, kept) in block.drain(..) {
                let record: EventRecord<'_> = record;
                let at = before.update_at(&record).expect("it was applied before");
                let Some((at, kept)) = at.zip(kept) else { continue };
                let task: Option<SampleTask> = kept;
                let mut stack = Vec::new();
                let mut unwound = Vec::new();
                let alone = finder.push_alone(&at, None, &mut unwound).expect("it was decoded before");
                let end = match alone {
                    Some(alone) => {
                        let end = earlier.complete(&alone, &mut unwound).end;
                        stack.extend(unwound.iter().map(|it| StackFrame::unwound(&at, it)));
                        Some(end)
                    }
                    None => finder.push(&at, None, &mut stack).expect("it was decoded before"),
                };
                let stack = task.map(|task| (task, part.stack(&at, &stack, end, Some(symbolizer))));
                found.push((record.clone(), stack));
            }
            let number = builder.take_over(part.take_new(), session);
            for (record, stack) in found {
                let kept = stack.and_then(|(task, stack)| builder.keep_of_part(task, number, stack));
                let (Some(event), Some(sample)) = (record.event(), record.sample()) else { continue };
                let period = sample.period().unwrap_or(event.attr.sample_period);
                builder.count(event, kept, sample.time(), period);
            }
        };
    walk(&mut reader.records().in_time_order(), size, |record| {
        let kept = match session.update_at(record) {
            Err(_) => return,
            Ok(None) => None,
            // A sample whose stack cannot be decoded is not kept.
            Ok(Some(at))
                if record.event().is_none() || unwinder.push(&at, None, &mut Vec::new()).is_err() =>
            {
                None
            }
            Ok(Some(at)) => Some(builder.task(&at)),
        };
        block.push((record.clone(), kept));
        if block.len() >= of_block {
            let next = session.clone();
            end_block(&mut builder, core::mem::replace(&mut before, next), &session, &mut block);
        }
    });
    end_block(&mut builder, before, &session, &mut block);
    builder.finish(&session, &mut unwinder, Some(&symbolizer), NamingOptions::default(), &mut |_, _| {})
}

/// Returns all that a profile has.
fn shown(profile: &Profile) -> String {
    let samples: Vec<_> = profile.samples().collect();
    let stacks: Vec<_> = (0..profile.stacks().len() as u32).map(|it| profile.stacks().node(it)).collect();
    let (frames, named) = (profile.frames(), profile.function_table());
    let events: Vec<_> = profile.events().iter().map(|it| (it.event.index, it.total, it.beyond)).collect();
    let dsos = frames.dsos();
    let ends = profile.quality().ends();
    format!(
        "{events:?}{:?}{samples:?}{stacks:?}{ends:?}{:?}{dsos:?}{named:?}",
        profile.threads(),
        frames.locations()
    )
}

fn check(profile: &Profile, samples: u64, times: TimeDetail) {
    let kept: u64 = profile.samples().map(|sample| sample.total.samples).sum();
    let sum = |of: fn(&perf_profile::ProfileEvent) -> u64| profile.events().iter().map(of).sum::<u64>();
    assert_eq!(sum(|event| event.total.samples), samples);
    assert_eq!(kept + sum(|event| event.beyond.samples), samples);
    for sample in profile.samples() {
        assert!((sample.event as usize) < profile.events().len());
        assert!((sample.thread as usize) < profile.threads().len());
        assert!((sample.stack as usize) < profile.stacks().len());
        let frames = profile.frames().locations().len() as u32;
        assert!(profile.stacks().frames(sample.stack).all(|frame| frame < frames));
        assert!(times != TimeDetail::Nothing || sample.time == 0);
        assert!(times != TimeDetail::Each || sample.total.samples == 1);
    }
    for (event, number) in profile.events().iter().zip(0..) {
        let functions = Functions::of(profile, number);
        assert_eq!(functions.all.samples, event.total.samples - event.beyond.samples);
    }
}

/// Each line is a stack and a number, without characters that are unsafe to print, and the numbers add up.
fn check_fold(profile: &Profile) {
    let mut out = Vec::new();
    fold::write(std::slice::from_ref(profile), &fold::Options::default(), &mut out).expect("memory has room");
    let out = String::from_utf8(out).expect("names are escaped");
    let mut sum = 0_u64;
    for line in out.lines() {
        let (_, weight) = line.rsplit_once(' ').expect("a line has a weight");
        sum = sum.wrapping_add(weight.parse().expect("the weight is a number"));
        assert!(line.chars().all(perf_profile::text::is_safe), "{line:?}");
    }
    let Some(first) = profile.sample(0) else { return assert!(out.is_empty()) };
    let name_of = |number: u32| event_name(&profile.events()[number as usize].event);
    let name = name_of(first.event);
    let of_event = profile.samples().filter(|sample| name_of(sample.event) == name);
    let weight = |sample: Sample| Weight::Period.of(&sample, &profile.events()[sample.event as usize].event);
    assert_eq!(sum, of_event.map(weight).fold(0, u64::wrapping_add));
}
