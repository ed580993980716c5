//! Whom a recording is of, and how it ends.

use std::process::{Command, Stdio};

use crate::workload::{command, words};
use crate::{
    Running, agrees_with_perf, dump, folder, has_sample, may_record, perf_says, perfdata, record, recorded,
    run, until,
};

#[test]
fn the_whole_machine_while_a_command_runs() {
    if !may_record() {
        return;
    }
    let folder = folder("all");
    let dump = recorded(&folder, &["-a", "-e", "cpu-clock", "-F", "1000"], &command("threads", 2));
    let samples = dump.samples();
    assert!(!samples.is_empty() && samples.iter().all(|sample| sample["cpu"].is_number()));
    // This process ran before: it is told of as it was found.
    let this = std::process::id();
    for kind in ["COMM", "MMAP2"] {
        let told = dump.of_type(kind).into_iter().any(|record| record["fields"]["pid"] == this);
        assert!(told, "{kind} of process {this}");
    }
    perf_says(&["script"], &folder.join("perf.data"));
}

#[test]
fn a_process_until_ctrl_c() {
    if !may_record() {
        return;
    }
    let folder = folder("pid");
    let twins = command("twins", 1);
    let mut task = Running::start(Command::new(&twins[0]).args(&twins[1..]));
    let (pid, capture) = (task.0.id(), folder.join("perf.data"));
    let mut recorder = perfdata();
    recorder.current_dir(&folder).args([
        "record",
        "-q",
        "-g",
        "-e",
        "cpu-clock",
        "-F",
        "500",
        "-p",
        &pid.to_string(),
    ]);
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
    agrees_with_perf(&capture);
}

/// A command that would not end is ended with the recording of it.
#[test]
fn a_command_until_ctrl_c() {
    if !may_record() {
        return;
    }
    let folder = folder("ctrl-c");
    let capture = folder.join("perf.data");
    let mut recorder = Running::start(&mut record(&folder, &["-q", "-e", "cpu-clock"], &command("twins", 1)));
    until("there is a sample", || has_sample(&capture));
    recorder.signal("INT");
    assert_eq!(recorder.ends(), 128 + 15, "the command was ended by SIGTERM");
    let dump = dump(&capture);
    assert_eq!((dump.status, &*dump.err), (0, ""), "the file is whole");
}

#[test]
fn the_status_of_the_command_is_passed_on() {
    if !may_record() {
        return;
    }
    let folder = folder("status");
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

#[test]
fn what_the_command_prints_is_left_alone() {
    if !may_record() {
        return;
    }
    let folder = folder("prints");
    let mut recorder =
        record(&folder, &["-q", "-e", "page-faults"], &words(&["sh", "-c", "cat; echo err >&2"]));
    let mut child =
        recorder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"in").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((&*output.stdout, &*output.stderr), (&b"in"[..], &b"err\n"[..]));
}

#[test]
fn what_cannot_be_recorded_is_said() {
    if !may_record() {
        return;
    }
    let folder = folder("cannot");
    let capture = folder.join("perf.data");
    let fails = |options: &[&str], command: &[&str], why: &[&str]| {
        let (status, out, err) = run(&mut record(&folder, options, &words(command)));
        assert_eq!((status, &*out), (1, ""), "{options:?} {command:?}: {err}");
        for why in why {
            assert!(err.contains(why), "{options:?} {command:?}: {err:?} does not say {why:?}");
        }
    };
    fails(&["-e", "page-faults"], &["./no-such-command"], &["./no-such-command: No such file"]);
    fails(&["-e", "page-faults"], &["no-such-command"], &["no-such-command"]);
    fails(&["-e", "page-faults"], &["/"], &["/: Permission denied"]);
    fails(&["-e", "page-fault"], &["true"], &["page-fault", "page-faults"]);
    fails(&["-e", "sched:sched_swich"], &["true"], &["sched_swich", "sched_switch"]);
    fails(&["-e", "page-faults:b"], &["true"], &["page-faults"]);
    fails(&["-C", "4095"], &["true"], &["--cpu"]);
    fails(&["-p", "4194305"], &[], &["4194305"]);
    fails(&["-c", "1", "-F", "1"], &["true"], &["cannot be used with"]);
    fails(&["--overwrite", "-o", "-"], &["true"], &["--output"]);
    assert!(!capture.exists(), "what is not recorded leaves no file");
}
