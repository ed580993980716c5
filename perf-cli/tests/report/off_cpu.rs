//! Times: off the CPU, and of threads.

use std::path::Path;

use perf_parse::record::Mmap2;
use serde_json::Value;

use crate::made::Made;
use crate::memory::mapped;
use crate::report;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    states_are_those_of_the_captures_own_format,
    the_function_that_waits_is_first,
    wrong_states_are_said_to_be_unknown,
    a_thread_that_ended_waits_no_more,
    preempted_threads_wait_for_a_cpu,
    the_idle_thread_never_waits,
    waits_before_the_first_sample_are_reported,
    a_thread_waits_at_the_stack_of_its_last_sample,
    selected_threads_alone_are_counted,
    a_wait_without_an_end_is_reported,
    a_capture_without_switches_is_refused,
    a_capture_without_wakers_is_refused,
    the_file_after_wakers_is_the_capture,
    times_and_wakers_are_the_same_on_any_number_of_threads,
    a_timeline_has_all_samples,
];

/// How Linux 6.1 writes the states, and Linux 4.9: `include/trace/events/sched.h` of both.
const STATES_6_1: &str = "(REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", { 0x01, \"S\" }, \
    { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) \
    : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"";
const STATES_4_9: &str = "REC->prev_state & 0x7ff ? __print_flags(REC->prev_state & 0x7ff, \"|\", { 1, \"S\" }, \
    { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, \
    { 512, \"P\" }, { 1024, \"N\" }) : \"R\", REC->prev_state & 0x800 ? \"+\" : \"\"";

/// A thread for each state: the thread leaves the CPU for a microsecond times its id.
fn in_states(format: &str, states: &[u64]) -> Made {
    let made = Made::new().with_tracepoint(format);
    states.iter().zip(10..).fold(made, |made, (&state, tid)| {
        made.traced(tid, state, 0, &[0x10]).wait(tid as u64 - 1).traced(0, 0, tid, &[0x20])
    })
}

/// Returns the microseconds of each event, by its name, and what is printed about it.
fn microseconds(path: &Path, args: &[&str]) -> (Vec<(String, u64)>, String) {
    let common = ["--off-cpu", "--no-children", "--sort", "comm", "--format", "json", "--no-symbols"];
    let run = report(path.to_str().unwrap(), &[&common, args].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let of_table = |table: &Value| {
        let nanoseconds = table["totals"][0]["period"].as_u64().unwrap();
        (table["name"].as_str().unwrap().to_owned(), nanoseconds / 1000)
    };
    (document["tables"].as_array().unwrap().iter().map(of_table).collect(), run.err)
}

fn events(events: &[(&str, u64)]) -> Vec<(String, u64)> {
    events.iter().map(|&(name, time)| (name.to_owned(), time)).collect()
}

fn states_are_those_of_the_captures_own_format() {
    // S, D, I, R, R+, T, t, P, X, Z
    let path = in_states(STATES_6_1, &[1, 2, 0x80, 0, 0x100, 4, 8, 0x40, 0x10, 0x20]).file("new");
    let expected = events(&[("off-cpu", 10 + 11 + 12), ("runnable", 13 + 14), ("stopped", 15 + 16 + 17)]);
    let (found, said) = microseconds(&path, &[]);
    assert_eq!(found, expected);
    for line in [
        "event off-cpu: threads blocked for 0.000033000 s (states: D, I, S)\n",
        "event runnable: threads waiting for a CPU for 0.000027000 s (states: R, R+)\n",
        "event stopped: threads stopped for 0.000048000 s (states: P, T, t)\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    for (name, time) in &expected {
        assert_eq!(microseconds(&path, &["--event", name]).0, [(name.clone(), *time)]);
    }
    for (args, shown) in [(&[][..], "off-cpu 0.0 ms"), (&["--event", "stopped"], "3 samples, stopped 0.0 ms")]
    {
        let mut draw = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let picture = needs::folder().join("picture.svg");
        draw.args(["flamegraph", "--off-cpu", "--no-symbols", "-o"]).arg(&picture).args(args).arg(&path);
        assert!(draw.output().unwrap().status.success());
        let picture = std::fs::read_to_string(&picture).unwrap();
        assert!(picture.contains(shown), "{picture}");
    }
    // S, D|K, R, R+, T|K, P, Z, X, x: the numbers of P, x and + mean something else to another kernel.
    let path = in_states(STATES_4_9, &[1, 0x82, 0, 0x800, 0x84, 0x200, 0x10, 0x20, 0x40]).file("old");
    let expected = events(&[("off-cpu", 10 + 11), ("runnable", 12 + 13), ("stopped", 14 + 15)]);
    assert_eq!(microseconds(&path, &[]).0, expected);
}

fn wrong_states_are_said_to_be_unknown() {
    let path = in_states("\"\", \"\"", &[1, 0]).file("unknown");
    let (found, said) = microseconds(&path, &[]);
    assert_eq!(found, events(&[("off-cpu", 10 + 11)]));
    assert!(said.contains("(states: unknown)"), "{said}");
}

fn the_function_that_waits_is_first() {
    let symbols = "ffffffff81000000 T _stext\nffffffff81001000 t perf_trace_sched_switch\n\
        ffffffff81001100 t __schedule\nffffffff81001200 T schedule\nffffffff81001300 t schedule_timeout\n\
        ffffffff81001400 t do_nanosleep\nffffffff81001500 T schedule_work\nffffffff81002000 T _etext\n";
    let table = needs::folder().join("scheduler.kallsyms");
    std::fs::write(&table, symbols).unwrap();
    let (tid, addr) = (-1, 0xffff_ffff_8100_0000_u64);
    let kernel = Mmap2 {
        pid: tid,
        tid,
        addr,
        len: 0x2000,
        pgoff: addr,
        ..mapped("[kernel.kallsyms]_text", 0, 0, (0, 0))
    };
    let stack = [0x1010, 0x1110, 0x1210, 0x1310, 0x1410, 0x1510].map(|offset| addr + offset);
    let made = Made::new().with_tracepoint(STATES_6_1).kernel(kernel).comm(7, "sleeper");
    // A stack of the scheduler alone keeps its outermost frame.
    let made = made.traced(7, 1, 0, &stack).wait(4).traced(0, 0, 7, &[0x20]);
    let path = made.traced(7, 1, 0, &stack[..3]).wait(2).traced(0, 0, 7, &[0x20]).file("folded");
    let file = path.to_str().unwrap();
    let names = ["--kallsyms", table.to_str().unwrap()];
    for args in [&["--children"][..], &["--no-children"]] {
        let run =
            report(file, &[&["--off-cpu", "--sort", "sym", "-g=none", "--stdio"], args, &names].concat());
        let rows: Vec<_> = run.out.lines().filter_map(|line| line.split_once("[k] ")).collect();
        let rows: Vec<_> =
            rows.iter().filter(|row| !row.0.contains(" 0.00%")).map(|row| row.1.trim()).collect();
        assert_eq!(rows, ["do_nanosleep", "schedule"], "{}", run.out);
    }
    let folded = |args: &[&str]| {
        let mut fold = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let run = fold.args(["fold", "--off-cpu"]).args(args).args(names).arg(file).output().unwrap();
        String::from_utf8(run.stdout).unwrap()
    };
    assert_eq!(folded(&[]), "sleeper;schedule 3000\nsleeper;schedule_work;do_nanosleep 5000\n");
    // With fewer frames than the scheduler has, none is left, but the time is counted.
    assert_eq!(folded(&["--max-stack", "2"]), "sleeper 8000\n");
    let run =
        report(file, &[&["--off-cpu", "--sort", "sym", "--max-stack", "2", "-g=none"][..], &names].concat());
    assert!(run.out.contains("[k] do_nanosleep"), "{}", run.out);
}

fn a_thread_that_ended_waits_no_more() {
    // Another thread gets its id, and leaves the CPU too.
    let traced = Made::new().with_tracepoint(STATES_6_1);
    let traced =
        traced.traced(5, 1, 0, &[0x10]).task(5, false).wait(100).task(5, true).traced(0, 0, 5, &[0x10]);
    assert_eq!(microseconds(&traced.file("forked"), &[]).0, []);
    let recorded = Made::new().with_switches().sample(5, 1, &[0x10]).task(5, false).switch(5, true);
    let recorded = recorded.wait(100).task(5, true).switch(5, false).sample(5, 1, &[0x10]);
    let (found, said) = microseconds(&recorded.switch(5, true).wait(8).switch(5, false).file("ended"), &[]);
    assert_eq!((found, said.contains("not counted")), (events(&[("off-cpu", 9)]), false), "{said}");
}

fn preempted_threads_wait_for_a_cpu() {
    let made = Made::new().with_switches().sample(5, 1, &[0x10]);
    let path =
        made.preempted(5).wait(6).switch(5, false).switch(5, true).wait(1).switch(5, false).file("preempted");
    let (found, said) = microseconds(&path, &[]);
    assert_eq!(found, events(&[("off-cpu", 2), ("runnable", 7)]));
    assert!(said.contains("(states: preempted)") && said.contains("(states: not preempted)"), "{said}");
}

fn the_idle_thread_never_waits() {
    let made = Made::new().with_switches().sample(0, 1, &[0x10]);
    assert_eq!(microseconds(&made.switch(0, true).wait(9).switch(0, false).file("idle"), &[]).0, []);
}

fn waits_before_the_first_sample_are_reported() {
    let made = Made::new().with_switches().switch(5, true).wait(9).switch(5, false);
    let (found, said) = microseconds(&made.file("early"), &[]);
    assert!(found.is_empty() && said.contains("no sample before them: 1;"), "{said}");
}

/// The threads 5 and 6, which leave the CPU for 1,000 and 3 microseconds, and 6 for another 20.
fn made() -> Made {
    Made::new()
        .with_switches()
        .sample(5, 1, &[0x10, 0x20])
        .sample(6, 1, &[0x30])
        .switch(5, true)
        .switch(6, true)
        .wait(1)
        .switch(6, false)
        .sample(6, 1, &[0x40])
        .wait(995)
        .switch(5, false)
        .switch(6, true)
        .wait(19)
        .switch(6, false)
}

/// Returns the address, the samples and the period of each row.
fn rows(path: &Path, args: &[&str]) -> Vec<(String, u64, u64)> {
    let common = ["--off-cpu", "--no-children", "--sort", "sym", "--format", "json", "--no-symbols"];
    let run = report(path.to_str().unwrap(), &[&common, args].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let tables = document["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 1, "of samples on the CPU there is no table");
    assert_eq!(tables[0]["name"], "off-cpu");
    let row = |row: &Value| {
        let number = |name: &str| row["self"][0][name].as_u64().unwrap();
        (row["address"].to_string(), number("samples"), number("period"))
    };
    tables[0]["rows"].as_array().unwrap().iter().map(row).collect()
}

fn a_thread_waits_at_the_stack_of_its_last_sample() {
    let path = made().file("waits");
    let rows = rows(&path, &[]);
    let counted: Vec<_> = rows.iter().map(|(_, samples, period)| (*samples, *period)).collect();
    // A record is a microsecond after the one before it.
    assert_eq!(counted, [(1, 1_000_000), (1, 20_000), (1, 2_000)], "{rows:?}");
    let folded = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"))
        .args(["fold", "--off-cpu", "--root", "tid", "--no-symbols"])
        .arg(&path)
        .output()
        .unwrap();
    let lines = ":5-5/5;[unknown];[unknown] 1000000\n:6-6/6;[unknown] 22000\n";
    assert_eq!(String::from_utf8(folded.stdout).unwrap(), lines);
}

fn selected_threads_alone_are_counted() {
    let rows = rows(&made().file("selected"), &["--tid", "6"]);
    let sum: u64 = rows.iter().map(|row| row.2).sum();
    assert_eq!(sum, 22_000);
}

fn a_wait_without_an_end_is_reported() {
    let path = made().switch(5, true).file("endless");
    let run = report(path.to_str().unwrap(), &["--off-cpu"]);
    assert_eq!(run.status, 0);
    assert!(
        run.err.contains("threads whose last wait is not counted") && run.err.contains(": 1\n"),
        "{}",
        run.err
    );
}

fn a_capture_without_switches_is_refused() {
    let run = report(Made::new().sample(5, 1, &[0x10]).file("none").to_str().unwrap(), &["--off-cpu"]);
    assert_eq!((run.status, &*run.out), (1, ""));
    assert!(run.err.contains("--off-cpu: ") && run.err.contains("--switch-events"), "{}", run.err);
}

fn a_capture_without_wakers_is_refused() {
    let path = made().file("nobody");
    for (args, said) in [
        (
            &["--off-cpu", "--wakers"][..],
            "--wakers: the capture does not tell who woke threads up; record with",
        ),
        (&["--off-cpu", "--wakers=0"], "--wakers"),
        (&["--wakers"], "--off-cpu"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let run = command.arg("fold").arg(&path).args(args).output().unwrap();
        let errors = String::from_utf8(run.stderr).unwrap();
        assert!(!run.status.success() && run.stdout.is_empty() && errors.contains(said), "{errors}");
    }
}

fn the_file_after_wakers_is_the_capture() {
    let path = made().file("wakers.data");
    for args in [&["--wakers"][..], &["--wakers", "2"], &["--wakers=2"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let run = command.args(["fold", "--off-cpu"]).args(args).arg(&path).output().unwrap();
        let errors = String::from_utf8(run.stderr).unwrap();
        assert!(errors.contains("the capture does not tell who woke threads up"), "{args:?}: {errors}");
    }
}

/// In several batches, whose threads leave the CPU in one and come back in another.
fn times_and_wakers_are_the_same_on_any_number_of_threads() {
    let made = Made::new().with_tracepoint(STATES_6_1).with_wakings();
    let made = (0..7000).fold(made, |made, number: u64| {
        let (tid, next) = ((number % 41) as i32 + 1, (number * 7 % 41) as i32 + 1);
        made.traced(tid, number % 3, next, &[0x10 + number % 5, 0x20 + number % 300, 0x30]).wait(number % 11)
    });
    let path = made.file("several");
    let run = |args: &[&str], threads: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let run = command.args(args).args(["--off-cpu", "--no-symbols", "--threads", threads]).arg(&path);
        let run = run.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    for args in [
        &["fold"][..],
        &["fold", "--wakers=3"],
        &["fold", "--wakers=3", "--tid", "5,6"],
        &["fold", "--event", "runnable"],
        &["report", "--sort", "pid,sym", "-g"],
        &["report", "--sort", "trace"],
    ] {
        let one = run(args, "1");
        assert!(
            one.0.lines().count() > 1 && one.1.contains("threads waiting for a CPU"),
            "{args:?}: {one:?}"
        );
        assert_eq!(args.contains(&"--wakers=3"), one.0.contains("[woken by "), "{args:?}");
        for threads in ["3", "8"] {
            assert!(run(args, threads) == one, "{args:?} --threads {threads}");
        }
    }
}

fn a_timeline_has_all_samples() {
    for capture in ["captures/callchain.data", "captures/system_wide.data", "captures/group_read.data"] {
        let run = report(capture, &["--timeline"]);
        assert_eq!((run.status, &*run.err), (0, ""), "{capture}");
        let rows = || run.out.lines().filter(|line| line.starts_with("  "));
        let listed: u64 = rows()
            .map(|row| {
                let (head, strip) = row.split_once(" |").unwrap();
                assert_eq!(strip.chars().count(), 101, "{row}");
                assert!(strip.trim_end_matches('|').chars().any(|it| it != ' '), "{row}");
                head.split_whitespace().next_back().unwrap().parse::<u64>().unwrap()
            })
            .sum();
        let headings = run.out.lines().filter_map(|line| line.split_once(" samples, ")?.0.rsplit(' ').next());
        let all: u64 = headings.map(|count| count.parse::<u64>().unwrap()).sum();
        assert!(listed > 0 && listed == all, "{capture}: {listed} {all}");
    }
    // The thread 5 has a sample at the start of some 20 ms, 6 also at their end.
    let path =
        Made::new().sample(5, 1, &[1]).sample(6, 1, &[1]).wait(20_000).sample(6, 1, &[1]).file("strip");
    let out = report(path.to_str().unwrap(), &["--timeline"]).out;
    let strips: Vec<_> = out.lines().filter_map(|line| Some(line.split_once(" |")?.1)).collect();
    assert_eq!(strips, [format!("█{}█|", " ".repeat(98)), format!("█{}|", " ".repeat(99))]);
}
