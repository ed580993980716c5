//! The command line of `perfdata record`.

use std::ffi::OsString;
use std::path::PathBuf;

use perf_record::CallGraph;

use super::observed::ObservedArgs;

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -a and -C, records the command and everything that it starts. Without these options and without a \
command, records the whole machine until Ctrl-C. perf report, perf script and perfdata can read the resulting \
perf.data. If the recorder is killed, perfdata repair can repair the file.

With --overwrite the rings keep the newest records, and nothing is written until SIGUSR2 or the end. SIGUSR2 writes a \
snapshot to a separate file (perf.data.1, perf.data.2).

Exit status: that of the command, or 128 plus the signal's number if a signal ended it; 0 if there is no command; 1 if \
nothing was recorded.

Examples:
  perfdata record -- ./program --its-option
  perfdata record -g -F 999 -- make
  perfdata record -e sched:sched_switch -a -- sleep 5
  perfdata record -e '{cpu-clock,page-faults}:S' -p 1234 -o busy.data
  perfdata record --call-graph dwarf -o - -- ./program | perfdata dump -
  perfdata record --overwrite -a & kill -USR2 $!";

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Events to sample, by perf's names: cycles:u, sched:sched_switch, {a,b}:S (perfdata list shows them) [default:
    /// cycles, or cpu-clock if cycles cannot be counted]
    #[arg(short, long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,

    /// Sampling frequency, in samples per second [default: 4000; every occurrence of a tracepoint]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "count")]
    pub(crate) freq: Option<u64>,

    /// Sampling period: the number of occurrences between two samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// Record call chains, by frame pointers
    #[arg(short = 'g')]
    pub(crate) frame_pointers: bool,

    /// Record call chains by this method: fp for frame pointers; dwarf or dwarf,BYTES for a copy of the stack; lbr
    /// for the last branch records of Intel's processors
    #[arg(long, value_name = "HOW", value_parser = call_graph)]
    pub(crate) call_graph: Option<CallGraph>,

    /// Record data addresses, and the mappings of data
    #[arg(short, long)]
    pub(crate) data: bool,

    /// Record the CPU of each sample, also for a command or a task
    #[arg(long)]
    pub(crate) sample_cpu: bool,

    /// Record context switches
    #[arg(long)]
    pub(crate) switch_events: bool,

    /// Record namespaces
    #[arg(long)]
    pub(crate) namespaces: bool,

    /// Clock for the times [default: the kernel's own, sched_clock]
    #[arg(short = 'k', long, value_enum, value_name = "CLOCK")]
    pub(crate) clockid: Option<Clock>,

    #[command(flatten)]
    pub(crate) observed: ObservedArgs,

    /// Do not record tasks that the recorded tasks start
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,

    /// Pages of each ring, a power of two [default: as many as perf_event_mlock_kb allows, 512 KiB]
    #[arg(short, long, value_name = "PAGES")]
    pub(crate) mmap_pages: Option<usize>,

    /// Keep the newest records in the rings until a snapshot is requested
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// On SIGUSR2, also dump the rings unchanged to this folder, with an attr.data for perfdata ring
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dump_rings: Option<PathBuf>,

    /// File to write, readable by its owner only; - writes a stream to standard output. An existing file is renamed to
    /// FILE.old when the recording begins
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Compress the records, at a level from 1 (fast) to 22 (small)
    #[arg(short = 'z', long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "1", require_equals = true,
          value_parser = clap::value_parser!(u8).range(1..=22))]
    pub(crate) compression_level: Option<u8>,

    /// Do not record build IDs of the files that were hit
    #[arg(short = 'B', long, conflicts_with = "buildid_all")]
    pub(crate) no_buildid: bool,

    /// Record build IDs of all files that were mapped
    #[arg(long)]
    pub(crate) buildid_all: bool,

    /// Print only errors on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Command to run, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Parses `--call-graph`.
fn call_graph(text: &str) -> Result<CallGraph, String> {
    match text.split_once(',') {
        None if text == "fp" => Ok(CallGraph::Fp),
        None if text == "lbr" => Ok(CallGraph::Lbr),
        None if text == "dwarf" => Ok(CallGraph::Dwarf(CallGraph::STACK_BYTES)),
        Some(("dwarf", bytes)) => match bytes.parse() {
            // The kernel refuses larger sizes; also, the size of a record has only 16 bits.
            Ok(bytes @ 8..=65528) if bytes % 8 == 0 => Ok(CallGraph::Dwarf(bytes)),
            _ => Err("the bytes of the stack must be a multiple of 8 from 8 to 65528".to_owned()),
        },
        _ => Err("must be fp, lbr, dwarf or dwarf,BYTES".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    Realtime,
    Monotonic,
    MonotonicRaw,
    Boottime,
    Tai,
}

impl Clock {
    /// Returns the kernel's number for the clock.
    pub(crate) fn id(self) -> i32 {
        match self {
            Self::Realtime => 0,
            Self::Monotonic => 1,
            Self::MonotonicRaw => 4,
            Self::Boottime => 7,
            Self::Tai => 11,
        }
    }
}
