//! The arguments of `perfdata index`.

use std::path::PathBuf;

use super::ReadingArgs;
use super::capture::Capture;

pub(super) const EXAMPLES: &str =
    "With --time, other verbs read only the parts of a capture that they need, if its index lies beside it under its default
name. What they leave out is not checked again: perfdata index reports the faults of the whole capture. Options that need
all samples, such as --off-cpu, and compressed captures are read as a whole.

The index has 1 to 15 % of the size of the capture. It becomes invalid when the capture changes; other verbs say so, and
read the whole capture.

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
