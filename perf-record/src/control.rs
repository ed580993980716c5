//! The commands by which another program controls a recording or a count.

use core::str::FromStr;

/// A command of perf's `--control`, which another program writes as a line to a pipe.
///
/// # Examples
///
/// ```
/// use perf_record::ControlCommand;
///
/// assert_eq!("enable cpu-clock\n".parse(), Ok(ControlCommand::Enable(Some("cpu-clock".to_owned()))));
/// assert!("enabled".parse::<ControlCommand>().is_err());
/// ```
///
/// perf: `evlist__ctlfd_recv`, `tools/perf/util/evlist.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are perf's; a program must answer each")]
pub enum ControlCommand {
    /// Starts the events, or the one of this name.
    Enable(Option<String>),
    /// Stops the events, or the one of this name.
    Disable(Option<String>),
    /// Prints the events.
    Evlist(EvlistDetails),
    /// Asks for a snapshot.
    Snapshot,
    /// Ends the recording.
    Stop,
    /// Only asks for an answer.
    Ping,
}

/// The details that [`ControlCommand::Evlist`] prints of each event in addition to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are perf's")]
pub enum EvlistDetails {
    /// Nothing.
    None,
    /// `-F`: how often it samples.
    Freq,
    /// `-g`: the members of groups in braces.
    Groups,
    /// `-v`: the whole attr.
    Attr,
}

/// The line is not a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCommand {
    /// The line.
    pub line: String,
}

impl core::fmt::Display for UnknownCommand {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let line = &self.line;
        write!(f, "{line:?} is not a command; enable, disable, snapshot, evlist, stop and ping are")
    }
}

impl core::error::Error for UnknownCommand {}

impl ControlCommand {
    /// The answer to a command that was done.
    pub const ACK: &[u8] = b"ack\n";
}

impl FromStr for ControlCommand {
    type Err = UnknownCommand;

    fn from_str(text: &str) -> Result<Self, UnknownCommand> {
        let line = text.trim_end_matches(['\n', '\0', ' ']);
        let (word, argument) = match line.split_once(' ') {
            Some((word, argument)) => (word, Some(argument.trim_start())),
            None => (line, None),
        };
        Ok(match (word, argument) {
            ("enable", event) => Self::Enable(event.map(str::to_owned)),
            ("disable", event) => Self::Disable(event.map(str::to_owned)),
            ("evlist", None) => Self::Evlist(EvlistDetails::None),
            ("evlist", Some("-F")) => Self::Evlist(EvlistDetails::Freq),
            ("evlist", Some("-g")) => Self::Evlist(EvlistDetails::Groups),
            ("evlist", Some("-v")) => Self::Evlist(EvlistDetails::Attr),
            ("snapshot", None) => Self::Snapshot,
            ("stop", None) => Self::Stop,
            ("ping", None) => Self::Ping,
            _ => return Err(UnknownCommand { line: text.to_owned() }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command() {
        let of = |line: &str| line.parse::<ControlCommand>();
        assert_eq!(of("enable\n"), Ok(ControlCommand::Enable(None)));
        assert_eq!(of("disable"), Ok(ControlCommand::Disable(None)));
        assert_eq!(of("ping\0"), Ok(ControlCommand::Ping));
        assert_eq!((of("snapshot"), of("stop")), (Ok(ControlCommand::Snapshot), Ok(ControlCommand::Stop)));
        for (line, details) in [
            ("evlist", EvlistDetails::None),
            ("evlist -F", EvlistDetails::Freq),
            ("evlist -g", EvlistDetails::Groups),
            ("evlist -v", EvlistDetails::Attr),
        ] {
            assert_eq!(of(line), Ok(ControlCommand::Evlist(details)));
        }
        for line in ["enabled", "stop now", "evlist -x", ""] {
            let error = of(line).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{line:?} is not a command")), "{error}");
        }
    }
}
