//! Wrong arguments, and their errors.

use std::process::Command;

use crate::{CONTENTION, lock, perfdata};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    wrong_values_are_named,
    verbs_of_perf_are_refused_by_name,
    options_of_perf_that_change_nothing_are_accepted,
    captures_without_locks_are_refused,
];

fn wrong_values_are_named() {
    let cases: [(&str, &[&str], &str); 8] = [
        ("contention", &["-Y", "spin"], "--type-filter spin: no such type"),
        ("contention", &["-k", "size"], "size: no such column; use contended"),
        ("contention", &["-F", "contended,size"], "size: no such column"),
        ("contention", &["-t", "-l"], "cannot be used with"),
        ("contention", &["-x", ":"], "--field-separator :"),
        ("contention", &["-x", ""], "--field-separator"),
        ("waits", &["--futexes", "--kernel-locks"], "cannot be used with"),
        ("waits", &["--futexes"], "does not have waits for futexes"),
    ];
    for (verb, args, said) in cases {
        let run = lock(verb, args);
        assert!(run.status == 1 && run.err.contains(said), "{verb} {args:?}: {run:?}");
    }
}

fn verbs_of_perf_are_refused_by_name() {
    for (verb, instead) in [
        ("record", "perfdata record --lock"),
        ("script", "perfdata script"),
        ("report", "perfdata lock contention"),
        ("info", "perfdata lock contention"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_perfdata"))
            .args(["lock", verb, "--option", "x"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(verb) && said.contains(instead), "{said}");
        assert_eq!(output.status.code(), Some(1));
    }
}

fn options_of_perf_that_change_nothing_are_accepted() {
    let plain = lock("contention", &[]).out;
    assert_eq!(lock("con", &["-f", "-M", "1000"]).out, plain);
}

fn captures_without_locks_are_refused() {
    for verb in ["contention", "waits"] {
        let run = perfdata(&["lock", verb], "captures/plain.data", &[]);
        assert!(run.status == 1 && run.err.contains("lock:contention_begin"), "{verb}: {run:?}");
    }
    let run = perfdata(&["fold"], "captures/plain.data", &["--lock-waits"]);
    assert!(run.status == 1 && run.err.contains("lock:contention_begin"), "{run:?}");
    let run = perfdata(&["fold"], CONTENTION, &["--lock-waits", "--event", "futex-wait"]);
    assert!(run.out.is_empty(), "{run:?}");
}
