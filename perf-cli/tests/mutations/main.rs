//! Captures changed by the structured mutator of the fuzz targets: thousands for the body of `repair`, hundreds for
//! those of `edit` and `command_line`. The changes are the same in every run.
//!
//! `MUTATIONS=5000 cargo test --release -p perf-cli --test mutations` tries that many for each capture.

use core::sync::atomic::{AtomicU64, Ordering};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use bodies::mutate::{Random, mutate};
use bodies::{Body, command_line, edit, repair};
use testdata::memory::{Counting, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Captures of every mode and kind of record, in both byte orders.
const CAPTURES: [&str; 13] = [
    "captures/plain.data",
    "captures/tracing.pipe.data",
    "captures/perf_stat.data",
    "foreign/simpleperf/perf_with_tracepoint_event.data",
    "synthetic/aux_area.be.data",
    "synthetic/auxtrace.le.data",
    "synthetic/branches.le.data",
    "synthetic/dispatch.be.data",
    "synthetic/pipe_records.be.data",
    "synthetic/records.le.data",
    "synthetic/registers.be.data",
    "synthetic/user_records.le.data",
    "writers/7.2/mmap2-buildids.data",
];

/// Captures larger than this get an eighth of the mutations, because each takes correspondingly longer.
const SMALL: usize = 8000;

/// The maximum number of bytes that may be live at once, including the output. The largest capture here has 14 KiB.
const MEMORY: usize = 16 << 20;

/// Returns a permanent folder for captures that fail.
fn findings() -> PathBuf {
    tempfile::Builder::new().prefix("mutations-").disable_cleanup(true).tempdir().unwrap().keep()
}

/// Runs a body on `count` mutations of each capture, on two threads. Returns those that fail, by capture and seed.
fn fails(body: Body, count: u64) -> Vec<String> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let count = std::env::var("MUTATIONS").map_or(count, |count| count.parse().unwrap());
    let next = AtomicU64::new(0);
    let captures = CAPTURES.map(|name| (name, fs::read(testdata.join(name)).unwrap()));
    let try_some = || {
        let mut failed = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (seed, index) = (number / CAPTURES.len() as u64, number % CAPTURES.len() as u64);
            if seed >= count {
                return failed;
            }
            let (name, whole) = &captures[index as usize];
            if whole.len() > SMALL && seed % 8 != 0 {
                continue;
            }
            let mut bytes = whole.clone();
            // Each capture gets different changes.
            mutate(&mut bytes, &mut Random::new(number));
            let (ended, used) = measure(|| catch_unwind(|| body(&bytes)));
            if ended.is_err() || used.peak > MEMORY {
                let path = findings().join(format!("{}-{number}", name.replace('/', "-")));
                fs::write(&path, &bytes).unwrap();
                failed.push(path.display().to_string());
            }
        }
    };
    thread::scope(|scope| {
        let other = scope.spawn(try_some);
        let mut failed = try_some();
        failed.append(&mut other.join().unwrap());
        failed
    })
}

/// Returns a number of mutations: a sixteenth, or all.
fn of_all(count: u64) -> u64 {
    if testdata::is_thorough() { count } else { count / 16 }
}

#[test]
fn thousands_are_repaired_to_clean_captures() {
    assert_eq!(fails(repair::run, of_all(8000)), Vec::<String>::new());
}

#[test]
fn hundreds_mean_the_same_to_every_verb() {
    assert_eq!(fails(command_line::run, of_all(128)), Vec::<String>::new());
}

#[test]
fn hundreds_are_edited_and_merged() {
    /// Of each kind of selection, and removed fields.
    const SELECTED: [u8; 2] = [0b1111, 0b101];
    let body = |bytes: &[u8]| edit::run(&[&SELECTED, bytes].concat());
    assert_eq!(fails(body, of_all(800)), Vec::<String>::new());
}
