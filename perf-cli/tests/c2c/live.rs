//! Captures that are made for the test: `perfdata c2c` against the installed perf.

use std::path::Path;
use std::process::Command;

use testdata::c2c::{self, Recording};

pub(crate) const TESTS: &[needs::Test] = needs::tests![perf_prints_the_same];

fn text(program: &str, capture: &Path, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(["c2c", "report", "--stdio", "-i"]).arg(capture).args(args);
    command.env("PERF_CONFIG", "/dev/null").env("PERF_PAGER", "cat").env("PAGER", "cat").env("LC_ALL", "C");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn compare(perf: &str, version: &str) {
    let recording = Recording {
        program: "",
        seed: 0,
        count: 300,
        arch: "x86_64",
        has_physical: true,
        has_chains: false,
        has_kernel: false,
        is_wild: false,
        is_every: false,
    };
    let cases: [(Recording<'_>, &[&str]); 6] = [
        (Recording { seed: 21, ..recording }, &[]),
        (Recording { seed: 22, is_wild: true, ..recording }, &["-d", "rmt", "-c", "tid,dso", "-N"]),
        (Recording { seed: 23, arch: "aarch64", ..recording }, &["--full-symbols", "-NN"]),
        (Recording { seed: 24, has_physical: false, ..recording }, &["--show-all", "-c", "pid,iaddr"]),
        (Recording { seed: 25, has_chains: true, ..recording }, &[]),
        (Recording { seed: 26, has_chains: true, ..recording }, &["-g", "fractal,0.5,caller", "-c", "tid"]),
    ];
    for (recording, args) in cases {
        c2c::write(&needs::folder(), recording);
        let capture = needs::folder().join("perf.data");
        let theirs = text(perf, &capture, args);
        let ours =
            text(env!("CARGO_BIN_EXE_perfdata"), &capture, &[args, &["--perf-version", version]].concat());
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "{version}: {recording:?}");
        }
        assert_eq!(ours, theirs, "{version}: {recording:?}");
    }
}

fn perf_prints_the_same() {
    needs::all(&[needs::Need::PERF]);
    let version = Command::new("perf").arg("--version").output().unwrap().stdout;
    let version = String::from_utf8_lossy(&version).into_owned();
    compare("perf", if version.contains(" 6.1.") { "6.1" } else { "7.2" });
    let newer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/packages/perf");
    if newer.exists() {
        compare(newer.to_str().unwrap(), "7.2");
    }
}
