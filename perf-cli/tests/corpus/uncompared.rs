//! Captures that no other decoder has decoded, and the checks that apply without a golden.

use core::time::Duration;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::compare::{Comparison, Object};
use crate::output::Output;
use crate::{CORPUS, dump};

/// All of these captures.
pub(crate) const CAPTURES: &[&str] = &[
    "linux-perf-data/fibo.compressed2.pipe.data",
    "linux-perf-data/sleep.compressed.data",
    "quipper/perf.data.piped.corrupted.zero_size_sample-3.2",
    "fuzz/clusterfuzz-testcase-minimized-quipper_perf_reader_read_fuzzer-4883679740166144",
    "fuzz/poc-145fc46ec928e50d7116f6137a3a074bf5c6934c9ab07e3529d0e8e021e7481f",
    "fuzz/poc-15c4696aab8d47509154302563290062647df5c1d0156fb35382f62f22e86511",
    "fuzz/poc-2125342715d182bd627e7e86e6843cf54654faeb336d0c07893fec760961d853",
    "fuzz/poc-2c02c3aa9fb2a613b65097e26fd182d748b0c81b9359a012b09cbe7a358d3ca2",
    "fuzz/poc-4a52fdd4e9d5adcda85329e1f5fb6f425788e63cef41209f83bfd6edcfae4ff3",
    "fuzz/poc-56c11c81f1da85a4c5b898b6a9dd14c307b994ff02c6e98445ba22d2e8e957a7",
    "fuzz/poc-6811aac63baf66b46afe603c99b882dfeca9bda96e0c0fc6ba9d807ae9370309",
    "fuzz/poc-7bef7f895afc2ab06ed34b6ab7a961edac3c6ef0ff821a59a54f1e30a1ef3aa7",
    "fuzz/poc-c53034701abf35f2cb30d80ea967a540ad3d4eb208e17c78e7159f3df3dae191",
];

/// Compares a compressed capture with a walk of its payloads, which the zstd library decompresses as one stream, and
/// counts its records.
fn check_compressed(capture: &str, counts: &[(&str, usize)]) {
    let corpus = Path::new(CORPUS);
    let path = corpus.join(capture);
    let output = Output::parse(&dump(&path)).unwrap();
    let mut comparison = Comparison::default();
    output.check(&fs::read(&path).unwrap(), &mut comparison);
    assert_eq!(comparison.failures, [""; 0]);
    let mut end = 0;
    for record in output.records.iter().filter(|record| record.header.contains_key("inner")) {
        assert_eq!(record.number("inner"), Some(end), "the decompressed stream has no gap");
        end += record.number("size").unwrap();
    }
    assert!(end > 0);
    let of = |name: &str| output.records.iter().filter(|record| record.name == name).count();
    let actual: Vec<_> = counts.iter().map(|(name, _)| (*name, of(name))).collect();
    assert_eq!(actual, counts);
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<usize>(), output.records.len(), "other types");
}

#[test]
fn compressed_file() {
    check_compressed(
        "linux-perf-data/sleep.compressed.data",
        &[
            ("MMAP", 45),
            ("COMM", 2),
            ("EXIT", 1),
            ("SAMPLE", 8),
            ("MMAP2", 4),
            ("KSYMBOL", 15),
            ("BPF_EVENT", 14),
            ("FINISHED_ROUND", 1),
            ("ID_INDEX", 1),
            ("THREAD_MAP", 1),
            ("CPU_MAP", 1),
            ("TIME_CONV", 1),
            ("FINISHED_INIT", 1),
        ],
    );
}

#[test]
fn compressed_pipe() {
    check_compressed(
        "linux-perf-data/fibo.compressed2.pipe.data",
        &[
            ("MMAP", 165),
            ("COMM", 23),
            ("EXIT", 17),
            ("FORK", 19),
            ("SAMPLE", 547),
            ("MMAP2", 814),
            ("KSYMBOL", 21),
            ("BPF_EVENT", 21),
            ("HEADER_ATTR", 2),
            ("FINISHED_ROUND", 124),
            ("ID_INDEX", 1),
            ("THREAD_MAP", 1),
            ("CPU_MAP", 1),
            ("EVENT_UPDATE", 3),
            ("HEADER_FEATURE", 23),
            ("FINISHED_INIT", 1),
        ],
    );
}

/// The lines of a dump, and its exit status.
struct Dumped {
    status: ExitStatus,
    lines: Vec<Object>,
    errors: String,
}

/// Dumps a capture that may be damaged. Fails if that takes more than ten seconds.
fn dump_damaged(path: &Path) -> Dumped {
    let name = path.file_name().unwrap().to_str().unwrap();
    let [out, errors] = ["out", "err"].map(|name| needs::folder().join(name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["dump", "--format", "jsonl"]).arg(path);
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
            panic!("{name}: not done in ten seconds");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let out = fs::read_to_string(out).unwrap();
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Dumped { status, lines, errors: fs::read_to_string(errors).unwrap() }
}

/// A complete, compared capture in which one byte was changed: the size of a record.
#[test]
fn zero_size_sample() {
    const AT: u64 = 0xbfd0;
    const SIZE: u64 = 48;
    let corpus = Path::new(CORPUS);
    let [damaged, whole] = ["corrupted.zero_size_sample-3.2", "target.throttled-3.4"]
        .map(|name| corpus.join(format!("quipper/perf.data.piped.{name}")));
    let [damaged_bytes, whole_bytes] = [&damaged, &whole].map(|path| fs::read(path).unwrap());
    let changed: Vec<_> = (0..whole_bytes.len()).filter(|&at| damaged_bytes[at] != whole_bytes[at]).collect();
    assert_eq!((damaged_bytes.len(), changed), (whole_bytes.len(), vec![0xbfd6]));
    let [mut damaged, mut whole] = [damaged, whole].map(|path| dump_damaged(&path));
    assert_eq!((damaged.status.code(), whole.status.code()), (Some(3), Some(0)));
    let [account, of_whole] =
        [&mut damaged, &mut whole].map(|dumped| dumped.lines.pop().unwrap().remove("account").unwrap());
    // The header, and every other record before and after the damaged one.
    whole.lines.retain(|line| line.get("offset") != Some(&AT.into()));
    assert!(whole.lines.last().unwrap()["offset"].as_u64().unwrap() > AT);
    assert_eq!(damaged.lines.len(), whole.lines.len());
    for (damaged, whole) in damaged.lines.iter().zip(&whole.lines) {
        assert_eq!(damaged, whole);
    }
    let number = |account: &Value, key: &str| account[key].as_u64().unwrap();
    assert_eq!(number(&account, "records"), number(&of_whole, "records") - 1);
    assert_eq!(number(&account, "bytes"), number(&of_whole, "bytes") - SIZE);
    assert_eq!(account["bytes_skipped"], SIZE);
    let diagnostics = account["diagnostics"].as_array().unwrap();
    let places: Vec<_> = diagnostics.iter().map(|it| (&it["offset"], &it["field"])).collect();
    assert_eq!(places, [(&json!(AT + 6), &json!("header.size")), (&json!(AT), &json!(""))]);
    assert!(diagnostics[1]["message"].as_str().unwrap().starts_with("48 bytes skipped, "));
    let skipped = format!("0xbfd0: {}\n", diagnostics[1]["message"].as_str().unwrap());
    assert!(damaged.errors.contains(&skipped), "{}", damaged.errors);
}

#[test]
fn fuzz_seeds() {
    let corpus = Path::new(CORPUS);
    for capture in CAPTURES.iter().filter(|capture| capture.starts_with("fuzz/")) {
        let path = corpus.join(capture);
        let Dumped { status, lines, errors } = dump_damaged(&path);
        assert!(!errors.contains("panicked"), "{capture}: {errors}");
        if status.code() == Some(1) {
            assert_eq!((lines.len(), errors.lines().count()), (0, 1), "{capture}: {errors}");
            assert!(errors.contains(": 0x"), "{capture}: {errors} names no offset");
            continue;
        }
        let account = &lines.last().unwrap()["account"];
        let faults = account["diagnostics"].as_array().unwrap().len();
        let skipped = account["bytes_skipped"].as_u64().unwrap();
        let is_clean = faults == 0 && skipped == 0;
        assert_eq!(status.code(), Some(if is_clean { 0 } else { 3 }), "{capture}");
        // Header and account are also lines, and so is the summary of the errors.
        assert_eq!(account["records"], lines.len() - 2, "{capture}");
        assert_eq!(errors.lines().count(), if is_clean { 0 } else { faults + 1 }, "{capture}: {errors}");
        let bytes = account["bytes"].as_u64().unwrap() + skipped;
        assert!(bytes <= fs::metadata(&path).unwrap().len(), "{capture}: more bytes than there are");
    }
}
