//! The samples of Arm SPE are those of `perf inject --itrace`: `perf script` prints the same of both results.
//!
//! `perf` is the one in the path, or the one that the variable `SPE_PERF` names. perf 6.1 makes some samples otherwise than 7.2,
//! so that fewer fields and kinds of samples are compared; another version is taken for 7.2.

mod capture;

use std::ffi::OsString;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, ExitCode};

use capture::Capture;
use perf_parse::Reader;
use perf_profile::edit::{ItraceOptions, TraceAccount, TraceSamples};

const TESTS: &[needs::Test] =
    needs::tests![PERF: without_times, by_times, by_switches, of_each_letter, periods, branch_stacks];

fn main() -> ExitCode {
    needs::run(&[TESTS])
}

/// The perf tool.
struct Perf {
    program: OsString,
    is_6_1: bool,
}

impl Perf {
    fn new() -> Self {
        let program = std::env::var_os("SPE_PERF").unwrap_or_else(|| "perf".into());
        let output = Command::new(&program).arg("--version").output().expect("perf runs");
        let version = String::from_utf8(output.stdout).expect("a version is text");
        Self { program, is_6_1: version.starts_with("perf version 6.1") }
    }

    /// Skips a test of what perf 6.1 does otherwise.
    fn needs_7_2(&self, name: &str) {
        if self.is_6_1 {
            needs::skip(name, "samples of perf 7.2 are compared, and this is perf 6.1");
        }
    }

    fn run(&self, args: &[&str], paths: &[&Path]) -> String {
        let output = Command::new(&self.program)
            .args(args)
            .args(paths)
            .env("PERF_CONFIG", "/dev/null")
            .env("LC_ALL", "C")
            .output()
            .expect("perf runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("perf prints text")
    }

    /// Asserts that perf prints the same of its samples and of ours. Returns what ours were made of.
    fn compare(&self, capture: &Capture, letters: &str, fields: &str) -> TraceAccount {
        let folder = needs::folder();
        let path = |name: &str| folder.join(name);
        let bytes = capture.bytes();
        fs::write(path("perf.data"), &bytes).expect("the folder can be written");
        let inject = format!("--itrace={letters}");
        let (given, theirs, ours) = (path("perf.data"), path("theirs.data"), path("ours.data"));
        self.run(&["inject", &inject, "-i"], &[&given, Path::new("-o"), &theirs]);

        let reader = Reader::new(&bytes).expect("a capture");
        let options: ItraceOptions = letters.parse().expect("letters of perf");
        let samples =
            TraceSamples::of(&reader, &options).expect("samples can be made").expect("the capture has SPE");
        let (edited, account) =
            samples.write_file(&reader, Cursor::new(Vec::new()), |_| {}).expect("memory can be written");
        assert!(edited.account.is_clean());
        fs::write(&ours, edited.out.into_inner()).expect("the folder can be written");

        let printed =
            |path: &Path| self.run(&["script", "--ns", "--show-task-events", "-F", fields, "-i"], &[path]);
        let (theirs, ours) = (printed(&theirs), printed(&ours));
        for (index, (theirs, ours)) in theirs.lines().zip(ours.lines()).enumerate() {
            assert_eq!(theirs, ours, "line {index}, --itrace={letters}");
        }
        assert_eq!(theirs.lines().count(), ours.lines().count(), "--itrace={letters}");
        assert!(account.samples > 0 && theirs.lines().count() as u64 > account.samples, "--itrace={letters}");
        account
    }
}

/// The letters of samples that all perfs make alike, and the fields that have the same content.
const OLD_LETTERS: &str = "fmtaM";
const OLD: &str = "comm,pid,tid,cpu,event,ip,addr,weight,phys_addr";
const OLD_TIMED: &str = "comm,pid,tid,cpu,time,event,ip,addr,weight,phys_addr";
const ALL: &str = "comm,pid,tid,cpu,event,ip,addr,data_src,weight,phys_addr,period";
const ALL_TIMED: &str = "comm,pid,tid,cpu,time,event,ip,addr,data_src,weight,phys_addr,period";

impl Perf {
    fn letters(&self) -> &'static str {
        if self.is_6_1 { OLD_LETTERS } else { "i1ibfmtaM" }
    }

    fn fields(&self, is_timed: bool) -> &'static str {
        match (self.is_6_1, is_timed) {
            (true, true) => OLD_TIMED,
            (true, false) => OLD,
            (false, true) => ALL_TIMED,
            (false, false) => ALL,
        }
    }
}

/// Samples without times come after all records, area by area.
fn without_times() {
    let perf = Perf::new();
    let capture = Capture { areas: 2, records: 300, ..Capture::default() };
    let account = perf.compare(&capture, perf.letters(), perf.fields(false));
    assert_eq!((account.records, account.damaged), (600, 0));
}

/// Samples are among the other records by their times, of the threads and names that these have by then.
fn by_times() {
    let perf = Perf::new();
    for areas in [1, 3] {
        let capture =
            Capture { is_timed: true, has_contexts: true, areas, records: 300, ..Capture::default() };
        perf.compare(&capture, perf.letters(), perf.fields(true));
    }
}

/// Without contexts in the trace, samples are of the threads that the records of context switches put on the CPU.
fn by_switches() {
    let perf = Perf::new();
    for has_switches in [false, true] {
        let capture = Capture { is_timed: true, has_switches, areas: 2, records: 300, ..Capture::default() };
        perf.compare(&capture, perf.letters(), perf.fields(true));
    }
}

fn of_each_letter() {
    let perf = Perf::new();
    let letters = if perf.is_6_1 { OLD_LETTERS } else { "fmtaMbcr" };
    let capture = Capture { areas: 1, records: 100, ..Capture::default() };
    for letter in letters.chars() {
        perf.compare(&capture, &letter.to_string(), perf.fields(false));
    }
}

fn periods() {
    let perf = Perf::new();
    perf.needs_7_2("periods");
    let capture = Capture { is_timed: true, areas: 2, records: 200, ..Capture::default() };
    for letters in ["i1i", "i2iM", "M,i7i, b", "y3ibt"] {
        perf.compare(&capture, letters, perf.fields(true));
    }
}

fn branch_stacks() {
    let perf = Perf::new();
    perf.needs_7_2("branch_stacks");
    let capture = Capture { is_timed: true, areas: 2, records: 200, ..Capture::default() };
    for letters in ["i1i,b,M,l,t", "bl1", "bl2", "i1il", "bMal64"] {
        perf.compare(&capture, letters, "event,time,ip,addr,brstack");
    }
}
