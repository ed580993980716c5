//! The command line of `perfdata stat`.

use core::num::{NonZeroU32, NonZeroU64};
use std::ffi::OsString;
use std::path::PathBuf;

use super::whom::WhomArgs;

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -a and -C the command is counted, with all that it starts; without a command too, the whole machine \
until Ctrl-C. Where the PMU had to share its counters, the count is an estimate, and the percent of the time that the \
event was counted stands behind it.

Text goes to standard error, where it does not mix with what the command prints; --json and -x go to standard output. \
-o sends any of them to a file.

JSON lines, an object for each event (and cpu, thread, interval):
  interval_s       seconds since the start, with -I
  cpu, thread      with -A, with --per-thread
  event            its name
  status           \"counted\", \"not counted\" (never on the PMU), \"not supported\" (nothing here counts it)
  value            in units, the mean of the runs with -r; null unless it was counted
  unit             null for a plain number
  deviation_percent  of the mean, with -r: its standard error
  enabled_ns       how long it was to be counted, summed over cpus and threads
  running_ns       how long it was counted
  running_percent  null if enabled_ns is 0; below 100 the value is an estimate
  metric           {\"value\", \"unit\"}: what follows from it and other events; null if nothing does
and at the end one with elapsed_s, runs, and of a command that is counted user_s and system_s.

CSV as of perf stat -x: [interval_s,][cpu or thread,]value,unit,event,[deviation%,]running_ns,running_percent,\
metric,metric unit

Ctrl-C is the command's to answer; a second one, or one without a command, ends the counting. Whatever ends it, what was \
counted is told.

Exit status: that of the command, of the last with -r, 128 and the signal's number if one ended it; 0 if there is no \
command or it was not waited for (--timeout, Ctrl-C); 1 if nothing could be counted (usage, no such event or command, no \
permission).

Examples:
  perfdata stat -- make -j8
  perfdata stat -e page-faults,'{cycles,instructions}' -r 5 -- ./program
  perfdata stat -e sched:sched_switch -a -A -I 1000
  perfdata stat -p 1234 --timeout 5000 --json";

#[derive(Debug, clap::Args)]
pub(crate) struct StatArgs {
    /// What to count, as perf names it (perfdata list): cycles:u,faults,'{a,b}',sched:sched_switch,pmu/term=1/. May
    /// be given more than once
    #[arg(short, long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,

    #[command(flatten)]
    pub(crate) whom: WhomArgs,

    /// A line a cpu; with -a or -C
    #[arg(short = 'A', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) no_aggr: bool,

    /// A line a thread; with -p or -t
    #[arg(long, conflicts_with_all = ["all_cpus", "cpu", "no_aggr"])]
    pub(crate) per_thread: bool,

    /// Prints what was counted every so many milliseconds
    #[arg(short = 'I', long, value_name = "MS", conflicts_with = "repeat")]
    pub(crate) interval_print: Option<NonZeroU64>,

    /// Runs the command so many times, and tells mean and deviation
    #[arg(short, long, value_name = "N", default_value_t = NonZeroU32::MIN, requires = "command")]
    pub(crate) repeat: NonZeroU32,

    /// Leaves out what a counted task starts from now on
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,

    /// Stops after so many milliseconds, and ends the command
    #[arg(long, value_name = "MS")]
    pub(crate) timeout: Option<NonZeroU64>,

    /// Values separated by SEP, a line an event
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json")]
    pub(crate) field_separator: Option<String>,

    /// A JSON object a line
    #[arg(short, long)]
    pub(crate) json: bool,

    /// Writes to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The command to run, and its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
