//! The arguments of `perfdata sched`.

use clap::Subcommand;
use perf_profile::sched::LatencySort;

use super::ReadingArgs;
use super::capture::Capture;
use super::perf_text::{PerfTextArgs, PrintFormat, RefusedVerb};
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str = "timehist, latency and map print what perf sched prints, byte for byte, of perf 7.2; --perf-version 6.1 prints that of 6.1, which \
takes a thread that was preempted for one that sleeps. Names from the capture are escaped where a terminal would obey them. waits \
has what perf does not: percentiles of each kind of wait, where threads wait, what wakes them, and what runs instead of them.

A capture needs the tracepoint sched:sched_switch; waits reads SWITCH records too. perfdata record --sched records all that is \
used.

Examples:
  perfdata sched waits
  perfdata record --sched -a -- sleep 1 && perfdata sched timehist
  perfdata sched latency --sort max
  perfdata sched map --compact
  perfdata sched waits --details --format json perf.data | jq '.groups[0].stolen_by'";

/// The arguments of all verbs of `perfdata sched`.
#[derive(Debug, clap::Args)]
pub(crate) struct SchedArgs {
    #[command(subcommand)]
    pub(crate) verb: SchedVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchedVerb {
    /// Print each switch with the times before it, as perf sched timehist does
    Timehist(Box<TimehistArgs>),
    /// Print the delays between wake-up and run, as perf sched latency does
    #[command(visible_alias = "lat")]
    Latency(LatencyArgs),
    /// Print the threads that run on each CPU, as perf sched map does
    Map(MapArgs),
    /// Show for how long threads run and wait, with percentiles, and why
    Waits(Box<WaitsArgs>),
    #[command(hide = true)]
    Record(RefusedVerb),
    #[command(hide = true)]
    Replay(RefusedVerb),
    #[command(hide = true)]
    Script(RefusedVerb),
    #[command(hide = true)]
    Stats(RefusedVerb),
}

impl SchedVerb {
    /// Returns the options for reading a capture; `None` of a verb that is not here.
    pub(crate) fn reading(&self) -> Option<&ReadingArgs> {
        match self {
            Self::Timehist(args) => Some(&args.reading),
            Self::Latency(args) => Some(&args.reading),
            Self::Map(args) => Some(&args.reading),
            Self::Waits(args) => Some(&args.reading),
            Self::Record(_) | Self::Replay(_) | Self::Script(_) | Self::Stats(_) => None,
        }
    }
}

/// Options of perf that change nothing here.
#[derive(Debug, clap::Args)]
struct SilentArgs {
    #[arg(short, long, hide = true)]
    force: bool,
    #[arg(short, long, hide = true)]
    verbose: bool,
}

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf sched timehist")]
pub(crate) struct TimehistArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) print: PerfTextArgs,

    /// Print wake-ups too
    #[arg(short, long, conflicts_with = "summary")]
    pub(crate) wakeups: bool,

    /// Print the next thread of each switch
    #[arg(short, long, conflicts_with = "summary")]
    pub(crate) next: bool,

    /// Print moves of threads to other CPUs too
    #[arg(short = 'M', long)]
    pub(crate) migrations: bool,

    /// Print a column for each CPU
    #[arg(short = 'V', long)]
    pub(crate) cpu_visual: bool,

    /// Print the state in which threads leave the CPU
    #[arg(long)]
    pub(crate) state: bool,

    /// Print the time from the wake-up of a thread to its move to another CPU
    #[arg(short = 'P', long)]
    pub(crate) pre_migrations: bool,

    /// Print the priorities of threads
    #[arg(long)]
    pub(crate) show_prio: bool,

    /// Only threads with these priorities: numbers and ranges
    #[arg(long, value_name = "PRIO")]
    pub(crate) prio: Option<String>,

    /// Only the times for which CPUs are idle
    #[arg(short = 'I', long)]
    pub(crate) idle_hist: bool,

    /// Print only the sums by thread
    #[arg(short, long)]
    pub(crate) summary: bool,

    /// Print the sums by thread after the switches
    #[arg(short = 'S', long)]
    pub(crate) with_summary: bool,

    /// Only threads of these processes
    #[arg(short, long, value_name = "PID", value_delimiter = ',')]
    pub(crate) pid: Vec<i32>,

    /// Only these threads
    #[arg(short, long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only these CPUs: numbers and ranges such as 0,2-3
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// Only switches in this span: A,B in seconds; either may be omitted
    #[arg(long, value_name = "SPAN", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,

    /// Print call chains if there are any, which is the default
    #[arg(short = 'g', long, overrides_with = "no_call_graph")]
    pub(crate) call_graph: bool,

    /// Do not print call chains
    #[arg(long, overrides_with = "call_graph")]
    pub(crate) no_call_graph: bool,

    /// Do not print more frames of a call chain than this
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) max_stack: usize,

    #[command(flatten)]
    silent: SilentArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LatencyArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) print: PerfTextArgs,

    /// Sort by these keys: runtime, switch, avg, max, pid [default: avg,max,switch,runtime]
    #[arg(short, long, value_name = "KEYS", value_delimiter = ',')]
    pub(crate) sort: Vec<LatencySort>,

    /// A row for each thread, not for each name
    #[arg(short, long)]
    pub(crate) pids: bool,

    /// The only CPU that was recorded, whose wake-ups may be missing
    #[arg(short = 'C', long = "CPU", value_name = "CPU")]
    pub(crate) cpu: Option<u32>,

    #[command(flatten)]
    silent: SilentArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MapArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) print: PerfTextArgs,

    /// Show a CPU from its first switch on
    #[arg(long)]
    pub(crate) compact: bool,

    /// Only switches of these CPUs: numbers and ranges
    #[arg(long, value_name = "CPUS")]
    pub(crate) cpus: Option<String>,

    /// Colour these CPUs on a terminal
    #[arg(long, value_name = "CPUS")]
    pub(crate) color_cpus: Option<String>,

    /// Colour these threads on a terminal
    #[arg(long, value_name = "TIDS", value_delimiter = ',')]
    pub(crate) color_pids: Vec<i32>,

    /// Only threads with these names
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) task_name: Vec<String>,

    /// A part of the name is enough for --task-name
    #[arg(long)]
    pub(crate) fuzzy_name: bool,

    #[command(flatten)]
    silent: SilentArgs,
}

/// What rows of `waits` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WaitsBy {
    /// A thread
    Thread,
    /// All threads of a process
    Process,
    /// All threads with one name
    Comm,
    /// All threads of a cgroup; needs --all-cgroups when recording
    Cgroup,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WaitsArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t = PrintFormat::Text)]
    pub(crate) format: PrintFormat,

    /// What a row is
    #[arg(long, value_enum, default_value_t = WaitsBy::Thread)]
    pub(crate) by: WaitsBy,

    /// Print below each row the states, stacks and wakers of its waits, and what ran while it could run
    #[arg(short, long)]
    pub(crate) details: bool,

    /// Print at most this many rows, those that waited longest for a CPU first
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) limit: usize,

    /// Only threads of these processes
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub(crate) pid: Vec<i32>,

    /// Only these threads
    #[arg(long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only threads with these names
    #[arg(short, long, value_name = "COMM", value_delimiter = ',')]
    pub(crate) comms: Vec<String>,

    /// Use at most N frames per stack, innermost first
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_stack: usize,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}
