//! An output file is either complete or absent. An existing file stays until the new one is complete.

use core::time::Duration;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{Folder, Run, with_rings};

/// The commands that write a capture to `out`, in a folder with a capture and rings.
const WRITERS: [&[&str]; 5] = [
    &["repair", "in.data", "-o", "out"],
    &["index", "in.data", "-o", "out"],
    &["repair", "in.data", "-o", "/dev/null", "--report", "out"],
    &["ring", "0.ring", "--attr", "attr.data", "-o", "out"],
    &["ring", "0.ring", "--attr", "attr.data", "-o", "/dev/null", "--aux-output", "out"],
];

fn folder(name: &str) -> Folder {
    let folder = with_rings(name);
    fs::copy(testdata::path("plain.data"), folder.path("in.data")).unwrap();
    folder
}

#[test]
fn a_disk_without_room_leaves_what_was_there() {
    let folder = folder("no_room");
    let names = folder.names();
    // The last one writes nothing.
    for writer in &WRITERS[..4] {
        // A file size limit fails like a full disk, and any user can set it.
        folder.run_after("ulimit -f 0", writer).fails(&["out: File too large"]);
        assert_eq!(folder.names(), names, "{writer:?}");
        fs::write(folder.path("out"), "what was there").unwrap();
        folder.run_after("ulimit -f 0", writer).fails(&["out: File too large"]);
        assert_eq!(folder.read("out"), b"what was there", "{writer:?}");
        fs::remove_file(folder.path("out")).unwrap();
        assert_eq!(folder.names(), names, "{writer:?}");
    }
}

#[test]
fn a_device_without_room_is_an_error() {
    let folder = folder("full_device");
    for writer in &WRITERS[..4] {
        let full: Vec<_> =
            writer.iter().map(|word| if *word == "out" { "/dev/full" } else { word }).collect();
        folder.run(&full).fails(&["/dev/full: No space left on device"]);
    }
}

/// Neither the capture nor the report gets its name if one of them cannot be written.
#[test]
fn a_report_without_room_leaves_the_capture_unwritten() {
    let folder = folder("report_no_room");
    fs::write(folder.path("out"), "what was there").unwrap();
    folder.run(&["repair", "in.data", "-o", "out", "--report", "/dev/full"]).fails(&["/dev/full: No space"]);
    folder
        .run(&["repair", "in.data", "-o", "out", "--report", "none/such"])
        .fails(&["none/such: No such file"]);
    assert_eq!(folder.read("out"), b"what was there");
    assert_eq!(folder.names(), ["0.ring", "1.ring", "attr.data", "in.data", "out"]);
}

#[test]
fn what_cannot_be_read_leaves_what_was_there() {
    let folder = folder("no_capture");
    fs::write(folder.path("text"), "no capture").unwrap();
    fs::write(folder.path("out"), "what was there").unwrap();
    let names = folder.names();
    folder.run(&["repair", "text", "-o", "out"]).fails(&["text: "]);
    folder.run(&["ring", "text", "--attr", "attr.data", "-o", "out"]).fails(&["no ring can be read"]);
    assert_eq!(folder.read("out"), b"what was there");
    assert_eq!(folder.names(), names);
}

#[test]
fn what_was_there_is_replaced_by_the_whole() {
    let folder = folder("replaced");
    for writer in WRITERS {
        folder.run(writer).succeeds();
        let new = folder.read("out");
        fs::write(folder.path("out"), "what was there, and is longer ".repeat(10_000)).unwrap();
        fs::hard_link(folder.path("out"), folder.path("elsewhere")).unwrap();
        folder.run(writer).succeeds();
        assert!(folder.read("out") == new, "{writer:?}");
        assert_eq!(folder.read("elsewhere").len(), 300_000, "another name keeps what it had");
        ["out", "elsewhere"].iter().for_each(|name| fs::remove_file(folder.path(name)).unwrap());
        assert_eq!(folder.names(), ["0.ring", "1.ring", "attr.data", "in.data"], "{writer:?}");
    }
}

#[test]
fn the_target_of_a_link_is_replaced_and_the_link_stays() {
    let folder = folder("links");
    fs::create_dir(folder.path("deep")).unwrap();
    symlink("deep/target", folder.path("out")).unwrap();
    for writer in WRITERS {
        // In the first run, the file does not exist.
        for _ in 0..2 {
            folder.run(writer).succeeds();
            assert!(fs::symlink_metadata(folder.path("out")).unwrap().is_symlink(), "{writer:?}");
            let target = fs::symlink_metadata(folder.path("deep/target")).unwrap();
            assert!(target.is_file(), "{writer:?}");
        }
        fs::remove_file(folder.path("deep/target")).unwrap();
        assert_eq!(fs::read_dir(folder.path("deep")).unwrap().count(), 0, "{writer:?}");
    }
    symlink("circle", folder.path("circle")).unwrap();
    folder.run(&["repair", "in.data", "-o", "circle"]).fails(&["circle: Too many levels of symbolic links"]);
}

#[test]
fn what_is_no_file_is_written_straight() {
    let folder = folder("straight");
    folder.run(&["repair", "in.data", "-o", "whole"]).succeeds();
    let run = folder.run(&["repair", "in.data", "-o", "/dev/null", "--report", "/dev/stdout"]);
    run.succeeds();
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert!(report["written"].as_u64().unwrap() > 100);
    // Standard output that is a file must stay the same file, because the shell continues to write to it.
    let redirected = fs::File::create(folder.path("redirected")).unwrap();
    let inode = redirected.metadata().unwrap().ino();
    Run::of(folder.command(&["repair", "in.data", "-o", "/dev/stdout"]).stdout(redirected)).succeeds();
    assert_eq!(fs::metadata(folder.path("redirected")).unwrap().ino(), inode);
    assert!(folder.read("redirected") == folder.read("whole"));
    // The header of a perf.data is written last.
    let piped = folder.run(&["repair", "in.data", "-o", "/dev/stdout"]);
    piped.fails(&["/dev/stdout: a perf.data file cannot be written to a pipe"]);
    assert_eq!(piped.out, "");
    // A trace is written from start to end.
    let args = ["ring", "0.ring", "--attr", "attr.data", "-o", "/dev/null", "--aux-output", "/dev/stdout"];
    folder.run(&args).succeeds();
}

#[test]
fn a_folder_is_no_output() {
    let folder = folder("folders");
    for name in [".", "/"] {
        folder
            .run(&["repair", "in.data", "-o", name])
            .fails(&[name, "is a folder; give -o the name of a file"]);
    }
    folder.run(&["repair", "in.data", "-o", "new/"]).fails(&["new/: is a directory"]);
    folder.run(&["repair", "in.data", "-o", "none/new"]).fails(&["none/new: No such file"]);
    folder.run(&["repair", "in.data", "-o", "in.data/new"]).fails(&["in.data/new: Not a directory"]);
    assert_eq!(folder.names(), ["0.ring", "1.ring", "attr.data", "in.data"]);
}

/// Ctrl-C and similar signals remove incomplete files, and end the program as usual.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_half_of_a_file() {
    use std::os::unix::process::ExitStatusExt;

    let folder = folder("signal");
    assert!(Command::new("mkfifo").arg(folder.path("report")).status().unwrap().success());
    let before = folder.names();
    // Those that a shell or nohup made this process ignore stay ignored in the program.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    let signals = signals.into_iter().filter(|(_, number)| ignored >> (number - 1) & 1 == 0);
    assert!(signals.clone().count() > 0, "all signals are ignored: {ignored:x}");
    for (name, number) in signals {
        // It has started the capture, and waits for a reader of the report.
        let mut repair = folder.command(&["repair", "in.data", "-o", "out", "--report", "report"]);
        let mut repair = repair.stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        while folder.names() == before {
            assert!(start.elapsed() < Duration::from_secs(30), "nothing is begun");
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill").args(["-s", name, &repair.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(repair.wait().unwrap().signal(), Some(number));
        let mut err = String::new();
        repair.stderr.unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((&*err, folder.names()), ("", before.clone()), "{name}");
    }
}
