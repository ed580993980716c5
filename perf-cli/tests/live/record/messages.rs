//! Messages name the cause, and the event that was asked for.

use super::{OWN_MOUNTS, in_own_mounts, perfdata, run};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    a_machine_without_proc,
    the_event_of_a_filter,
    a_machine_that_may_not_be_recorded,
    a_directory_that_is_no_cgroup_of_events,
];

/// The kernel counts without `/proc`, too.
fn a_machine_without_proc() {
    needs::all(&[OWN_MOUNTS, needs::Need::Sysfs]);
    let script =
        |verb: &str| format!("mount -t tmpfs none /proc && exec \"$0\" {verb} -e page-faults:u -- true");
    let (status, _, err) = run(&mut in_own_mounts(&needs::folder(), &script("record -o no-proc.data")));
    assert!(status == 0 && err.contains("/proc is not mounted") && !err.contains("kptr_restrict"), "{err}");
    let (status, _, err) = run(&mut in_own_mounts(&needs::folder(), &script("stat -x,")));
    assert!(status == 0 && err.contains(",,page-faults:u,"), "{err}");
}

fn the_event_of_a_filter() {
    needs::all(&[needs::Need::Tracepoints]);
    let exit = "sched:sched_process_exit";
    let events =
        ["-e", "sched:sched_process_fork", "-e", exit, "--filter", "nosuch == 1", "-e", "page-faults:u"];
    for verb in ["record", "stat"] {
        let mut command = perfdata();
        command.current_dir(needs::folder()).arg(verb).args(events).args(["--", "true"]);
        let (status, _, err) = run(&mut command);
        assert!(status == 1 && err.contains(exit) && err.contains("nosuch == 1"), "{err}");
    }
}

fn a_machine_that_may_not_be_recorded() {
    needs::all(&[needs::Need::OrdinaryUser]);
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if paranoid.trim().parse::<i32>().unwrap() < 1 {
        needs::skip("paranoid", "perf_event_paranoid permits everybody to record all tasks");
    }
    let mut command = needs::as_ordinary_user(std::path::Path::new(env!("CARGO_BIN_EXE_perfdata")));
    command.current_dir("/").args(["record", "-o", "/dev/null", "-a", "-e", "page-faults:u", "--", "true"]);
    let (status, _, err) = run(&mut command);
    assert!(status == 1 && err.starts_with("perfdata: page-faults:u: perf_event_open: E"), "{err}");
}

fn a_directory_that_is_no_cgroup_of_events() {
    needs::all(&[needs::Need::CpuEvents, needs::Need::Sysfs]);
    for verb in ["record", "stat"] {
        let mut command = perfdata();
        command.current_dir(needs::folder());
        command.args([verb, "-a", "-e", "page-faults:u", "-G", "../../../../tmp", "--", "true"]);
        let (status, _, err) = run(&mut command);
        if err.contains("no cgroup hierarchy") {
            needs::skip("cgroup", "no cgroup hierarchy is mounted");
        }
        assert!(status == 1 && err.contains("/tmp: not a cgroup that events can be bound to"), "{err}");
    }
}
