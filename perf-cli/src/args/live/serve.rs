//! The command line of `perfdata serve`.

use core::time::Duration;
use std::path::PathBuf;

use super::sampled::{SampledArgs, seconds};
use crate::args::symbols::SymbolArgs;

pub(super) const AFTER_HELP: &str = "\
Prints the address of the page, and serves it until Ctrl-C or the end of what is observed. The page is that of perfdata \
flamegraph, made anew each second (--delay) of the samples of the last while (--window): zoom, search and selections stay. Nothing \
is made while nobody looks.

Without -p, -t, -u, -a, -C, -i and without a command, observes the whole machine; an ordinary user who may not, all processes \
of the user. With -i, the page shows a capture, whole, and is made anew when the file has grown: another perfdata record or perf \
record may be writing it.

The page is served to this machine alone (127.0.0.1), and to those who have the random word in its address; for another machine, \
use ssh -L.

Examples:
  perfdata serve
  perfdata serve -p 1234 -g
  perfdata serve -F 99 -g --port 8080 -- ./program
  perfdata serve -i perf.data";

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) sampled: SampledArgs,

    /// Show this capture, which may be growing, instead of recording
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["pid", "tid", "all_cpus", "cpu", "uid", "command", "event", "freq", "count", "frame_pointers", "call_graph"])]
    pub(crate) input: Option<PathBuf>,

    /// Show the samples of the last SECONDS
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) window: Duration,

    /// Port of the page; 0 for one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}
