//! The arguments of `perfdata flamegraph`.

use std::path::PathBuf;

use super::profile::ProfileArgs;

pub(super) const EXAMPLES: &str =
    "The page is one file, which loads nothing from elsewhere. It searches by regular expressions, zooms, merges stacks \
from the root or from the leaf, groups them by command, process or thread, and shows the samples of a span of time. Its \
key ? lists the keys. Several captures become one page, in which they can be told apart.

A name that ends in .svg gets a static picture of the first event that has samples, for a README; --event names another \
event.

Functions are named by the files that the capture was recorded from, as perfdata script --help describes.

Examples:
  perfdata flamegraph
  perfdata flamegraph perf.data -o flames.html
  perfdata flamegraph --annotate=0.5 -o flames.html
  perfdata flamegraph -o flames.svg --comms server --event cycles
  perfdata flamegraph host-a.data host-b.data --time 10%-20%";

#[derive(Debug, clap::Args)]
pub(crate) struct FlamegraphArgs {
    /// File to write: a page if the name ends in .html, a picture if it ends in .svg; - writes a page to standard output.
    /// An existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "OUT", default_value = "flamegraph.html")]
    pub(crate) output: PathBuf,

    /// Put the instructions and source lines of functions with at least this percentage of an event's samples into the page, to be
    /// shown with their samples. Reads each capture once more
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "1",
          value_parser = super::annotate::percent)]
    pub(crate) annotate: Option<f64>,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}
