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
  perfdata flamegraph -o flames.svg --comms server --event cycles
  perfdata flamegraph host-a.data host-b.data --time 10%-20%";

#[derive(Debug, clap::Args)]
pub(crate) struct FlamegraphArgs {
    /// File to write: a page if the name ends in .html, a picture if it ends in .svg; - writes a page to standard output.
    /// An existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "OUT", default_value = "flamegraph.html")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}
