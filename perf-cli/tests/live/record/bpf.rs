//! BPF programs: their functions, machine code and types in recordings.

use alloc::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, thread};

use core::time::Duration;
use serde_json::Value;

use super::perf::{both, perf};
use super::workload::words;
use super::{Dump, Running, dump, record, recorded, run, succeeds, until};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: loaded_before,
    of_no_interest,
    to_a_stream,
    loaded_meanwhile,
    loaded_beside_other_recorders,
    loaded_by_a_task_that_is_not_recorded,
    in_a_snapshot,
    without_permission,
];

const JIT: &str = "/proc/sys/net/core/bpf_jit_enable";

/// A loaded program of two functions, which runs until it is dropped.
struct Loaded {
    _runs: Running,
    id: u64,
    /// The ends of the names of its functions.
    names: [String; 2],
}

/// Skips the test unless programs can be loaded and have machine code.
fn needs_bpf() {
    needs::all(&[needs::Need::Runs(&["python3", "--version"])]);
    match fs::read_to_string(JIT) {
        Ok(enabled) if enabled.trim() != "0" => {}
        other => needs::skip("bpf", &format!("{JIT}: {other:?}")),
    }
}

/// Loads a program. Skips the test if it cannot be loaded.
fn loaded() -> Loaded {
    needs_bpf();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/record/bpf.py");
    let mut python = Command::new("python3");
    python.arg(source).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut runs = Running::start(&mut python);
    let mut line = String::new();
    BufReader::new(runs.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let Ok(id) = line.trim().parse() else {
        let mut why = String::new();
        std::io::Read::read_to_string(runs.0.stderr.as_mut().unwrap(), &mut why).unwrap();
        needs::skip("bpf", &why);
    };
    let pid = runs.0.id();
    Loaded { _runs: runs, id, names: ["first", "second"].map(|name| format!("_{name}_{pid}")) }
}

/// Returns the entry of a list feature with an id.
fn entry<'a>(dump: &'a Dump, feature: &str, id: u64) -> Option<&'a Value> {
    dump.header["features"][feature].as_array()?.iter().find(|entry| entry["id"] == id)
}

/// Returns a program's information, without the fields that change while it runs.
fn info(dump: &Dump, id: u64) -> Value {
    let mut info = entry(dump, "BPF_PROG_INFO", id).unwrap_or_else(|| panic!("no program {id}")).clone();
    let bytes = info["info"].as_str().unwrap();
    // run_time_ns, run_cnt, recursion_misses
    info["info"] = format!("{}{}", &bytes[..2 * 192], &bytes[2 * 216..]).into();
    info
}

/// Returns the id of a program's types: the word at 128.
fn types_of(info: &Value) -> u64 {
    let digits = &info["info"].as_str().unwrap()[2 * 128..2 * 132];
    let id = u32::from_str_radix(digits, 16).unwrap();
    u32::from_ne_bytes(id.to_be_bytes()).into()
}

/// Returns the records of a program that was loaded before: KSYMBOL of its functions, and BPF_EVENT.
fn found(dump: &Dump, program: &Loaded) -> Vec<String> {
    let is_found = |record: &&Value| {
        let (fields, kind) = (&record["fields"], &record["type"]);
        let name = fields["name"].as_str().unwrap_or_default();
        let is_function = program.names.iter().any(|it| name.ends_with(it));
        record["sample_id"]["time"].as_u64().unwrap_or(0) == 0
            && (kind == "KSYMBOL" && is_function || kind == "BPF_EVENT" && fields["id"] == program.id)
    };
    let shown = |record: &Value| format!("{} {} {}", record["type"], record["misc"], record["fields"]);
    dump.records.iter().filter(is_found).map(shown).collect()
}

fn loaded_before() {
    let program = loaded();
    let captures = both(&["-a", "-e", "cpu-clock"], &words(&["sleep", "0.3"]));
    let [ours, perfs] = captures.each_ref().map(|capture| dump(capture));
    assert_eq!(found(&ours, &program).len(), 3, "two functions and the program");
    assert_eq!(found(&ours, &program), found(&perfs, &program));
    let info = info(&ours, program.id);
    assert_eq!(info, self::info(&perfs, program.id));
    let types = types_of(&info);
    assert!(entry(&ours, "BPF_BTF", types).is_some(), "{info}");
    assert_eq!(entry(&ours, "BPF_BTF", types), entry(&perfs, "BPF_BTF", types));

    let [ours, perfs] = captures.each_ref().map(|capture| {
        let (status, out, err) = run(perf(&["report", "--header-only", "-I", "-i"]).arg(capture));
        assert_eq!((status, &*err), (0, ""));
        let is_ours = |line: &&str| {
            line.ends_with(&format!("bpf_prog_info {}:", program.id))
                || program.names.iter().any(|name| line.contains(&format!("{name} ")))
                || line.ends_with(&format!("btf info of id {types}"))
        };
        out.lines().filter(is_ours).map(str::to_owned).collect::<Vec<_>>()
    });
    assert!(ours.len() >= 4, "{ours:?}");
    assert_eq!(ours, perfs);

    let is_named = |mut command: Command| {
        let (status, out, err) = run(&mut command);
        assert_eq!(status, 0, "{err}");
        assert!(program.names.iter().all(|name| out.contains(name)), "{out}");
    };
    let mut report = perf(&["report", "--stdio", "-i"]);
    report.arg(&captures[0]);
    is_named(report);
    let mut report = super::perfdata();
    report.args(["report", "--stdio", "-i"]).arg(&captures[0]);
    is_named(report);
}

fn of_no_interest() {
    let program = loaded();
    let dump = recorded(&needs::folder(), &["--no-bpf-event", "-e", "cpu-clock"], &words(&["true"]));
    assert_eq!(found(&dump, &program), Vec::<String>::new());
    assert_eq!(
        (dump.header["features"].get("BPF_PROG_INFO"), dump.header["features"].get("BPF_BTF")),
        (None, None)
    );
}

fn to_a_stream() {
    let program = loaded();
    let (folder, words) = (needs::folder(), words(&["true"]));
    let stream = folder.join("stream.data");
    let mut recorder = record(&folder, &["-q", "-e", "cpu-clock", "-o", "-"], &words);
    assert!(recorder.stdout(fs::File::create(&stream).unwrap()).status().unwrap().success());
    let dump = dump(&stream);
    assert_eq!((dump.status, found(&dump, &program).len()), (0, 3), "{}", dump.err);
    assert!(
        dump.records
            .iter()
            .chain([&dump.header])
            .any(|it| it.to_string().contains(&format!("\"{}\"", &program.names[0][1..])))
    );
}

/// Returns the types of the BPF_EVENT records of a program: 1 is loaded, 2 unloaded. The CPUs' rings are written in any order.
fn types_of_events(dump: &Dump, id: u64) -> BTreeSet<u64> {
    let events = dump.of_type("BPF_EVENT").into_iter().map(|event| &event["fields"]);
    events.filter(|fields| fields["id"] == id).map(|fields| fields["type"].as_u64().unwrap()).collect()
}

/// Loads a program while captures are recorded, and waits until the first one has its end. Returns the program's id.
fn loaded_and_ended(capture: &Path) -> u64 {
    let program = loaded();
    // The information is read when the rings are, once a second.
    thread::sleep(Duration::from_millis(1500));
    let id = program.id;
    drop(program);
    // Later than its last user ends.
    until("it is unloaded", || types_of_events(&dump(capture), id).contains(&2));
    id
}

fn loaded_meanwhile() {
    let folder = needs::folder();
    needs::all(&[needs::Need::CpuEvents]);
    needs_bpf();
    // Few samples, so that no ring is ever full.
    let options = ["-q", "-a", "-e", "cpu-clock", "-F", "50"];
    let mut recorder = Running::start(&mut record(&folder, &options, &words(&["sleep", "30"])));
    until("it records", || folder.join("perf.data").exists());
    let id = loaded_and_ended(&folder.join("perf.data"));
    recorder.signal("INT");
    recorder.ends();
    let dump = dump(&folder.join("perf.data"));
    assert_eq!(types_of_events(&dump, id), [1, 2].into());
    assert!(entry(&dump, "BPF_PROG_INFO", id).is_some());
    assert!(entry(&dump, "BPF_BTF", types_of(&info(&dump, id))).is_some());
}

/// The kernel lengthens these records for each recorder of the machine that has them, from the newest to the oldest.
fn loaded_beside_other_recorders() {
    let folder = needs::folder();
    needs::all(&[needs::Need::CpuEvents, needs::Need::PERF]);
    needs_bpf();
    let [older, newer] = ["older.data", "newer.data"].map(|name| folder.join(name));
    let perfs = |out: &Path| {
        let mut perf = perf(&["record", "-q", "-a", "-N", "-e", "cpu-clock", "-F", "50", "-o"]);
        let running = Running::start(perf.arg(out).args(["--", "sleep", "30"]));
        // It opens its events before it writes what it found.
        until("perf records", || fs::metadata(out).is_ok_and(|file| file.len() > 4096));
        running
    };
    let mut recorders = vec![perfs(&older)];
    let options = ["-q", "-a", "-e", "cpu-clock", "-F", "50"];
    recorders.push(Running::start(&mut record(&folder, &options, &words(&["sleep", "30"]))));
    let ours = folder.join("perf.data");
    until("it records", || ours.exists());
    recorders.push(perfs(&newer));
    let id = loaded_and_ended(&ours);
    for recorder in &mut recorders {
        recorder.signal("INT");
        // perf ends by the signal.
        recorder.0.wait().unwrap();
    }
    let [older, ours] = [dump(&older), dump(&ours)];
    let stale = |dump: &Dump| {
        let events = dump.of_type("BPF_EVENT").into_iter().chain(dump.of_type("KSYMBOL"));
        events.filter(|event| event["fields"]["stale_bytes"].is_u64()).count()
    };
    for dump in [&older, &ours] {
        assert_eq!((dump.status, types_of_events(dump, id)), (0, [1, 2].into()), "{}", dump.err);
    }
    assert_eq!(stale(&ours), 0, "cut by the recorder");
    assert!(stale(&older) >= 2, "the kernel does not lengthen these records any more");
    assert!(entry(&ours, "BPF_PROG_INFO", id).is_some());
}

fn loaded_by_a_task_that_is_not_recorded() {
    let folder = needs::folder();
    needs_bpf();
    let mut recorder =
        Running::start(&mut record(&folder, &["-q", "-e", "cpu-clock"], &words(&["sleep", "30"])));
    until("it records", || folder.join("perf.data").exists());
    let program = loaded();
    recorder.signal("INT");
    recorder.ends();
    let dump = dump(&folder.join("perf.data"));
    assert!(dump.of_type("BPF_EVENT").iter().all(|it| it["fields"]["id"] != program.id));
    assert!(entry(&dump, "BPF_PROG_INFO", program.id).is_some());
}

fn in_a_snapshot() {
    let program = loaded();
    let options = ["--overwrite", "-e", "cpu-clock"];
    let dump = recorded(&needs::folder(), &options, &words(&["sleep", "0.1"]));
    assert_eq!(found(&dump, &program).len(), 3);
    assert!(entry(&dump, "BPF_PROG_INFO", program.id).is_some());
}

/// As perf, the recording says it only with -v.
fn without_permission() {
    let folder = needs::folder();
    needs::all(&[needs::Need::OrdinaryUser]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let verbose = |options: &[&str]| {
        let mut recorder = needs::as_ordinary_user(env!("CARGO_BIN_EXE_perfdata").as_ref());
        recorder.current_dir(&folder).env("HOME", &folder).arg("record").args(options);
        let (status, _, err) = run(recorder.args(["-e", "page-faults:u", "--", "true"]));
        assert_eq!(status, 0, "{err}");
        err
    };
    let says = "the BPF programs that are loaded are not recorded: bpf: EPERM";
    assert!(!verbose(&[]).contains("BPF"));
    let err = verbose(&["-v"]);
    assert!(err.contains(says) || err.contains("not recorded: bpf: ENOSYS"), "{err}");
    succeeds(super::perfdata().args(["dump", "--limit", "1"]).arg(folder.join("perf.data")));
}
