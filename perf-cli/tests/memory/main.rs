//! The memory use of the `perfdata` process, by the rows of SECURITY.md: the maximum resident size that the kernel
//! reports after the program ends, for captures that need as much memory as possible.

#![cfg(target_os = "linux")]

mod captures;
mod ended;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use captures::Capture;

const MIB: usize = 1 << 20;

/// A way to read a capture, and how many times its size may be resident in addition to the memory for a small one.
struct Mode {
    name: &'static str,
    args: &'static [&'static str],
    from_stdin: bool,
    times: usize,
}

const fn mode(name: &'static str, args: &'static [&'static str], times: usize) -> Mode {
    Mode { name, args, from_stdin: false, times }
}

/// The capture itself counts: mapped or read, all of it is resident after it was accessed.
const MODES: [Mode; 7] = [
    mode("info", &["info"], 12),
    mode("mapped", &["dump"], 12),
    mode("read", &["dump", "--no-mmap"], 12),
    Mode { from_stdin: true, ..mode("standard input", &["dump"], 12) },
    mode("time order", &["dump", "--order", "time"], 12),
    mode("JSON", &["dump", "--format", "jsonl"], 12),
    mode("repair", &["repair", "-o"], 12),
];

/// The additional memory that may be resident: buffers for the output, and for each thread.
const SLACK: usize = 8 * MIB;

/// Runs `perfdata`. Returns its maximum resident size in bytes.
fn resident(mode: &Mode, capture: &Path, out: &Path) -> usize {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(mode.args).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    if mode.name == "repair" {
        command.arg(out);
    }
    if mode.from_stdin {
        command.arg("-").stdin(File::open(capture).unwrap());
    } else {
        command.arg(capture);
    }
    let ended = ended::run(&mut command);
    assert!(matches!(ended.code, Some(0 | 3)), "{}: status {:#x}", mode.name, ended.status);
    ended.resident()
}

/// This is one test because the resident memory of this process counts for the processes that it starts: see
/// `getrusage(2)`.
#[test]
fn resident_in_every_mode() {
    let folder = needs::folder();
    let (file, out) = (folder.join("capture"), folder.join("out"));
    // Two at a time: a run takes one thread.
    let of_modes = || {
        let (first, rest) = MODES.split_at(MODES.len() / 2);
        let of = |modes: &[Mode]| modes.iter().map(|mode| resident(mode, &file, &out)).collect::<Vec<_>>();
        thread::scope(|scope| {
            let first = scope.spawn(|| of(first));
            let rest = of(rest);
            [first.join().unwrap(), rest].concat()
        })
    };
    captures::small().write(&file);
    let small = of_modes();
    let mut over = Vec::new();
    for make in captures::ALL {
        let capture: Capture = make();
        capture.write(&file);
        let (name, size, inflated) = (capture.name, capture.bytes.len(), capture.inflated);
        drop(capture);
        for ((mode, small), taken) in MODES.iter().zip(&small).zip(of_modes()) {
            let most = small + SLACK + mode.times * size + 8 * inflated;
            println!("{name}, {}: {} KiB of {}", mode.name, taken / 1024, most / 1024);
            if taken > most {
                over.push(format!("{name}, {}: {taken} bytes, more than {most}", mode.name));
            }
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}
