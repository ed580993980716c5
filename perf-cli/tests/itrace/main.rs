//! `--itrace` of the verbs: samples of Intel PT and Arm SPE.
//!
//! Those of Intel PT are held against `perf script --itrace` of the perf in the path, or of the one that the variable `SPE_PERF`
//! names. perf has the addresses of more events, and samples of changes of the interrupt flag.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use testdata::arm_spe::{Capture, RandomPackets};
use testdata::intel_pt::{self, WITHOUT_BRANCHES};

const TESTS: &[needs::Test] = needs::tests![
    intel_pt_as_perf_prints_it,
    a_recorded_trace_as_perf_prints_it,
    intel_pt_in_each_verb,
    arm_spe_in_each_verb,
    letters_without_effect,
    captures_without_samples,
];

fn main() -> ExitCode {
    needs::run(&[TESTS])
}

fn perfdata(args: &[&str], path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(args).arg(path).env("HOME", needs::home()).output().unwrap()
}

/// Returns the standard output and the standard error of a run without a failure.
fn texts(args: &[&str], path: &Path) -> (String, String) {
    let output = perfdata(args, path);
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {said}");
    (out.into_owned(), said.into_owned())
}

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = needs::folder().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn pt_capture(seed: u64, count: usize) -> PathBuf {
    written("pt.data", &intel_pt::capture(WITHOUT_BRANCHES, &[intel_pt::events(seed, count)]))
}

const FIELDS: [&str; 4] = ["--itrace=pwIe", "--ns", "-F", "time,event,ip,synth"];

/// Returns what perf prints of a capture; skips the test if this perf cannot decode it.
fn perf(path: &Path) -> String {
    needs::all(&[needs::Need::PERF]);
    let program = std::env::var_os("SPE_PERF").unwrap_or_else(|| OsString::from("perf"));
    let mut perf = Command::new(program);
    perf.arg("script").args(FIELDS).arg("-i").arg(path).env("HOME", needs::home());
    let ended =
        perf.envs([("LC_ALL", "C"), ("PERF_CONFIG", "/dev/null"), ("PERF_PAGER", "cat")]).output().unwrap();
    if !ended.status.success() || ended.stdout.is_empty() {
        needs::skip("perf-intel-pt", &String::from_utf8_lossy(&ended.stderr));
    }
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// A line of the script: its words, without the address.
#[derive(Debug, PartialEq)]
struct Line {
    words: Vec<String>,
    /// `None` for 0, and of an error, whose address perf alone has.
    ip: Option<String>,
}

/// Returns the lines of samples and errors of the trace, but for those of the walk of instructions and of the interrupt flag.
fn lines(script: &str) -> Vec<Line> {
    // perf 6.1 has no names of these.
    let script = script.replace("cfe: 12 ", "cfe: UINTR ").replace("cfe: 13 ", "cfe: UIRET ");
    let of_trace = |line: &&str| {
        let is_of_walk = line.contains(" instruction trace error ")
            && !line.ends_with("code 7: Overflow packet")
            && !line.ends_with("code 3: Bad packet");
        !is_of_walk && !line.contains(" iflag: ")
    };
    let line = |line: &str| {
        let mut words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let is_error = line.starts_with(" instruction trace error");
        let ip = match words.iter().position(|word| word == "ip").filter(|_| is_error) {
            Some(at) => {
                words.remove(at + 1);
                None
            }
            None => words.pop().filter(|ip| ip != "0"),
        };
        Line { words, ip }
    };
    script.lines().filter(of_trace).map(line).collect()
}

fn intel_pt_as_perf_prints_it() {
    for seed in [42, 43] {
        let path = pt_capture(seed, 300);
        let ours = texts(&[&["script"][..], &FIELDS, &["-i"]].concat(), &path).0;
        let (ours, theirs) = (lines(&ours), lines(&perf(&path)));
        assert!(ours.len() > 300, "{}", ours.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours.words, theirs.words);
            assert!(ours.ip.is_none() || ours.ip == theirs.ip, "{ours:?} {theirs:?}");
        }
        assert_eq!(ours.len(), theirs.len());
    }
}

/// quipper's capture of a whole program. Its binaries are not here, so that perf loses what comes after a branch, up to the next
/// address that the trace has: of what it prints, nothing is missing here.
fn a_recorded_trace_as_perf_prints_it() {
    let path = testdata::path("../foreign/quipper/perf.data.intel_pt-4.14");
    if !path.exists() {
        needs::skip("quipper", "perf.data.intel_pt-4.14 is not there");
    }
    let (ours, _) = texts(&[&["script"][..], &FIELDS, &["-i"]].concat(), &path);
    let without_times = |lines: Vec<Line>| -> Vec<String> {
        lines.into_iter().map(|line| line.words.get(1..).unwrap_or_default().join(" ")).collect()
    };
    let (ours, theirs) = (without_times(lines(&ours)), without_times(lines(&perf(&path))));
    let of = |lines: &[String], name: &str| -> Vec<String> {
        lines.iter().filter(|line| line.starts_with(name)).cloned().collect()
    };
    assert!(!theirs.is_empty());
    for name in ["psb:", "ptwrite:", "mwait:", "pwre:", "exstop:", "pwrx:"] {
        assert_eq!(of(&ours, name), of(&theirs, name), "{name}");
    }
}

fn intel_pt_in_each_verb() {
    let path = pt_capture(1, 100);
    // By default, none are made.
    assert_eq!(texts(&["script"], &path).0, "");
    let (script, _) = texts(&["script", "--itrace=w"], &path);
    let writes = script.lines().count();
    assert!(writes > 5 && script.lines().all(|line| line.contains(" ptwrite:  IP: ")), "{script}");
    let (jsonl, _) = texts(&["script", "--itrace=w", "--format", "jsonl"], &path);
    assert_eq!(jsonl.matches(r#""synth":"IP: "#).count(), writes, "{jsonl}");
    let (report, _) = texts(&["report", "--stdio", "--itrace=pw"], &path);
    assert!(report.contains("of event 'ptwrite'") && report.contains("of event 'pwrx'"), "{report}");
    let (folded, _) = texts(&["fold", "--itrace=w"], &path);
    let total: usize = folded.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok()).sum();
    assert_eq!(total, writes, "{folded}");
    // The edited capture has the samples in place of the trace.
    let edited = needs::folder().join("edited.data");
    texts(&["edit", "--itrace=w", "-o", edited.to_str().unwrap()], &path);
    assert_eq!(texts(&["script"], &edited).0, script);
    // The letters of all kinds.
    let all = texts(&["script", "--itrace", "--ns"], &path).0;
    assert_eq!(all, texts(&["script", "--itrace=pwIe", "--ns"], &path).0);
    // Without times.
    let timeless = texts(&["script", "--itrace=wZ"], &path).0;
    assert_eq!(timeless.lines().count(), writes);
    assert!(!timeless.contains("34.2"), "{timeless}");
}

fn arm_spe_in_each_verb() {
    let capture = Capture { data: RandomPackets::new(3).records(200).out, ..Capture::default() };
    let path = written("spe.data", &capture.build());
    let branches = |args: &[&str]| {
        let output = perfdata(args, &path);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let script = branches(&["script", "--itrace=b"]);
    let count = script.lines().count();
    assert!(count > 5 && script.lines().all(|line| line.contains(" branch:")), "{script}");
    assert!(branches(&["report", "--stdio", "--itrace=b"]).contains("of event 'branch'"));
    let folded = branches(&["fold", "--itrace=b"]);
    let total: usize = folded.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok()).sum();
    assert_eq!(total, count, "{folded}");
    let edited = needs::folder().join("edited.data");
    perfdata(&["edit", "--itrace=b", "-o", edited.to_str().unwrap()], &path);
    assert_eq!(texts(&["script"], &edited).0, script);
    assert_eq!(branches(&["script", "--no-itrace"]), "");
}

fn letters_without_effect() {
    let pt = pt_capture(2, 20);
    let (out, said) = texts(&["script", "--itrace=i1ib"], &pt);
    assert_eq!(out, "");
    assert_eq!(
        said.lines().filter(|line| line.starts_with("perfdata: --itrace=bi: of Intel PT")).count(),
        1,
        "{said}"
    );
    for verb in ["report", "fold", "script"] {
        let output = perfdata(&[verb, "--itrace=bw"], &pt);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("perfdata: --itrace=b: of Intel PT"), "{verb}: {said}");
    }
    let (_, said) = texts(&["script", "--itrace=pwIe"], &pt);
    assert!(!said.contains("--itrace"), "{said}");

    let capture = Capture { data: RandomPackets::new(3).records(20).out, ..Capture::default() };
    let spe = written("spe.data", &capture.build());
    let said = perfdata(&["script", "--itrace=pb"], &spe).stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("perfdata: --itrace=p: of Arm SPE these letters have no effect"), "{said}");
    let output = perfdata(&["script", "--itrace=k"], &spe);
    assert!(!output.status.success());
}

fn captures_without_samples() {
    // A tracer of which no samples are made, and no tracer.
    let bytes = testdata::Bytes::new(false).u32(3).u32(0).u64s(&[0, 0]).record(70, 0);
    let attr = perf_abi::attr::Attr::default();
    let other = testdata::file::Builder::new(false).event(attr, &[]).data(bytes).build().bytes;
    let said = perfdata(&["script", "--itrace=b"], &written("other.data", &other)).stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("perfdata: --itrace: samples are made of ARM_SPE and INTEL_PT"), "{said}");
    let plain = testdata::file::Builder::new(false).event(attr, &[]).build().bytes;
    let said = perfdata(&["script", "--itrace=b"], &written("plain.data", &plain)).stderr;
    assert!(!String::from_utf8_lossy(&said).contains("--itrace"));
}
