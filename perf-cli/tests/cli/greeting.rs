//! `perfdata` alone in a folder with a perf.data.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::scratch_folder;

fn alone(folder: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.current_dir(folder).env("TZ", "UTC").stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    String::from_utf8(output.stderr).unwrap()
}

/// Returns what is printed beside a capture as perf.data.
fn beside(name: &str, capture: &str) -> String {
    let folder = scratch_folder(name);
    fs::copy(testdata::path(capture), folder.join("perf.data")).unwrap();
    alone(&folder)
}

#[test]
fn says_what_the_capture_is_and_what_can_be_done() {
    let text = beside("greeting", "callchain.data");
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("perf.data: ") && lines[0].contains(" bytes, recorded on "), "{text}");
    assert!(lines[1].starts_with("Recorded by: /usr/bin/perf record --quiet "), "{text}");
    assert_eq!(lines[2], "Events, with stacks: cpu-clock", "{text}");
    let verbs: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("  perfdata ")).collect();
    let verbs: Vec<_> = verbs.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(verbs, ["report", "flamegraph", "info"], "{text}");
}

#[test]
fn the_date_is_that_of_the_recording() {
    let text = beside("greeting-date", "everything.data");
    let first = text.lines().next().unwrap();
    let at = first.split_once(" at ").expect("the capture has CLOCK_DATA").1;
    assert!(at.starts_with("20") && at.len() == "2024-02-29 13:07:01".len(), "{first}");
}

#[test]
fn what_is_no_capture_is_passed_over() {
    let folder = scratch_folder("greeting-none");
    for bytes in [&b""[..], b"no capture", &[0; 200]] {
        fs::write(folder.join("perf.data"), bytes).unwrap();
        let text = alone(&folder);
        assert!(text.starts_with("Usage: perfdata <COMMAND>"), "{text}");
    }
    fs::remove_file(folder.join("perf.data")).unwrap();
    fs::create_dir(folder.join("perf.data")).unwrap();
    assert!(alone(&folder).starts_with("Usage: perfdata <COMMAND>"));
}

/// A capture of another machine may have anything in its texts.
#[test]
fn no_text_of_the_capture_reaches_the_terminal_as_it_is() {
    let folder = scratch_folder("greeting-hostile");
    let mut bytes = fs::read(testdata::path("callchain.data")).unwrap();
    let at = bytes.windows(7).position(|it| it == b"--quiet").unwrap();
    bytes[at..at + 7].copy_from_slice(b"\x1b[2J\x1b[m");
    fs::write(folder.join("perf.data"), bytes).unwrap();
    let text = alone(&folder);
    assert!(!text.contains('\u{1b}') && text.contains("Recorded by: "), "{text:?}");
}
