//! The events to sample, and the filters of those before them on the command line.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// The options `--event`, `--filter` and `--exclude-perf`, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventOption {
    /// A list of events.
    Events(String),
    /// A filter for the last event before it.
    Filter(String),
    /// A filter that leaves out the samples of perfdata itself, for the last event before it.
    ExcludePerf,
}

/// The options `--event`, `--filter` and `--exclude-perf`, whose order matters.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventArgs {
    pub(crate) asked: Vec<EventOption>,
}

const EVENT: &str = "event";
const FILTER: &str = "filter";
const EXCLUDE_PERF: &str = "exclude-perf";

impl FromArgMatches for EventArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut placed: Vec<(usize, EventOption)> = Vec::new();
        for (name, asked) in
            [(EVENT, EventOption::Events as fn(String) -> EventOption), (FILTER, EventOption::Filter)]
        {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            placed.extend(matches.indices_of(name).into_iter().flatten().zip(values.map(asked)));
        }
        if matches.get_count(EXCLUDE_PERF) > 0 {
            let indices = matches.indices_of(EXCLUDE_PERF).into_iter().flatten();
            placed.extend(indices.map(|index| (index, EventOption::ExcludePerf)));
        }
        placed.sort_by_key(|(index, _)| *index);
        Ok(Self { asked: placed.into_iter().map(|(_, asked)| asked).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for EventArgs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(Arg::new(EVENT).short('e').long("event").value_name("EVENTS").action(ArgAction::Append).help(
                "Events to sample, by perf's names: cycles:u, sched:sched_switch, {a,b}:S (perfdata list shows them) \
                 [default: cycles, or cpu-clock if cycles cannot be counted]",
            ))
            .arg(Arg::new(FILTER).long("filter").value_name("FILTER").action(ArgAction::Append).help(
                "Sample the last event before this option only where the filter holds, for example 'prev_prio < 120' \
                 for a tracepoint",
            ))
            .arg(Arg::new(EXCLUDE_PERF).long("exclude-perf").action(ArgAction::Count).help(
                "Leave out the samples of perfdata itself, for the last tracepoint before this option",
            ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
