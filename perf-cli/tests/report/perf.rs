//! The installed perf on our captures.

use std::path::Path;
use std::process::Command;

pub(crate) const TESTS: &[needs::Test] = needs::tests![prints_what_perf_prints];

/// The script prints each difference. Its table of known differences is that of this version.
const VERSION: &str = "perf version 6.1.";

/// All captures take minutes; these have stacks, a group, cgroups and memory accesses.
const CAPTURES: [&str; 4] = [
    "captures/callchain.data",
    "captures/group_read.data",
    "captures/cgroups.data",
    "synthetic/memory.le.data",
];

/// Tracepoints, a whole machine, threads and more accesses, in thorough tests.
const MORE: [&str; 4] =
    ["captures/raw.data", "captures/system_wide.data", "captures/threads.dir", "captures/mem.data"];

fn prints_what_perf_prints() {
    let needed = [&["bash", "--version"][..], &["python3", "--version"]];
    needs::all(&[needs::Need::PERF, needs::Need::Runs(needed[0]), needs::Need::Runs(needed[1])]);
    let output = Command::new("perf").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    if !version.starts_with(VERSION) {
        needs::skip("perf 6.1", &format!("this is {version}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/report.sh");
    let mut check = Command::new("bash");
    check.arg(script).args([env!("CARGO_BIN_EXE_perfdata"), "perf"]);
    let output = check
        .args(CAPTURES.map(crate::path))
        .args(MORE.iter().filter(|_| testdata::is_thorough()).copied().map(crate::path))
        .arg(crate::memory::made())
        .envs([("PERF_CONFIG", "/dev/null"), ("TZ", "UTC")])
        .env("HOME", needs::folder())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let same =
        said.lines().last().and_then(|line| line.strip_prefix("same: ")?.split(',').next()?.parse().ok());
    assert!(same.is_some_and(|same: u32| same > 100), "little was compared: {said}");
}
