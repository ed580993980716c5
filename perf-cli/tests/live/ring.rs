//! The installed perf reads the output of `perfdata ring -o`, and finds the same number of samples.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![forward_wrapped, forward_lost, backward_part, backward_full, several,];

/// Runs a command that must succeed. Returns its output.
fn lines(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

fn perf_finds_as_many_samples(rings: &[&str], attr: &str) {
    needs::all(&[needs::Need::PERF]);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/rings");
    let file = needs::folder().join("perf.data");
    let perfdata = || Command::new(env!("CARGO_BIN_EXE_perfdata"));
    lines(perfdata().current_dir(recorded).arg("ring").args(rings).args(["--attr", attr, "-o"]).arg(&file));
    let ours = lines(perfdata().args(["dump", "--type", "SAMPLE", "--fields", "time"]).arg(&file));
    let perfs = lines(Command::new("perf").args(["script", "-F", "time", "-G", "-i"]).arg(&file));
    assert!(!perfs.is_empty());
    assert_eq!(perfs.len(), ours.len());
}

fn forward_wrapped() {
    perf_finds_as_many_samples(&["forward-wrapped.ring"], "forward-wrapped.attr");
}

fn forward_lost() {
    perf_finds_as_many_samples(&["forward-lost.ring"], "forward-lost.attr");
}

fn backward_part() {
    perf_finds_as_many_samples(&["backward-part.ring"], "backward-part.attr");
}

fn backward_full() {
    perf_finds_as_many_samples(&["backward-full.ring"], "backward-full.attr");
}

fn several() {
    perf_finds_as_many_samples(&["pair-0.ring", "pair-1.ring"], "pair.attr.data");
}
