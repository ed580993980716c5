//! What is sampled, and with which fields.

use alloc::collections::BTreeSet;

use crate::workload::command;
use crate::{agrees_with_perf, folder, may_record, perf_says, recorded};

#[test]
fn call_chains_of_threads() {
    if !may_record() {
        return;
    }
    let folder = folder("threads");
    let dump = recorded(&folder, &["-g", "-e", "cpu-clock", "-F", "5000"], &command("threads", 4));
    let samples = dump.samples();
    let threads: BTreeSet<_> = samples.iter().map(|sample| sample["tid"].as_i64()).collect();
    assert!(threads.len() > 1, "samples of threads {threads:?}");
    let longest = samples.iter().map(|sample| sample["callchain"].as_array().unwrap().len()).max();
    assert!(longest > Some(3), "the longest call chain: {longest:?}");
    assert!(
        dump.of_type("COMM").len() > 1 && dump.of_type("FORK").len() >= 4 && dump.of_type("EXIT").len() >= 5
    );

    let capture = folder.join("perf.data");
    agrees_with_perf(&capture);
    if let Some(report) = perf_says(&["report", "--stdio", "--sort", "comm,dso"], &capture) {
        assert!(report.contains(&format!("Samples: {}", samples.len())), "{report}");
    }
    if let Some(events) = perf_says(&["evlist"], &capture) {
        assert_eq!(events.trim_end(), "cpu-clock");
    }
}

#[test]
fn compressed() {
    if !may_record() {
        return;
    }
    let folder = folder("zstd");
    let dump = recorded(&folder, &["-z", "-e", "page-faults", "-c", "1"], &command("touch", 300));
    assert!(dump.header["features"]["COMPRESSED"].is_object(), "{}", dump.header["features"]);
    assert!(dump.samples().len() >= 300);
    assert!(dump.records.iter().any(|record| record["inner"].is_number()), "no record came out of another");
    agrees_with_perf(&folder.join("perf.data"));
}

#[test]
fn copies_of_the_stack() {
    if !may_record() {
        return;
    }
    let folder = folder("dwarf");
    let options = ["--call-graph", "dwarf,1024", "-e", "page-faults", "-c", "4"];
    let dump = recorded(&folder, &options, &command("touch", 100));
    let samples = dump.samples();
    assert!(samples.len() > 10);
    let is_whole = |field: &str, part: &str| samples.iter().any(|sample| !sample[field][part].is_null());
    assert!(samples.iter().any(|sample| sample["stack_user"]["size"] == 1024));
    assert!(is_whole("regs_user", "values") && is_whole("stack_user", "dyn_size"));
    let capture = folder.join("perf.data");
    agrees_with_perf(&capture);
    perf_says(&["report", "--stdio", "--no-children"], &capture);
}

#[test]
fn two_events_by_their_ids() {
    if !may_record() {
        return;
    }
    let folder = folder("ids");
    let options = ["-e", "page-faults", "-e", "cpu-clock", "-F", "5000"];
    let dump = recorded(&folder, &options, &command("threads", 2));
    assert_eq!(dump.names(), ["page-faults", "cpu-clock"]);
    for (index, attr) in dump.header["attrs"].as_array().unwrap().iter().enumerate() {
        let of_event: Vec<_> =
            dump.of_type("SAMPLE").into_iter().filter(|record| record["event"] == index).collect();
        assert!(!of_event.is_empty(), "no sample of {attr}");
        let ids = attr["ids"].as_array().unwrap();
        assert!(of_event.iter().all(|record| ids.contains(&record["fields"]["identifier"])), "{attr}");
    }
    let capture = folder.join("perf.data");
    agrees_with_perf(&capture);
    if let Some(events) = perf_says(&["evlist"], &capture) {
        assert_eq!(events.lines().collect::<Vec<_>>(), ["page-faults", "cpu-clock"]);
    }
}

#[test]
fn a_group_is_read_with_its_leader() {
    if !may_record() {
        return;
    }
    let folder = folder("group");
    let options = ["-e", "{cpu-clock,page-faults}:S", "-F", "5000"];
    let dump = recorded(&folder, &options, &command("threads", 2));
    let samples = dump.of_type("SAMPLE");
    assert!(!samples.is_empty());
    for sample in samples {
        assert_eq!(sample["event"], 0, "the leader alone samples");
        let read = &sample["fields"]["read"];
        assert_eq!((read["nr"].as_u64(), read["values"].as_array().unwrap().len()), (Some(2), 2));
    }
    let capture = folder.join("perf.data");
    agrees_with_perf(&capture);
    if let Some(events) = perf_says(&["evlist", "-g"], &capture) {
        assert_eq!(events.trim_end(), "{cpu-clock,page-faults}");
    }
}

#[test]
fn a_tracepoint_and_its_format() {
    if !may_record() {
        return;
    }
    if !["/sys/kernel/tracing/events/sched", "/sys/kernel/debug/tracing/events/sched"]
        .iter()
        .any(|events| std::path::Path::new(events).exists())
    {
        eprintln!("skipped: tracefs is not mounted, tracepoints are not tested");
        return;
    }
    let folder = folder("tracepoint");
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
    let capture = folder.join("perf.data");
    agrees_with_perf(&capture);
    if let Some(script) = perf_says(&["script", "-F", "trace"], &capture) {
        let printed = script.lines().map(|line| {
            let (_, child) =
                line.rsplit_once("child_pid=").unwrap_or_else(|| panic!("{line:?} has no child_pid"));
            child.trim().parse().unwrap()
        });
        // perf prints them by time, and not cpu by cpu.
        let (printed, children): (BTreeSet<i64>, BTreeSet<_>) =
            (printed.collect(), children.into_iter().collect());
        assert_eq!(printed, children);
    }
}
