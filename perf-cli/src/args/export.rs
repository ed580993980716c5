//! The arguments of `perfdata export`.

use std::path::PathBuf;

use super::profile::ProfileArgs;

pub(super) const EXAMPLES: &str =
    "Functions are named by the files that the capture was recorded from, as perfdata script --help describes.

Examples:
  perfdata export --to firefox -o out.json
  perfdata export --to speedscope -o out.speedscope.json";

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: To,

    /// File to write; - for standard output. An existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum To {
    /// Folded stacks, as perfdata fold prints them
    Folded,
    /// Processed profile of the Firefox Profiler, for profiler.firefox.com
    Firefox,
    /// speedscope's JSON, for speedscope.app
    Speedscope,
}
