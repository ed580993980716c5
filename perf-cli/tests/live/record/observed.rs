//! The targets of a recording, and how it ends.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::workload::{command, words};
use super::{
    OWN_MOUNTS, Running, dump, event, has_sample, here, in_own_mounts, perfdata, record, recorded, run, until,
};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    the_whole_machine_while_a_command_runs,
    a_process_until_ctrl_c,
    perf_reads_a_process_until_ctrl_c,
    a_command_until_ctrl_c,
    the_status_of_the_command_is_passed_on,
    what_the_command_prints_is_left_alone,
    without_a_pmu_a_clock_is_recorded,
    the_kernel_alone_is_refused_where_it_may_not_be_recorded,
    an_unknown_tracepoint_is_told_with_the_closest,
    what_cannot_be_recorded_is_said,
    more_events_than_open_files,
    a_filter_of_system_calls_is_named,
    without_sysfs_a_command_is_recorded,
    fallbacks_and_refusals_of_an_ordinary_user,
    a_group_whose_leader_samples_with_children,
];

fn the_whole_machine_while_a_command_runs() {
    needs::all(&[needs::Need::CpuEvents]);
    let folder = needs::folder();
    let dump = recorded(&folder, &["-a", "-e", "cpu-clock", "-F", "1000"], &command("threads", 2));
    let samples = dump.samples();
    assert!(!samples.is_empty() && samples.iter().all(|sample| sample["cpu"].is_number()));
    // This process ran before, so its existing state is recorded.
    let this = std::process::id();
    for kind in ["COMM", "MMAP2"] {
        let told = dump.of_type(kind).into_iter().any(|record| record["fields"]["pid"] == this);
        assert!(told, "{kind} of process {this}");
    }
}

/// Records a running process. Returns the capture.
fn process_until_ctrl_c() -> PathBuf {
    let folder = needs::folder();
    let twins = command("twins", 1);
    let mut task = Running::start(Command::new(&twins[0]).args(&twins[1..]));
    let (pid, capture) = (task.0.id(), folder.join("perf.data"));
    let mut recorder = perfdata();
    let options = ["-q", "-g", "-e", "cpu-clock", "-F", "500", "-p", &pid.to_string()];
    recorder.current_dir(&folder).arg("record").args(here(&options));
    let mut recorder = Running::start(&mut recorder);
    until("there is a sample", || has_sample(&capture));
    recorder.signal("INT");
    assert_eq!(recorder.ends(), 0);
    assert!(task.0.try_wait().unwrap().is_none(), "what is recorded goes on");

    let dump = dump(&capture);
    assert_eq!((dump.status, &*dump.err), (0, ""), "the file is whole");
    assert!(dump.samples().iter().all(|sample| sample["pid"] == pid));
    assert!(
        dump.header["features"]["HOSTNAME"].is_string() && dump.header["features"]["SAMPLE_TIME"].is_object()
    );
    capture
}

fn a_process_until_ctrl_c() {
    process_until_ctrl_c();
}

fn perf_reads_a_process_until_ctrl_c() {
    needs::all(&[needs::Need::PERF]);
    super::perf::agrees(&process_until_ctrl_c());
}

/// A command that does not end by itself is ended together with the recording.
fn a_command_until_ctrl_c() {
    let folder = needs::folder();
    let capture = folder.join("perf.data");
    let mut recorder = Running::start(&mut record(&folder, &["-q", "-e", "cpu-clock"], &command("twins", 1)));
    until("there is a sample", || has_sample(&capture));
    recorder.signal("INT");
    assert_eq!(recorder.ends(), 128 + 15, "the command was ended by SIGTERM");
    let dump = dump(&capture);
    assert_eq!((dump.status, &*dump.err), (0, ""), "the file is whole");
}

fn the_status_of_the_command_is_passed_on() {
    let folder = needs::folder();
    for (script, expected) in
        [("exit 0", 0), ("exit 7", 7), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
    {
        let mut recorder = record(&folder, &["-q", "-e", "page-faults"], &words(&["sh", "-c", script]));
        let (status, out, err) = run(&mut recorder);
        assert_eq!((status, &*out, &*err), (expected, "", ""), "{script}");
        let dump = dump(&folder.join("perf.data"));
        assert_eq!((dump.status, &*dump.err), (0, ""), "{script}");
    }
}

fn what_the_command_prints_is_left_alone() {
    let folder = needs::folder();
    let mut recorder =
        record(&folder, &["-q", "-e", "page-faults"], &words(&["sh", "-c", "cat; echo err >&2"]));
    let mut child =
        recorder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"in").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((&*output.stdout, &*output.stderr), (&b"in"[..], &b"err\n"[..]));
}

fn without_a_pmu_a_clock_is_recorded() {
    needs::all(&[needs::Need::NoHardware]);
    let folder = needs::folder();
    let (status, _, err) = run(&mut record(&folder, &[], &command("threads", 1)));
    assert_eq!(status, 0, "{err}");
    assert!(err.contains("cycles cannot be counted on this machine"), "{err}");
    assert_eq!(dump(&folder.join("perf.data")).names(), [event("cpu-clock")]);
}

fn the_kernel_alone_is_refused_where_it_may_not_be_recorded() {
    if needs::modifier().is_empty() {
        needs::skip("no-kernel-events", "the kernel may be recorded here");
    }
    let folder = needs::folder();
    let mut recorder = perfdata();
    recorder.current_dir(&folder).args(["record", "-e", "cpu-clock:k", "--", "true"]);
    let (status, out, err) = run(&mut recorder);
    assert_eq!((status, &*out), (1, ""), "{err}");
    assert!(err.starts_with("perfdata: cpu-clock:k: perf_event_open: EACCES (13): "), "{err}");
    assert!(!folder.join("perf.data").exists());
}

fn an_unknown_tracepoint_is_told_with_the_closest() {
    needs::all(&[needs::Need::Tracepoints]);
    let mut recorder = perfdata();
    let (status, out, err) = run(recorder.args(["record", "-e", "sched:sched_swich", "--", "true"]));
    assert_eq!((status, &*out), (1, ""), "{err}");
    assert!(err.contains("sched_swich") && err.contains("sched_switch"), "{err}");
}

fn what_cannot_be_recorded_is_said() {
    let folder = needs::folder();
    let capture = folder.join("perf.data");
    let fails = |options: &[&str], command: &[&str], why: &[&str]| {
        let mut recorder = perfdata();
        recorder.current_dir(&folder).arg("record").args(options).arg("--").args(command);
        let (status, out, err) = run(&mut recorder);
        assert_eq!((status, &*out), (1, ""), "{options:?} {command:?}: {err}");
        for why in why {
            assert!(err.contains(why), "{options:?} {command:?}: {err:?} does not say {why:?}");
        }
    };
    fails(&["-e", "page-faults"], &["./no-such-command"], &["./no-such-command: No such file"]);
    fails(&["-e", "page-faults"], &["no-such-command"], &["no-such-command"]);
    fails(&["-e", "page-faults"], &["/"], &["/: Permission denied"]);
    fails(&["-e", "page-fault"], &["true"], &["page-fault", "page-faults"]);
    fails(&["-e", "page-faults:b"], &["true"], &["page-faults"]);
    fails(&["-C", "4095"], &["true"], &["--cpu"]);
    fails(&["-p", "4194305"], &[], &["4194305"]);
    fails(&["-c", "1", "-F", "1"], &["true"], &["cannot be used with"]);
    fails(&["--overwrite", "-o", "-"], &["true"], &["--output"]);
    for options in [&["-S"][..], &["--snapshot=e"], &["--aux-sample"], &["-m", "128,256"]] {
        fails(
            &[&["-e", "dummy:u"], options].concat(),
            &["true"],
            &["AUX areas", "needs an event", "intel_pt//"],
        );
    }
    fails(&["-e", "intel_pt_99//u"], &["true"], &["this machine has no PMU intel_pt", "perfdata list"]);
    assert!(!capture.exists(), "what is not recorded leaves no file");
}

/// Each event takes a file descriptor on each CPU. The soft limit is raised; a hard limit that is too low is named.
fn more_events_than_open_files() {
    let folder = needs::folder();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let events = vec![event("page-faults"); 60 / cpus + 1].join(",");
    let record = |limits: &str| {
        let script = format!("{limits}; exec \"$0\" record -q -e {events} -- true");
        let mut shell = Command::new("sh");
        run(shell
            .current_dir(&folder)
            .env("HOME", needs::home())
            .args(["-c", &script])
            .arg(env!("CARGO_BIN_EXE_perfdata")))
    };
    assert_eq!(record("ulimit -Sn 40"), (0, String::new(), String::new()));
    let (status, _, err) = record("ulimit -n 40");
    assert_eq!(status, 1, "{err}");
    assert!(err.contains("file descriptors") && err.contains("hard limit"), "{err}");
}

/// Runs `perfdata record` where a filter refuses `perf_event_open`, as containers do.
fn a_filter_of_system_calls_is_named() {
    needs::all(&[needs::Need::Runs(&["python3", "--version"])]);
    let refuse = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.ci/refuse.py");
    for errno in ["eperm", "enosys"] {
        let mut python = Command::new("python3");
        python.arg(&refuse).arg(errno).arg(env!("CARGO_BIN_EXE_perfdata")).current_dir(needs::folder());
        python.env("HOME", needs::home());
        let (status, _, err) = run(python.args(["record", "-e", "page-faults:u", "--", "true"]));
        assert_eq!(status, 1, "{err}");
        assert!(err.contains(&errno.to_uppercase()) && err.contains("seccomp"), "{err}");
        assert!(!err.contains("paranoid") && !err.contains("registers"), "{err}");
    }
}

fn without_sysfs_a_command_is_recorded() {
    let script = "mount -t tmpfs none /sys && exec \"$0\" record -q -e page-faults:u -- true";
    needs::all(&[OWN_MOUNTS]);
    let folder = needs::folder();
    assert_eq!(run(&mut in_own_mounts(&folder, script)), (0, String::new(), String::new()));
    assert!(!dump(&folder.join("perf.data")).samples().is_empty());
}

/// Without a PMU and without the permission to record the kernel, a command is recorded by a clock, and the whole
/// machine and other users are refused with the true reason.
fn fallbacks_and_refusals_of_an_ordinary_user() {
    if needs::modifier().is_empty() {
        needs::skip("no-kernel-events", "the kernel may be recorded here");
    }
    needs::all(&[needs::Need::NoHardware]);
    let folder = needs::folder();
    let record = |arguments: &[&str]| {
        let mut recorder = perfdata();
        run(recorder.current_dir(&folder).arg("record").args(arguments))
    };
    let (status, _, err) = record(&["--", "true"]);
    assert_eq!(status, 0, "{err}");
    assert!(err.contains("sampling user space only") && err.contains("sampling cpu-clock instead"), "{err}");
    assert_eq!(dump(&folder.join("perf.data")).names(), ["cpu-clock:u"]);
    for (arguments, reason) in
        [(&["-a", "--", "true"][..], "counting all tasks of a cpu"), (&["-p", "1"], "another user")]
    {
        let (status, _, err) = record(arguments);
        assert!(status == 1 && err.contains("EACCES") && err.contains(reason), "{err}");
        assert!(!err.contains("instead"), "{err}");
    }
}

/// Linux 6.12 can inherit the events of such a group; older kernels record the command alone.
fn a_group_whose_leader_samples_with_children() {
    let folder = needs::folder();
    let forks = command("forks", 3);
    let (status, _, err) = run(&mut record(&folder, &["-e", "{page-faults,cpu-clock}:S", "-c", "1"], &forks));
    assert_eq!(status, 0, "{err}");
    let dump = dump(&folder.join("perf.data"));
    let is_inherited = dump.header["attrs"][0]["inherit"] == 1;
    assert_eq!(!is_inherited, err.contains("since Linux 6.12"), "{err}");
    let mut pids: Vec<_> = dump.samples().iter().map(|sample| sample["pid"].as_i64()).collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len() > 1, is_inherited, "{pids:?}");
}
