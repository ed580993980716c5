//! Several captures, and the files that are read and written where none is named.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Run, perfdata, scratch_folder};

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.current_dir(folder).args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn script_and_report_take_several_captures() {
    let [first, second] = ["plain.data", "callchain.data"].map(testdata::path);
    let [first, second] = [&first, &second].map(|path| path.to_str().unwrap());
    let out = |verb: &[&str], files: &[&str]| {
        let run = perfdata([verb, files].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        run.out
    };
    let script = ["script", "--no-symbols"];
    assert_eq!(out(&script, &[first, second]), out(&script, &[first]) + &out(&script, &[second]));
    let report = ["report", "--no-symbols"];
    let titled = |file: &str| format!("# Capture: {file}\n#\n{}", out(&report, &[file]));
    assert_eq!(out(&report, &[first, second]), titled(first) + &titled(second));
    // The first that cannot be read ends it.
    let run = perfdata([&script[..], &[first, "/nonexistent", second]].concat());
    assert!(run.status == 1 && run.err.contains("/nonexistent"), "{}", run.err);
    assert_eq!(run.out, out(&script, &[first]));
}

#[test]
fn diff_compares_what_record_kept_with_the_new_capture() {
    let folder = scratch_folder("diff-default");
    let fails = |what: &str| {
        let run = run_in(&folder, &["diff"]);
        assert!(run.status == 1 && run.err.contains(what), "{}", run.err);
    };
    fails("perf.data.old and perf.data are not both in this folder");
    fs::copy(testdata::path("callchain.data"), folder.join("perf.data")).unwrap();
    fails("perf.data.old and perf.data are not both in this folder");
    fs::copy(testdata::path("callchain.data"), folder.join("perf.data.old")).unwrap();
    let named = run_in(&folder, &["diff", "perf.data.old", "perf.data"]);
    let default = run_in(&folder, &["diff"]);
    assert_eq!((default.status, &default.out), (0, &named.out), "{}", default.err);
    let parts = ["diff", "--before", "time=0%-50%", "--after", "time=50%-100%"];
    let named = run_in(&folder, &[&parts[..1], &["perf.data"], &parts[1..]].concat());
    assert_eq!(run_in(&folder, &parts).out, named.out);
}

#[test]
fn sending_needs_a_feature() {
    let capture = testdata::path("plain.data");
    let run = perfdata(["export", "--to", "otlp", "--send", "http://127.0.0.1:1", capture.to_str().unwrap()]);
    assert_eq!((run.status, &*run.out), (1, ""));
    let how = "--send: this perfdata was built without sending; build one that has it: cargo install perf-cli --features send";
    assert_eq!(run.err.contains(how), !cfg!(feature = "send"), "{}", run.err);
}

#[test]
fn repair_and_export_have_default_outputs() {
    let folder = scratch_folder("default-outputs");
    fs::copy(testdata::path("callchain.data"), folder.join("perf.data")).unwrap();
    let writes = |args: &[&str], name: &str| {
        let run = run_in(&folder, args);
        assert_eq!((run.status, &*run.out), (0, ""), "{args:?}: {}", run.err);
        assert!(run.err.contains(&format!("perfdata: wrote {name}\n")), "{args:?}: {}", run.err);
        assert!(folder.join(name).metadata().unwrap().len() > 0, "{name}");
    };
    writes(&["repair"], "perf.data.repaired");
    for (to, name) in [
        ("folded", "perf.folded"),
        ("pprof", "perf.pb.gz"),
        ("otlp", "perf.otlp"),
        ("otlp-json", "perf.otlp.json"),
        ("callgrind", "callgrind.out.perf"),
        ("dot", "perf.dot"),
        ("csv", "perf.csv"),
        ("chrome", "perf.trace.json"),
        ("perfetto", "perf.pftrace"),
        ("firefox", "perf.firefox.json"),
        ("speedscope", "perf.speedscope.json"),
    ] {
        writes(&["export", "--no-symbols", "--to", to], name);
    }
}
