//! The arguments of `perfdata archive`.

use core::num::NonZero;
use std::path::PathBuf;

use super::ReadingArgs;
use super::capture::Capture;
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str =
    "The archive has the capture and the files that were read for its stacks, names and lines: binaries, debug files, kernel \
symbols, the vDSO, perf maps, jitdumps. The verbs that read captures read the archive in place of the capture, and use no \
binary of the machine that they run on. perf reads the capture and its files after tar xf perf.data.tar.zst -C ~/.debug.

perfdata record --collect writes the same archive at the end of a recording, while the recorded processes run.

Examples:
  perfdata archive
  perfdata archive perf.data -o /tmp/for-another-machine.tar.zst
  perfdata archive --slim perf.data && perfdata report perf.data.tar.zst
  perfdata archive --debuginfod perf.data";

#[derive(Debug, clap::Args)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// File to write, readable by its owner only. An existing file is replaced once the new one is complete; for a
    /// symbolic link, the target is replaced [default: the name of the capture with .tar.zst added]
    #[arg(short, long, value_name = "OUT.tar.zst")]
    pub(crate) output: Option<PathBuf>,

    /// Leave debug information and data out of binaries: only symbols, unwind tables and code are kept. Names and stacks are
    /// the same; inlined functions and lines are not known
    #[arg(long)]
    pub(crate) slim: bool,

    /// Number of threads that find stacks and names [default: number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}
