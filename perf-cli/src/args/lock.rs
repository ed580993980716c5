//! The arguments of `perfdata lock`.

use clap::Subcommand;
use perf_profile::lock::ContentionSort;

use super::ReadingArgs;
use super::capture::Capture;
use super::perf_text::{PerfTextArgs, PrintFormat, RefusedVerb};
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str = "contention prints what perf lock contention prints of a file, byte for byte, of perf 7.2; --perf-version 6.1 prints that of 6.1. \
waits has what perf does not: each wait from its begin to its end, percentiles, stacks, and the futexes of programs.

A capture needs the tracepoints lock:contention_begin and contention_end, for callers with call chains; or, for the locks of \
programs, the system calls of futexes. perfdata record --lock records all of these.

Examples:
  perfdata lock contention
  perfdata record --lock -a -g -- sleep 5
  perfdata lock contention -t -k wait_max -E 10
  perfdata lock contention -Y mutex,rwsem -S ext4
  perfdata lock waits --details
  perfdata lock waits --futexes --by lock --format json | jq '.groups[0]'
  perfdata flamegraph --lock-waits";

/// The arguments of all verbs of `perfdata lock`.
#[derive(Debug, clap::Args)]
pub(crate) struct LockArgs {
    #[command(subcommand)]
    pub(crate) verb: LockVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LockVerb {
    /// Print the sums of waits for locks of the kernel, as perf lock contention does
    #[command(visible_alias = "con")]
    Contention(Box<ContentionArgs>),
    /// Show for how long threads wait for locks of the kernel and of programs, with percentiles, and where
    Waits(Box<LockWaitsArgs>),
    #[command(hide = true)]
    Record(RefusedVerb),
    #[command(hide = true)]
    Report(RefusedVerb),
    #[command(hide = true)]
    Info(RefusedVerb),
    #[command(hide = true)]
    Script(RefusedVerb),
}

impl LockVerb {
    /// Returns the options for reading a capture; `None` of a verb that is not here.
    pub(crate) fn reading(&self) -> Option<&ReadingArgs> {
        match self {
            Self::Contention(args) => Some(&args.reading),
            Self::Waits(args) => Some(&args.reading),
            Self::Record(_) | Self::Report(_) | Self::Info(_) | Self::Script(_) => None,
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(mut_arg("vmlinux", |arg| arg.short(None::<char>)))]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of perf lock contention, where -k is the key"
)]
pub(crate) struct ContentionArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) print: PerfTextArgs,

    /// A row for each thread, not for each caller
    #[arg(short, long, conflicts_with = "lock_addr")]
    pub(crate) threads: bool,

    /// A row for each lock
    #[arg(short, long)]
    pub(crate) lock_addr: bool,

    /// Sort by this column: contended, wait_total, wait_max, wait_min, avg_wait
    #[arg(short, long, value_name = "COLUMN", default_value = "wait_total")]
    pub(crate) key: ContentionSort,

    /// Print these columns
    #[arg(
        short = 'F',
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        default_value = "contended,wait_total,wait_max,avg_wait"
    )]
    pub(crate) field: Vec<ContentionSort>,

    /// Print at most this many rows
    #[arg(short = 'E', long, value_name = "N")]
    pub(crate) entries: Option<usize>,

    /// Only locks of these types: spinlock, rwlock, rwsem, mutex, pcpu-sem, rt-mutex, rwlock-rt, semaphore; or rwlock:R and the
    /// like
    #[arg(short = 'Y', long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) type_filter: Vec<String>,

    /// Only locks at these addresses, in hexadecimal, or with these symbols
    #[arg(short = 'L', long, value_name = "ADDRESSES|SYMBOLS", value_delimiter = ',')]
    pub(crate) lock_filter: Vec<String>,

    /// Only waits with a function in their stack whose name has one of these texts
    #[arg(short = 'S', long, value_name = "TEXTS", value_delimiter = ',')]
    pub(crate) callstack_filter: Vec<String>,

    /// Use at most N frames per stack, innermost first
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_stack: usize,

    /// Leave N innermost frames out of callers [default: 4, and 3 of perf 6.1]
    #[arg(long, value_name = "N")]
    pub(crate) stack_skip: Option<usize>,

    /// Print the stacks of callers, and what does not fit together; of perf 7.2, stacks with --callstack-filter alone
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Do not print the heading
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print times in nanoseconds, with this text between columns
    #[arg(short = 'x', long, value_name = "SEPARATOR", conflicts_with = "format")]
    pub(crate) field_separator: Option<String>,

    #[command(flatten)]
    silent: SilentArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

/// Options of perf that change nothing here.
#[derive(Debug, clap::Args)]
struct SilentArgs {
    #[arg(short, long, hide = true)]
    force: bool,
    #[arg(short = 'M', long, value_name = "N", hide = true)]
    map_nr_entries: Option<u64>,
}

/// What rows of `waits` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LockWaitsBy {
    /// A function that waits, and the type of the lock
    Caller,
    /// A thread
    Thread,
    /// All threads of a process
    Process,
    /// A lock
    Lock,
    /// A type of lock
    Kind,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LockWaitsArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t = PrintFormat::Text)]
    pub(crate) format: PrintFormat,

    /// What a row is
    #[arg(long, value_enum, default_value_t = LockWaitsBy::Caller)]
    pub(crate) by: LockWaitsBy,

    /// Only waits for futexes, which are the locks of programs
    #[arg(long, conflicts_with = "kernel_locks")]
    pub(crate) futexes: bool,

    /// Only waits for locks of the kernel
    #[arg(long)]
    pub(crate) kernel_locks: bool,

    /// Only waits of these kinds, as the column has them: rwsem:W, lock_pi
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,

    /// Only waits that took at least so many microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    pub(crate) at_least: u64,

    /// Print below each row the stacks, threads and locks of its waits
    #[arg(short, long)]
    pub(crate) details: bool,

    /// Print at most this many rows, those with the longest sum of waits first
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) limit: usize,

    /// Only threads of these processes
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub(crate) pid: Vec<i32>,

    /// Only these threads
    #[arg(long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Use at most N frames per stack, innermost first
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_stack: usize,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}
