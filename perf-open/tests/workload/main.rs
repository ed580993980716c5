//! A command that waits before its exec.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;

use perf_open::workload::Workload;

fn prepare(script: &str) -> Workload {
    Workload::prepare("sh".as_ref(), ["-c", script].map(OsString::from)).unwrap()
}

#[test]
fn it_waits_until_it_is_started() {
    let mut workload = prepare("exit 3");
    let program = || fs::read_link(format!("/proc/{}/exe", workload.pid())).unwrap();
    assert_eq!(program(), fs::read_link("/proc/self/exe").unwrap());
    assert_eq!(workload.try_wait().unwrap(), None);
    workload.start().unwrap();
    assert_eq!(workload.wait().unwrap().code(), Some(3));
    assert_eq!(workload.try_wait().unwrap().and_then(|status| status.code()), Some(3));
}

#[test]
fn it_is_not_started_by_being_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("touched");
    let workload = prepare(&format!("touch '{}'", file.display()));
    let process = format!("/proc/{}", workload.pid());
    drop(workload);
    assert!(!file.exists());
    assert!(fs::metadata(process).is_err(), "the child is still there");
}

#[test]
fn it_begins_with_signals_at_their_defaults() {
    // This process ignores SIGPIPE, like every Rust program. SIGPIPE is signal 13: the lowest bit of the fourth digit.
    let mut workload = prepare("grep -q '^SigIgn:.*[02468ace]...$' /proc/self/status");
    workload.start().unwrap();
    assert_eq!(workload.wait().unwrap().code(), Some(0));
}

#[test]
fn it_is_told_to_end() {
    let mut workload = prepare("exec sleep 100");
    workload.start().unwrap();
    workload.terminate().unwrap();
    assert!(!workload.wait().unwrap().success());
    let error = workload.terminate().unwrap_err();
    assert_eq!((error.call(), error.errno_name()), ("kill", Some("ESRCH")));
}

#[test]
fn what_is_no_program_is_said_to_be_none() {
    let error = Workload::prepare("no-such-program-anywhere".as_ref(), []).unwrap_err();
    assert_eq!(error.to_string(), "execve: ENOENT (2): no folder of PATH contains no-such-program-anywhere");
    let mut folder = Workload::prepare("/proc/self".as_ref(), []).unwrap();
    let error = folder.start().unwrap_err();
    assert_eq!((error.call(), error.errno_name()), ("execve", Some("EACCES")));
    assert_eq!(folder.wait().unwrap().code(), Some(127));
}

#[test]
fn its_time_is_known_when_it_has_ended() {
    let mut workload = prepare("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done");
    workload.start().unwrap();
    assert_eq!(workload.cpu_time(), None);
    workload.wait().unwrap();
    let time = workload.cpu_time().unwrap();
    assert!(!(time.user + time.system).is_zero(), "{time:?}");
}
