//! Options of `perf stat`.

use std::fs;

use super::*;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    tools_measure_times,
    nothing_is_counted_with_null,
    more_detail_is_more_events,
    user_space_alone_has_no_time_in_the_kernel,
    parts_of_the_machine_are_added_up,
    every_thread_that_ran_has_a_line,
    more_events_than_the_soft_limit_of_files_are_counted,
    a_cgroup_has_counts_of_its_own,
    a_filter_selects_hits,
    a_delay_leaves_out_the_start,
    commands_switch_the_counting,
    a_fifo_has_commands,
    intervals_have_a_number_and_a_summary,
    commands_run_before_and_after,
    an_endless_repeat_ends_with_a_signal,
    the_output_is_appended_or_kept_quiet,
    metrics_alone,
    metrics_by_name,
    numbers_without_commas,
    every_run_has_a_time,
    raw_counts_are_told,
];

fn events(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["event"].as_str().unwrap()).collect()
}

fn tools_measure_times() {
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; sleep 0.1";
    let lines = json(&["-e", "duration_time,user_time,system_time,task-clock", "--", "sh", "-c", script]);
    assert_eq!(events(&lines)[..3], ["duration_time", "user_time", "system_time"]);
    assert!(lines[..3].iter().all(|line| line["unit"] == "ns"), "{lines:?}");
    let [duration, user, system] = [0, 1, 2].map(|index| real(&lines[index]));
    assert!(duration >= 1e8 && user > 0.0 && user + system <= duration * 1.5, "{lines:?}");
    // Both clocks count the same time.
    let clock = real(&lines[3]) * 1e6;
    assert!((user + system - clock).abs() < 0.5 * clock + 2e7, "{lines:?}");
    let lines = json(&["-e", "{faults,duration_time}", "true"]);
    assert!(real(&lines[0]) > 0.0 && real(&lines[1]) > 0.0, "{lines:?}");
}

fn nothing_is_counted_with_null() {
    let run = stat(["-n", "true"]);
    assert_eq!(run.status, 0, "{run:?}");
    let lines: Vec<&str> = run.err.lines().filter(|line| !line.trim().is_empty()).collect();
    assert!(lines.len() == 4 && lines[1].ends_with("seconds time elapsed"), "{run:?}");
    assert!(json(&["-n", "true"]).is_empty());
}

fn more_detail_is_more_events() {
    let count = |detail: &str| json(&[detail, "-e", "faults", "true"]).len();
    assert_eq!([count("-d"), count("-dd"), count("-ddd")], [5, 11, 13]);
    assert_eq!(
        events(&json(&["-d", "true"])).iter().filter(|name| name.starts_with("L1-dcache-load")).count(),
        2
    );
}

fn user_space_alone_has_no_time_in_the_kernel() {
    needs::all(&[needs::Need::KernelEvents]);
    let read = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=20", "status=none"];
    let faults = |option: &str| value(&json(&[&[option, "-e", "minor-faults"], &read[..]].concat()), 0);
    let (user, kernel) = (faults("--all-user"), faults("--all-kernel"));
    let both = value(&json(&[&["-e", "minor-faults"], &read[..]].concat()), 0);
    assert!(user > 0 && kernel > 0 && (user + kernel).abs_diff(both) <= both / 4, "{user}, {kernel}, {both}");
}

fn parts_of_the_machine_are_added_up() {
    needs::all(&[needs::Need::CpuEvents, needs::Need::Sysfs]);
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let online = perf_open::pmu::parse_cpus(&online).unwrap().len() as u64;
    for (option, key) in [
        ("--per-socket", "socket"),
        ("--per-die", "die"),
        ("--per-core", "core"),
        ("--per-cluster", "cluster"),
        ("--per-node", "node"),
    ] {
        let lines = json(&["-a", option, "-e", "cpu-clock,cs", "sleep", "0.05"]);
        let clocks: Vec<&Value> = lines.iter().filter(|line| line["event"] == "cpu-clock").collect();
        let cpus: u64 = clocks.iter().map(|line| line["counters"].as_u64().unwrap()).sum();
        assert_eq!((cpus, clocks.len() * 2), (online, lines.len()), "{option}: {lines:?}");
        for line in &clocks {
            assert!(line[key].is_string(), "{option}: {line}");
            assert!(real(line) >= 50.0 * line["counters"].as_f64().unwrap(), "{option}: {line}");
        }
    }
    if std::path::Path::new("/sys/devices/system/cpu/cpu0/cache/index0").exists() {
        let lines = json(&["-a", "--per-cache", "-e", "cpu-clock", "true"]);
        assert!(lines[0]["cache"].as_str().unwrap().contains("-L"), "{lines:?}");
    }
    let text = stat(["-a", "--per-core", "-e", "cpu-clock", "true"]).err;
    assert!(text.contains("\nS0-D0-C") || text.contains("\nS-1-D"), "{text}");
}

fn every_thread_that_ran_has_a_line() {
    needs::all(&[needs::Need::OtherUsers, needs::Need::KernelEvents]);
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let lines = json(&["-a", "--per-thread", "-e", "task-clock", "sleep", "0.2"]);
    busy.kill().unwrap();
    busy.wait().unwrap();
    let thread = format!("sh-{}", busy.id());
    let own = lines.iter().find(|line| line["thread"] == thread.as_str());
    assert!(own.is_some_and(|line| real(line) > 1.0), "{lines:?}");
    assert!(lines.iter().all(|line| real(line) > 0.0), "{lines:?}");
}

/// The command itself keeps the limit.
fn more_events_than_the_soft_limit_of_files_are_counted() {
    let events = ["faults"; 100].join(",");
    let (out, err) = controlled(&format!(
        "ulimit -Sn 64 && PERFDATA stat -j -r 2 --post 'ulimit -Sn' -e {events} -- sh -c 'ulimit -Sn'"
    ));
    assert_eq!((objects(&err).len(), &*out), (100, "64\n64\n64\n64\n"));
}

fn a_cgroup_has_counts_of_its_own() {
    needs::all(&[needs::Need::CpuEvents]);
    // The root has all tasks.
    let run = stat(["-j", "-a", "--for-each-cgroup", "/,/", "-e", "cs,cpu-clock", "sleep", "0.05"]);
    // It may also be mounted where /sys is hidden.
    if run.err.contains("no cgroup hierarchy") || run.err.contains("cgroup /: ") {
        needs::skip("cgroup", "no cgroup hierarchy is mounted");
    }
    let lines = objects(&run.err);
    assert_eq!(events(&lines), ["cs", "cpu-clock", "cs", "cpu-clock"]);
    assert!(lines.iter().all(|line| line["cgroup"] == "/"), "{lines:?}");
    assert!(real(&lines[0]) > 0.0, "{lines:?}");
    let one = json(&["-a", "-G", "/", "-e", "cs,cpu-clock", "sleep", "0.05"]);
    assert!(one.len() == 2 && one.iter().all(|line| line["cgroup"] == "/"), "{one:?}");
}

fn a_filter_selects_hits() {
    needs::all(&[needs::Need::Tracepoints]);
    let script = "i=0; while [ $i -lt 100 ]; do cd /; i=$((i + 1)); done";
    let count = |filters: &[&str]| {
        let args = [&["-e", "syscalls:sys_enter_chdir"], filters, &["--", "sh", "-c", script]].concat();
        value(&json(&args), 0)
    };
    assert_eq!(count(&[]), 100);
    assert_eq!(count(&["--filter", "common_pid == 1"]), 0);
    assert_eq!(count(&["--filter", "common_pid != 1"]), 100);
    assert_eq!(count(&["--filter", "common_pid != 1", "--filter", "common_pid == 1"]), 0, "both must hold");
    // Only the event before it has the filter.
    let events = "syscalls:sys_enter_chdir,syscalls:sys_exit_chdir";
    let lines = json(&["-e", events, "--filter", "common_pid == 1", "--", "sh", "-c", script]);
    assert_eq!((value(&lines, 0), value(&lines, 1)), (100, 0));
    let lines =
        json(&["-e", "syscalls:sys_e*_chdir", "--filter", "common_pid == 1", "--", "sh", "-c", script]);
    assert_eq!((value(&lines, 0), value(&lines, 1)), (0, 0), "a pattern is one event");
    let run = stat(["-e", "syscalls:sys_enter_chdir", "--filter", "no_such_field == 1", "true"]);
    assert!(run.status == 1 && run.err.contains("names a field that the tracepoint lacks"), "{run:?}");
}

fn a_delay_leaves_out_the_start() {
    let script = "ls / >/dev/null; ls / >/dev/null; sleep 0.6";
    let whole = value(&json(&["-e", "faults", "--", "sh", "-c", script]), 0);
    let lines = json(&["-D", "400", "-e", "faults,duration_time", "--", "sh", "-c", script]);
    let late = lines[0]["counter-value"].as_str().unwrap().parse().unwrap_or(0.0);
    assert!(late < whole as f64 / 4.0, "{late} of {whole}");
    assert!(real(&lines[1]) < 0.59e9, "{lines:?}");
    // The command ends first.
    let run = stat(["-D", "100000", "-e", "faults", "true"]);
    assert!(run.status == 0 && run.err.contains("<not counted>"), "{run:?}");
}

/// Runs `perfdata stat` with commands of `sh` as its --control.
fn controlled(script: &str) -> (String, String) {
    let perfdata = env!("CARGO_BIN_EXE_perfdata");
    let folder = needs::folder();
    let script = script.replace("PERFDATA", perfdata).replace("FOLDER", folder.to_str().unwrap());
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

fn commands_switch_the_counting() {
    // A pipe for commands and one for answers. The command waits for the answers, so nothing depends on time.
    let (out, err) = controlled(
        "mkfifo FOLDER/c FOLDER/a; exec 5<>FOLDER/c 6<>FOLDER/a
         PERFDATA stat -j -D -1 -e faults --control fd:5,6 -- sh -c '
             ls / >/dev/null; echo ping >&5; read one <&6
             echo enable >&5; read two <&6
             ls / >/dev/null; echo disable >&5; read three <&6
             echo $one $two $three'",
    );
    assert_eq!(out, "ack ack ack\n", "{err}");
    let some = real(&objects(&err)[0]);
    let (_, err) = controlled("PERFDATA stat -j -e faults -- sh -c 'ls / >/dev/null; ls / >/dev/null'");
    let all = real(&objects(&err)[0]);
    assert!(some > 0.0 && some < 0.8 * all, "{some} of {all}");
}

fn a_fifo_has_commands() {
    let (out, err) = controlled(
        "mkfifo FOLDER/c FOLDER/a
         PERFDATA stat -j -D -1 -e faults --control fifo:FOLDER/c,FOLDER/a -- sh -c '
             echo nonsense >FOLDER/c; echo enable >FOLDER/c; read answer <FOLDER/a; ls / >/dev/null; echo $answer'",
    );
    assert_eq!(out, "ack\n", "{err}");
    let (told, counts): (Vec<&str>, Vec<&str>) = err.lines().partition(|line| line.starts_with("perfdata:"));
    assert_eq!(
        told,
        ["perfdata: --control: \"nonsense\" is not a command; enable, disable, evlist and ping are"]
    );
    assert!(real(&objects(counts[0])[0]) > 0.0, "{err}");
}

fn intervals_have_a_number_and_a_summary() {
    let lines = json(&["-I", "50", "--interval-count", "2", "-e", "faults", "--", "sleep", "100"]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let lines =
        json(&["-I", "50", "--summary", "-e", "faults", "--", "sh", "-c", "ls / >/dev/null; sleep 0.2"]);
    let (summary, intervals) = lines.split_last().unwrap();
    assert!(summary.get("interval").is_none(), "{summary}");
    let value_of = |line: &Value| line["counter-value"].as_str().unwrap().parse().unwrap_or(0.0);
    assert_eq!(intervals.iter().map(value_of).sum::<f64>(), real(summary));
    let csv = |options: &[&str]| {
        stat([&["-x,", "-I", "50", "--summary", "-e", "faults"], options, &["sleep", "0.12"]].concat()).err
    };
    assert!(csv(&[]).lines().last().unwrap().starts_with("summary,"));
    assert!(!csv(&["--no-csv-summary"]).contains("summary"));
    let text = stat(["-I", "50", "--interval-clear", "-e", "faults", "sleep", "0.12"]).err;
    assert!(text.matches("\x1b[H\x1b[2J").count() >= 2, "{text:?}");
}

fn commands_run_before_and_after() {
    let file = needs::folder().join("order");
    let note = |word: &str| format!("echo {word} >> {}", file.display());
    let (pre, post, command) = (note("pre"), note("post"), note("run"));
    let run =
        stat(["--pre", &pre, "--post", &post, "-S", "-r", "2", "-e", "faults", "--", "sh", "-c", &command]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "pre\nrun\npost\npre\nrun\npost\n");
}

fn an_endless_repeat_ends_with_a_signal() {
    let mut child = spawn(&["-r", "0", "-j", "-e", "faults", "sleep", "0.02"]);
    let (first, mut rest) = counted(&mut child);
    assert!(real(&objects(&first)[0]) > 0.0, "{first}");
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let mut text = String::new();
    rest.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().code().is_some());
    // Each run has counts of its own.
    assert!(objects(&text).iter().all(|line| line.get("variance").is_none()), "{text}");
}

fn the_output_is_appended_or_kept_quiet() {
    let file = needs::folder().join("output");
    let path = file.to_str().unwrap();
    fs::write(&file, "before\n").unwrap();
    let run = stat(["-o", path, "--append", "-x,", "-e", "faults", "true"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("before\n\n") && text.contains(",,faults"), "{text}");
    stat(["-o", path, "-x,", "-e", "faults", "true"]);
    assert!(!fs::read_to_string(&file).unwrap().contains("before"));
    let run = stat(["--log-fd", "1", "-x,", "-e", "faults", "true"]);
    assert!(run.err.is_empty() && run.out.contains(",,faults"), "{run:?}");
    let group = json(&["-g", "-e", "faults,minor-faults", "true"]);
    assert_eq!(group[0]["event-runtime"], group[1]["event-runtime"]);
    let run = stat(["--quiet", "-e", "faults", "true"]);
    assert_eq!((run.status, &*run.out, &*run.err), (0, "", ""));
}

fn metrics_alone() {
    let lines = json(&["--metric-only", "-e", "task-clock,faults", "true"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let names: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    // An ordinary user counts user space alone.
    let rate = |event: &str| format!("{event}{}/sec", needs::modifier());
    assert_eq!(names, ["CPUs utilized", &rate("faults")]);
    // Each event has its own name, in each interval the same.
    let events = "task-clock,faults,cs,migrations";
    let lines = json(&["--metric-only", "-I", "20", "-e", events, "sleep", "0.05"]);
    let known = ["interval", "CPUs utilized", &rate("faults"), &rate("cs"), &rate("migrations")];
    let mut names = lines.iter().flat_map(|line| line.as_object().unwrap().keys());
    assert!(lines[0].as_object().unwrap().len() == 5 && names.all(|it| known.contains(&&**it)), "{lines:?}");
    let csv = stat(["--metric-only", "-x,", "-e", events, "true"]).err;
    assert_eq!(csv.lines().next(), Some(&*(known[1..].join(",") + ",")), "{csv}");
    let text = stat(["--metric-only", "-e", "task-clock,faults", "true"]).err;
    assert!(text.contains("CPUs utilized") && !text.contains("task-clock"), "{text}");
}

fn metrics_by_name() {
    let lines = json(&["-M", "page_faults_per_second,CPUs_utilized", "true"]);
    assert_eq!(lines.len(), 2, "the clock is counted once: {lines:?}");
    let rate: f64 = lines[0]["metric-value"].as_str().unwrap().parse().unwrap();
    // The clock is in milliseconds.
    let expected = real(&lines[0]) / (real(&lines[1]) / 1e3);
    assert!((rate - expected).abs() < 1e-3 * expected, "{rate}, not {expected}");
    assert_eq!(lines[0]["metric-unit"], "faults/sec  page_faults_per_second");
    assert_eq!(lines[1]["metric-unit"], "CPUs  CPUs_utilized");
    let alone = json(&["-M", "page_faults_per_second", "--metric-only", "true"]);
    assert_eq!(alone[0].as_object().unwrap().len(), 1, "{alone:?}");
    // Other events keep no metric of their own.
    let lines = json(&["-e", "cs", "-M", "page_faults_per_second", "true"]);
    assert_eq!(lines.iter().filter(|line| line.get("metric-value").is_some()).count(), 1, "{lines:?}");
    let run = stat(["-M", "IPC", "true"]);
    assert!(run.status == 1 && run.err.contains("-M IPC: not a metric that all cpus have"), "{run:?}");
}

fn numbers_without_commas() {
    let count = |options: &[&str]| {
        let err = stat([options, &["-e", "duration_time", "sleep", "0.01"]].concat()).err;
        err.lines()
            .find(|line| line.contains("duration_time"))
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    assert!(count(&[]).contains(',') && count(&["-B"]).contains(','));
    assert!(!count(&["--no-big-num"]).contains(','));
}

fn every_run_has_a_time() {
    let text = stat(["--table", "-r", "3", "-e", "faults", "true"]).err;
    let runs = text.lines().filter(|line| line.ends_with('#')).count();
    assert!(runs == 3 && text.contains("# Table of individual measurements:"), "{text}");
}

fn raw_counts_are_told() {
    let mut run = stat(["-v", "-x,", "-e", "faults", "true"]);
    let rest = run.err.split_off(run.err.find('\n').unwrap());
    let words: Vec<&str> = run.err.split_whitespace().collect();
    assert!(words[0].starts_with("faults") && words.len() == 4, "{}", run.err);
    assert!(rest.contains(&format!("\n{},,faults", words[1])), "{rest}");
    let no_scale = json(&["--no-scale", "-e", "faults", "true"]);
    assert!(real(&no_scale[0]) > 0.0);
}
