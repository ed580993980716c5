//! The pager: on a terminal alone, as the user wants it.

use std::process::Command;

pub(crate) const TESTS: &[needs::Test] = needs::tests![a_terminal_has_a_pager, other_outputs_have_none];

/// Runs a command line of the shell on a terminal of its own, and returns what is on it.
fn on_a_terminal(line: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]).current_dir(needs::folder());
    for name in ["PERFDATA_PAGER", "PERF_PAGER", "PAGER"] {
        command.env_remove(name);
    }
    let output = command.env("TERM", "xterm").envs(variables.iter().copied()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

fn a_terminal_has_a_pager() {
    needs::all(&[needs::Need::Runs(&["script", "--version"])]);
    let capture = testdata::path("plain.data");
    let line = |options: &str| {
        format!("'{}' info '{}' {options}", env!("CARGO_BIN_EXE_perfdata"), capture.display())
    };
    let plain = Command::new(env!("CARGO_BIN_EXE_perfdata")).arg("info").arg(&capture).output().unwrap();
    let plain = String::from_utf8(plain.stdout).unwrap();
    let marked: String = plain.lines().map(|line| format!("P:{line}\n")).collect();
    let pager = "sed 's/^/P:/'";
    assert_eq!(on_a_terminal(&line(""), &[("PAGER", pager)]), marked);
    assert_eq!(on_a_terminal(&line(""), &[("PAGER", "cat"), ("PERF_PAGER", pager)]), marked);
    assert_eq!(on_a_terminal(&line(""), &[("PERF_PAGER", pager), ("PERFDATA_PAGER", "")]), plain);
    assert_eq!(on_a_terminal(&line("--no-pager"), &[("PAGER", pager)]), plain);
    assert_eq!(on_a_terminal(&line(""), &[("PAGER", pager), ("TERM", "dumb")]), plain);
    assert_eq!(on_a_terminal(&line(""), &[("PAGER", "no-such-pager -x")]), plain);
    // A pager that is left early.
    assert_eq!(
        on_a_terminal(&line("; echo $?"), &[("PAGER", "head -1")]),
        format!("{}\n0\n", plain.lines().next().unwrap())
    );
}

fn other_outputs_have_none() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output =
        command.arg("info").arg(testdata::path("plain.data")).env("PAGER", "false").output().unwrap();
    assert!(
        output.status.success()
            && output.stdout.starts_with(testdata::path("plain.data").as_os_str().as_encoded_bytes())
    );
}
