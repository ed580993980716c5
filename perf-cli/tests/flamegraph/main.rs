//! `perfdata flamegraph`: what is in its pages and pictures, read without its own code; and what it says about wrong
//! arguments. `testdata/check/flamegraph.mjs` opens pages in a browser.

#![cfg(unix)]

mod arguments;
mod differences;
#[path = "../report/made.rs"]
#[allow(dead_code, reason = "the tests of report use all of it")]
mod made;
mod page;
mod picture;
mod read;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: Vec<u8>,
    err: String,
}

impl Run {
    fn text(&self) -> &str {
        core::str::from_utf8(&self.out).unwrap()
    }
}

fn perfdata(verb: &str, files: &[&Path], args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.arg(verb).args(files).args(args).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    Run { status: output.status.code().unwrap(), out: output.stdout, err }
}

/// Runs `perfdata flamegraph`, and returns its page or picture.
fn flamegraph(files: &[&Path], args: &[&str]) -> Run {
    perfdata("flamegraph", files, &[&["-o", "-"], args].concat())
}

const PID: i32 = 4_194_000;

/// What a browser would take as the end of an element, a tag, a comment or the end of a file.
const HOSTILE: [&str; 4] = [
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]></title>\"'&amp;",
    "\u{202e}\u{1b}[31m\u{7}",
];

/// A capture of a process with generated code, and a folder with the file that names the code.
fn generated(comm: &str, functions: [&str; 3]) -> (PathBuf, PathBuf) {
    let root = needs::folder().join("root");
    fs::create_dir_all(root.join("tmp")).unwrap();
    let lines = ["1000", "2000", "3000"].iter().zip(functions);
    let lines: String = lines.map(|(start, name)| format!("{start} 100 {name}\n")).collect();
    fs::write(root.join(format!("tmp/perf-{PID}.map")), lines).unwrap();
    let capture = made::Made::new()
        .comm(PID, comm)
        .map(PID, "//anon")
        .sample(PID, 60, &[0x3010, 0x2010, 0x1010])
        .sample(PID, 25, &[0x2020, 0x1010])
        .sample(PID, 10, &[0x3020, 0x1020])
        .sample(PID, 2, &[0x3020, 0x1020])
        .sample(PID, 5, &[0x7000])
        .file("made.data");
    (capture, root)
}
