//! Sources of records: the results of a shared reader, and of a stream that is pushed record by record, are those of a borrowed
//! reader.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;

use perf_abi::record::RecordType;
use perf_export::firefox;
use perf_parse::file::Account;
use perf_parse::{EventRecord, FileError, Reader};
use perf_profile::report::{Options, Percentage};
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::{CaptureInfo, NamedSample, ProfileError, ProfileOptions, Samples, Symbols, TimeDetail};
use perf_session::SampleContext;

/// A source of the samples of a capture.
#[derive(Clone, Copy, Debug)]
enum Source {
    Borrowed,
    Shared,
    Pushed,
}

/// Calls `use_samples` with the samples of a capture from a source. The records of a stream come from another thread, which
/// has the capture open in a way of its own.
fn with<T>(capture: &Path, source: Source, use_samples: impl FnOnce(Samples<'_>, Symbols) -> T) -> T {
    let reader = Reader::open(capture).unwrap();
    let symbols = super::symbols(&reader);
    match source {
        Source::Borrowed => use_samples(Samples::of(&reader), symbols),
        Source::Shared => use_samples(Samples::shared(Arc::new(reader)), symbols),
        Source::Pushed => {
            let (sender, receiver) = mpsc::sync_channel(16);
            let path = capture.to_owned();
            let samples = Samples::of_records(CaptureInfo::from(&reader), receiver);
            let pusher = thread::spawn(move || {
                let bytes = std::fs::read(path).unwrap();
                let reader = Reader::new(&bytes).unwrap();
                for record in reader.records().in_time_order() {
                    if sender.send(record.map(EventRecord::into_owned)).is_err() {
                        break;
                    }
                }
            });
            let result = use_samples(samples, symbols);
            pusher.join().unwrap();
            result
        }
    }
}

/// The captures that can be opened.
fn captures() -> impl Iterator<Item = PathBuf> {
    super::captures().filter(|path| Reader::open(path).is_ok())
}

/// What accounts of all sources have: a stream has what compressed records contain, and not these records themselves.
fn counts(account: &Account) -> (u64, u64, Vec<(RecordType, u64)>) {
    let is_compressed = |kind| matches!(kind, RecordType::COMPRESSED | RecordType::COMPRESSED2);
    let records = account.by_type().filter(|&(kind, _)| !is_compressed(kind));
    (account.lost, account.lost_samples, records.collect())
}

/// The profile of a capture with all that an export can have, in the format that has the most of it.
fn profile(capture: &Path, source: Source, threads: usize) -> Result<(String, String), ProfileError> {
    with(capture, source, |samples, symbols| {
        let mut options = ProfileOptions::default();
        options.detail.times = TimeDetail::Each;
        options.detail.cpus = true;
        options.marks = true;
        options.off_cpu = capture.ends_with("switch.data");
        let profile = samples.threads(threads).profile_with(&symbols, &options, &mut ())?;
        let account = format!("{:?}", counts(profile.account()));
        let mut out = Vec::new();
        firefox::write(&[profile], &firefox::Options::default(), &mut out).unwrap();
        Ok((String::from_utf8(out).unwrap(), account))
    })
}

#[test]
fn profiles_are_the_same() {
    let mut compared = 0;
    for capture in captures() {
        let expected = profile(&capture, Source::Borrowed, 1);
        for (source, threads) in
            [(Source::Shared, 1), (Source::Shared, 4), (Source::Pushed, 1), (Source::Pushed, 4)]
        {
            let found = profile(&capture, source, threads);
            assert!(found == expected, "{} {source:?} on {threads} threads", capture.display());
        }
        compared += usize::from(expected.is_ok());
    }
    assert!(compared > 30, "{compared}");
}

/// Returns all that a sample has, as text.
fn text(sample: &NamedSample) -> String {
    let frames: Vec<_> = sample
        .stack()
        .iter()
        .map(|it| {
            (it.ip(), it.mode(), it.function(), it.file(), it.line(), it.mapping().map(|it| it.dso().path()))
        })
        .collect();
    let (event, thread) = (sample.event(), sample.thread());
    let who = (thread.pid(), thread.tid(), thread.comm());
    let (index, name) = (event.index, &event.name);
    format!("{index} {name:?} {who:?} {:?} {:?} {} {frames:?}", sample.time(), sample.cpu(), sample.period())
}

#[test]
fn samples_are_the_same() {
    let mut compared = 0;
    for capture in captures() {
        let samples = |source| {
            with(&capture, source, |samples, symbols| {
                let text = |it: Result<NamedSample, ProfileError>| it.map(|it| text(&it));
                samples.named(&symbols).map(text).collect::<Vec<_>>()
            })
        };
        let expected = samples(Source::Borrowed);
        for source in [Source::Shared, Source::Pushed] {
            assert!(samples(source) == expected, "{} {source:?}", capture.display());
        }
        compared += expected.len();
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn reports_are_the_same() {
    for capture in captures() {
        let report = |source, threads| {
            with(&capture, source, |samples, symbols| {
                let report = samples.threads(threads).report(&symbols, &Options::default(), &mut ()).ok()?;
                let tables = report.tables().iter().map(|events| {
                    let table = report.table(events, Percentage::Absolute);
                    let rows: Vec<_> = table.rows().iter().map(|row| format!("{:?}", row.counts())).collect();
                    (events.name.clone(), rows)
                });
                Some(tables.collect::<Vec<_>>())
            })
        };
        let expected = report(Source::Borrowed, 1);
        for (source, threads) in [(Source::Shared, 1), (Source::Pushed, 4)] {
            assert_eq!(report(source, threads), expected, "{} {source:?}", capture.display());
        }
    }
}

/// Adds up periods.
#[derive(Debug, Default, PartialEq, Eq)]
struct Periods {
    samples: u64,
    period: u64,
    deferred: usize,
}

impl SamplePass<'_> for Periods {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    fn sample(
        &mut self,
        _: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.samples += 1;
        self.period += counted.period;
        self.deferred += counted.deferred.map_or(0, <[u64]>::len);
        Ok(())
    }
}

/// The samples that wait for the user part of their call chain are passed on by the step that ends them, or by the end.
#[test]
fn steps_that_are_pushed_are_those_of_a_walk() {
    let mut with_user = 0;
    for capture in captures() {
        let bytes = std::fs::read(&capture).unwrap();
        let reader = Reader::new(&bytes).unwrap();
        let mut walked = Periods::default();
        let mut steps =
            Samples::of(&reader).steps(super::symbols(&reader).without_names(), Periods::default()).unwrap();
        while steps.step() {}
        walked.samples += steps.pass().samples;
        let (pass, end) = steps.end();
        assert_eq!(pass.samples, walked.samples, "{}", capture.display());
        let none = Samples::of_records(CaptureInfo::from(&reader), []);
        let mut steps = none.steps(super::symbols(&reader).without_names(), Periods::default()).unwrap();
        for record in reader.records().in_time_order().flatten() {
            steps.push(&record);
        }
        let (pushed, end_of_pushed) = steps.end();
        assert_eq!(pushed, pass, "{}", capture.display());
        assert_eq!(counts(end_of_pushed.account()), counts(end.account()), "{}", capture.display());
        with_user += pass.deferred;
    }
    assert!(with_user > 0);
}
