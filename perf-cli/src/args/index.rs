//! The arguments of `perfdata index`.

use std::path::PathBuf;

use super::ReadingArgs;
use super::capture::Capture;

pub(super) const EXAMPLES: &str =
    "The index has 1 to 15 % of the size of the capture. It becomes invalid when the capture changes.

Examples:
  perfdata index
  perfdata index perf.data
  perfdata index perf.data -o /tmp/perf.data.idx";

#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// File to write, readable by its owner only. An existing file is replaced once the new one is complete; for a
    /// symbolic link, the target is replaced [default: the name of the capture with .idx added]
    #[arg(short, long, value_name = "FILE.idx")]
    pub(crate) output: Option<PathBuf>,
}
