//! The installed perf on our recordings.

use alloc::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::workload::command;
use super::{dump, event, perfdata, record, recorded, run};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: call_chains_of_threads,
    compressed,
    copies_of_the_stack,
    two_events_by_their_ids,
    a_group,
    a_tracepoint,
    the_whole_machine,
    a_stream,
    a_stream_to_perf_report,
    stacks_are_complete_where_perfs_are,
    generated_code_has_the_names_that_perf_gives_it,
    the_time_of_day,
    tools_read_it_without_a_warning,
    tasks_that_started_on_another_cpu,
    build_ids_of_files_that_were_hit,
    build_ids_of_all_files,
    build_ids_of_the_whole_machine,
    features_of_the_machine,
    a_process_as_it_was_found,
    a_process_with_its_data,
    a_process_with_its_data_and_namespaces,
    all_processes_as_they_were_found,
];

/// Returns the installed perf, without its configuration.
pub(super) fn perf(arguments: &[impl AsRef<OsStr>]) -> Command {
    needs::all(&[needs::Need::PERF]);
    let mut perf = Command::new("perf");
    perf.args(arguments).envs([("PERF_CONFIG", "/dev/null"), ("LC_ALL", "C")]).env("HOME", needs::folder());
    perf
}

/// Returns the output of perf for a capture, which perf must accept.
fn says(arguments: &[&str], capture: &Path) -> String {
    let (status, out, err) = run(perf(arguments).arg("-i").arg(capture));
    assert_eq!(status, 0, "{arguments:?}: {err}");
    out
}

/// Compares our dump of a capture with perf's, field by field.
pub(super) fn agrees(capture: &Path) {
    needs::all(&[needs::Need::PERF, needs::Need::Runs(&["python3", "--version"])]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/perf_script_d.py");
    let mut check = Command::new("python3");
    check.arg(script).arg(capture).args(["--perfdata", env!("CARGO_BIN_EXE_perfdata")]);
    check.env("HOME", needs::folder());
    let (status, out, err) = run(&mut check);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains(" 0 differences"), "{out}");
}

/// Makes a recording and checks that perf's dump agrees.
fn agreed(options: &[&str], command: &[String]) -> PathBuf {
    let folder = needs::folder();
    recorded(&folder, options, command);
    let capture = folder.join("perf.data");
    agrees(&capture);
    capture
}

fn call_chains_of_threads() {
    let capture = agreed(&["-g", "-e", "cpu-clock", "-F", "5000"], &command("threads", 4));
    let report = says(&["report", "--stdio", "--sort", "comm,dso"], &capture);
    assert!(report.contains(&format!("Samples: {}", dump(&capture).samples().len())), "{report}");
    assert_eq!(says(&["evlist"], &capture).trim_end(), event("cpu-clock"));
}

fn compressed() {
    agreed(&["-z", "-e", "page-faults", "-c", "1"], &command("touch", 300));
}

fn copies_of_the_stack() {
    let options = ["--call-graph", "dwarf,1024", "-e", "page-faults", "-c", "4"];
    let capture = agreed(&options, &command("touch", 100));
    says(&["report", "--stdio", "--no-children"], &capture);
}

/// Our files of generated code, and perf's, in one capture of perf.
fn generated_code_has_the_names_that_perf_gives_it() {
    needs::all(&[needs::Need::Runs(&["gcc", "--version"])]);
    let folder = needs::folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/writers/program.c");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-stack-protector"]);
    gcc.args(["-fno-builtin", "-nostdlib", "-static", "-o", "program"]).arg(source).current_dir(&folder);
    let (status, _, err) = run(&mut gcc);
    assert_eq!(status, 0, "{err}");
    let mut record =
        perf(&["record", "-q", "-N", "-g", "-k", "mono", "-e", "cpu-clock:u", "-o", "perf.data"]);
    let (status, _, err) = run(record.args(["./program", "jit"]).current_dir(&folder));
    assert_eq!(status, 0, "{err}");
    let [capture, ours, perfs] = ["perf.data", "ours.data", "perfs.data"].map(|name| folder.join(name));
    let (status, _, err) = run(perfdata().args(["edit", "--jit", "-o"]).arg(&ours).arg(&capture));
    assert_eq!(status, 0, "{err}");
    assert!(err.contains("ours.data.files: files: 1, functions: 2"), "{err}");
    let mut inject = perf(&["inject", "--jit", "-i", "perf.data", "-o", "perfs.data"]);
    assert_eq!(run(inject.current_dir(&folder)).0, 0);
    let script = |capture: &Path| says(&["script", "-F", "comm,tid,time,event,ip,sym"], capture);
    // The addresses are offsets in the files, which are others.
    let names = |text: &str| {
        let name = |line: &str| {
            line.split_once(" jitted_").map_or(line.to_owned(), |(_, it)| format!("jitted_{it}"))
        };
        text.lines().map(name).collect::<Vec<_>>()
    };
    let (of_ours, of_perfs) = (names(&script(&ours)), names(&script(&perfs)));
    assert!(
        ["jitted_step_1", "jitted_step_2"].iter().all(|name| of_ours.iter().any(|it| it == name)),
        "{of_ours:?}"
    );
    assert_eq!(of_ours, of_perfs);
    assert!(!script(&capture).contains("jitted_step"), "perf knows the names without the files");
    // Without the jitdump, they are those that it gave.
    let ours_prints = |capture: &Path| {
        let (status, out, err) = run(perfdata().args(["script", "-F", "tid,time,ip,sym"]).arg(capture));
        assert_eq!(status, 0, "{err}");
        names(&out)
    };
    let before = ours_prints(&capture);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "dump") {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(ours_prints(&ours), before);
    assert!(ours_prints(&capture) != before);
}

fn two_events_by_their_ids() {
    let options = ["-e", "page-faults", "-e", "cpu-clock", "-F", "5000"];
    let capture = agreed(&options, &command("threads", 2));
    let events = says(&["evlist"], &capture);
    assert_eq!(events.lines().collect::<Vec<_>>(), [event("page-faults"), event("cpu-clock")]);
}

fn a_group() {
    let options = ["-e", "{cpu-clock,page-faults}:S", "-F", "5000"];
    let capture = agreed(&options, &command("threads", 2));
    assert_eq!(says(&["evlist", "-g"], &capture).trim_end(), "{cpu-clock,page-faults}");
}

fn a_tracepoint() {
    needs::all(&[needs::Need::Tracepoints]);
    let capture = agreed(&["-e", "sched:sched_process_fork"], &command("forks", 3));
    let script = says(&["script", "-F", "trace"], &capture);
    let printed = script.lines().map(|line| {
        let (_, child) =
            line.rsplit_once("child_pid=").unwrap_or_else(|| panic!("{line:?} has no child_pid"));
        child.trim().parse().unwrap()
    });
    // perf prints them by time, not CPU by CPU.
    let printed: BTreeSet<i64> = printed.collect();
    let dump = dump(&capture);
    let child = |sample: &&serde_json::Value| sample["tracepoint"]["child_pid"].as_i64().unwrap();
    assert_eq!(printed, dump.samples().iter().map(child).collect());
}

fn the_whole_machine() {
    needs::all(&[needs::Need::CpuEvents]);
    let folder = needs::folder();
    recorded(&folder, &["-a", "-e", "cpu-clock", "-F", "1000"], &command("threads", 2));
    says(&["script"], &folder.join("perf.data"));
}

fn a_stream() {
    let folder = needs::folder();
    let capture = folder.join("stream.data");
    let mut recorder =
        record(&folder, &["-q", "-e", "page-faults", "-c", "1", "-o", "-"], &command("touch", 100));
    let status = recorder.stdout(fs::File::create(&capture).unwrap()).status().unwrap();
    assert!(status.success());
    agrees(&capture);
}

/// Makes our recording and perf's, of the same command with the same options.
pub(super) fn both(options: &[&str], command: &[String]) -> [PathBuf; 2] {
    let folder = needs::folder();
    let [ours, perfs] = ["perf.data", "perfs.data"].map(|name| folder.join(name));
    recorded(&folder, options, command);
    let mut perf = perf(&["record", "-q", "-N", "-o"]);
    perf.arg(&perfs).args(super::here(options)).arg("--").args(command);
    let (status, _, err) = run(&mut perf);
    assert_eq!(status, 0, "{err}");
    [ours, perfs]
}

/// Returns the build IDs and files of a capture, according to perf.
fn build_ids(capture: &Path) -> BTreeSet<(String, String)> {
    let listed = says(&["buildid-list"], capture);
    let pairs = listed.lines().map(|line| line.trim().split_once(' ').unwrap());
    pairs.map(|(id, file)| (id.to_owned(), file.to_owned())).collect()
}

/// The numbers of features differ between versions of perf, and so does the marker after the last one.
fn a_stream_to_perf_report() {
    let folder = needs::folder();
    let capture = folder.join("stream.data");
    let mut recorder =
        record(&folder, &["-q", "-e", "page-faults", "-c", "1", "-o", "-"], &command("touch", 100));
    assert!(recorder.stdout(fs::File::create(&capture).unwrap()).status().unwrap().success());
    let stream = fs::File::open(&capture).unwrap();
    let (status, out, err) = run(perf(&["report", "-i", "-", "--stdio"]).stdin(stream));
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("of event 'page-faults") && out.contains("touch"), "{out}");
}

/// Returns how many of the stacks of a capture perf unwinds to `main`.
fn unwound(capture: &Path) -> usize {
    let script = says(&["script", "-F", "ip,sym"], capture);
    script.split("\n\n").filter(|stack| stack.lines().any(|line| line.ends_with(" main"))).count()
}

/// Unwinding a copied stack needs the mappings of data too: those of the tables that it reads.
fn stacks_are_complete_where_perfs_are() {
    needs::all(&[needs::Need::Runs(&["cc", "--version"])]);
    for options in [
        ["--call-graph", "dwarf,2048", "-c", "4", "-e", "page-faults"],
        ["-g", "--call-graph", "dwarf,1024", "-c4", "-e", "page-faults"],
    ] {
        let [ours, perfs] = both(&options, &command("touch", 400)).map(|capture| unwound(&capture));
        // The program touches 400 pages in `main`, and each fourth fault is a sample. How many faults come before `main`
        // depends on what is in the page cache, so the first of two recordings has more of them.
        assert!(perfs > 80, "perf: {perfs}");
        assert!(ours * 100 >= perfs * 95, "{options:?}: {ours}, perf: {perfs}");
    }
}

/// perf converts times to the time of day by CLOCKID and CLOCK_DATA.
fn the_time_of_day() {
    let folder = needs::folder();
    recorded(&folder, &["-k", "monotonic", "-e", "page-faults", "-c", "1"], &command("touch", 10));
    let capture = folder.join("perf.data");
    let today = says(&["script", "-F", "tod"], &capture);
    let now = run(Command::new("date").arg("+%Y-%m-%d")).1;
    assert!(today.lines().count() >= 10 && today.contains(now.trim()), "{now}: {today}");
}

/// The tools of perf that read captures of these kinds print nothing to standard error where perf's own capture makes
/// them print nothing.
fn tools_read_it_without_a_warning() {
    let folder = needs::folder();
    let quiet = |tool: &[&str], captures: &[PathBuf; 2]| {
        let [ours, perfs] = captures.clone().map(|capture| {
            let mut perf = perf(tool);
            perf.current_dir(&folder).arg("-i").arg(capture);
            if tool[0] == "inject" {
                perf.arg("-o").arg(folder.join("injected.data"));
            }
            let (status, _, err) = run(&mut perf);
            (status, err)
        });
        assert!(perfs.0 != 0 || !perfs.1.is_empty() || ours == perfs, "{tool:?}: {ours:?}, perf: {perfs:?}");
    };
    let captures = both(&["-g", "-e", "page-faults", "-c", "1"], &command("touch", 100));
    for tool in [
        &["script"][..],
        &["report", "--stdio"],
        &["annotate", "--stdio"],
        &["inject", "-b"],
        &["buildid-list"],
        &["evlist", "-v"],
    ] {
        quiet(tool, &captures);
    }
    if needs::Need::Tracepoints.check().is_ok() && needs::Need::CpuEvents.check().is_ok() {
        let captures = both(&["-a", "-e", "sched:sched_switch,sched:sched_wakeup"], &command("threads", 2));
        quiet(&["sched", "latency"], &captures);
        quiet(&["script"], &captures);
        let captures = both(&["-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit"], &command("touch", 2));
        quiet(&["trace"], &captures);
    }
}

/// On a part of the CPUs, an event that takes no samples records tasks and mappings on all of them.
fn tasks_that_started_on_another_cpu() {
    needs::all(&[needs::Need::CpuEvents, needs::Need::Runs(&["taskset", "-c", "1", "true"])]);
    let folder = needs::folder();
    let capture = folder.join("perf.data");
    // The command starts on CPU 0, and moves to CPU 1.
    let touch = command("touch", 300).join(" ");
    let script = format!(
        "taskset -p -c 0 $$ >/dev/null; cp /bin/sleep moved; taskset -c 0 ./moved 0.5 & \
                          sleep 0.2; taskset -p -c 1 $! >/dev/null; taskset -c 1 {touch}; wait"
    );
    let mut recorder = perfdata();
    recorder.current_dir(&folder).args([
        "record",
        "-q",
        "-C",
        "1",
        "-e",
        "cpu-clock,page-faults",
        "-c",
        "1000",
    ]);
    let (status, _, err) = run(recorder.args(["--", "sh", "-c", &script]));
    assert_eq!(status, 0, "{err}");
    let dump = dump(&capture);
    let elsewhere: Vec<_> = dump.samples().into_iter().filter(|sample| sample["cpu"] != 1).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    let is_moved = |record: &&serde_json::Value| record["fields"]["comm"] == "moved";
    assert!(dump.of_type("COMM").iter().any(is_moved), "the exec on CPU 0 is not recorded");
    assert!(dump.of_type("MMAP2").iter().any(|record| {
        record["fields"]["filename"].as_str().is_some_and(|name| name.ends_with("/moved"))
    }));
    says(&["script"], &capture);
}

/// Compares the build IDs that we find with those that perf finds, for the same program.
fn build_ids_are_perfs(options: &[&str], extra: bool) {
    let command = command("touch", 200);
    let options = [&["-e", "page-faults", "-c", "1"], options].concat();
    let [ours, perfs] = both(&options, &command).map(|capture| build_ids(&capture));
    let program = Path::new(&command[0]).file_name().unwrap().to_str().unwrap();
    assert!(ours.iter().any(|(_, file)| file.ends_with(program)), "{ours:?}");
    // We record those of all files that were mapped, with and without --buildid-all.
    assert!(if extra { ours.is_superset(&perfs) } else { ours == perfs }, "{ours:?}, perf: {perfs:?}");
}

fn build_ids_of_files_that_were_hit() {
    build_ids_are_perfs(&[], true);
}

fn build_ids_of_all_files() {
    build_ids_are_perfs(&["--buildid-all"], false);
}

/// Other processes run other files in the meantime. So this compares only the files that both saw; the kernel is one of
/// them.
fn build_ids_of_the_whole_machine() {
    needs::all(&[needs::Need::CpuEvents, needs::Need::Sysfs]);
    let options = ["-a", "--buildid-all", "-e", "cpu-clock", "-F", "1000"];
    let [ours, perfs] = both(&options, &command("threads", 2)).map(|capture| build_ids(&capture));
    let files: BTreeSet<_> = ours.iter().map(|(_, file)| file).collect();
    let shared: BTreeSet<_> = perfs.iter().filter(|(_, file)| files.contains(file)).cloned().collect();
    assert!(shared.iter().any(|(_, file)| file == "[kernel.kallsyms]"), "{ours:?}, perf: {perfs:?}");
    assert!(ours.is_superset(&shared), "{:?}", &shared - &ours);
}

/// Returns perf's description of the machine that recorded a capture, without the parts that belong to the capture or
/// change.
fn header(capture: &Path) -> Vec<String> {
    let of_capture = [
        "captured on",
        "header version",
        "data ",
        "feat offset",
        "perf version",
        "cmdline",
        "event",
        "missing features",
        "time of",
        "sample duration",
        "cpu pmu capabilities",
        "node0 meminfo",
    ];
    let printed = says(&["report", "-f", "--header-only", "-I"], capture);
    let lines = printed.lines().map(|line| line.trim_start_matches(['#', ' ', '=']).to_owned());
    let mut lines: Vec<_> = lines
        .filter(|line| !line.is_empty() && !of_capture.iter().any(|start| line.starts_with(start)))
        .map(|line| match line.strip_prefix("pmu mappings: ") {
            // perf has them in the order of the folder.
            Some(pmus) => {
                let mut pmus: Vec<_> = pmus.split(", ").collect();
                pmus.sort_unstable();
                pmus.join(", ")
            }
            None => line,
        })
        .collect();
    lines.sort();
    lines
}

fn features_of_the_machine() {
    needs::all(&[needs::Need::Sysfs]);
    // The moments on a clock differ.
    let options = ["--no-clockid", "-e", "page-faults"];
    let [ours, perfs] = both(&options, &command("touch", 10)).map(|capture| header(&capture));
    assert!(perfs.iter().any(|line| line.starts_with("nrcpus avail")), "{perfs:#?}");
    assert_eq!(ours, perfs);
}

/// Returns the records without a time that a capture has for some processes: their state when the recording began.
fn found(capture: &Path, pids: &[i64]) -> Vec<String> {
    let dump = dump(capture);
    let is_found = |record: &&serde_json::Value| {
        record["sample_id"]["time"].as_u64().unwrap_or(0) == 0
            && record["type_id"].as_u64().is_some_and(|kind| kind < 64)
            // A task that ends has samples with the pid -1.
            && record["type"] != "SAMPLE"
            && record["fields"]["pid"].as_i64().is_some_and(|pid| pids.contains(&pid))
    };
    let shown =
        |record: &serde_json::Value| format!("{} {} {}", record["type"], record["misc"], record["fields"]);
    dump.records.iter().filter(is_found).map(shown).collect()
}

/// Starts a process that does nothing.
fn idle() -> super::Running {
    let mut cat = Command::new("cat");
    let mut idle =
        super::Running::start(cat.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()));
    // When it answers, everything that it needs is mapped.
    std::io::Write::write_all(idle.0.stdin.as_mut().unwrap(), b"x").unwrap();
    std::io::Read::read_exact(idle.0.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    idle
}

/// Compares our records of existing processes with those of perf.
fn found_as_perf_finds_them(options: &[&str], pids: &[i64], least: usize) -> Vec<String> {
    let options = [&["-e", "cpu-clock"], options].concat();
    let sleep = super::workload::words(&["sleep", "0.1"]);
    let [ours, perfs] = both(&options, &sleep).map(|capture| found(&capture, pids));
    assert!(perfs.len() > least, "{}", perfs.len());
    assert_eq!(ours, perfs, "{options:?}");
    ours
}

fn a_process_as_it_was_found() {
    let idle = idle();
    let pid = idle.0.id();
    found_as_perf_finds_them(&["-p", &pid.to_string()], &[-1, pid.into()], 4);
}

fn a_process_with_its_data() {
    let idle = idle();
    let pid = idle.0.id();
    found_as_perf_finds_them(&["-d", "--sample-cpu", "-p", &pid.to_string()], &[-1, pid.into()], 4);
}

fn a_process_with_its_data_and_namespaces() {
    // The kernel requires the same privilege.
    needs::all(&[needs::Need::OtherUsers]);
    let idle = idle();
    let pid = idle.0.id();
    let options = ["-d", "--namespaces", "--sample-cpu", "-p", &pid.to_string()];
    found_as_perf_finds_them(&options, &[-1, pid.into()], 4);
}

/// Some of the other processes start, end, or change their name in the meantime.
fn all_processes_as_they_were_found() {
    needs::all(&[needs::Need::CpuEvents]);
    let idle = idle();
    let found = found_as_perf_finds_them(&["-a", "--namespaces"], &[-1, 2, idle.0.id().into()], 8);
    // PERF_RECORD_MISC_FORK_EXEC: it ran before.
    assert!(found.iter().any(|record| record.starts_with("\"FORK\" 8192 ")), "{found:?}");
}
