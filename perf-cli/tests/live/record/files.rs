//! The files that `perfdata record` writes: only the owner can read them, and they replace an existing file only once
//! the recording begins.

use std::fs;
use std::os::unix::fs::symlink;

use needs::{Folder, Run};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    recordings_are_for_their_owner_alone,
    snapshots_and_dumps_of_rings_are_for_their_owner_alone,
    what_cannot_be_recorded_leaves_what_was_there,
    a_recording_goes_where_a_link_leads,
    a_recording_is_not_in_the_way_of_the_dumps_of_its_rings,
];

/// Runs `perfdata record` with these options, after a line of shell code.
const PERFDATA: &str = env!("CARGO_BIN_EXE_perfdata");

fn record(folder: &Folder, shell: &str, options: &[&str], command: &[&str]) -> Run {
    folder.run_after(shell, &[&["record", "-e", "task-clock:u"], options, &["--"], command].concat())
}

const UMASKS: [&str; 2] = ["umask 022", "umask 000"];

fn recordings_are_for_their_owner_alone() {
    let folder = Folder::new(PERFDATA, "record_modes");
    for umask in UMASKS {
        for _ in 0..2 {
            record(&folder, umask, &[], &["true"]).succeeds();
        }
        assert_eq!(folder.names(), ["perf.data", "perf.data.old"]);
        for name in folder.names() {
            assert_eq!(folder.mode(&name), 0o600, "{umask}, {name}");
            fs::remove_file(folder.path(&name)).unwrap();
        }
    }
}

fn snapshots_and_dumps_of_rings_are_for_their_owner_alone() {
    let folder = Folder::new(PERFDATA, "record_snapshot_modes");
    for umask in UMASKS {
        // The command asks the recorder, its parent, for a snapshot.
        let snapshot = ["sh", "-c", "kill -USR2 $PPID; sleep 0.5"];
        let options = ["--overwrite", "--dump-rings", "rings"];
        record(&folder, umask, &options, &snapshot).succeeds();
        assert_eq!(folder.names(), ["perf.data", "perf.data.1", "rings"]);
        let dumps = fs::read_dir(folder.path("rings")).unwrap().map(|entry| entry.unwrap().file_name());
        let dumps: Vec<_> = dumps.map(|name| format!("rings/{}", name.to_str().unwrap())).collect();
        assert!(
            dumps.iter().all(|name| name == "rings/attr.data" || name.starts_with("rings/ring.")),
            "{dumps:?}"
        );
        assert!(dumps.len() > 1, "{dumps:?}");
        for name in dumps.iter().map(String::as_str).chain(["perf.data", "perf.data.1"]) {
            assert_eq!(folder.mode(name), 0o600, "{umask}, {name}");
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
}

fn what_cannot_be_recorded_leaves_what_was_there() {
    let folder = Folder::new(PERFDATA, "record_failed");
    fs::write(folder.path("perf.data"), "newer").unwrap();
    fs::write(folder.path("perf.data.old"), "older").unwrap();
    let leaves = |run: Run, why: &str| {
        run.fails(&[why]);
        assert_eq!(folder.names(), ["perf.data", "perf.data.old"]);
        assert_eq!(
            (folder.read("perf.data"), folder.read("perf.data.old")),
            (b"newer".into(), b"older".into())
        );
    };
    leaves(record(&folder, ":", &[], &["./no-such-program"]), "no-such-program: No such file");
    leaves(record(&folder, "ulimit -f 0", &[], &["true"]), "perf.data: File too large");
    leaves(record(&folder, "ulimit -f 0", &["--overwrite"], &["true"]), "perf.data: File too large");
}

fn a_recording_goes_where_a_link_leads() {
    let folder = Folder::new(PERFDATA, "record_link");
    fs::create_dir(folder.path("deep")).unwrap();
    symlink("deep/target", folder.path("perf.data")).unwrap();
    for _ in 0..2 {
        record(&folder, ":", &["-q"], &["true"]).succeeds();
        assert!(fs::symlink_metadata(folder.path("perf.data")).unwrap().is_symlink());
        folder.run(&["dump", "deep/target"]).succeeds();
    }
    folder.run(&["dump", "deep/target.old"]).succeeds();
    assert_eq!(folder.names(), ["deep", "perf.data"]);
}

fn a_recording_is_not_in_the_way_of_the_dumps_of_its_rings() {
    let folder = Folder::new(PERFDATA, "record_dumps");
    fs::create_dir(folder.path("rings")).unwrap();
    symlink("rings", folder.path("link")).unwrap();
    for output in ["rings/attr.data", "rings/ring.0", "link/ring.12", "rings/ring"] {
        let args = ["record", "--dump-rings", "rings", "-o", output, "--", "true"];
        folder.run(&args).fails(&[output, "give --output another"]);
        assert_eq!(fs::read_dir(folder.path("rings")).unwrap().count(), 0);
    }
}
