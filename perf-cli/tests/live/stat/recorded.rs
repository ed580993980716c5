//! `perfdata stat record` and `perfdata stat report`, and perf on their captures.

use std::fs::File;
use std::path::Path;

use super::*;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    what_was_counted_is_reported,
    intervals_are_reported,
    a_stream_is_reported,
    perf_reports_the_same,
    perf_reports_the_same_of_each_cpu,
    what_perf_recorded_is_reported,
    captures_without_counts,
];

/// Runs a program in a folder. Returns its standard error, where the counts are.
fn counts(program: &str, folder: &Path, args: &[&str]) -> String {
    let output = Command::new(program).arg("stat").args(args).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}: {text}");
    text
}

fn ours(folder: &Path, args: &[&str]) -> String {
    counts(env!("CARGO_BIN_EXE_perfdata"), folder, args)
}

/// Returns the words of each line that has a count, without commas, comments and times.
fn words(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().replace(',', ""));
    let lines = lines.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    lines.filter(|line| line.last().is_some_and(|name| EVENTS.contains(&&**name))).collect()
}

const EVENTS: [&str; 5] = ["page-faults", "page-faults:u", "task-clock", "task-clock:u", "no-such:u"];
const LIST: &str = "page-faults,task-clock";

fn what_was_counted_is_reported() {
    let folder = needs::folder();
    let counted = ours(&folder, &["record", "-e", LIST, "--", "ls"]);
    let reported = ours(&folder, &["report"]);
    assert_eq!(words(&counted), words(&reported), "{counted} {reported}");
    assert_eq!(words(&counted).len(), 2);
    assert!(reported.contains("stat record -e page-faults,task-clock -- ls'"), "{reported}");
    let lines = objects(&ours(&folder, &["report", "--json", "-i", "perf.data"]));
    assert_eq!((lines.len(), lines[1]["unit"].as_str()), (2, Some("msec")));
    // To another file, without a report.
    assert_eq!(ours(&folder, &["record", "--quiet", "-o", "other", "-e", LIST, "--", "ls"]), "");
    assert_eq!(words(&ours(&folder, &["report", "other"])).len(), 2);
}

fn intervals_are_reported() {
    let folder = needs::folder();
    let args =
        ["record", "-I", "50", "-e", LIST, "--", "sh", "-c", "ls >/dev/null; sleep 0.12; ls >/dev/null"];
    let (counted, reported) = (ours(&folder, &args), ours(&folder, &["report"]));
    assert!(words(&counted).len() >= 4, "{counted}");
    assert_eq!(words(&counted), words(&reported), "{counted} {reported}");
}

/// Runs a script of `sh` in which PERFDATA is this program.
fn script(folder: &Path, text: &str) -> String {
    let text = text.replace("PERFDATA", env!("CARGO_BIN_EXE_perfdata"));
    let output = Command::new("sh").current_dir(folder).args(["-c", &text]).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

fn a_stream_is_reported() {
    let text =
        script(&needs::folder(), "PERFDATA stat record -o - -e page-faults true | PERFDATA stat report");
    assert_eq!(words(&text).len(), 1, "{text}");
}

fn perf_reports_the_same() {
    needs::all(&[needs::Need::PERF]);
    let folder = needs::folder();
    for args in
        [&["record", "-e", LIST, "--", "ls"][..], &["record", "-I", "50", "-e", LIST, "--", "sleep", "0.1"]]
    {
        ours(&folder, args);
        let (by_perf, by_us) = (counts("perf", &folder, &["report"]), ours(&folder, &["report"]));
        assert_eq!(words(&by_perf), words(&by_us), "{by_perf} {by_us}");
    }
    let text = script(&folder, "PERFDATA stat record -o - -e page-faults true | perf stat report -i -");
    assert_eq!(words(&text).len(), 1, "{text}");
}

/// Without sysfs, perf does not know the CPUs, and leaves their names out.
fn perf_reports_the_same_of_each_cpu() {
    needs::all(&[needs::Need::PERF, needs::Need::CpuEvents, needs::Need::KernelEvents, needs::Need::Sysfs]);
    let folder = needs::folder();
    ours(&folder, &["record", "-a", "-A", "-e", LIST, "--", "sleep", "0.1"]);
    let (by_perf, by_us) = (counts("perf", &folder, &["report"]), ours(&folder, &["report"]));
    assert_eq!(words(&by_perf), words(&by_us), "{by_perf} {by_us}");
    assert!(by_us.contains("CPU0"), "{by_us}");
}

fn what_perf_recorded_is_reported() {
    needs::all(&[needs::Need::PERF]);
    let folder = needs::folder();
    for args in [
        &["record", "-o", "perf.data", "-e", LIST, "--", "ls"][..],
        &["record", "-o", "perf.data", "-I", "50", "-e", LIST, "--", "sleep", "0.12"],
    ] {
        counts("perf", &folder, args);
        let (by_perf, by_us) = (counts("perf", &folder, &["report"]), ours(&folder, &["report"]));
        assert_eq!(words(&by_perf), words(&by_us), "{by_perf} {by_us}");
        assert!(words(&by_us).len() >= 2, "{by_us}");
    }
}

fn captures_without_counts() {
    let folder = needs::folder();
    std::fs::write(folder.join("kept"), "kept").unwrap();
    let path = folder.join("kept");
    let run = stat(["record", "-e", "cs:u", "-o", path.to_str().unwrap(), "--", "./no-such-command"]);
    assert!(run.status == 1 && std::fs::read(&path).unwrap() == b"kept", "{run:?}");
    File::create(folder.join("empty")).unwrap();
    let recorded = Command::new(env!("CARGO_BIN_EXE_perfdata"))
        .current_dir(&folder)
        .args(["record", "-q", "-e", "page-faults:u", "--", "true"])
        .status()
        .unwrap();
    assert!(recorded.success());
    for (name, why) in [("empty", "empty"), ("perf.data", "there are no counts"), ("none", "none")] {
        let path = folder.join(name);
        let run = stat(["report", path.to_str().unwrap()]);
        assert!(run.status == 1 && run.err.contains(why), "{run:?}");
    }
}
