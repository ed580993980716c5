//! The command line of `perfdata stat`.

use core::num::NonZeroU64;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgAction;
use perf_record::stat::CacheLevel;

use super::control::Control;
use super::observed::ObservedArgs;
use super::ordered::OrderedValue;
use crate::args::capture::Capture;

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -a and -C, counts events of the command and everything that it starts. Without these options and \
without a command, counts events of the whole machine until Ctrl-C. If events had to share the PMU's counters, a count \
is an estimate, and the percentage of the time that the event was counted follows it.

The counts go to standard error, to keep them apart from the output of the command. -o writes them to a file, and \
--log-fd to an open descriptor.

JSON lines, one object for each event (and CPU, thread, interval), with the names of perf stat -j:
  interval         seconds since the start, with -I
  cpu, thread, socket, die, cluster, core, node, cache  what is counted, with -A, --per-thread, --per-socket and so on
  counters         the number of CPUs that are added up, with --per-socket and so on
  counter-value    a number in units, or \"<not counted>\" (never on the PMU) or \"<not supported>\" (on this machine)
  unit, event, cgroup  the unit (empty for a plain number), the name, and the cgroup with -G and --for-each-cgroup
  variance         with -r, the standard error of the mean, in percent
  event-runtime    nanoseconds for which the event was counted
  pcnt-running     their share of the time for which it was enabled, in percent; below 100 the value is an estimate
  metric-value, metric-unit  computed from this and other events; left out if there is nothing to compute
The event duration_time is the time that passed; user_time and system_time are the CPU time. num_cpus, smt_on and others \
are properties of the machine; perfdata list tool -v describes them.

CSV as printed by perf stat -x: [interval,][what is counted,[counters,]]value,unit,event,[cgroup,][variance%,]\
event-runtime,pcnt-running,metric-value,metric-unit

The first Ctrl-C is left to the command; the second one, or the first without a command, ends the counting. The counts \
are printed in every case.

Exit status: that of the command (with -r, of the last run), or 128 plus the signal's number if a signal ended it; 0 if \
there is no command or perfdata did not wait for it (--timeout, Ctrl-C); 1 if nothing could be counted (usage, no such \
event or command, no permission).

Examples:
  perfdata stat -- make -j8
  perfdata stat -e page-faults,'{cycles,instructions}' -r 5 -- ./program
  perfdata stat -e sched:sched_switch -a -A -I 1000
  perfdata stat -p 1234 --timeout 5000 --json
  perfdata stat -a --per-socket -e cpu-clock,cs -- sleep 1
  perfdata stat -a --for-each-cgroup system.slice,user.slice -e cpu-clock -- sleep 1
  perfdata stat -e syscalls:sys_enter_write --filter 'count > 100' -- make
  perfdata stat record -a -I 1000 -o counts.data -- make && perfdata stat report counts.data";

/// `perfdata stat`, and the verbs that keep counts and print them later.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct StatCommand {
    #[command(subcommand)]
    pub(crate) verb: Option<StatVerb>,

    #[command(flatten)]
    pub(crate) args: StatArgs,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum StatVerb {
    /// Count, and write the counts to a capture (-o, default perf.data), which stat report of perfdata and perf read
    Record(Box<StatArgs>),
    /// Print the counts of a capture that perf stat record or perfdata stat record wrote
    Report(StatReportArgs),
}

/// The command line of `perfdata stat report`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatReportArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    /// Print values separated by SEP, one line per event
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json")]
    pub(crate) field_separator: Option<String>,

    /// Print one JSON object per line
    #[arg(short, long, visible_alias = "json-output")]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StatArgs {
    /// Events to count, by perf's names (perfdata list): cycles:u,faults,'{a,b}',sched:sched_switch,pmu/term=1/. Can be
    /// given more than once
    #[arg(short, long = "event", value_name = "EVENTS", value_parser = OrderedValue::parse)]
    pub(crate) events: Vec<OrderedValue>,

    /// Count only hits of the last tracepoint before this option whose fields fulfil this: 'prev_pid != 0'
    #[arg(long, value_name = "FILTER", value_parser = OrderedValue::parse)]
    pub(crate) filter: Vec<OrderedValue>,

    /// Count all events as one group, as with braces around them
    #[arg(short, long)]
    pub(crate) group: bool,

    /// Count more events of caches: -d of L1 and the last level, -dd also of instructions and TLBs, -ddd also prefetches
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) detailed: u8,

    /// Count what these metrics need, and print them: page_faults_per_second, insn_per_cycle and others that all CPUs have
    #[arg(short = 'M', long, value_name = "METRICS", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,

    /// Print what the issue slots of the pipeline are used for, on Intel's CPUs, and no counts
    #[arg(long, conflicts_with = "metrics")]
    pub(crate) topdown: bool,

    /// The levels of --topdown: 1, or 2 with the parts of the first level [default: those that the CPU has]
    #[arg(long, value_name = "N", requires = "topdown", value_parser = clap::value_parser!(u32).range(1..=2))]
    pub(crate) td_level: Option<u32>,

    /// Count nothing; only print the time
    #[arg(short, long, conflicts_with_all = ["events", "detailed", "metrics", "topdown"])]
    pub(crate) null: bool,

    /// Count user space alone
    #[arg(long, conflicts_with = "all_kernel")]
    pub(crate) all_user: bool,

    /// Count the kernel alone
    #[arg(long)]
    pub(crate) all_kernel: bool,

    /// Count tasks of these cgroups alone, one for each event, or one for all; with -a or -C
    #[arg(
        short = 'G',
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "for_each_cgroup"
    )]
    pub(crate) cgroup: Vec<String>,

    /// Count all events for each of these cgroups; with -a or -C
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) for_each_cgroup: Vec<String>,

    #[command(flatten)]
    pub(crate) observed: ObservedArgs,

    /// Print one line per CPU; with -a or -C
    #[arg(short = 'A', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) no_aggr: bool,

    /// Print one line per thread; with -p or -t, or with -a for each thread that is counted
    #[arg(long, conflicts_with_all = ["cpu", "no_aggr"])]
    pub(crate) per_thread: bool,

    /// Print one line per processor socket; with -a or -C
    #[arg(long, group = "parts", conflicts_with_all = ["no_aggr", "per_thread"])]
    pub(crate) per_socket: bool,

    /// Print one line per die; with -a or -C
    #[arg(long, group = "parts", conflicts_with_all = ["no_aggr", "per_thread"])]
    pub(crate) per_die: bool,

    /// Print one line per cluster of cores; with -a or -C
    #[arg(long, group = "parts", conflicts_with_all = ["no_aggr", "per_thread"])]
    pub(crate) per_cluster: bool,

    /// Print one line per core; with -a or -C
    #[arg(long, group = "parts", conflicts_with_all = ["no_aggr", "per_thread"])]
    pub(crate) per_core: bool,

    /// Print one line per NUMA node; with -a or -C
    #[arg(long, group = "parts", conflicts_with_all = ["no_aggr", "per_thread"])]
    pub(crate) per_node: bool,

    /// Print one line per cache of this level, the last one by default; with -a or -C
    #[arg(long, value_name = "LEVEL", group = "parts", num_args = 0..=1, require_equals = true,
          default_missing_value = "LLC", value_parser = cache_level, conflicts_with_all = ["no_aggr", "per_thread"])]
    pub(crate) per_cache: Option<CacheLevel>,

    /// Print events of the same name on several PMUs one by one, instead of their sum
    #[arg(long)]
    pub(crate) no_merge: bool,

    /// Print what was counted, without extrapolating to the time for which an event had no counter
    #[arg(long, overrides_with = "scale")]
    pub(crate) no_scale: bool,

    /// Extrapolate; this is the default
    #[arg(long)]
    pub(crate) scale: bool,

    /// Print the counts at this interval, in milliseconds
    #[arg(short = 'I', long, value_name = "MS", conflicts_with = "repeat")]
    pub(crate) interval_print: Option<NonZeroU64>,

    /// End after this many intervals
    #[arg(long, value_name = "N", requires = "interval_print", conflicts_with = "timeout")]
    pub(crate) interval_count: Option<NonZeroU64>,

    /// Clear the screen before each interval
    #[arg(long, requires = "interval_print")]
    pub(crate) interval_clear: bool,

    /// After the intervals, also print the counts of the whole time
    #[arg(long, requires = "interval_print")]
    pub(crate) summary: bool,

    /// Do not begin the lines of the summary with \"summary\" in CSV
    #[arg(long, requires = "summary")]
    pub(crate) no_csv_summary: bool,

    /// Run the command this many times, and print the mean and the deviation; 0 repeats it until Ctrl-C, and prints the
    /// counts of each run
    #[arg(short, long, value_name = "N", default_value_t = 1, requires = "command")]
    pub(crate) repeat: u32,

    /// With -r, also print the time of each run
    #[arg(long, conflicts_with_all = ["json", "field_separator"])]
    pub(crate) table: bool,

    /// Run this command in a shell before each run
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub(crate) pre: Option<OsString>,

    /// Run this command in a shell after each run
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub(crate) post: Option<OsString>,

    /// Write what is in the caches of file systems to the disks before each run, by sync(2)
    #[arg(short = 'S', long)]
    pub(crate) sync: bool,

    /// Wait this many milliseconds after the start before counting; -1 waits for enable on --control
    #[arg(short = 'D', long, value_name = "MS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(-1..))]
    pub(crate) delay: Option<i64>,

    /// Read commands, one a line: enable [EVENT] and disable [EVENT] count and do not count, evlist prints the events on
    /// standard error, ping does nothing. Each is answered by ack if there is a place for answers
    #[arg(long, value_name = "fd:N[,N]|fifo:PATH[,PATH]", value_parser = Control::parse)]
    pub(crate) control: Option<Control>,

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
    #[arg(short, long, visible_alias = "json-output")]
    pub(crate) json: bool,

    /// Print the computed metrics, and no counts
    #[arg(long)]
    pub(crate) metric_only: bool,

    /// Print large numbers with a comma after the thousands; this is the default
    #[arg(short = 'B', long)]
    pub(crate) big_num: bool,

    /// Print large numbers without a comma after the thousands
    #[arg(long, overrides_with = "big_num")]
    pub(crate) no_big_num: bool,

    /// Write to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "log_fd")]
    pub(crate) output: Option<PathBuf>,

    /// Append to the file of -o
    #[arg(long, requires = "output")]
    pub(crate) append: bool,

    /// Write to this open file descriptor
    #[arg(long, value_name = "N")]
    pub(crate) log_fd: Option<u32>,

    /// Print nothing
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Also print each count before any computation, with the nanoseconds for which it was enabled and counted
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Command to run, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Parses the level of a cache.
fn cache_level(text: &str) -> Result<CacheLevel, String> {
    let number = text.strip_prefix(['L', 'l']).unwrap_or(text);
    match number.parse() {
        _ if text.eq_ignore_ascii_case("llc") => Ok(CacheLevel::Last),
        Ok(level @ 1..=4) => Ok(CacheLevel::Level(level)),
        _ => Err("must be LLC or L1 to L4".to_owned()),
    }
}

impl StatArgs {
    /// Returns the options of an empty command line.
    pub(crate) fn none() -> Result<Self, clap::Error> {
        use clap::{Args, FromArgMatches};
        let matches = Self::augment_args(clap::Command::new("stat")).try_get_matches_from(["stat"])?;
        Self::from_arg_matches(&matches)
    }
}
