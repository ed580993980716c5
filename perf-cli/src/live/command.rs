//! The commands of `--control`.

/// A command.
///
/// perf: `evlist__ctlfd_recv`, `tools/perf/util/evlist.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Starts the events, or the one of this name.
    Enable(Option<String>),
    /// Stops the events, or the one of this name.
    Disable(Option<String>),
    /// Prints the events.
    Evlist(Details),
    /// Asks for a snapshot.
    Snapshot,
    /// Ends the recording.
    Stop,
    /// Only asks for an answer.
    Ping,
}

/// What `evlist` prints of each event in addition to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Details {
    None,
    /// `-F`: how often it samples.
    Freq,
    /// `-g`: the members of groups in braces.
    Groups,
    /// `-v`: the whole attr.
    Attr,
}

impl Command {
    /// Returns the command of a line; `None` if it is none.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(['\n', '\0', ' ']);
        let (word, argument) = match line.split_once(' ') {
            Some((word, argument)) => (word, Some(argument.trim_start())),
            None => (line, None),
        };
        match (word, argument) {
            ("enable", event) => Some(Self::Enable(event.map(str::to_owned))),
            ("disable", event) => Some(Self::Disable(event.map(str::to_owned))),
            ("evlist", None) => Some(Self::Evlist(Details::None)),
            ("evlist", Some("-F")) => Some(Self::Evlist(Details::Freq)),
            ("evlist", Some("-g")) => Some(Self::Evlist(Details::Groups)),
            ("evlist", Some("-v")) => Some(Self::Evlist(Details::Attr)),
            ("snapshot", None) => Some(Self::Snapshot),
            ("stop", None) => Some(Self::Stop),
            ("ping", None) => Some(Self::Ping),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command() {
        assert_eq!(Command::of("enable\n"), Some(Command::Enable(None)));
        assert_eq!(Command::of("enable cpu-clock\n"), Some(Command::Enable(Some("cpu-clock".to_owned()))));
        assert_eq!(Command::of("disable"), Some(Command::Disable(None)));
        assert_eq!(Command::of("ping\0"), Some(Command::Ping));
        assert_eq!(
            (Command::of("snapshot"), Command::of("stop")),
            (Some(Command::Snapshot), Some(Command::Stop))
        );
        assert_eq!(Command::of("evlist -F"), Some(Command::Evlist(Details::Freq)));
        assert!(["enabled", "stop now", "evlist -x", ""].iter().all(|line| Command::of(line).is_none()));
    }
}
