//! Properties of the rows of every report.

use crate::{CAPTURES, report};
use serde_json::Value;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    own_shares_add_up_to_all,
    any_number_of_threads_prints_the_same,
    limits_leave_rows_out,
    a_closed_pipe_ends_quietly,
];

const KEYS: [&str; 9] = [
    "comm",
    "dso",
    "sym",
    "comm,dso,sym",
    "tid,cpu",
    "time",
    "srcline",
    "addr,socket",
    "symbol_size,dso_size,ins_lat,transaction",
];

fn own_shares_add_up_to_all() {
    for capture in CAPTURES {
        for keys in KEYS {
            let run = report(
                capture,
                &["--format", "json", "--no-symbols", "--no-group", "--sort", keys, "-g", "none"],
            );
            assert_eq!(run.status, 0, "{capture}: {}", run.err);
            let document: Value = serde_json::from_str(&run.out).unwrap();
            for table in document["tables"].as_array().unwrap() {
                let rows = || table["rows"].as_array().unwrap().iter().map(|row| &row["self"][0]);
                let sum =
                    |name: &str| rows().map(|row| row[name].as_u64().unwrap()).fold(0, u64::wrapping_add);
                let total = &table["totals"][0];
                assert_eq!(sum("samples"), total["samples"].as_u64().unwrap(), "{capture} {keys}");
                assert_eq!(sum("period"), total["period"].as_u64().unwrap(), "{capture} {keys}");
                let percent: f64 = rows().map(|row| row["percent"].as_f64().unwrap()).sum();
                assert!(
                    total["period"] == 0 || (percent - 100.0).abs() < 1e-6,
                    "{capture} {keys}: {percent}"
                );
            }
        }
    }
}

fn any_number_of_threads_prints_the_same() {
    // With the files of this machine, whichever it has.
    for capture in ["captures/callchain.data", "captures/everything.data", "captures/threads.dir"] {
        for args in [&["--sort", "srcline"][..], &["--format", "json"]] {
            let of = |threads: &str| report(capture, &[args, &["--threads", threads]].concat()).out;
            let one = of("1");
            assert!(!one.is_empty() && one == of("3"), "{capture} {args:?}");
        }
    }
}

fn limits_leave_rows_out() {
    let rows = |args: &[&str]| {
        let args = [&["--no-children", "-g", "none", "--no-symbols"], args].concat();
        let out = report("captures/callchain.data", &args).out;
        out.lines().filter(|line| line.starts_with("  ")).count()
    };
    let all = rows(&[]);
    assert_eq!(rows(&["--percent-limit", "0"]), all);
    assert!((1..all).contains(&rows(&["--percent-limit", "2"])));
    assert_eq!(rows(&["--percent-limit", "100"]), 0);
    assert!((1..all).contains(&rows(&["--time", "0%-50%"])));
    assert_eq!(rows(&["--comms", "nobody"]), 0);
}

#[cfg(unix)]
fn a_closed_pipe_ends_quietly() {
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command
        .arg("report")
        .arg(crate::path("captures/callchain.data"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[cfg(not(unix))]
fn a_closed_pipe_ends_quietly() {
    needs::skip("a unix", "pipes end otherwise here");
}
