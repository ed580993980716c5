//! Programs in another mount namespace, as in a container.

use std::fs;

use super::workload::command;
use super::{OWN_MOUNTS, Running, in_own_mounts, perfdata, succeeds, until};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: a_program_that_only_its_own_mount_namespace_has,
];

/// The program's file is found through the process while it lives, and then in the cache, which the recording added it to.
fn a_program_that_only_its_own_mount_namespace_has() {
    needs::all(&[OWN_MOUNTS, needs::Need::Runs(&["cc", "--version"])]);
    let folder = needs::folder();
    let [program, arguments @ ..] = &command("twins", 1)[..] else { unreachable!() };
    let script = format!(
        "mkdir own && mount -t tmpfs none own && cp {program} own/contained && exec own/contained {}",
        arguments.join(" ")
    );
    let program = Running::start(&mut in_own_mounts(&folder, &script));
    let pid = program.0.id();
    until("the program runs", || {
        fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path.ends_with("own/contained"))
    });
    let pid = pid.to_string();
    let options = ["record", "-q", "-e", "cpu-clock:u", "-p", &pid, "-o"];
    for (name, cache) in [("without.data", Some("-N")), ("with.data", None)] {
        let mut recorder = perfdata();
        recorder.current_dir(&folder).args(options).arg(name).args(cache).args(["--", "sleep", "0.3"]);
        succeeds(&mut recorder);
    }
    let is_named = |capture| {
        let stacks = succeeds(perfdata().current_dir(&folder).args(["fold", capture]));
        stacks.contains("spin") && !stacks.contains("[contained]")
    };
    assert!(is_named("without.data"));
    drop(program);
    assert!(is_named("with.data"));
}
