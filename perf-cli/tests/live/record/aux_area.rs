//! Hardware traces, with hardware that a preloaded library simulates: a software event under the name of a PMU that traces.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{OWN_MOUNTS, Running, dump, in_own_mounts, perfdata, run, until};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    all_data_of_a_trace,
    a_trace_of_threads,
    snapshots_when_asked_for_and_at_the_end,
    perf_reads_a_trace,
    without_an_area_the_error_says_so,
    what_cannot_be_combined_with_a_trace,
];

/// The files of the PMUs. Their type is that of software events, and the term `config=9` selects `dummy`.
const PMUS: &[(&str, &str)] = &[
    ("intel_pt/type", "1\n"),
    ("intel_pt/format/tsc", "config:0\n"),
    ("intel_pt/format/mtc", "config:9\n"),
    ("intel_pt/format/mtc_period", "config:14-17\n"),
    ("intel_bts/type", "1\n"),
    ("intel_bts/format/x", "config:0\n"),
    ("arm_spe_0/type", "1\n"),
    ("arm_spe_0/format/x", "config:0\n"),
];

/// Bytes of an AUXTRACE record, before its data.
const RECORD: usize = 48;

/// A machine with PMUs that trace.
struct Machine {
    folder: PathBuf,
    /// The library that simulates the hardware; `None` for none.
    library: Option<PathBuf>,
}

impl Machine {
    fn new() -> Self {
        let needs = [OWN_MOUNTS, needs::Need::CpuEvents, needs::Need::Sysfs];
        needs::all(&needs);
        let folder = needs::folder();
        for (path, text) in PMUS {
            let path = folder.join("pmus").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder, library: None }
    }

    fn with_hardware() -> Self {
        needs::all(&[needs::Need::Runs(&["gcc", "--version"])]);
        let machine = Self::new();
        let library = machine.folder.join("aux_area.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/record/aux_area.c");
        let mut gcc = Command::new("gcc");
        gcc.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert_eq!(run(&mut gcc), (0, String::new(), String::new()));
        Self { library: Some(library), ..machine }
    }

    /// Returns the recorder; not started yet.
    fn record(&self, options: &[&str], command: &[&str]) -> Command {
        let script = "mount --bind pmus /sys/bus/event_source/devices && library=$1 && shift &&
             LD_PRELOAD=$library exec \"$0\" \"$@\"";
        let mut recorder = in_own_mounts(&self.folder, script);
        recorder.arg(self.library.as_deref().unwrap_or(Path::new("")));
        recorder.args(["record", "-q"]).args(options).arg("--").args(command);
        recorder
    }

    fn recorded(&self, options: &[&str], command: &[&str]) -> Vec<Piece> {
        assert_eq!(run(&mut self.record(options, command)), (0, String::new(), String::new()), "{options:?}");
        pieces(&self.folder.join("perf.data"))
    }
}

/// A piece of a trace.
#[derive(Debug)]
struct Piece {
    ring: u64,
    offset: u64,
    cpu: i64,
    words: Vec<u64>,
}

/// Returns the pieces in a capture, which must be whole.
fn pieces(capture: &Path) -> Vec<Piece> {
    let (dump, bytes) = (dump(capture), fs::read(capture).unwrap());
    assert_eq!((dump.status, dump.err.as_str()), (0, ""));
    assert_eq!(dump.of_type("AUXTRACE_INFO").len(), 1);
    let piece = |record: &&serde_json::Value| {
        let number = |field: &str| record["fields"][field].as_u64().unwrap();
        let at = usize::try_from(record["offset"].as_u64().unwrap()).unwrap() + RECORD;
        let data = &bytes[at..at + usize::try_from(number("size")).unwrap()];
        let words = data.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
        let cpu = record["fields"]["cpu"].as_i64().unwrap();
        Piece { ring: number("idx"), offset: number("offset"), cpu, words }
    };
    dump.of_type("AUXTRACE").iter().map(piece).collect()
}

/// Returns whether the pieces have all numbers, from 1 in each ring.
fn are_whole(pieces: &[Piece]) -> bool {
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    pieces.iter().all(|piece| {
        let next = next.entry(piece.ring).or_default();
        let is_next = *next == piece.offset;
        *next += piece.words.len() as u64 * 8;
        is_next && (piece.offset / 8 + 1..).zip(&piece.words).all(|(expected, word)| expected == *word)
    })
}

/// The area is full again and again, and what the recorder takes is written once and in order.
fn all_data_of_a_trace() {
    let machine = Machine::with_hardware();
    for options in [
        &["-e", "intel_pt/config=9/u", "-m", ",64K"][..],
        &["-e", "page-faults:u", "-e", "arm_spe_0/config=9/u", "-m", "8,128K", "-z"],
        &["-a", "-e", "intel_pt/config=9/u"],
    ] {
        // Longer than the recorder waits if nothing wakes it.
        let pieces = machine.recorded(options, &["sleep", "1.3"]);
        assert!(are_whole(&pieces), "{options:?}");
        assert!(
            pieces_of_rings(&pieces).values().all(|pieces| pieces.len() > 1),
            "it continued when it had room"
        );
        assert!(pieces.iter().all(|piece| piece.cpu >= 0));
    }
    let stream = machine.folder.join("stream");
    let mut recorder =
        machine.record(&["-e", "intel_pt/config=9/u", "-m", ",64K", "-o", "-"], &["sleep", "1.3"]);
    assert!(recorder.stdout(File::create(&stream).unwrap()).status().unwrap().success());
    let pieces = pieces(&stream);
    assert!(pieces.len() > 1 && are_whole(&pieces));
}

/// An area is not divided into whole entries of BTS. The part of one at its end is left out.
fn a_trace_of_threads() {
    let machine = Machine::with_hardware();
    let options = ["--per-thread", "-e", "intel_bts/config=9/u", "-m", ",64K"];
    let pieces = machine.recorded(&options, &["sleep", "0.3"]);
    assert!(!pieces.is_empty());
    assert!(pieces.iter().all(|piece| piece.cpu == -1 && piece.words.len() % 3 == 0));
}

fn snapshots_when_asked_for_and_at_the_end() {
    let machine = Machine::with_hardware();
    let is_newest = |piece: &Piece| piece.words.windows(2).all(|words| words[0] + 1 == words[1]);
    let options = ["-e", "intel_pt/config=9/u", "-m", ",256K"];
    assert!(machine.recorded(&[&options[..], &["-S"]].concat(), &["sleep", "0.1"]).is_empty());
    let at_end = machine.recorded(&[&options[..], &["-Se65536"]].concat(), &["sleep", "0.3"]);
    assert!(!at_end.is_empty());
    assert!(at_end.iter().all(|piece| piece.words.len() == 8192 && is_newest(piece)), "{}", at_end.len());

    let mut recorder = machine.record(&[&options[..], &["-S"]].concat(), &["sleep", "60"]);
    let mut recorder = Running::start(&mut recorder);
    let capture = machine.folder.join("perf.data");
    fs::remove_file(&capture).unwrap();
    until("the file has its name", || capture.exists());
    let mut last = 0;
    for _ in 0..2 {
        recorder.signal("USR2");
        let size = || fs::metadata(&capture).unwrap().len();
        until("a snapshot is written", || size() > last + 100_000);
        // All areas of it.
        until("the file is complete", || {
            let before = size();
            std::thread::sleep(core::time::Duration::from_millis(200));
            before == size()
        });
        last = size();
    }
    recorder.signal("INT");
    recorder.ends();
    let found = pieces_of_rings(&pieces(&capture));
    assert!(found.values().all(|pieces| pieces.len() == 2 && pieces[0].0 < pieces[1].0), "{found:?}");
}

/// Returns the first and the last number of each piece, by ring.
fn pieces_of_rings(pieces: &[Piece]) -> BTreeMap<u64, Vec<(u64, u64)>> {
    let mut found: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for piece in pieces {
        let ends = (piece.words[0], *piece.words.last().unwrap());
        assert_eq!(ends.1 - ends.0 + 1, piece.words.len() as u64);
        found.entry(piece.ring).or_default().push(ends);
    }
    found
}

fn perf_reads_a_trace() {
    needs::all(&[needs::Need::PERF]);
    let machine = Machine::with_hardware();
    let pieces = machine.recorded(&["-e", "intel_pt/config=9/u", "-m", ",64K"], &["sleep", "0.1"]);
    let mut perf = Command::new("perf");
    let (_, out, _) = run(perf.args(["script", "-D", "-i"]).arg(machine.folder.join("perf.data")));
    let count = |what: &str| out.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count("PERF_RECORD_AUXTRACE size"), pieces.len());
    for line in [
        "PERF_RECORD_AUXTRACE_INFO type: 1",
        "  PMU Type            1",
        "  TSC bit             0x1",
        "  Have sched_switch   3",
        "  Snapshot mode       0",
        "  Per-cpu maps        1",
        "  MTC bit             0x200",
        "  MTC freq bits       0x3c000",
        "  Filter string len.  0",
        "  Cap Event Trace     0",
    ] {
        assert_eq!(count(line), 1, "{line}");
    }
}

fn without_an_area_the_error_says_so() {
    let machine = Machine::new();
    let (status, _, err) = run(&mut machine.record(&["-e", "intel_pt/config=9/u"], &["true"]));
    assert_eq!(status, 1);
    assert!(err.contains("EOPNOTSUPP") && err.contains("no AUX area"), "{err}");
    assert!(!machine.folder.join("perf.data").exists());
}

fn what_cannot_be_combined_with_a_trace() {
    let machine = Machine::with_hardware();
    let refused = |options: &[&str], why: &str| {
        let (status, _, err) = run(&mut machine.record(options, &["true"]));
        assert!(status == 1 && err.contains(why), "{options:?}: {err}");
        assert!(!machine.folder.join("perf.data").exists());
    };
    refused(&["-e", "intel_pt/config=9/u", "--threads"], "leave --threads out");
    refused(&["-e", "intel_pt/config=9/u", "--overwrite"], "take snapshots");
    refused(&["-e", "intel_bts/config=9/u"], "--per-thread");
    refused(&["-e", "intel_pt/config=9/u", "-k", "mono"], "leave out the other clock");
    let (status, out, _) = run(perfdata().args(["record", "--help"]));
    assert!(status == 0 && out.contains("--aux-sample"));
}
