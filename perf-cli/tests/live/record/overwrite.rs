//! `--overwrite`: rings that keep the newest records, and the snapshots that are requested of them.

use alloc::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use super::workload::{command, words};
use super::{Dump, Running, dump, event, perfdata, record, shown, succeeds, until};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    a_snapshot_has_the_samples_that_are_in_the_rings,
    perf_reads_a_snapshot,
    forward_rings_are_dumped_too,
    a_snapshot_has_the_tasks_of_its_samples,
];

/// Returns whether a program handles SIGUSR2, which would end it otherwise.
fn listens(pid: u32) -> bool {
    const SIGUSR2: u32 = 12;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (SIGUSR2 - 1) != 0
}

/// Returns the samples independent of their order: time, place, task and call chain.
fn samples(dump: &Dump) -> Vec<Value> {
    let parts = |sample: &&Value| json!([sample["time"], sample["ip"], sample["tid"], sample["callchain"]]);
    let mut samples: Vec<_> = dump.samples().iter().map(parts).collect();
    samples.sort_by_key(Value::to_string);
    samples
}

/// Returns the dump of the rings in a folder.
fn rings(folder: &Path) -> Dump {
    let attr = folder.join("attr.data");
    let mut rings: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    rings.retain(|path| *path != attr);
    rings.sort_unstable();
    assert!(!rings.is_empty());
    shown(perfdata().arg("ring").args(rings).arg("--attr").arg(attr))
}

/// Takes a snapshot and compares it with the rings. Returns the snapshot.
fn snapshot() -> PathBuf {
    let folder = needs::folder();
    let options = ["--overwrite", "-g", "-e", "cpu-clock", "-m", "2", "--dump-rings", "rings"];
    let mut recorder = record(&folder, &options, &command("twins", 1));
    let mut recorder = Running(recorder.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(recorder.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    until("it listens to signals", || listens(recorder.0.id()));

    // The first snapshot may come before there is a sample.
    let mut in_snapshot = None;
    for number in 1.. {
        recorder.signal("USR2");
        let name = format!("perf.data.{number}");
        let end = said.find(|line| line.starts_with(&format!("perfdata: {name}: ")));
        assert!(end.is_some(), "it ended before it wrote {name}");
        let snapshot = dump(&folder.join(&name));
        assert_eq!((snapshot.status, &*snapshot.err), (0, ""));
        if !samples(&snapshot).is_empty() {
            let of_rings = rings(&folder.join("rings"));
            assert_eq!(of_rings.status, 0, "{}", of_rings.err);
            assert_eq!(samples(&of_rings), samples(&snapshot));
            assert!(of_rings.samples().iter().all(|sample| sample["callchain"].is_array()));
            in_snapshot = Some((name, snapshot));
            break;
        }
    }
    let (name, snapshot) = in_snapshot.unwrap();
    // A snapshot also describes the tasks and mappings.
    for kind in ["COMM", "MMAP2"] {
        assert!(!snapshot.of_type(kind).is_empty(), "{kind}");
    }

    recorder.signal("INT");
    until("it ends", || recorder.0.try_wait().unwrap().is_some());
    let end = dump(&folder.join("perf.data"));
    assert_eq!((end.status, &*end.err), (0, ""));
    assert!(!end.samples().is_empty());
    folder.join(name)
}

fn a_snapshot_has_the_samples_that_are_in_the_rings() {
    snapshot();
}

fn perf_reads_a_snapshot() {
    needs::all(&[needs::Need::PERF]);
    super::perf::agrees(&snapshot());
}

/// Rings of a recording without `--overwrite` are also dumped unchanged.
fn forward_rings_are_dumped_too() {
    let folder = needs::folder();
    let options = ["-e", "page-faults", "-c", "1", "--dump-rings", "rings"];
    let mut recorder = record(&folder, &options, &command("twins", 1));
    let mut recorder = Running(recorder.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(recorder.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    until("it listens to signals", || listens(recorder.0.id()));
    recorder.signal("USR2");
    assert!(said.any(|line| line == "perfdata: rings: wrote copies of the rings"));
    let of_rings = rings(&folder.join("rings"));
    assert_eq!((of_rings.status, &*of_rings.err), (0, ""));
    assert_eq!(of_rings.names(), [event("page-faults")]);
}

/// Of tasks that ended, a snapshot has those that have samples in it, and those of the last round.
fn a_snapshot_has_the_tasks_of_its_samples() {
    const COUNT: usize = 1500;
    let folder = needs::folder();
    let script = format!("i=0; while [ $i -lt {COUNT} ]; do /bin/true; i=$((i+1)); done");
    let options = ["-q", "--overwrite", "-e", "page-faults", "-c", "1", "-m", "32"];
    succeeds(&mut record(&folder, &options, &words(&["sh", "-c", &script])));
    let snapshot = dump(&folder.join("perf.data"));
    let pid_of = |fields: &Value| fields["pid"].as_i64();
    let with_samples: BTreeSet<_> = snapshot.samples().into_iter().map(pid_of).collect();
    assert!(!with_samples.is_empty());
    let forks = snapshot.of_type("FORK").into_iter().map(|fork| pid_of(&fork["fields"]));
    let others = forks.filter(|pid| !with_samples.contains(pid)).count();
    assert!(others < COUNT / 2, "{others} tasks have no samples; {} have", with_samples.len());
}
