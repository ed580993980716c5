//! The program's output: files that never replace an input and are either complete or absent, their permissions, a
//! bounded number of diagnostics, and no characters that control a terminal.

#![cfg(unix)]

mod diagnostics;
mod escapes;
mod every_output;
mod guesses;
mod inputs;
#[cfg(target_os = "linux")]
mod killed;
mod modes;
mod whole;

use std::fs;
use std::path::Path;

use needs::{Folder, Run};

/// Creates an empty folder, in which `perfdata` is run.
fn new(name: &str) -> Folder {
    Folder::new(env!("CARGO_BIN_EXE_perfdata"), name)
}

/// Creates a folder that contains a capture, `in.data`.
fn with_capture(name: &str) -> Folder {
    let folder = new(name);
    fs::copy(testdata::path("plain.data"), folder.path("in.data")).unwrap();
    folder
}

/// Creates a folder that contains two recorded rings, `0.ring` and `1.ring`, and their events, `attr.data`.
fn with_rings(name: &str) -> Folder {
    let folder = new(name);
    let rings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/rings");
    for (from, to) in [("pair-0.ring", "0.ring"), ("pair-1.ring", "1.ring"), ("pair.attr.data", "attr.data")]
    {
        fs::copy(rings.join(from), folder.path(to)).unwrap();
    }
    folder
}
