//! What this program receives while it counts.

/// What this program receives.
#[derive(Debug)]
pub(crate) enum Message {
    Signal(i32),
    /// A command of `--control`.
    Control(Command),
    /// A line of `--control` that is no command.
    Unknown(String),
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Enable,
    Disable,
    /// Only asks for an answer.
    Ping,
}

impl Command {
    /// Returns the command of a line; `None` if it is none.
    pub(crate) fn of(line: &str) -> Option<Self> {
        match line.trim_end_matches(['\n', '\0', ' ']) {
            "enable" => Some(Self::Enable),
            "disable" => Some(Self::Disable),
            "ping" => Some(Self::Ping),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command() {
        assert_eq!(Command::of("enable\n"), Some(Command::Enable));
        assert_eq!(Command::of("disable"), Some(Command::Disable));
        assert_eq!(Command::of("ping\0"), Some(Command::Ping));
        assert_eq!(Command::of("enabled"), None);
    }
}
