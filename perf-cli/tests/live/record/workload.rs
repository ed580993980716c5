//! The programs that are recorded: `testdata/workload.c`, or this program itself if there is no compiler.

use core::time::Duration;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use tempfile::TempDir;

/// The variable that makes this program act as the workload.
const VARIABLE: &str = "PERFDATA_TEST_WORKLOAD";

/// Returns the command for one kind of work: `threads`, `touch` or `forks`, that many times, or `twins`, which computes until
/// it is killed, but for two minutes at most.
pub(crate) fn command(mode: &str, count: u32) -> Vec<String> {
    match &COMPILED.get_or_init(compile).program {
        Some(program) => vec![program.to_str().unwrap().to_owned(), mode.to_owned(), count.to_string()],
        None => {
            let this = std::env::current_exe().unwrap();
            words(&["env", &format!("{VARIABLE}={mode} {count}"), this.to_str().unwrap()])
        }
    }
}

/// The program compiled from `testdata/workload.c`, and its folder.
struct Compiled {
    folder: TempDir,
    program: Option<PathBuf>,
}

static COMPILED: OnceLock<Compiled> = OnceLock::new();

/// Removes the compiled program.
pub(crate) fn clean_up() {
    if let Some(compiled) = COMPILED.get() {
        let _ = std::fs::remove_dir_all(compiled.folder.path());
    }
}

/// Returns any other command.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn compile() -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/workload.c");
    let program = folder.path().join("workload");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-fno-omit-frame-pointer", "-no-pie", "-pthread", "-Wl,--build-id", "-o"]);
    let Ok(output) = compiler.arg(&program).arg(source).output() else {
        return Compiled { folder, program: None };
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Compiled { folder, program: Some(program) }
}

/// Runs the workload that the variable requests, in place of the tests. Returns whether the variable is set.
pub(crate) fn was_asked_for() -> bool {
    let Ok(what) = std::env::var(VARIABLE) else { return false };
    let (mode, count) = what.split_once(' ').unwrap();
    let count: u32 = count.parse().unwrap();
    match mode {
        "touch" => drop(touched(count)),
        "forks" => (0..count).for_each(|_| assert!(Command::new("true").status().unwrap().success())),
        "threads" => threads(count, Duration::from_millis(20)),
        "twins" => threads(2, Duration::from_secs(120)),
        _ => panic!("{mode}"),
    }
    true
}

/// Returns pages, each of which was written to.
fn touched(pages: u32) -> Vec<u8> {
    (0..pages as usize * 4096).map(|at| at as u8).collect()
}

fn threads(count: u32, time: Duration) {
    let (start, parent) = (Instant::now(), parent_id());
    let work = || {
        // If the recorder is killed, the workload ends too.
        while start.elapsed() < time && parent_id() == parent {
            core::hint::black_box(touched(2));
        }
    };
    std::thread::scope(|scope| (0..count).for_each(|_| drop(scope.spawn(work))));
}
