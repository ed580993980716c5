//! The command line of `perfdata stat`.

use core::num::{NonZeroU32, NonZeroU64};
use std::ffi::OsString;
use std::path::PathBuf;

use super::observed::ObservedArgs;

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -a and -C, counts events of the command and everything that it starts. Without these options and \
without a command, counts events of the whole machine until Ctrl-C. If events had to share the PMU's counters, a count \
is an estimate, and the percentage of the time that the event was counted follows it.

Text goes to standard error, to keep it apart from the output of the command; --json and -x print to standard output. \
-o writes any of them to a file.

JSON lines, one object for each event (and CPU, thread, interval):
  interval_s       seconds since the start, with -I
  cpu, thread      with -A, with --per-thread
  event            its name
  status           \"counted\", \"not counted\" (never on the PMU), \"not supported\" (on this machine)
  value            in units; the mean of the runs with -r; null unless it was counted
  unit             null for a plain number
  deviation_percent  with -r, the standard error of the mean, in percent
  enabled_ns       the time that the event was enabled, summed over CPUs and threads
  running_ns       the time that the event was counted
  running_percent  null if enabled_ns is 0; below 100 the value is an estimate
  metric           {\"value\", \"unit\"}: computed from this and other events; null if there is none
and at the end an object with elapsed_s, runs, and for a command user_s and system_s.

CSV as printed by perf stat -x: [interval_s,][CPU or thread,]value,unit,event,[deviation%,]running_ns,running_percent,\
metric,metric unit

The first Ctrl-C is left to the command; the second one, or the first without a command, ends the counting. The counts \
are printed in every case.

Exit status: that of the command (with -r, of the last run), or 128 plus the signal's number if a signal ended it; 0 if \
there is no command or perfdata did not wait for it (--timeout, Ctrl-C); 1 if nothing could be counted (usage, no such \
event or command, no permission).

Examples:
  perfdata stat -- make -j8
  perfdata stat -e page-faults,'{cycles,instructions}' -r 5 -- ./program
  perfdata stat -e sched:sched_switch -a -A -I 1000
  perfdata stat -p 1234 --timeout 5000 --json";

#[derive(Debug, clap::Args)]
pub(crate) struct StatArgs {
    /// Events to count, by perf's names (perfdata list): cycles:u,faults,'{a,b}',sched:sched_switch,pmu/term=1/. Can be
    /// given more than once
    #[arg(short, long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,

    #[command(flatten)]
    pub(crate) observed: ObservedArgs,

    /// Print one line per CPU; with -a or -C
    #[arg(short = 'A', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) no_aggr: bool,

    /// Print one line per thread; with -p or -t
    #[arg(long, conflicts_with_all = ["all_cpus", "cpu", "no_aggr"])]
    pub(crate) per_thread: bool,

    /// Print the counts at this interval, in milliseconds
    #[arg(short = 'I', long, value_name = "MS", conflicts_with = "repeat")]
    pub(crate) interval_print: Option<NonZeroU64>,

    /// Run the command this many times, and print the mean and the deviation
    #[arg(short, long, value_name = "N", default_value_t = NonZeroU32::MIN, requires = "command")]
    pub(crate) repeat: NonZeroU32,

    /// Do not count tasks that the counted tasks start from now on
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,

    /// Stop after this many milliseconds, and end the command
    #[arg(long, value_name = "MS")]
    pub(crate) timeout: Option<NonZeroU64>,

    /// Print values separated by SEP, one line per event
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json")]
    pub(crate) field_separator: Option<String>,

    /// Print one JSON object per line
    #[arg(short, long)]
    pub(crate) json: bool,

    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Command to run, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
