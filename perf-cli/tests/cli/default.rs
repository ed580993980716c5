//! The capture that is read by default, and the capture that `-i` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Run, fails, scratch_folder};

/// The verbs that read a capture, with their other required arguments.
const READERS: [&[&str]; 3] = [&["info"], &["dump"], &["repair", "-o", "out"]];

/// Creates a folder that contains `plain.data` as perf.data.
fn with_perf_data(name: &str) -> PathBuf {
    let folder = scratch_folder(name);
    fs::copy(testdata::path("plain.data"), folder.join("perf.data")).unwrap();
    folder
}

fn run_in(folder: &Path, args: &[&str], stdin: Stdio) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.current_dir(folder).args(args).stdin(stdin).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs perfdata, and checks that it decodes everything.
fn whole(folder: &Path, args: &[&str], stdin: Stdio) -> Run {
    let run = run_in(folder, args, stdin);
    assert_eq!(run.status, 0, "{args:?}: {}", run.err);
    run
}

#[test]
fn perf_data_of_this_folder_is_read_where_none_is_named() {
    let folder = with_perf_data("default");
    for verb in READERS {
        let named = whole(&folder, &[verb, &["perf.data"]].concat(), Stdio::null());
        let default = whole(&folder, verb, Stdio::null());
        assert_eq!((default.out, default.err), (named.out, named.err), "{verb:?}");
    }
    // A file is not a pipe.
    let other = fs::File::open(testdata::path("everything.data")).unwrap();
    let info = whole(&folder, &["info"], other.into());
    assert!(info.out.starts_with("perf.data: "), "{}", info.out);
}

#[cfg(unix)]
#[test]
fn standard_input_is_read_where_it_is_a_pipe() {
    use std::io::Write;

    let capture = fs::read(testdata::path("everything.data")).unwrap();
    // There is a perf.data, but it must not be read.
    let folder = with_perf_data("default-pipe");
    for verb in READERS {
        let [default, named] = [verb.to_vec(), [verb, &["-"]].concat()].map(|args| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            let bytes = capture.clone();
            let feeder = std::thread::spawn(move || writer.write_all(&bytes));
            let run = whole(&folder, &args, reader.into());
            feeder.join().unwrap().unwrap();
            run
        });
        assert_eq!((default.out, default.err), (named.out, named.err), "{verb:?}");
    }
}

#[test]
fn a_capture_is_named_by_i_as_in_perf() {
    let folder = with_perf_data("default-i");
    let other = testdata::path("everything.data");
    let other = other.to_str().unwrap();
    for verb in READERS {
        let named = whole(&folder, &[verb, &[other]].concat(), Stdio::null());
        for option in ["-i", "--input"] {
            let run = whole(&folder, &[verb, &[option, other]].concat(), Stdio::null());
            assert_eq!((&run.out, &run.err), (&named.out, &named.err), "{verb:?}");
        }
    }
}

#[test]
fn a_capture_is_named_once() {
    fails(&["info", "a.data", "-i", "b.data"], "'--input <FILE>'");
    fails(&["info", "a.data", "b.data"], "'b.data'");
}

#[test]
fn no_capture_at_all_is_an_error_that_says_what_to_do() {
    let folder = scratch_folder("default-none");
    for verb in READERS {
        let run = run_in(&folder, verb, Stdio::null());
        assert_eq!((run.status, &*run.out), (1, ""), "{verb:?}");
        assert!(run.err.contains("no perf.data in this folder"), "{verb:?}: {}", run.err);
        assert!(run.err.contains("<FILE>"), "{verb:?}: {}", run.err);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is written");
}
