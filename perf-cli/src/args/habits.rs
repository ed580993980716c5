//! Habits of perf's command line, for all verbs: long options may be shortened, and each boolean option has its opposite.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};

/// Adds `--no-X` for each `--X` without a value, and `--X` for each `--no-X`, which undo it. They are in no help, because they only
/// undo what a script or an alias has on the same command line.
pub(super) fn with_opposites(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let command =
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_opposites));
    let all: Vec<&str> = command
        .get_arguments()
        .flat_map(|arg| arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default()))
        .collect();
    let opposite = |arg: &Arg| {
        if !matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::Count) {
            return None;
        }
        let long = arg.get_long()?;
        let name = long.strip_prefix("no-").map_or_else(|| format!("no-{long}"), str::to_owned);
        let is_new = !all.contains(&name.as_str());
        let id = format!("opposite:{name}");
        is_new.then(|| {
            let undone = arg.get_id().clone();
            Arg::new(id).long(name).hide(true).action(ArgAction::SetTrue).overrides_with(undone)
        })
    };
    let opposites: Vec<Arg> = command.get_arguments().filter_map(opposite).collect();
    command.args(opposites)
}

/// Returns the error for an option that is short for several: it names them. Other errors stay as they are.
pub(super) fn explained(error: clap::Error, args: &[OsString], parser: &Command) -> clap::Error {
    let given = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(given)) if error.kind() == ErrorKind::UnknownArgument => given,
        _ => return error,
    };
    let Some(start) = given.strip_prefix("--").filter(|start| !start.is_empty()) else { return error };
    let mut command = parser;
    for word in super::from_verb(args).iter().map_while(|word| word.to_str()) {
        let Some(verb) = command.find_subcommand(word) else { break };
        command = verb;
    }
    let longs = command.get_arguments().filter_map(Arg::get_long).filter(|long| long.starts_with(start));
    let mut names: Vec<String> = longs.map(|long| format!("--{long}")).collect();
    names.sort_unstable();
    if names.len() < 2 {
        return error;
    }
    let what = format!("--{start} is ambiguous; it is short for {}\n", names.join(", "));
    clap::Error::raw(ErrorKind::UnknownArgument, what)
}

#[cfg(test)]
mod tests {
    use crate::args::{Args, Verb};

    fn read(args: &str) -> Result<Args, clap::Error> {
        Args::read(args.split(' ').map(Into::into))
    }

    fn report(args: &str) -> crate::args::report::ReportArgs {
        match read(&format!("perfdata report x.data {args}")).unwrap().verb {
            Verb::Report(args) => *args,
            _ => unreachable!("the verb is report"),
        }
    }

    #[test]
    fn long_options_may_be_shortened() {
        assert!(report("--show-n").show_nr_samples);
        assert!(report("--no-child").no_children);
        assert_eq!(report("--sor comm").sort.as_deref(), Some("comm"));
        assert_eq!(report("--call-g caller").call_graph.as_deref(), Some("caller"));
        assert_eq!(report("--percent-l 3").percent_limit, Some(3.0));
    }

    #[test]
    fn short_for_several_is_an_error_that_names_them() {
        let error = read("perfdata report x.data --show").unwrap_err().to_string();
        assert!(error.starts_with("error: --show is ambiguous; it is short for "), "{error}");
        assert!(
            error.contains("--show-nr-samples, --show-total-period") || error.contains("--show-nr-samples")
        );
        assert_eq!(error.lines().count(), 1, "{error}");
        let error = read("perfdata report x.data --nothing-like-it").unwrap_err().to_string();
        assert!(error.contains("unexpected argument"), "{error}");
    }

    #[test]
    fn the_last_of_an_option_and_its_opposite_counts() {
        assert!(!report("--show-total-period --no-show-total-period").show_total_period);
        assert!(report("--no-show-total-period --show-total-period").show_total_period);
        assert!(!report("--no-inline --inline").symbols.no_inline);
        assert!(report("--inline --no-inline").symbols.no_inline);
        assert!(!report("--children --no-children --children").no_children);
        assert!(!report("--no-force").stdio);
    }

    #[test]
    fn every_boolean_of_every_verb_has_an_opposite() {
        let parser = Args::parser();
        for verb in parser.get_subcommands() {
            let longs: Vec<_> = verb.get_arguments().filter_map(clap::Arg::get_long).collect();
            for arg in verb.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                if matches!(arg.get_action(), clap::ArgAction::SetTrue) {
                    let other = long.strip_prefix("no-").map_or_else(|| format!("no-{long}"), str::to_owned);
                    assert!(
                        longs.contains(&other.as_str()) || long == "header-only",
                        "{} --{long}",
                        verb.get_name()
                    );
                }
            }
        }
    }
}
