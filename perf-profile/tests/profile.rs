//! Profiles of captures: what is kept, and what limits leave out.

use std::collections::BTreeSet;

use perf_abi::event::EventType;
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;
use perf_parse::Reader;
use perf_profile::diff::{Diff, DiffSide, Normalize};
use perf_profile::{
    Functions, Limits, NamingOptions, Profile, ProfileBuilder, Sample, SampleDetail, SampleTotal, TimeDetail,
    Weight,
};
use perf_session::Session;
use perf_symbol::StackFinder;

const CAPTURES: [&str; 4] = ["callchain.data", "everything.data", "system_wide.data", "group_read.data"];

/// Reads a capture of `testdata/captures`, without names.
fn profile(capture: &str, detail: SampleDetail, limits: Limits) -> Profile {
    let reader = Reader::open(testdata::path(capture)).unwrap();
    let mut session = Session::new();
    session.add_features(reader.features());
    let symbolizer = perf_symbol::Symbolizer::new(perf_symbol::SymbolOptions::default());
    let mut finder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
    let mut builder = ProfileBuilder::new(detail, limits);
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else { continue };
        let Some(event) = record.event() else { continue };
        let mut stack = Vec::new();
        let end = finder.push(&at, None, &mut stack).unwrap();
        let period = at.sample().period().unwrap_or(event.attr.sample_period);
        builder.sample(&at, event, period, &stack, end, None);
    }
    builder.finish(&session, &mut finder, None, NamingOptions::default(), &mut |_, _| {})
}

/// Returns the samples that are there, those that the limits left out, and all.
fn counts(profile: &Profile) -> (u64, u64, u64) {
    let kept = profile.samples().map(|sample| sample.total.samples).sum();
    let events = profile.events();
    let beyond = events.iter().map(|event| event.beyond.samples).sum();
    (kept, beyond, events.iter().map(|event| event.total.samples).sum())
}

#[test]
fn each_sample_is_kept_once() {
    for capture in CAPTURES {
        let all = Reader::open(testdata::path(capture)).unwrap();
        let all = all.records().filter_map(Result::ok).filter(|record| record.sample().is_some()).count();
        let together = profile(capture, SampleDetail::default(), Limits::default());
        assert_eq!(counts(&together), (all as u64, 0, all as u64), "{capture}");
        let alone = profile(
            capture,
            SampleDetail { times: TimeDetail::Each, cpus: true, ..SampleDetail::default() },
            Limits::default(),
        );
        assert_eq!(alone.samples().len(), all, "{capture}");
        assert!(alone.samples().is_sorted_by_key(|sample| sample.time), "{capture}");
        assert_eq!(alone.span(), together.span(), "{capture}");
        for sample in alone.samples() {
            let kind = alone.events()[sample.event as usize].event.attr.sample_type;
            assert_eq!(sample.cpu.is_some(), kind.contains(SampleType::CPU), "{capture}");
        }
        assert!(together.samples().len() <= all);
        // There are too few samples for spans that are longer than a nanosecond.
        let spans = profile(
            capture,
            SampleDetail { times: TimeDetail::Spans, ..SampleDetail::default() },
            Limits::default(),
        );
        assert_eq!((counts(&spans), spans.resolution()), (counts(&alone), 1), "{capture}");
        let times = |profile: &Profile| profile.samples().map(|it| it.time).collect::<BTreeSet<_>>();
        assert_eq!(times(&spans), times(&alone), "{capture}");
        let numbers = 0..alone.samples().len() as u32;
        assert!(numbers.map(|number| alone.sample(number).unwrap()).eq(alone.samples()));
        assert_eq!(alone.sample(all as u32), None);
    }
}

#[test]
fn spans_of_time_lose_no_samples() {
    let all = profile("callchain.data", SampleDetail::default(), Limits::default());
    let mut limits = Limits::default();
    limits.samples = all.samples().len();
    let spans = profile(
        "callchain.data",
        SampleDetail { times: TimeDetail::Spans, ..SampleDetail::default() },
        limits,
    );
    assert_eq!(counts(&spans), counts(&all));
    assert!(spans.resolution() > 1 && spans.samples().len() <= limits.samples);
}

#[test]
fn chosen_samples_keep_what_they_have() {
    for times in [TimeDetail::Nothing, TimeDetail::Spans, TimeDetail::Each] {
        let mut profile =
            profile("callchain.data", SampleDetail { times, ..SampleDetail::default() }, Limits::default());
        let is_wanted = |sample: &Sample| !sample.stack.is_multiple_of(3);
        let expected: Vec<_> = profile.samples().filter(is_wanted).collect();
        profile.retain(&mut |profile, sample| {
            assert_eq!(profile.samples().len(), 0);
            is_wanted(sample)
        });
        assert!(!expected.is_empty() && profile.samples().eq(expected), "{times:?}");
        let (kept, beyond, all) = counts(&profile);
        assert_eq!((kept, beyond), (all, 0));
    }
}

#[test]
fn limits_leave_samples_out_and_count_them() {
    let all = profile("callchain.data", SampleDetail::default(), Limits::default());
    let (frames, stack_nodes) = (all.frames().locations().len(), all.stacks().len() - 1);
    let (samples, threads) = (all.samples().len(), all.threads().len());
    let (_, _, total) = counts(&all);
    type Field = fn(&mut Limits) -> &mut usize;
    let needed: [(&str, usize, Field); 4] = [
        ("frames", frames, |limits| &mut limits.frames),
        ("stack_nodes", stack_nodes, |limits| &mut limits.stack_nodes),
        ("samples", samples, |limits| &mut limits.samples),
        ("threads", threads, |limits| &mut limits.threads),
    ];
    for (name, needed, of) in needed {
        let beyond = |limit: usize| {
            let mut limits = Limits::default();
            *of(&mut limits) = limit;
            let (kept, beyond, sum) = counts(&profile("callchain.data", SampleDetail::default(), limits));
            assert_eq!((kept + beyond, sum), (total, total), "{name} {limit}");
            beyond
        };
        assert_eq!((beyond(needed + 1), beyond(needed)), (0, 0), "{name}");
        assert!(beyond(needed - 1) > 0, "{name}");
        assert_eq!(beyond(0), total, "{name}");
    }
}

#[test]
fn stacks_are_cut_from_the_outermost_frame_on() {
    let whole = profile("callchain.data", SampleDetail::default(), Limits::default());
    let cut = profile(
        "callchain.data",
        SampleDetail { max_stack: 2, ..SampleDetail::default() },
        Limits::default(),
    );
    let depth = |profile: &Profile| {
        let stacks = profile.samples().map(|sample| profile.stacks().frames(sample.stack).count());
        stacks.max().unwrap()
    };
    assert!(depth(&whole) > 2);
    assert_eq!(depth(&cut), 2);
}

#[test]
fn own_parts_of_functions_add_up_to_all() {
    for capture in CAPTURES {
        let profile = profile(capture, SampleDetail::default(), Limits::default());
        for number in 0..profile.events().len() as u32 {
            let functions = Functions::of(&profile, number);
            let own: u64 = functions.totals.values().map(|it| it.own.samples).sum();
            // Stacks without frames have no function.
            let empty: u64 = profile
                .samples()
                .filter(|it| it.event == number && it.stack == perf_profile::EMPTY)
                .map(|it| it.total.samples)
                .sum();
            assert_eq!(own + empty, functions.all.samples, "{capture}");
            assert!(functions.totals.values().all(|it| it.own.samples <= it.whole.samples), "{capture}");
            assert!(functions.totals.values().all(|it| it.whole.samples <= functions.all.samples));
        }
    }
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let profile = profile("callchain.data", SampleDetail::default(), Limits::default());
    let side = DiffSide { profile: &profile, event: 0 };
    for normalize in [Normalize::Share, Normalize::Time, Normalize::Nothing] {
        let diff = Diff::of([side, side], Weight::Samples, normalize);
        assert!(!diff.rows.is_empty() && diff.rows.iter().all(|row| row.delta() == 0.0));
        assert!(diff.changed.is_empty());
        let sum: f64 = diff.rows.iter().map(|row| row.own[0]).sum();
        let expected = match normalize {
            Normalize::Share => 100.0,
            Normalize::Nothing => diff.totals[0].samples as f64,
            _ => {
                let (first, last) = profile.span().unwrap();
                diff.totals[0].samples as f64 / ((last - first) as f64 / 1e9)
            }
        };
        assert!((sum - expected).abs() < expected * 1e-9, "{normalize:?}: {sum} {expected}");
    }
    // Another capture is recorded with other files.
    let other = self::profile("system_wide.data", SampleDetail::default(), Limits::default());
    let diff = Diff::of([side, DiffSide { profile: &other, event: 0 }], Weight::Samples, Normalize::Share);
    assert!(diff.rows.windows(2).all(|pair| pair[0].delta().abs() >= pair[1].delta().abs()));
    assert!(diff.rows.iter().any(|row| row.own[0] == 0.0) && diff.rows.iter().any(|row| row.own[1] == 0.0));
}

#[test]
fn tracepoints_count_samples() {
    let reader = Reader::open(testdata::path("plain.data")).unwrap();
    let mut event = (*reader.events()[0]).clone();
    let total = SampleTotal { samples: 3, period: 300 };
    for (kind, period) in [(EventType::HARDWARE, 300), (EventType::SOFTWARE, 300), (EventType::TRACEPOINT, 3)]
    {
        event.attr.kind = kind;
        assert_eq!(Weight::Period.of_total(total, &event), period, "{kind:?}");
        assert_eq!(Weight::Samples.of_total(total, &event), 3, "{kind:?}");
    }
}
