//! Captures of this machine: `perfdata lock` against the installed perf.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::json;

pub(crate) const TESTS: &[needs::Test] = needs::tests![perf_prints_the_same, record_has_locks_and_futexes];

fn run(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    let output =
        command.args(args).current_dir(needs::folder()).env("PERF_CONFIG", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compares all options with perf on a capture, by the script of the goldens.
fn compare(perf: &str, capture: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/lock.sh");
    let mut command = Command::new("bash");
    command.arg(script).args([env!("CARGO_BIN_EXE_perfdata"), perf]).arg(capture);
    let output = command.env("PERF_CONFIG", "/dev/null").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("same: 0,"), "{said}");
}

/// Work that waits for locks of the kernel: processes that move files in one folder.
const WORK: &str =
    "for i in 1 2 3; do (for j in 1 2 3 4 5 6 7 8; do echo $j >a$i; mv a$i b; rm -f b; done) & done; wait";

fn perf_prints_the_same() {
    needs::all(&[needs::Need::PERF, needs::Need::Tracepoints, needs::Need::CpuEvents]);
    needs::all(&[needs::Need::Runs(&["bash", "--version"])]);
    run("perf", &["lock", "record", "-q", "-a", "-o", "lock.data", "--", "sh", "-c", WORK]);
    let capture = needs::folder().join("lock.data");
    compare("perf", &capture);
    let newer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/packages/perf");
    if newer.exists() {
        compare(newer.to_str().unwrap(), &capture);
    }
}

fn recorded(args: &[&str], work: &[&str]) -> PathBuf {
    let fixed = ["record", "--lock", "-q", "-g", "-o", "own.data"];
    run(env!("CARGO_BIN_EXE_perfdata"), &[&fixed[..], args, &["--"], work].concat());
    needs::folder().join("own.data")
}

fn record_has_locks_and_futexes() {
    needs::all(&[needs::Need::Tracepoints, needs::Need::Events]);
    needs::all(&[needs::Need::Runs(&["python3", "--version"])]);
    // The second thread waits for the lock that the first one has.
    let program = "import threading, time\nlock = threading.Lock()\nlock.acquire()\n\
                   thread = threading.Thread(target=lock.acquire)\nthread.start()\ntime.sleep(0.05)\nlock.release()\nthread.join()";
    let capture = recorded(&[], &["python3", "-c", program]);
    let capture = capture.to_str().unwrap();
    let document = json("waits", capture, &["--futexes", "--by", "thread", "--details"]);
    let groups = document["groups"].as_array().unwrap();
    let of_thread = |group: &&serde_json::Value| group["tid"] != group["pid"];
    let waited = groups.iter().filter(of_thread).map(|group| group["max"].as_u64().unwrap()).max();
    assert!(waited >= Some(40_000_000), "{document}");
    assert!(groups.iter().all(|group| group["locks"][0]["lock"]["is_futex"] == true), "{document}");
}
