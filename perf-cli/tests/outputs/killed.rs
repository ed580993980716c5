//! Files of programs that were killed: removed at once, or by the next run.

use core::time::Duration;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::{Folder, with_capture};

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect()
}

/// Waits until a folder has something that `is_begun`.
fn wait_until(folder: &Path, is_begun: impl Fn(&[String]) -> bool) {
    let start = Instant::now();
    while !is_begun(&names(folder)) {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing is begun");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn kill(mut child: Child, signal: (&str, i32)) {
    let kill = Command::new("kill").args(["-s", signal.0, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    // `wait` closes standard input: a program that reads it would end before the signal ends it.
    let input = child.stdin.take();
    assert_eq!(child.wait().unwrap().signal(), Some(signal.1));
    drop(input);
}

/// Returns whether a signal does what it does by default: shells ignore some for programs in the background.
fn is_default(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() >> (number - 1) & 1 == 0
}

#[test]
fn the_next_run_removes_a_half_of_a_file() {
    let folder = with_capture("killed");
    assert!(Command::new("mkfifo").arg(folder.path("report")).status().unwrap().success());
    // It has started the capture, and waits for a reader of the report.
    let mut repair = folder.command(&["repair", "in.data", "-o", "out", "--report", "report"]);
    let repair = repair.spawn().unwrap();
    let is_half = |names: &[String]| names.iter().any(|name| name.starts_with(".perfdata-"));
    wait_until(&folder.path(""), is_half);
    // While the other one runs, its file stays.
    folder.run(&["index", "in.data", "-o", "index"]).succeeds();
    assert!(is_half(&folder.names()));
    kill(repair, ("KILL", 9));
    assert!(is_half(&folder.names()));
    folder.run(&["index", "in.data", "-o", "index"]).succeeds();
    assert!(!is_half(&folder.names()), "{:?}", folder.names());
}

/// Starts a program that has unpacked an archive, and waits for the rest of its input.
fn unpacked(folder: &Folder, temporary: &Path) -> Child {
    let mut script = folder.command(&["script", "--debug-dir", "debug.tar.bz2", "-"]);
    let mut script =
        script.env("TMPDIR", temporary).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let capture = fs::read(testdata::path("tracing.pipe.data")).unwrap();
    script.stdin.as_mut().unwrap().write_all(&capture).unwrap();
    wait_until(temporary, |names| !names.is_empty());
    script
}

#[test]
fn an_unpacked_archive_does_not_stay() {
    let folder = with_capture("archive");
    let out = fs::File::create(folder.path("debug.tar.bz2")).unwrap();
    let mut archive = tar::Builder::new(bzip2::write::BzEncoder::new(out, bzip2::Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(7);
    header.set_cksum();
    archive.append_data(&mut header, ".build-id/ab/cdef/elf", &b"content"[..]).unwrap();
    archive.into_inner().unwrap().finish().unwrap();
    let temporary = folder.path("temporary");
    fs::create_dir(&temporary).unwrap();
    for signal in [("INT", 2), ("TERM", 15), ("HUP", 1)].into_iter().filter(|it| is_default(it.1)) {
        kill(unpacked(&folder, &temporary), signal);
        assert_eq!(names(&temporary), [""; 0], "{signal:?}");
    }
    kill(unpacked(&folder, &temporary), ("KILL", 9));
    assert_eq!(names(&temporary).len(), 1);
    let mut next = folder.command(&["script", "--debug-dir", "debug.tar.bz2", "in.data"]);
    assert!(next.env("TMPDIR", &temporary).output().unwrap().status.success());
    assert_eq!(names(&temporary), [""; 0]);
}
