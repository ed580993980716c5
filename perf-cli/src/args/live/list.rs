//! The command line of `perfdata list`.

use std::path::PathBuf;

pub(super) const AFTER_HELP: &str = "\
PATTERN matches part of an event's name, or the whole name if it contains * (any text) or ? (one character). Case is \
ignored. hw, sw, tool, cache, pmu, tracepoint and syntax select the events of that kind; tool is what perfdata stat measures itself; syntax is the syntax of raw events, \
breakpoints, probes and PMU terms. In that syntax a value that contains / , or = needs single quotes: \
uprobe/path='/bin/ls',offset=0x1000/

Hardware, software and cache events are listed if the machine has them: each is opened for a moment. An event that may \
not be opened for lack of privilege is listed too.

With --json the output is an array with a line for each event, with the names of perf list --json: EventName (for -e), \
EventAlias (its other names), EventType, Unit (the PMU), ScaleUnit, Encoding (what the name of a PMU's event stands \
for). Members that an event does not have are left out.

Examples:
  perfdata list
  perfdata list 'sched:*'
  perfdata list fault --details
  perfdata list pmu -j | jq -r '.[].EventName'";

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List only events that match one of these
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,

    /// Print a JSON array
    #[arg(short, long, conflicts_with = "details")]
    pub(crate) json: bool,

    /// Also print what the names stand for: type and config, and the terms of a PMU's event
    #[arg(short = 'v', long, visible_alias = "long-desc")]
    pub(crate) details: bool,

    /// Print only the names, in one line, for completion in a shell
    #[arg(long, conflicts_with_all = ["details", "json"])]
    pub(crate) raw_dump: bool,

    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
