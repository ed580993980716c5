//! The programs in `examples` run: on a capture, and on a command of this machine.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    const LIVE: &[needs::Test] = needs::tests![Events: live];
    #[cfg(not(target_os = "linux"))]
    const LIVE: &[needs::Test] = &[];
    needs::run(&[needs::tests![by_file], LIVE])
}

/// A test of perf-cli expects the same of `by_file.py`.
fn by_file() {
    let expected = "       1 perf-exec [kernel.kallsyms]
       1 swapper [kernel.kallsyms]
       1 workload /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
       5 workload [kernel.kallsyms]
";
    assert_eq!(needs::example("by_file", &[testdata::path("system_wide.data")]), expected);
}

/// A shell that counts runs in its own file and in libraries; it has no other mappings that are executable.
#[cfg(target_os = "linux")]
fn live() {
    let program = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
    let printed = needs::example("live", &["sh", "-c", program]);
    let frames = |file: &str| {
        let lines = printed.lines().filter_map(|line| line.trim_start().split_once(" frames in "));
        lines
            .filter(|(_, name)| name.contains(file))
            .map(|(frames, _)| frames.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    assert!(frames(shell.to_str().unwrap()) > 10, "{}: {printed}", shell.display());
}
