//! The command line of `perfdata record`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::whom::WhomArgs;

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -a and -C the command is recorded, with all that it starts; without a command too, the whole machine \
until Ctrl-C. What is written is a perf.data that perf report, perf script and perfdata read. A recorder that is killed \
leaves one that perfdata repair mends.

With --overwrite the rings keep the newest records, and nothing is written until SIGUSR2, which writes a snapshot to a file \
of its own (perf.data.1, perf.data.2), or the end.

Exit status: that of the command, 128 and the signal's number if one ended it; 0 if there is no command; 1 if nothing \
was recorded.

Examples:
  perfdata record -- ./program --its-option
  perfdata record -g -F 999 -- make
  perfdata record -e sched:sched_switch -a -- sleep 5
  perfdata record -e '{cpu-clock,page-faults}:S' -p 1234 -o busy.data
  perfdata record --call-graph dwarf -o - -- ./program | perfdata dump -
  perfdata record --overwrite -a & kill -USR2 $!";

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// What to sample, as perf names it: cycles:u, sched:sched_switch, {a,b}:S (perfdata list shows them) [default:
    /// cycles, or cpu-clock where nothing counts them]
    #[arg(short, long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,

    /// Samples a second [default: 4000; every occurrence of a tracepoint]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "count")]
    pub(crate) freq: Option<u64>,

    /// Occurrences between two samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// Call chains, by frame pointers
    #[arg(short = 'g')]
    pub(crate) frame_pointers: bool,

    /// Call chains: fp by frame pointers, dwarf or dwarf,BYTES by a copy of the stack
    #[arg(long, value_name = "HOW", value_parser = CallGraph::parse)]
    pub(crate) call_graph: Option<CallGraph>,

    /// Addresses of data, and the mappings that hold it
    #[arg(short, long)]
    pub(crate) data: bool,

    /// The cpu of each sample, also where a command or a task is recorded
    #[arg(long)]
    pub(crate) sample_cpu: bool,

    /// Records of context switches
    #[arg(long)]
    pub(crate) switch_events: bool,

    /// Records of namespaces
    #[arg(long)]
    pub(crate) namespaces: bool,

    /// The clock of the times [default: the kernel's own, sched_clock]
    #[arg(short = 'k', long, value_enum, value_name = "CLOCK")]
    pub(crate) clockid: Option<Clock>,

    #[command(flatten)]
    pub(crate) whom: WhomArgs,

    /// What recorded tasks start is not recorded
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,

    /// Pages of a ring, a power of two [default: as many as perf_event_mlock_kb allows, 512 KiB]
    #[arg(short, long, value_name = "PAGES")]
    pub(crate) mmap_pages: Option<usize>,

    /// The rings keep the newest records, until a snapshot is asked for
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// On SIGUSR2 also writes the rings to this folder as they stand, with an attr.data for perfdata ring
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dump_rings: Option<PathBuf>,

    /// The file to write, for its owner alone to read; - for a stream to standard output. A file that is there becomes
    /// FILE.old when the recording begins
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Compresses the records: from 1, fast, to 22, small
    #[arg(short = 'z', long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "1", require_equals = true,
          value_parser = clap::value_parser!(u8).range(1..=22))]
    pub(crate) compression_level: Option<u8>,

    /// No build ids of the files that were hit
    #[arg(short = 'B', long, conflicts_with = "buildid_all")]
    pub(crate) no_buildid: bool,

    /// Build ids of all files that were mapped
    #[arg(long)]
    pub(crate) buildid_all: bool,

    /// Nothing on standard error but faults
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// How call chains are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallGraph {
    /// By frame pointers, in the kernel.
    Fp,
    /// Later, from a copy of this many bytes of the stack.
    Dwarf(u32),
}

/// Bytes of the stack that perf copies.
pub(crate) const STACK_BYTES: u32 = 8192;

impl CallGraph {
    fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(',') {
            None if text == "fp" => Ok(Self::Fp),
            None if text == "dwarf" => Ok(Self::Dwarf(STACK_BYTES)),
            Some(("dwarf", bytes)) => match bytes.parse() {
                // More than the 16 bits of a record's size leave for it, and what the kernel refuses.
                Ok(bytes @ 8..=65528) if bytes % 8 == 0 => Ok(Self::Dwarf(bytes)),
                _ => Err("the bytes of the stack must be a multiple of 8 from 8 to 65528".to_owned()),
            },
            _ => Err("must be fp, dwarf or dwarf,BYTES".to_owned()),
        }
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
    /// The kernel's number.
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
