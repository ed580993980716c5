//! Compares `perfdata script` with the texts of perf, name by name: of captures that perf's own commands wrote, each with the
//! version that wrote it, and of captures of other projects.
//!
//! `testdata/writers/make.sh` makes captures and texts. Their names come from the captures and from `testdata/writers/files`, so
//! perf is not needed here.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::output::Output;
use crate::{CORPUS, dump};

const WRITERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/writers");

const FIELDS: &str = "comm,tid,time,event,ip,sym,dso";

/// A sample as a line of text and lines of frames, without what differs between versions of perf.
#[derive(Debug, Default, PartialEq, Eq)]
struct PrintedSample {
    heading: String,
    /// The name, its file, and the offset of the address in that file, which perf 6.1 prints.
    frames: Vec<(String, Option<String>)>,
}

/// Returns the samples of a text, each with its frames.
fn samples(text: &str) -> Vec<PrintedSample> {
    let mut samples: Vec<PrintedSample> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words = || line.split_whitespace();
        if line.starts_with('\t') {
            let frame = (words().skip(1).collect::<Vec<_>>().join(" "), words().next().map(str::to_owned));
            samples.last_mut().expect("a frame follows the line of its sample").frames.push(frame);
        } else {
            let heading = words().collect::<Vec<_>>().join(" ");
            samples.push(PrintedSample { heading, ..PrintedSample::default() });
        }
    }
    samples
}

/// Returns what differs between two texts. perf 7.2 prints addresses where perf 6.1 prints offsets, so only `has_offsets`
/// compares them.
fn differences(golden: &str, actual: &str, has_offsets: bool) -> Vec<String> {
    let comparable = |text: &str| {
        let mut samples = samples(text);
        if !has_offsets {
            samples.iter_mut().flat_map(|sample| &mut sample.frames).for_each(|frame| frame.1 = None);
        }
        samples
    };
    let (golden, actual) = (comparable(golden), comparable(actual));
    let pairs = golden.iter().zip(&actual).filter(|(golden, actual)| golden != actual);
    let mut differences: Vec<_> =
        pairs.map(|(golden, actual)| format!("perf: {golden:?}\nperfdata: {actual:?}")).collect();
    if golden.len() != actual.len() {
        differences.push(format!("perf: {} samples, perfdata: {}", golden.len(), actual.len()));
    }
    differences
}

/// Prints a capture with names from the files beside the captures.
fn script(capture: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["script", "--no-inline", "--symfs"]).arg(Path::new(WRITERS).join("files"));
    let output = command.arg(capture).args(options).env("TZ", "UTC").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "of {}: {errors}", capture.display());
    String::from_utf8(output.stdout).unwrap()
}

fn check(capture: &Path, golden: &str, options: &[&str], has_offsets: bool) {
    let differences = differences(golden, &script(capture, options), has_offsets);
    let first = differences.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        differences.is_empty(),
        "{}: {} samples differ, the first:\n{first}",
        capture.display(),
        differences.len()
    );
}

/// Returns the captures of a version of perf, without their ends.
fn captures(version: &str) -> BTreeSet<String> {
    let names = fs::read_dir(Path::new(WRITERS).join(version)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| Some(name.strip_suffix(".data")?.to_owned())).collect()
}

fn path(version: &str, name: &str, end: &str) -> PathBuf {
    Path::new(WRITERS).join(version).join(format!("{name}{end}"))
}

/// Compares the captures with samples of a version of perf.
fn check_version(version: &str, expected: &[&str]) {
    let captures = captures(version);
    assert_eq!(captures.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    for name in captures.iter().filter(|name| *name != "stat") {
        let golden = fs::read_to_string(path(version, name, ".txt")).unwrap();
        let names: BTreeSet<_> = samples(&golden)
            .into_iter()
            .flat_map(|sample| sample.frames)
            .filter_map(|(name, _)| Some(name.split_once(" (")?.0.to_owned()))
            .collect();
        let mut functions = vec!["_start", "begin", "leaf_add", "outer"];
        match &**name {
            "jit" => functions.extend(["jit", "jitted_step_1", "jitted_step_2"]),
            "memory" => functions.push("leaf_touch"),
            _ => {}
        }
        let missing: Vec<_> = functions.iter().filter(|function| !names.contains(**function)).collect();
        assert!(missing.is_empty(), "the text of {version}/{name} lacks {missing:?}: {names:?}");
        let fields = if name == "memory" { format!("addr,{FIELDS}") } else { FIELDS.to_owned() };
        check(&path(version, name, ".data"), &golden, &["-F", &fields], version == "6.1");
    }
}

#[test]
fn captures_of_perf_6_1() {
    check_version("6.1", &["build-ids", "build-ids.pipe", "buildid-all", "jit", "kvm", "memory", "stat"]);
}

#[test]
fn captures_of_perf_7_2() {
    check_version(
        "7.2",
        &[
            "aslr",
            "build-ids",
            "build-ids.pipe",
            "buildid-all",
            "convert-callchain",
            "jit",
            "kvm",
            "memory",
            "mmap2-buildid-all",
            "mmap2-buildids",
            "stat",
        ],
    );
}

/// Each line of the list has the version of perf, the capture, and the options.
#[test]
fn captures_of_other_projects() {
    let list = fs::read_to_string(Path::new(WRITERS).join("foreign.list")).unwrap();
    for line in list.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [version, capture, options @ ..] = &words[..] else { panic!("{line}: a version and a capture") };
        let name = capture.rsplit('/').next().unwrap();
        let file = File::open(Path::new(WRITERS).join("foreign").join(format!("{name}.txt.gz"))).unwrap();
        let mut golden = String::new();
        GzDecoder::new(file).read_to_string(&mut golden).unwrap();
        assert!(!samples(&golden).is_empty(), "{capture}");
        check(&Path::new(CORPUS).join(capture), &golden, options, *version == "6.1");
    }
}

/// Compares the counts of `perf stat record` with the table that it printed.
#[test]
fn counts_of_stat_record() {
    for version in ["6.1", "7.2"] {
        let table = fs::read_to_string(path(version, "stat", ".txt")).unwrap();
        let output = Output::parse(&dump(&path(version, "stat", ".data"))).unwrap();
        let mut compared = 0;
        for attr in output.attrs() {
            let name = attr["name"].as_str().unwrap();
            let ids = attr["ids"].as_array().unwrap();
            let stats = output.records.iter().filter(|record| record.name == "STAT");
            let stats = stats.filter(|record| ids.contains(&record.fields["id"]));
            let count: u64 = stats.map(|record| record.fields["val"].as_u64().unwrap()).sum();
            let row = table.lines().find(|line| line.split_whitespace().any(|word| word == name));
            let row = row.unwrap_or_else(|| panic!("{version}: no {name} in {table}"));
            let printed = row.split_whitespace().next().unwrap().replace(',', "");
            #[expect(clippy::cast_precision_loss, reason = "the table has two decimals of milliseconds")]
            let expected =
                if row.contains(" msec ") { format!("{:.2}", count as f64 / 1e6) } else { count.to_string() };
            assert_eq!(printed, expected, "{version}: {name}");
            compared += 1;
        }
        assert_eq!(compared, 2, "{version}");
    }
}

#[test]
fn a_wrong_name_is_a_difference() {
    const TEXT: &str =
        "a 1 2.000000: e: \n\t  1a1 f (/x)\n\t  20c g (/x)\n\na 1 3.000000: e: \n\t  1a1 f (/x)\n\n";
    assert_eq!(differences(TEXT, TEXT, true), [""; 0]);
    for (from, to) in
        [("g (", "h ("), ("(/x)\n\na", "(/y)\n\na"), ("a 1 2", "b 1 2"), ("\t  20c g (/x)\n", "")]
    {
        assert_eq!(differences(TEXT, &TEXT.replacen(from, to, 1), false).len(), 1, "{from:?} {to:?}");
    }
    let other_address = TEXT.replacen("20c", "20d", 1);
    assert_eq!(differences(TEXT, &other_address, true).len(), 1);
    assert_eq!(differences(TEXT, &other_address, false), [""; 0]);
    let (first, _) = TEXT.split_once("\n\n").unwrap();
    assert_eq!(differences(TEXT, first, true), ["perf: 2 samples, perfdata: 1"]);
}
