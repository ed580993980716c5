//! An example for every verb, in the help of the program as a whole.

/// The line that comes before the examples of a verb, in its help.
const HEADING: &str = "Examples:\n";

/// Adds the first example of each verb, and then `end`, to the help of the program. A verb without one adds nothing.
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
