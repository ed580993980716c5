//! The arguments of `perfdata evlist` and `perfdata buildid-list`, which print what perf's verbs of these names print.

use super::ReadingArgs;
use super::capture::Capture;

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf evlist")]
pub(crate) struct EvlistArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Print the frequency or the period of each event
    #[arg(short = 'F', long)]
    pub(crate) freq: bool,

    /// Print events that were recorded as a group on one line
    #[arg(short, long, conflicts_with_all = ["verbose", "freq"])]
    pub(crate) group: bool,

    /// Print the fields of each attr that are set
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Print the fields of tracepoints
    #[arg(long)]
    pub(crate) trace_fields: bool,

    /// Accepted, as perf has it: the owner of a capture is not checked
    #[arg(short, long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BuildIdListArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Only files that the address of a sample is in
    #[arg(short = 'H', long)]
    pub(crate) with_hits: bool,

    /// Accepted, as perf has it: the owner of a capture is not checked
    #[arg(short, long)]
    force: bool,

    /// Accepted, as perf has it
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}
