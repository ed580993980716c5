//! The verbs of perf: those that are here, and what the others answer.

use std::path::PathBuf;

use crate::perfdata;

/// Those of `perf --help` of 6.1 and 7.2.
const VERBS: &str = "annotate archive bench buildid-cache buildid-list c2c config daemon data diff evlist ftrace inject iostat \
    kallsyms kmem kvm kwork list lock mem record report sched script stat test timechart top trace version probe";

/// The verbs that perfdata has, some of them on Linux alone.
const OWN: [&str; 14] = [
    "annotate",
    "archive",
    "buildid-list",
    "c2c",
    "diff",
    "evlist",
    "list",
    "lock",
    "record",
    "report",
    "sched",
    "script",
    "stat",
    "top",
];

#[test]
fn verbs_of_perf_that_are_missing_say_what_to_use() {
    for verb in VERBS.split_whitespace().filter(|verb| !OWN.contains(verb)) {
        for args in [&[verb][..], &[verb, "-h"], &[verb, "record", "--", "true"], &["help", verb]] {
            let run = perfdata(args);
            assert_eq!((run.status, &*run.out), (1, ""), "{args:?}");
            let start = format!("error: perfdata does not have perf's verb {verb}: ");
            assert!(run.err.starts_with(&start), "{args:?}: {}", run.err);
            assert!(!run.err.contains("tip:"), "{}", run.err);
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_other_verbs_of_perf_are_here() {
    for verb in OWN {
        let run = perfdata([verb, "--help"]);
        assert_eq!((run.status, &*run.err), (0, ""), "{verb}");
        assert!(run.out.contains("Usage: perfdata"), "{verb}: {}", run.out);
    }
}

#[test]
fn what_no_program_has_is_an_unknown_verb() {
    let run = perfdata(["reprot"]);
    assert!(run.status == 1 && run.err.contains("'report'"), "{}", run.err);
}

fn capture(name: &str) -> PathBuf {
    testdata::path(name)
}

fn out(args: &[&str], name: &str) -> String {
    let path = capture(name);
    let run = perfdata(args.iter().copied().chain([path.to_str().unwrap()]));
    assert_eq!(run.status, 0, "{args:?}: {}", run.err);
    run.out
}

/// As perf 6.1 prints them.
#[test]
fn evlist_prints_the_events() {
    let group = "cpu-clock\npage-faults\ncontext-switches\n";
    assert_eq!(out(&["evlist"], "group_read.data"), group);
    assert_eq!(out(&["evlist", "-f"], "group_read.data"), group);
    assert_eq!(out(&["evlist", "-g"], "group_read.data"), "{cpu-clock,page-faults,context-switches}\n");
    let freq =
        "cpu-clock: sample_freq=4000\npage-faults: sample_period=0\ncontext-switches: sample_period=0\n";
    assert_eq!(out(&["evlist", "-F"], "group_read.data"), freq);
    let attr = "page-faults: type: 1, size: 128, config: 0x2, { sample_period, sample_freq }: 1, sample_type: IP|TID|TIME, \
        read_format: ID|LOST, disabled: 1, inherit: 1, mmap: 1, comm: 1, enable_on_exec: 1, task: 1, sample_id_all: 1, \
        exclude_guest: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1\n";
    assert_eq!(out(&["evlist", "-v"], "plain.data"), attr);
    let tip = "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n";
    let names = "raw_syscalls:sys_enter\nsched:sched_process_exec\n";
    assert_eq!(out(&["evlist"], "raw.data"), format!("{names}{tip}"));
    let fields = "raw_syscalls:sys_enter: trace_fields: id,args\n\
        sched:sched_process_exec: trace_fields: filename,pid,old_pid\n";
    assert_eq!(out(&["evlist", "--trace-fields"], "raw.data"), fields);
    let fields = "raw_syscalls:sys_enter: sample_period=1, trace_fields: id,args\n\
        sched:sched_process_exec: sample_period=1, trace_fields: filename,pid,old_pid\n";
    assert_eq!(out(&["evlist", "-F", "--trace-fields"], "raw.data"), fields);
    // A stream has its events as records.
    assert_eq!(out(&["evlist"], "buildid.pipe.data"), "page-faults\n");
}

/// As perf 6.1 prints them.
#[test]
fn buildid_list_prints_the_build_ids() {
    let kernel = "e4f18d9dc1d0e6fc2b17e93e885a647b3c0a6fc1 [kernel.kallsyms]\n";
    let workload = "fc30fc5fec0cc3625b8b5c6c9da24db797749e07 /tmp/perfdata-captures/workload\n";
    let ld = "7ebc65e52f2bbea498b4040fa92f7238377aaba9 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n";
    let vdso = "a599807156a2a62fe956a82e388aeeabc874119c [vdso]\n";
    let libc = "93ac61ec5a8eb1396f9fbd350e3169a558528a40 /usr/lib/x86_64-linux-gnu/libc.so.6\n";
    let all = [kernel, workload, ld, vdso, libc].concat();
    assert_eq!(out(&["buildid-list"], "plain.data"), all);
    assert_eq!(out(&["info", "--build-ids"], "plain.data"), all);
    assert_eq!(out(&["buildid-list", "-f", "-v"], "plain.data"), all);
    assert_eq!(out(&["buildid-list", "-H"], "plain.data"), [kernel, workload, ld, libc].concat());
    // Without a list, the files that samples are in.
    assert_eq!(out(&["buildid-list"], "buildid_mmap.data"), [kernel, ld, libc].concat());
    assert_eq!(out(&["buildid-list"], "buildid.pipe.data"), [ld, libc, workload].concat());
}
