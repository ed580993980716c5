//! The command line of `perfdata list`.

pub(super) const AFTER_HELP: &str = "\
PATTERN is a part of an event's name, or a pattern of the whole of it: * for any text, ? for one sign, [a-z] and \
[!a-z] for one sign of a set. Upper and lower case are the same. hw, sw, cache, pmu, tracepoint and syntax stand for \
the events of that kind.

With --json each line is an object: event (what -e takes), kind (hardware, software, cache, pmu, tracepoint, syntax), \
aliases, pmu, terms (what the PMU's name stands for), unit, scale, desc; what an event has not is left out.

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

    /// Also the numbers behind the names: type and config, terms, units, the fields of PMUs and tracepoints
    #[arg(long)]
    pub(crate) details: bool,
}
