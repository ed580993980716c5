//! The verbs of perf that perfdata does not have, with what to use instead.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// The verbs of perf 6.1 and 7.2, and what to do.
const VERBS: [(&str, &str); 18] = [
    ("bench", "it measures this machine and reads no capture; use perf bench"),
    (
        "buildid-cache",
        "perfdata record adds files to ~/.debug, and --debug-dir finds files elsewhere; use perf buildid-cache to remove some",
    ),
    ("config", "perfdata reads no configuration; give options on the command line"),
    (
        "daemon",
        "let the service manager of the system start perfdata record, with --switch-output and --control",
    ),
    ("data", "perfdata dump --format jsonl and perfdata export write other formats"),
    ("ftrace", "it starts the tracers of the kernel, which write no capture; use perf ftrace, or trace-cmd"),
    (
        "inject",
        "perfdata edit does it: --itrace, --jit, --build-ids and others; perfdata edit --help lists them",
    ),
    ("iostat", "count the events of the PMU: perfdata list pmu, then perfdata stat -a -e EVENTS"),
    ("kallsyms", "use grep NAME /proc/kallsyms"),
    (
        "kmem",
        "record the tracepoints, perfdata record -g -a -e 'kmem:*' -- sleep 5, and show them with perfdata report or script",
    ),
    (
        "kvm",
        "record the tracepoints, perfdata record -a -e 'kvm:*' -- sleep 5, and print them with perfdata script",
    ),
    (
        "kwork",
        "record the tracepoints, perfdata record -a -e 'irq:*' -e 'workqueue:*' -- sleep 5, and print them with perfdata script",
    ),
    ("mem", "record with perf mem record, and show the accesses with perfdata report --mem-mode"),
    (
        "probe",
        "it changes the probes of the kernel; make one with perf probe, and record it with perfdata record -e",
    ),
    ("test", "these are perf's own tests; use perf test"),
    (
        "timechart",
        "record with perfdata record --sched -a -- sleep 5; perfdata sched map prints what runs on each CPU, and perfdata export --to perfetto writes a chart for ui.perfetto.dev",
    ),
    (
        "trace",
        "record system calls, perfdata record -e 'raw_syscalls:*' -- COMMAND, and print them with perfdata script",
    ),
    ("version", "use perfdata --version"),
];

/// Returns an error if the arguments, which begin with the name of the program, have a verb that only perf has.
///
/// # Errors
///
/// That verb, and what to use instead.
pub(super) fn check(args: &[OsString], command: &clap::Command) -> Result<(), clap::Error> {
    let mut words = super::from_verb(args).iter().filter_map(|word| word.to_str());
    let verb = words.next().filter(|&word| word != "help").or_else(|| words.next());
    let Some((verb, instead)) = verb.and_then(|verb| VERBS.iter().find(|(name, _)| *name == verb)) else {
        return Ok(());
    };
    if command.find_subcommand(verb).is_some() {
        return Ok(());
    }
    let what = format!("perfdata does not have perf's verb {verb}: {instead}\n");
    Err(clap::Error::raw(ErrorKind::InvalidSubcommand, what))
}
