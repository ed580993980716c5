//! The messages of `perfdata` for damaged captures: lines in one format, no panic, a meaningful exit status. Also tests
//! `--no-mmap`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn perfdata(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_perfdata")).args(args).output().unwrap()
}

fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = needs::folder().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Returns whether a line is `offset: record type: field: what`, with type and field optional, or a message of the
/// program itself.
fn is_of_the_form(line: &str) -> bool {
    let offset = line.strip_prefix("0x").and_then(|line| line.split_once(": "));
    let is_offset = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    line.starts_with("perfdata: ")
        || offset.is_some_and(|(offset, what)| is_offset(offset) && !what.is_empty())
}

/// Runs all verbs on a capture, and checks their exit statuses and messages. Returns the exit statuses.
fn run(name: &str, bytes: &[u8]) -> [i32; 3] {
    let file = scratch(name, bytes);
    let file = file.to_str().unwrap();
    let mended = format!("{file}.mended");
    let verbs = [&["info", file][..], &["dump", file], &["repair", file, "-o", &mended]];
    verbs.map(|args| {
        let output = perfdata(args);
        let errors = String::from_utf8(output.stderr).unwrap();
        let status =
            output.status.code().unwrap_or_else(|| panic!("{name}: {args:?}: {}: {errors}", output.status));
        assert!([0, 1, 3].contains(&status), "{name}: {args:?}: {status}: {errors}");
        assert!(status != 3 || !errors.is_empty(), "{name}: {args:?} does not say why it is not clean");
        assert!(status != 1 || errors.starts_with("perfdata: "), "{name}: {args:?}: {errors}");
        for line in errors.lines() {
            assert!(is_of_the_form(line), "{name}: {args:?}: {line:?}");
            for remnant in ["panicked", "RUST_BACKTRACE", "{ ", "Some(", "None", "Err(", "\u{fffd}"] {
                assert!(!line.contains(remnant), "{name}: {args:?}: {line:?} has {remnant:?}");
            }
        }
        status
    })
}

const CAPTURES: [&str; 6] = [
    "plain.data",
    "ids.data",
    "touch.zstd.data",
    "compressed.zstd.pipe.data",
    "tracing.pipe.data",
    "callchain.data",
];

#[test]
fn cut_captures_are_told_in_lines_of_one_form() {
    for name in CAPTURES {
        let bytes = fs::read(testdata::path(name)).unwrap();
        for part in [1, 8, 15, 16, 50, 103, 104, 300] {
            run(&format!("cut-{part}-{name}"), &bytes[..part]);
        }
        for eighth in 1..8 {
            run(&format!("cut-{eighth}-of-8-{name}"), &bytes[..bytes.len() * eighth / 8]);
        }
        assert_eq!(run(&format!("whole-{name}"), &bytes), [0; 3], "{name}");
    }
}

#[test]
fn damaged_captures_are_told_in_lines_of_one_form() {
    let mut statuses = [0; 4];
    for name in CAPTURES {
        let whole = fs::read(testdata::path(name)).unwrap();
        let places = (0..104).step_by(8).chain((104..whole.len() - 8).step_by(whole.len() / 24));
        for (index, at) in places.enumerate() {
            let mut bytes = whole.clone();
            let value = [u64::MAX, 0, 1, whole.len() as u64 + 1][index % 4];
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            for status in run(&format!("damaged-{at}-{name}"), &bytes) {
                statuses[usize::try_from(status).unwrap()] += 1;
            }
        }
    }
    assert!(statuses[1] > 20 && statuses[3] > 100, "{statuses:?}");
}

#[test]
fn what_to_try_next_is_said() {
    let plain = fs::read(testdata::path("plain.data")).unwrap();
    let says = |name: &str, bytes: &[u8], what: &str| {
        let file = scratch(name, bytes);
        let errors = String::from_utf8(perfdata(&["dump", file.to_str().unwrap()]).stderr).unwrap();
        assert!(errors.contains(what), "{name}: {errors:?} does not say {what:?}");
    };
    let with = |at: usize, bytes: &[u8]| {
        let mut damaged = plain.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        damaged
    };
    says("empty", b"", "the file is empty; the recorder wrote nothing");
    says("text", &[b'a'; 200], "give a file that perf record wrote");
    says("header", &plain[..60], "copy it again");
    says("half", &plain[..plain.len() / 2], "perfdata repair can write a valid copy of what is left");
    says(
        "killed",
        &with(48, &[0; 8]),
        "the recorder was killed before it completed the file; perfdata repair can",
    );
    let attrs = usize::try_from(u64::from_le_bytes(plain[24..32].try_into().unwrap())).unwrap();
    says("newer", &with(attrs + 31, &[0x40]), "a newer version of perfdata may be able to decode it");
    let folder = needs::folder().join("folder");
    fs::create_dir(&folder).unwrap();
    let errors = String::from_utf8(perfdata(&["info", folder.to_str().unwrap()]).stderr).unwrap();
    assert!(errors.contains("/folder/data: No such file") && errors.contains("--threads"), "{errors}");
}

#[test]
fn a_capture_that_is_not_mapped_is_the_same() {
    for name in CAPTURES.iter().map(|name| (*name).to_owned()).chain(["threads.dir".to_owned()]) {
        let file = testdata::path(&name);
        let file = file.to_str().unwrap();
        for verb in [&["info"][..], &["dump"], &["dump", "--format", "jsonl", "--order", "time"]] {
            let mapped = perfdata(&[verb, &[file]].concat());
            let read = perfdata(&[verb, &["--no-mmap", file]].concat());
            assert!(mapped.stdout.len() > 100, "{name}");
            assert_eq!(mapped, read, "{name}: {verb:?}");
        }
        let out = |how: &str| scratch(&format!("{how}-{name}"), b"");
        let (mapped, read) = (out("mapped"), out("read"));
        perfdata(&["repair", file, "-o", mapped.to_str().unwrap()]);
        perfdata(&["repair", "--no-mmap", file, "-o", read.to_str().unwrap()]);
        assert_eq!(fs::read(mapped).unwrap(), fs::read(read).unwrap(), "{name}");
    }
}
