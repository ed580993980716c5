//! The installed perf on our captures.

use std::path::Path;
use std::process::Command;

pub(crate) const TESTS: &[needs::Test] = needs::tests![prints_what_perf_prints, function_pointers_as_perf];

/// The script prints each difference. Its table of known differences is that of this version.
const VERSION: &str = "perf version 6.1.";

/// All captures take a minute. These have stacks, guessed and inlined frames, groups, tracepoints, processes, cgroups, branches,
/// registers, memory accesses, a pipe, compressed records, the other byte order, and no end.
const CAPTURES: [&str; 16] = [
    "captures/callchain.data",
    "captures/group_read.data",
    "captures/raw.data",
    "captures/tasks.data",
    "captures/cgroups.data",
    "captures/mem.data",
    "captures/switch.data",
    "captures/tracing.pipe.data",
    "captures/touch.zstd.data",
    "captures/killed.data",
    "captures/threads.dir",
    "synthetic/branches.le.data",
    "synthetic/registers.be.data",
    "synthetic/records.be.data",
    "synthetic/memory.le.data",
    "synthetic/deferred.le.data",
];

fn prints_what_perf_prints() {
    needs::all(&[needs::Need::PERF, needs::Need::Runs(&["bash", "--version"])]);
    let output = Command::new("perf").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    if !version.starts_with(VERSION) {
        needs::skip("perf 6.1", &format!("this is {version}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/script.sh");
    let mut check = Command::new("bash");
    check.arg(script).args([env!("CARGO_BIN_EXE_perfdata"), "perf"]);
    if !testdata::is_thorough() {
        let root = testdata::path("").parent().unwrap().to_path_buf();
        check.args(CAPTURES.map(|name| root.join(name)));
    }
    let output = check
        .envs([("PERF_CONFIG", "/dev/null"), ("TZ", "UTC")])
        .env("HOME", needs::folder())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("same: 0,"), "nothing was compared: {said}");
}

/// The text of kmem:kmalloc has `%pS`.
fn function_pointers_as_perf() {
    needs::all(&[needs::Need::PERF, needs::Need::Tracepoints, needs::Need::CpuEvents]);
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let output =
            command.args(args).current_dir(needs::folder()).env("PERF_CONFIG", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{program} {args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run("perf", &["record", "-q", "-a", "-e", "kmem:kmalloc", "-o", "kmalloc.data", "--", "ls", "/"]);
    let args = ["script", "-F", "trace", "-i", "kmalloc.data"];
    let (ours, perfs) = (run(env!("CARGO_BIN_EXE_perfdata"), &args), run("perf", &args));
    assert!(perfs.contains("call_site=") && perfs.contains("+0x"), "{perfs}");
    assert_eq!(ours, perfs);
}
