//! The arguments of `perfdata c2c`.

use clap::Subcommand;
use perf_profile::c2c::C2cKey;

use super::ReadingArgs;
use super::capture::Capture;
use super::perf_text::{PerfTextArgs, RefusedVerb};
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str = "report prints what perf c2c report --stdio prints of a file, byte for byte, of perf 7.2; --perf-version 6.1 \
prints that of 6.1. With --format json, each line of the cache has its offsets, functions, call graphs, threads, CPUs and nodes.

A capture needs the source of the data of loads and stores, as perf c2c record records it.

Examples:
  perfdata c2c report
  perf c2c record -a -- sleep 5 && perfdata c2c report -i perf.data
  perfdata c2c report --stats
  perfdata c2c report -d lcl -c tid,iaddr -N
  perfdata c2c report --double-cl --full-symbols
  perfdata c2c report --format json | jq '.lines[0].accesses[] | [.offset, .symbol, .threads]'";

/// The arguments of all verbs of `perfdata c2c`.
#[derive(Debug, clap::Args)]
pub(crate) struct C2cArgs {
    #[command(subcommand)]
    pub(crate) verb: C2cVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum C2cVerb {
    /// Print memory accesses by line of the cache, as perf c2c report --stdio does
    Report(Box<C2cReportArgs>),
    #[command(hide = true)]
    Record(RefusedVerb),
}

impl C2cVerb {
    /// Returns the options for reading a capture; `None` of a verb that is not here.
    pub(crate) fn reading(&self) -> Option<&ReadingArgs> {
        match self {
            Self::Report(args) => Some(&args.reading),
            Self::Record(_) => None,
        }
    }
}

/// What lines are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum C2cDisplay {
    /// Loads of lines that any other cache had modified
    Tot,
    /// Loads of lines that another cache of the node had modified
    Lcl,
    /// Loads of lines that a cache of another node had modified
    Rmt,
    /// Loads of lines that another cache transferred
    Peer,
}

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf c2c report")]
pub(crate) struct C2cReportArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) print: PerfTextArgs,

    /// Sort by this [default: tot, and peer of captures of Arm]
    #[arg(short, long, value_enum, value_name = "KIND")]
    pub(crate) display: Option<C2cDisplay>,

    /// Rows of an offset differ by these: pid, tid, iaddr (the address of the instruction), dso
    #[arg(short, long, value_name = "KEYS", value_delimiter = ',', default_value = "iaddr")]
    pub(crate) coalesce: Vec<C2cKey>,

    /// Print the CPUs and the parts of each node; twice: the list of CPUs
    #[arg(short = 'N', long, action = clap::ArgAction::Count)]
    pub(crate) node_info: u8,

    /// Print only the tables of numbers
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print names of functions as a whole
    #[arg(long)]
    pub(crate) full_symbols: bool,

    /// Do not print lines of source code
    #[arg(long)]
    pub(crate) no_source: bool,

    /// Print all lines of the cache, not only those with at least a thousandth of what they are sorted by
    #[arg(long)]
    pub(crate) show_all: bool,

    /// A line is two adjacent ones, which a prefetcher may fetch together
    #[arg(long)]
    pub(crate) double_cl: bool,

    /// Form of the call graphs below the rows, as for perfdata report; none for no call graphs [default:
    /// graph,0.5,callee,function,percent]
    #[arg(short = 'g', long, value_name = "WORDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "graph,0.5,caller,function,percent", overrides_with = "no_call_graph")]
    pub(crate) call_graph: Option<String>,

    /// Print no call graphs
    #[arg(long, overrides_with = "call_graph")]
    pub(crate) no_call_graph: bool,

    #[command(flatten)]
    silent: SilentArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

/// Options of perf that change nothing here.
#[derive(Debug, clap::Args)]
struct SilentArgs {
    #[arg(long, hide = true)]
    stdio: bool,
    #[arg(short, long, hide = true)]
    force: bool,
    #[arg(short, long, hide = true)]
    verbose: bool,
    #[arg(long, hide = true)]
    stitch_lbr: bool,
    #[arg(short = 'M', long, value_name = "STYLE", hide = true)]
    disassembler_style: Option<String>,
    #[arg(long, value_name = "PATH", hide = true)]
    objdump: Option<String>,
}
