//! Samples with the same text of a key are one row, for every key, as in perf.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::made::Made;
use crate::{path, report};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    lines_of_a_file_are_one_row,
    every_key_has_a_row_for_each_text,
    every_key_has_the_rows_of_perf,
    branches_have_the_keys_of_their_targets,
    an_address_in_no_mapping_has_the_letter_of_the_sample,
    the_heading_of_given_fields_is_that_of_perf,
];

const PID: i32 = 4_194_000;

/// A capture of a program of one source file, and the folder of its machine.
pub(crate) fn lines() -> (PathBuf, PathBuf) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-symbol/tests/fixtures");
    let root = needs::folder().join("root");
    fs::create_dir_all(&root).unwrap();
    fs::copy(fixtures.join("lines"), root.join("lines")).unwrap();
    // addr2line has six lines of the program's code, which is at 0x2000; 0x2041 is after it.
    let mut made = Made::new().comm(PID, "prog").map(PID, "/lines");
    for ip in [0x2000, 0x2003, 0x2007, 0x200d, 0x2013, 0x2014, 0x2020, 0x2025, 0x2030, 0x203a, 0x2041] {
        made = made.sample(PID, 10, &[ip, 0x2014, 0x202a]).sample(PID, 10, &[ip, 0x202a]);
    }
    (made.comm(PID, "other").sample(PID, 10, &[0x2000]).file("lines.data"), root)
}

/// The numbers of rows by their table and text.
type Rows = BTreeMap<(usize, String), Vec<String>>;

fn rows(out: &str) -> Rows {
    let (mut rows, mut table) = (Rows::new(), 0);
    for line in out.lines() {
        table += usize::from(line.starts_with("# Samples"));
        if let Some((number, text)) = line.split_once(';').filter(|(number, _)| number.contains('%')) {
            rows.entry((table, text.trim().to_owned())).or_default().push(number.trim().to_owned());
        }
    }
    rows
}

const OPTIONS: [&str; 6] = ["--stdio", "--no-inline", "-g", "none", "-t", ";"];

fn lines_of_a_file_are_one_row() {
    let (capture, root) = lines();
    let rows_by = |keys: &str| {
        let args = ["--no-children", "--symfs", root.to_str().unwrap(), "--sort", keys];
        let run = report(capture.to_str().unwrap(), &[&OPTIONS[..], &args].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        rows(&run.out)
    };
    let row = |(text, number): (&str, &str)| ((1, text.to_owned()), vec![number.to_owned()]);
    // 2 of 23 samples are after the code.
    assert_eq!(rows_by("srcfile"), [("", "8.70%"), ("lines.c", "91.30%")].map(row).into());
    let expected = [
        ("lines.c:6", "8.70%"),
        ("lines.c:12", "21.74%"),
        ("lines.c:18", "8.70%"),
        ("lines.c:20", "17.39%"),
        ("lines.c:24", "17.39%"),
        ("lines.c:25", "8.70%"),
        ("lines.c:26", "8.70%"),
        ("lines[1041]", "8.70%"),
    ];
    assert_eq!(rows_by("srcline"), expected.map(row).into());
}

/// Captures, and the options for them.
fn captures() -> Vec<(PathBuf, Vec<String>)> {
    let (capture, root) = lines();
    let symfs = ["--symfs".to_owned(), root.to_str().unwrap().to_owned()];
    let named = |mode: &str| [&[mode.to_owned()], &symfs[..]].concat();
    vec![
        (capture, named("--no-children")),
        (path("captures/raw.data"), named("--no-children")),
        (path("captures/cgroups.data"), named("--no-children")),
        (path("synthetic/branches.le.data"), named("-b")),
        (path("synthetic/script_fields.le.data"), named("-b")),
        (path("synthetic/memory.le.data"), named("--mem-mode")),
        (crate::memory::made(), named("--mem-mode")),
    ]
}

/// Returns the keys that `--sort` takes.
fn keys() -> Vec<String> {
    let run = report("captures/plain.data", &["--sort", "none_of_these"]);
    let (_, keys) = run.err.trim_end().split_once("the keys are ").expect("they are listed");
    let numbers = ["overhead", "sample", "period"];
    let keys = keys.split(' ').filter(|key| !numbers.iter().any(|number| key.starts_with(number)));
    // perf adds a column to keys that are spelled like this one.
    keys.map(|key| key.replace("symbol", "Symbol")).collect()
}

fn every_key_has_a_row_for_each_text() {
    // As in perf, rows of these have other bits, or are of other processes, with the same text.
    const MORE: [&str; 6] = ["blocked", "dcacheline", "locked", "mem", "snoop", "tlb"];
    let captures = captures();
    for key in keys().into_iter().filter(|key| !MORE.contains(&&**key)) {
        let mut most = 0;
        for (capture, options) in &captures {
            let options: Vec<_> = options.iter().map(String::as_str).collect();
            let args = [&OPTIONS[..], &options, &["--sort", &key]].concat();
            let run = report(capture.to_str().unwrap(), &args);
            if run.status != 0 {
                continue;
            }
            let rows = rows(&run.out);
            most = most.max(rows.len());
            for (text, numbers) in rows {
                assert_eq!(numbers.len(), 1, "{key}: {}: {text:?}", capture.display());
            }
        }
        assert!(most > 0, "no capture has rows by {key}");
    }
}

fn every_key_has_the_rows_of_perf() {
    needs::all(&[needs::Need::PERF, needs::Need::Runs(&["addr2line", "--version"])]);
    let mut compared = 0;
    for (capture, options) in captures() {
        // perf finds the debug information of this machine's files without `--symfs` too.
        let has_files = capture.starts_with(path("captures"));
        // perf compares only some of the bits that it prints of memory accesses. Where it does not know whether a branch was
        // mispredicted, it prints the text of the row before.
        let is_left_out =
            |key: &str| ["mem", "mispredict"].contains(&key) || has_files && key.starts_with("src");
        for key in keys().into_iter().filter(|key| !is_left_out(key)) {
            let args =
                [&OPTIONS[..], &options.iter().map(String::as_str).collect::<Vec<_>>(), &["--sort", &key]];
            let args = args.concat();
            let run = report(capture.to_str().unwrap(), &args);
            let mut perf = Command::new("perf");
            perf.args(["report", "--kallsyms", "/dev/null", "-i"]).arg(&capture).args(&args);
            let output = perf.env("PERF_CONFIG", "/dev/null").env("HOME", needs::folder()).output().unwrap();
            if run.status != 0 || !output.status.success() {
                continue;
            }
            let of_perf = rows(&String::from_utf8_lossy(&output.stdout));
            if of_perf.is_empty() {
                continue;
            }
            let ours = rows(&run.out);
            // perf has several rows for some texts of branches.
            assert_eq!(ours.len(), of_perf.len(), "{key}: {}: {ours:?} {of_perf:?}", capture.display());
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// The right values are those of perf.
fn branches_have_the_keys_of_their_targets() {
    let run = report("synthetic/script_fields.le.data", &["--stdio", "-b", "-t", ";", "--sort", "dso"]);
    let row = |dso: &str| ((1, dso.to_owned()), vec!["33.33%".to_owned()]);
    assert_eq!(rows(&run.out), ["[kernel.kallsyms]", "[unknown]", "a program"].map(row).into());
}

/// The right values are those of perf.
fn an_address_in_no_mapping_has_the_letter_of_the_sample() {
    let run = report("synthetic/script_fields.le.data", &["--stdio", "-b", "-t", ";", "--sort", "addr_from"]);
    let rows = rows(&run.out);
    assert_eq!(
        rows.get(&(1, "[.] 0000000000000000".to_owned())),
        Some(&vec!["33.33%".to_owned()]),
        "{rows:?}"
    );
}

/// The right values are those of perf.
fn the_heading_of_given_fields_is_that_of_perf() {
    for (fields, expected) in [
        (&["-F", "overhead,sample,comm"][..], "# Overhead       Samples  Command"),
        (&["-F", "overhead_children,overhead,comm"], "# Children  Overhead  Command"),
        (&["-F", "+sample", "-s", "comm"], "# Children      Self       Samples  Command"),
    ] {
        let run = report("captures/callchain.data", &[&["--stdio", "-g", "none"], fields].concat());
        let heading = run.out.lines().find(|line| line.contains("Command"));
        assert_eq!(heading.map(str::trim_end), Some(expected), "{fields:?}");
    }
}
