//! The first examples of perf-profile and perf-export on every capture of `testdata`: their results are those of `perfdata`.

mod report;
mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use perf_export::fold;
use perf_parse::Reader;
use perf_profile::{ProfileError, SampleTotal, Samples, Selection, Symbols, event_name};

/// Runs `perfdata fold` without the files of this machine. Returns its output; `None` if it refuses the capture.
fn folded(capture: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(["fold", "--symfs", "/nonexistent"]).args(args).arg(capture).output().unwrap();
    (output.status.code() != Some(1)).then(|| String::from_utf8(output.stdout).unwrap())
}

/// Symbols without the files of this machine.
fn symbols(reader: &Reader<'_>) -> Symbols {
    let mut options = perf_symbol::SymbolOptions::default();
    options.symfs = Some("/nonexistent".into());
    Symbols::new(reader.features(), options)
}

/// The captures that can be opened by path, which are all but folders.
fn captures() -> impl Iterator<Item = PathBuf> {
    testdata::captures().into_iter().filter(|path| path.is_file())
}

/// The first example of perf-export, with so many threads.
fn example(capture: &Path, time: &str, threads: usize) -> Result<String, ProfileError> {
    let reader = Reader::open(capture).unwrap();
    let symbols = symbols(&reader);
    let selection = Selection { time: time.parse()?, ..Selection::default() };
    let profile = Samples::of(&reader).select(selection).threads(threads).profile(&symbols, &mut ())?;
    let mut out = Vec::new();
    fold::write(&[profile], &fold::Options::default(), &mut out).unwrap();
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn profiles_are_those_of_the_program() {
    let mut compared = 0;
    for capture in captures() {
        let Some(all) = folded(&capture, &[]) else { continue };
        for threads in [1, 4] {
            let example = example(&capture, "0,", threads).unwrap();
            assert_eq!(example, all, "{} on {threads} threads", capture.display());
        }
        match (folded(&capture, &["--time", "10%-20%"]), example(&capture, "10%-20%", 4)) {
            (Some(part), example) => assert_eq!(example.unwrap(), part, "{}", capture.display()),
            (None, example) => assert!(example.is_err(), "{}", capture.display()),
        }
        compared += usize::from(!all.is_empty());
    }
    assert!(compared > 20, "{compared}");
}

/// The name of the thread and the number of frames, with the period.
type Depths = BTreeMap<(String, usize), u64>;

/// The samples of the events with the name of the first one as `perfdata fold` counts them, from those one by one.
fn depths_of_samples(capture: &Path) -> Depths {
    let reader = Reader::open(capture).unwrap();
    let (mut depths, mut first) = (Depths::new(), None);
    for sample in Samples::of(&reader).named(&symbols(&reader)) {
        // What the program reports, too.
        let Ok(sample) = sample else { continue };
        let name = event_name(sample.event());
        if *first.get_or_insert_with(|| name.clone()) != name {
            continue;
        }
        let comm = String::from_utf8_lossy(sample.thread().comm()).replace(' ', "_");
        let total = SampleTotal { samples: 1, period: sample.period() };
        let weight = fold::Options::default().weight.of_total(total, sample.event());
        *depths.entry((comm, sample.stack().len())).or_default() += weight;
    }
    depths
}

#[test]
fn samples_are_those_of_the_program() {
    let mut compared = 0;
    for capture in captures() {
        let Some(folded) = folded(&capture, &[]) else { continue };
        let mut depths = Depths::new();
        for line in folded.lines() {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            let mut frames = stack.split(';');
            let comm = frames.next().unwrap().to_owned();
            *depths.entry((comm, frames.count())).or_default() += weight.parse::<u64>().unwrap();
        }
        assert_eq!(depths_of_samples(&capture), depths, "{}", capture.display());
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}
