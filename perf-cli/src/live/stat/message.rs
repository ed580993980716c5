//! Messages to `stat` while it counts.

use crate::live::command::Command;

/// What this program receives.
#[derive(Debug)]
pub(crate) enum Message {
    Signal(i32),
    /// A command of `--control`.
    Control(Command),
    /// A line of `--control` that is no command.
    Unknown(String),
}

impl From<Result<Command, String>> for Message {
    fn from(line: Result<Command, String>) -> Self {
        line.map_or_else(Self::Unknown, Self::Control)
    }
}
