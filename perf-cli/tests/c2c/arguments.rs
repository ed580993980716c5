//! Wrong arguments, and their errors.

use std::process::Command;

use crate::{ACCESSES, c2c};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    wrong_values_are_named,
    record_is_refused_by_name,
    options_of_perf_that_change_nothing_are_accepted,
    captures_without_sources_are_refused,
];

fn wrong_values_are_named() {
    let cases: [(&[&str], &str); 4] = [
        (&["-c", "iaddr,offset"], "offset: no such key; use pid, tid, iaddr or dso"),
        (&["-d", "total"], "invalid value 'total'"),
        (&["-g=graph,sideways"], "sideways"),
        (&["--perf-version", "5.0"], "invalid value '5.0'"),
    ];
    for (args, said) in cases {
        let run = c2c(ACCESSES, args);
        assert!(run.status == 1 && run.err.contains(said), "{args:?}: {run:?}");
    }
}

fn record_is_refused_by_name() {
    let args = ["c2c", "record", "-a", "--", "sleep", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_perfdata")).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("record") && said.contains("use perf c2c record"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

fn options_of_perf_that_change_nothing_are_accepted() {
    let plain = c2c(ACCESSES, &[]).out;
    let silent = ["--stdio", "-f", "-v", "--stitch-lbr", "-M", "intel", "--objdump", "x", "-g", "none"];
    assert_eq!(c2c(ACCESSES, &silent).out, plain);
}

fn captures_without_sources_are_refused() {
    let run = c2c("captures/plain.data", &[]);
    assert!(run.status == 1 && run.err.contains("perf c2c record"), "{run:?}");
}
