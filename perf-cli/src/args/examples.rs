//! Examples in the help of the program itself: one for each verb, and the first three for a newcomer.

/// The first command: a system that cannot record has captures of others.
#[cfg(target_os = "linux")]
const FIRST: &str = "record -g -- make   record a command to perf.data";
#[cfg(not(target_os = "linux"))]
const FIRST: &str = "info perf.data      show what a capture contains";

/// Returns the text for `perfdata` without arguments.
pub(crate) fn first_commands() -> String {
    format!(
        "\
Usage: perfdata <COMMAND>

  perfdata {FIRST}
  perfdata report              show where the time of perf.data went
  perfdata flamegraph          draw it: writes flamegraph.html, for any browser

perfdata --help lists all commands, with an example of each.
"
    )
}

/// The line before the examples in the help of a verb.
const HEADING: &str = "Examples:\n";

/// Adds the first example of each verb, and then `end`, to the help of the program. Skips verbs without examples.
pub(super) fn of_every_verb(command: clap::Command, end: &str) -> clap::Command {
    let mut text = String::from(HEADING);
    for verb in command.get_subcommands() {
        let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        if let Some(example) = help.split_once(HEADING).and_then(|(_, examples)| examples.lines().next()) {
            text.extend([example, "\n"]);
        }
    }
    command.after_long_help(format!("{text}\n{end}")).after_help(end.to_owned())
}
