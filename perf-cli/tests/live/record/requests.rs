//! Requests that start, stop and limit a recording: `--control`, `--delay`, `--switch-output-event`, cpus and cgroups.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::workload::command;
use super::{Dump, Running, dump, perfdata, recorded, run, until};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    commands_start_and_stop_the_events,
    a_command_takes_a_snapshot_and_another_ends_it,
    a_recording_in_ranges_of_time,
    an_overwriting_recording_is_delayed,
    an_event_begins_another_file,
    threads_on_one_cpu,
    cgroups_of_events,
    terms_of_events,
    names_of_registers,
    rings_that_are_read_late,
    what_contradicts_itself,
];

/// Runs a script in a folder, in which `record` is `perfdata record -q`.
fn script(folder: &Path, text: &str) -> (i32, String, String) {
    let record = format!("{} record -q", env!("CARGO_BIN_EXE_perfdata"));
    run(Command::new("sh").current_dir(folder).args(["-c", &text.replace("RECORD", &record)]))
}

/// Returns the number of samples of each event.
fn by_event(dump: &Dump) -> Vec<usize> {
    let events = dump.header["attrs"].as_array().unwrap().len();
    let of = |event| dump.of_type("SAMPLE").iter().filter(|record| record["event"] == event).count();
    (0..events).map(of).collect()
}

fn commands_start_and_stop_the_events() {
    let folder = needs::folder();
    // The command waits for the answers, so nothing depends on time.
    let (status, out, err) = script(
        &folder,
        "mkfifo c a; exec 5<>c 6<>a
         RECORD -c 1 -D -1 -e page-faults:u -e cs:u --control fd:5,6 -- sh -c '
             tell() { echo \"$@\" >&5; read answer <&6; echo $answer; }
             ls / >/dev/null; tell ping; tell evlist; tell evlist -F; tell enable page-faults:u
             ls / >/dev/null; tell disable; ls / >/dev/null; echo what >&5; tell enable none'",
    );
    assert_eq!((status, &*out), (0, "ack\nack\nack\nack\nack\nack\n"), "{err}");
    for line in [
        "page-faults:u",
        "page-faults:u: sample_period=1",
        "perfdata: --control: \"what\" is not a command; enable, disable, snapshot, evlist, stop and ping are",
        "perfdata: --control: none is not recorded",
    ] {
        assert!(err.lines().any(|it| it == line), "{line:?} in {err}");
    }
    let some = dump(&folder.join("perf.data"));
    assert_eq!(some.names(), ["dummy", "page-faults:u", "cs:u"]);
    let all = recorded(
        &folder,
        &["-c", "1", "-e", "page-faults"],
        &super::workload::words(&["sh", "-c", "ls / >/dev/null; ls / >/dev/null; ls / >/dev/null"]),
    );
    let (some, all) = (by_event(&some)[1], by_event(&all)[0]);
    assert!(some > 20 && some < all / 2, "{some} of {all}");
    // The processes from before and after are recorded too.
    assert!(dump(&folder.join("perf.data.old")).of_type("EXIT").len() >= 3);
}

fn a_command_takes_a_snapshot_and_another_ends_it() {
    let folder = needs::folder();
    let (status, out, err) = script(
        &folder,
        "mkfifo c a; exec 5<>c 6<>a
         RECORD -c 1 --overwrite -e page-faults:u --control fifo:c,a -- sh -c '
             ls / >/dev/null; echo snapshot >&5; read one <&6; echo $one; ls; echo stop >&5; read two <&6; exec sleep 30'",
    );
    assert_eq!(status, 128 + 15, "the command is ended: {err}");
    assert_eq!(out, "ack\na\nc\nperf.data.1\n", "{err}");
    for name in ["perf.data.1", "perf.data"] {
        assert!(!dump(&folder.join(name)).samples().is_empty(), "{name}");
    }
}

fn a_recording_in_ranges_of_time() {
    let folder = needs::folder();
    let ranges = ["-e", "cpu-clock", "-c", "1000000", "-D", "20-60,160-1000000"];
    let dump = recorded(&folder, &ranges, &command("threads", 2));
    let mut times: Vec<_> = dump.samples().iter().map(|sample| sample["time"].as_u64().unwrap()).collect();
    times.sort_unstable();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(times.len() < 20 || longest >= Some(50_000_000), "{} samples, {longest:?}", times.len());
}

fn an_overwriting_recording_is_delayed() {
    let folder = needs::folder();
    let options = ["--overwrite", "-e", "page-faults", "-c", "1", "-D", "1"];
    let script = "sleep 0.3; ls / >/dev/null";
    let dump = recorded(&folder, &options, &super::workload::words(&["sh", "-c", script]));
    assert!(!dump.samples().is_empty());
}

fn an_event_begins_another_file() {
    let folder = needs::folder();
    let options =
        ["-e", "cpu-clock", "--switch-output-event", "page-faults/period=20/u", "--switch-max-files", "3"];
    let command =
        super::workload::words(&["sh", "-c", "for i in 1 2 3 4 5 6; do ls / >/dev/null; sleep 0.1; done"]);
    super::succeeds(&mut super::record(&folder, &[&["-q"], &options[..]].concat(), &command));
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!((2..=3).contains(&files.len()), "{files:?}");
    for file in files {
        let dump = dump(&file);
        assert_eq!((dump.status, dump.names()), (0, vec![&*super::event("cpu-clock")]));
    }
    let mut recorder = perfdata();
    recorder.args(["record", "--switch-output-event", "page-faults:u", "--", "true"]);
    let (status, _, err) = run(recorder.current_dir(&folder));
    assert!(status == 1 && err.contains("period"), "{err}");
}

fn threads_on_one_cpu() {
    needs::all(&[needs::Need::Runs(&["taskset", "-c", "0", "true"])]);
    let folder = needs::folder();
    let twins = command("twins", 1);
    let task = Running::start(Command::new(&twins[0]).args(&twins[1..]));
    let record = |tail: &[&str]| {
        let pid = task.0.id().to_string();
        let options =
            [&["-e", "cpu-clock", "-F", "500", "--sample-cpu", "-p", &pid, "-C", "0"], tail].concat();
        recorded(&folder, &options, &super::workload::words(&["sleep", "0.5"]))
    };
    for tail in [&[][..], &["-i"]] {
        let dump = record(tail);
        assert!(dump.samples().iter().all(|sample| sample["cpu"] == 0 && sample["pid"] == task.0.id()));
    }
    // It runs there only if it is moved there.
    let pid = task.0.id().to_string();
    assert!(Command::new("taskset").args(["-a", "-p", "-c", "0", &pid]).output().unwrap().status.success());
    assert!(!record(&[]).samples().is_empty());
}

fn cgroups_of_events() {
    needs::all(&[needs::Need::CpuEvents]);
    let folder = needs::folder();
    let record = |cgroups: &str| {
        let mut recorder = perfdata();
        recorder.current_dir(&folder).args([
            "record",
            "-q",
            "-a",
            "-e",
            "cpu-clock,task-clock",
            "-G",
            cgroups,
        ]);
        run(recorder.args(["--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]))
    };
    let (status, _, err) = record("/,");
    if err.contains("no cgroup hierarchy") || err.contains("cgroup /: ") {
        needs::skip("cgroup", "no cgroup hierarchy is mounted");
    }
    assert_eq!((status, &*err), (0, ""));
    let one = dump(&folder.join("perf.data"));
    assert!(by_event(&one)[1] > 0, "the root has all tasks: {:?}", by_event(&one));
    assert_eq!(record("/").0, 0);
    let (status, _, err) = record("/,/,/");
    assert!(status == 1 && err.contains("3 cgroups for 2 events"), "{err}");
    let (status, _, err) = record("/none/such");
    assert!(status == 1 && err.contains("none/such"), "{err}");
}

fn terms_of_events() {
    let folder = needs::folder();
    let forks = command("forks", 3);
    let dump = recorded(&folder, &["-i", "--event", "page-faults/inherit,time=0/u", "-c", "1"], &forks);
    let mut pids: Vec<_> = dump.samples().iter().map(|sample| sample["pid"].as_i64()).collect();
    pids.sort_unstable();
    pids.dedup();
    assert!(pids.len() > 1 && dump.samples().iter().all(|sample| sample["time"].is_null()), "{pids:?}");
}

fn names_of_registers() {
    if !cfg!(target_arch = "x86_64") {
        needs::skip("x86_64", "the registers are those of x86-64");
    }
    for option in ["-I?", "--user-regs=?"] {
        let (status, out, _) = run(perfdata().args(["record", option]));
        assert_eq!(status, 0);
        assert!(out.starts_with("available registers: AX BX CX DX") && out.ends_with("R15\n"), "{out}");
    }
    let dump = recorded(&needs::folder(), &["-Iax,IP", "-e", "page-faults"], &command("touch", 10));
    assert_eq!(dump.header["attrs"][0]["sample_regs_intr"], 0x101);
}

fn rings_that_are_read_late() {
    let folder = needs::folder();
    let options = ["--mmap-flush", "1G", "-e", "page-faults", "-c", "1"];
    let dump = recorded(&folder, &options, &command("touch", 300));
    assert!(dump.samples().len() >= 300);
    // The priority needs a privilege.
    let mut recorder = super::record(&folder, &["-q", "-r", "1", "-e", "page-faults"], &command("touch", 10));
    let (status, _, err) = run(&mut recorder);
    assert!(status == 0 || err.contains("CAP_SYS_NICE"), "{err}");
}

fn what_contradicts_itself() {
    let folder = needs::folder();
    for (options, why) in [
        (&["-D", "-1"][..], "--control"),
        (&["-p", "1", "--per-thread", "-e", "page-faults/inherit/u"], "inherit"),
        (&["-G", "/", "-e", "page-faults:u"], "are recorded on cpus"),
        (&["-G", "no-such-cgroup", "-e", "page-faults:u"], "are recorded on cpus"),
        (&["--switch-max-files", "3"], "--switch-output"),
        (&["-n", "-e", "page-faults/period=3/u"], "period"),
        (&["-e", "page-faults/overwrite/u,cpu-clock:u"], "overwrite"),
    ] {
        let mut recorder = perfdata();
        recorder.current_dir(&folder).arg("record").args(options).args(["--", "true"]);
        let (status, _, err) = run(&mut recorder);
        assert!(status == 1 && err.contains(why), "{options:?}: {err}");
    }
    until("no file is left", || !folder.join("perf.data").exists());
}
