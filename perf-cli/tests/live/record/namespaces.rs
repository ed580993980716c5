//! Programs in another mount namespace, as in a container.

use std::fs;

use super::workload::command;
use super::{OWN_MOUNTS, Running, in_own_mounts, perfdata, run, succeeds, until};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: a_program_that_only_its_own_mount_namespace_has, a_container_that_ends_before_the_recording,
];

/// The program's file is found through the process while it lives, and then in the cache, or in the archive, which the recording
/// added it to.
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
    for (name, more) in
        [("without.data", &["-N"][..]), ("with.data", &[]), ("collected.data", &["-N", "--collect"])]
    {
        let mut recorder = perfdata();
        recorder.current_dir(&folder).args(options).arg(name).args(more).args(["--", "sleep", "0.3"]);
        if more.contains(&"--collect") {
            // It may lack files that were not found, such as the symbols of the kernel.
            let (status, _, err) = run(&mut recorder);
            assert_eq!(status, 0, "{err}");
        } else {
            succeeds(&mut recorder);
        }
    }
    let is_named = |capture| {
        let stacks = succeeds(perfdata().current_dir(&folder).args(["fold", capture]));
        stacks.contains("spin") && !stacks.contains("[contained]")
    };
    assert!(is_named("without.data"));
    drop(program);
    assert!(is_named("with.data"));
    // Without the cache.
    fs::remove_dir_all(needs::home().join(".debug")).unwrap();
    assert!(!is_named("collected.data"));
    assert!(is_named("collected.data.tar.zst"));
}

/// The build id was read while the program ran, and its file held open: at the end, its mounts are gone.
fn a_container_that_ends_before_the_recording() {
    needs::all(&[OWN_MOUNTS, needs::Need::Runs(&["cc", "--version"])]);
    let folder = needs::folder();
    let [program, arguments @ ..] = &command("twins", 1)[..] else { unreachable!() };
    // Longer than the time for which rings are not read.
    let inner = format!(
        "mkdir own && mount -t tmpfs none own && cp {program} own/contained && timeout 2.5 own/contained {}",
        arguments.join(" ")
    );
    let script = format!("unshare -m sh -c '{inner}'; exit 0");
    let mut recorder = perfdata();
    recorder.current_dir(&folder);
    recorder.args(["record", "-q", "--collect", "-e", "cpu-clock:u", "--", "sh", "-c", &script]);
    let (status, _, err) = run(&mut recorder);
    assert_eq!(status, 0, "{err}");
    let info = succeeds(perfdata().current_dir(&folder).args(["info", "--header-only"]));
    assert!(info.contains("own/contained"), "{info}");
    fs::remove_dir_all(needs::home().join(".debug")).unwrap();
    let stacks = succeeds(perfdata().current_dir(&folder).args(["fold", "perf.data.tar.zst"]));
    assert!(stacks.contains("spin") && !stacks.contains("[contained]"), "{stacks}");
}
