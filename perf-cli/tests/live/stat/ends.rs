//! The end of the counting, and the exit status.

use core::time::Duration;
use std::io::Read;
use std::process::Child;
use std::thread::sleep;
use std::time::Instant;

use super::*;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    the_commands_status_is_passed_on,
    the_commands_output_is_its_own,
    a_timeout_ends_the_command,
    an_interrupt_tells_what_was_counted,
    the_command_is_asked_to_end_by_the_signal_that_asks_this_program,
    a_second_interrupt_does_not_wait_for_the_command,
    a_reader_that_goes_away_ends_it_quietly,
];

/// Sends a signal to a process that this test started.
fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn the_commands_status_is_passed_on() {
    for status in [0, 1, 3, 42, 255] {
        let run = stat(["-e", "faults", "--", "sh", "-c", &format!("exit {status}")]);
        assert_eq!(run.status, status, "{run:?}");
        assert!(run.err.contains("faults"), "{run:?}");
    }
    let run = stat(["-e", "faults", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(run.status, 137, "{run:?}");
    assert!(run.err.contains("perfdata: sh: ended by signal 9\n"), "{run:?}");
}

fn the_commands_output_is_its_own() {
    let run = stat(["-e", "faults", "echo", "-e", "told"]);
    assert_eq!(run.out, if run.out.starts_with("-e") { "-e told\n" } else { "told\n" });
    let file = needs::folder().join("output");
    let run = stat(["-e", "faults", "--json", "-o", file.to_str().unwrap(), "echo", "told"]);
    assert_eq!((run.status, &*run.out, &*run.err), (0, "told\n", ""));
    let written = std::fs::read_to_string(file).unwrap();
    assert!(written.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{written}");
    assert_eq!(written.lines().count(), 1);
}

fn a_timeout_ends_the_command() {
    let start = Instant::now();
    let lines = json(&["-e", "faults,duration_time", "--timeout", "200", "sleep", "100"]);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(value(&lines, 0) > 0);
    let elapsed = real(&lines[1]) / 1e9;
    assert!((0.2..10.0).contains(&elapsed), "{elapsed}");
}

fn an_interrupt_tells_what_was_counted() {
    needs::all(&[needs::Need::CpuEvents]);
    for name in ["INT", "TERM"] {
        let mut child = spawn(&["-C", "0", "--json", "-e", "cpu-clock", "-I", "50"]);
        let (first, mut rest) = counted(&mut child);
        signal(&child, name);
        let mut text = first;
        rest.read_to_string(&mut text).unwrap();
        assert!(objects(&text).len() >= 2, "{text}");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

fn the_command_is_asked_to_end_by_the_signal_that_asks_this_program() {
    let mut child =
        spawn(&["-e", "faults", "sh", "-c", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"]);
    let (ready, _rest) = line(&mut child);
    assert_eq!(ready, "ready\n");
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8(output.stderr).unwrap().contains("faults"));
}

fn a_second_interrupt_does_not_wait_for_the_command() {
    let mut child =
        spawn(&["-e", "faults", "sh", "-c", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"]);
    let (_ready, _rest) = line(&mut child);
    signal(&child, "INT");
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "the first is the command's");
    // Two signals that arrive before either is handled count as one.
    while child.try_wait().unwrap().is_none() {
        signal(&child, "INT");
        sleep(Duration::from_millis(300));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("faults"));
}

fn a_reader_that_goes_away_ends_it_quietly() {
    needs::all(&[needs::Need::CpuEvents]);
    let mut child = spawn(&["-C", "0", "--json", "-e", "cpu-clock", "-I", "20"]);
    drop(counted(&mut child));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]));
}
