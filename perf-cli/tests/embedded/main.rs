//! `perf_cli::run` inside another program.
#![cfg(target_os = "linux")]

use std::fs;
use std::io;

use perf_cli::{Streams, run};

/// Returns whether a thread of this process has the name.
fn has_thread(name: &str) -> bool {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names = threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).unwrap());
    names.map(|line| line.trim_end().to_owned()).any(|it| it == name)
}

#[test]
fn a_run_with_given_streams_does_not_handle_signals() {
    let folder = tempfile::tempdir().unwrap();
    let mended = folder.path().join("mended.data");
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures/plain.data");
    let args = ["perfdata", "repair", capture, "-o", mended.to_str().unwrap()];
    let streams =
        Streams { input: Box::new(io::empty()), output: Box::new(io::sink()), errors: Box::new(io::sink()) };
    assert_eq!(run(args.map(Into::into), Some(streams)), 0);
    assert!(mended.exists());
    // The thread that handles the signals would remain for each run.
    assert!(!has_thread("signals"));
    let named = std::thread::Builder::new().name("signals".into());
    named.spawn(|| assert!(has_thread("signals"))).unwrap().join().unwrap();
}
