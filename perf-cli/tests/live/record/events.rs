//! The events that are sampled, and the fields of their samples.

use alloc::collections::BTreeSet;

use super::workload::command;
use super::{event, recorded};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    call_chains_of_threads,
    compressed,
    copies_of_the_stack,
    two_events_by_their_ids,
    a_group_is_read_with_its_leader,
    a_tracepoint_and_its_format,
    a_filter_is_that_of_the_event_before_it,
    namespaces_of_a_command_at_its_start,
    where_threads_wait,
    who_takes_the_cpu_and_who_wakes,
];

fn call_chains_of_threads() {
    let folder = needs::folder();
    let dump = recorded(&folder, &["-g", "-e", "cpu-clock", "-F", "5000"], &command("threads", 4));
    let samples = dump.samples();
    let threads: BTreeSet<_> = samples.iter().map(|sample| sample["tid"].as_i64()).collect();
    assert!(threads.len() > 1, "samples of threads {threads:?}");
    let longest = samples.iter().map(|sample| sample["callchain"].as_array().unwrap().len()).max();
    // In user space only: the marker, the function and its caller.
    assert!(longest >= Some(3), "the longest call chain: {longest:?}");
    assert!(
        dump.of_type("COMM").len() > 1 && dump.of_type("FORK").len() >= 4 && dump.of_type("EXIT").len() >= 5
    );
}

fn compressed() {
    let folder = needs::folder();
    let dump = recorded(&folder, &["-z", "-e", "page-faults", "-c", "1"], &command("touch", 300));
    assert!(dump.header["features"]["COMPRESSED"].is_object(), "{}", dump.header["features"]);
    assert!(dump.samples().len() >= 300);
    assert!(dump.records.iter().any(|record| record["inner"].is_number()), "no record came out of another");
}

fn copies_of_the_stack() {
    let folder = needs::folder();
    let options = ["--call-graph", "dwarf,1024", "-e", "page-faults", "-c", "4"];
    let dump = recorded(&folder, &options, &command("touch", 100));
    let samples = dump.samples();
    assert!(samples.len() > 10);
    let is_whole = |field: &str, part: &str| samples.iter().any(|sample| !sample[field][part].is_null());
    assert!(samples.iter().any(|sample| sample["stack_user"]["size"] == 1024));
    // The kernel also leaves room that it does not use.
    let size = |sample: &serde_json::Value, field: &str| sample["stack_user"][field].as_u64().unwrap();
    let is_used = |sample: &&serde_json::Value| size(sample, "size") < size(sample, "dyn_size").max(1) + 8;
    assert!(samples.iter().all(is_used));
    assert!(is_whole("regs_user", "values") && is_whole("stack_user", "dyn_size"));
}

fn two_events_by_their_ids() {
    let folder = needs::folder();
    let options = ["-e", "page-faults", "-e", "cpu-clock", "-F", "5000"];
    let dump = recorded(&folder, &options, &command("threads", 2));
    assert_eq!(dump.names(), [event("page-faults"), event("cpu-clock")]);
    for (index, attr) in dump.header["attrs"].as_array().unwrap().iter().enumerate() {
        let of_event: Vec<_> =
            dump.of_type("SAMPLE").into_iter().filter(|record| record["event"] == index).collect();
        assert!(!of_event.is_empty(), "no sample of {attr}");
        let ids = attr["ids"].as_array().unwrap();
        assert!(of_event.iter().all(|record| ids.contains(&record["fields"]["id"])), "{attr}");
    }
}

fn a_group_is_read_with_its_leader() {
    let folder = needs::folder();
    let options = ["-e", "{cpu-clock,page-faults}:S", "-F", "5000"];
    let dump = recorded(&folder, &options, &command("threads", 2));
    let samples = dump.of_type("SAMPLE");
    assert!(!samples.is_empty());
    for sample in samples {
        assert_eq!(sample["event"], 0, "the leader alone samples");
        let read = &sample["fields"]["read"];
        assert_eq!((read["nr"].as_u64(), read["values"].as_array().unwrap().len()), (Some(2), 2));
    }
}

fn a_tracepoint_and_its_format() {
    needs::all(&[needs::Need::Tracepoints]);
    let folder = needs::folder();
    let dump = recorded(&folder, &["-e", "sched:sched_process_fork"], &command("forks", 3));
    let samples = dump.samples();
    assert!(samples.len() >= 3);
    let children: Vec<_> =
        samples.iter().map(|sample| sample["tracepoint"]["child_pid"].as_i64().unwrap()).collect();
    assert!(
        samples.iter().all(|sample| sample["tracepoint"]["parent_pid"].as_i64() >= sample["tid"].as_i64())
    );
    let forked: Vec<_> =
        dump.of_type("FORK").iter().map(|record| record["fields"]["tid"].as_i64().unwrap()).collect();
    assert!(children.iter().all(|child| forked.contains(child)), "{children:?} of {forked:?}");
}

fn a_filter_is_that_of_the_event_before_it() {
    needs::all(&[needs::Need::Tracepoints]);
    let folder = needs::folder();
    let exits = "sched:sched_process_exit";
    let options = ["-e", "sched:sched_process_fork", "-e", exits, "--filter", "comm == \"none\""];
    let dump = recorded(&folder, &options, &command("forks", 3));
    let of = |event: u64| dump.of_type("SAMPLE").iter().filter(|record| record["event"] == event).count();
    assert!(of(0) >= 3 && of(1) == 0, "{} forks, {} exits", of(0), of(1));
    let both = ["-e", exits, "--filter", "prio > 0", "--filter", "prio < 0"];
    assert!(recorded(&folder, &both, &command("forks", 3)).samples().is_empty());
    let mut recorder = super::perfdata();
    recorder.current_dir(&folder).args([
        "record",
        "-e",
        exits,
        "--filter",
        "no_such_field == 1",
        "--",
        "true",
    ]);
    let (status, _, err) = super::run(&mut recorder);
    assert!(status == 1 && err.contains("no_such_field"), "{err}");
    let mut recorder = super::perfdata();
    recorder.current_dir(&folder).args(["record", "--exclude-perf", "-e", exits, "--", "true"]);
    let (status, _, err) = super::run(&mut recorder);
    assert!(status == 1 && err.contains("--exclude-perf"), "{err}");
}

fn namespaces_of_a_command_at_its_start() {
    // The kernel requires the privilege.
    needs::all(&[needs::Need::OtherUsers]);
    let options = ["--namespaces", "-e", "page-faults"];
    let dump = recorded(&needs::folder(), &options, &command("touch", 10));
    let found = dump.of_type("NAMESPACES");
    assert!(found.iter().any(|record| record["sample_id"]["time"] == 0), "{found:?}");
}

/// By a tracepoint or by context switches, what the machine allows.
fn where_threads_wait() {
    let folder = needs::folder();
    let mut recorder = super::perfdata();
    recorder.current_dir(&folder).args([
        "record",
        "--off-cpu",
        "-e",
        "page-faults:u",
        "-c",
        "1",
        "--",
        "sleep",
        "0.3",
    ]);
    let (status, _, err) = super::run(&mut recorder);
    assert!(status == 0 && err.contains("off-CPU times are recorded by"), "{err}");
    let dump = super::dump(&folder.join("perf.data"));
    let by_tracepoint = dump.names().contains(&"sched:sched_switch");
    assert_eq!(by_tracepoint, err.contains("sched:sched_switch and"), "{err}");
    let report = super::perfdata()
        .current_dir(&folder)
        .args(["report", "--off-cpu", "--sort", "comm", "--no-symbols", "--format", "json"])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&report.stdout);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let waited = report["tables"][0]["totals"][0]["period"].as_u64().unwrap_or(0);
    assert!((250_000_000..30_000_000_000).contains(&waited), "{report:#}");
}

/// More loops than CPUs take the CPU from each other: they are runnable. The ends of a pipe wake each other up.
fn who_takes_the_cpu_and_who_wakes() {
    needs::all(&[needs::Need::Tracepoints, needs::Need::KernelEvents]);
    let folder = needs::folder();
    let loops = 2 * std::thread::available_parallelism().unwrap().get();
    let one = "(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done) &";
    let work = format!(
        "n=0; while [ $n -lt {loops} ]; do n=$((n+1)); {one} done; wait; yes | head -c 3000000 | cat >/dev/null"
    );
    let mut recorder = super::perfdata();
    recorder.current_dir(&folder).args(["record", "--off-cpu", "-e", "dummy", "--", "sh", "-c", &work]);
    let (status, _, err) = super::run(&mut recorder);
    assert!(status == 0 && err.contains("wakers by sched:sched_waking"), "{err}");
    let fold = |args: &[&str]| {
        let mut fold = super::perfdata();
        let output = fold.current_dir(&folder).args(["fold", "--no-symbols"]).args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (folded, said) = fold(&["--off-cpu", "--wakers", "perf.data"]);
    assert!(folded.contains(";[woken by "), "{folded}{said}");
    let (runnable, said) = fold(&["--off-cpu", "--event", "runnable"]);
    assert!(
        !runnable.is_empty() && said.contains("event runnable: threads waiting for a CPU for "),
        "{said}"
    );
    // A loop does not wait; the shell does, until the loops are done.
    let sum = |text: &str| {
        text.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
    };
    assert!(sum(&runnable) > sum(&folded) / 4, "{said}");
}
