//! The command line of `perfdata list`.

pub(super) const AFTER_HELP: &str = "\
PATTERN is a part of an event's name, or a pattern of the whole of it: * for any text, ? for one sign; upper and lower \
case are the same. hw, sw, cache, pmu, tracepoint and syntax stand for the events of that kind; syntax is how raw \
events, breakpoints, probes and the terms of PMUs are written.

With --json each line is an object: event (what -e takes), kind (as above), aliases, pmu, terms (what the name stands \
for), unit, scale; what an event does not have is left out.

Examples:
  perfdata list
  perfdata list 'sched:*'
  perfdata list fault --details
  perfdata list pmu --json | jq -r .event";

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only events that one of these matches
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,

    /// A JSON object a line
    #[arg(long, conflicts_with = "details")]
    pub(crate) json: bool,

    /// Also what the names stand for: type and config, and the terms of a PMU's event
    #[arg(long)]
    pub(crate) details: bool,
}
