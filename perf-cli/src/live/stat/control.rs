//! `--control`: commands from another program while it is counted.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::Sender;
use std::thread;

use super::watch::Message;
use crate::Failure;
use crate::args::live::stat::Control;
use crate::escape::shown;

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
    fn of(line: &str) -> Option<Self> {
        match line.trim_end_matches(['\n', '\0', ' ']) {
            "enable" => Some(Self::Enable),
            "disable" => Some(Self::Disable),
            "ping" => Some(Self::Ping),
            _ => None,
        }
    }
}

/// The other end of the commands: where the answers go.
#[derive(Debug, Default)]
pub(crate) struct Answers(Option<File>);

impl Answers {
    /// Answers a command that was done.
    pub(crate) fn ack(&mut self) {
        if let Some(file) = &mut self.0 {
            // The program that asked may have ended.
            let _ = file.write_all(b"ack\n");
        }
    }
}

/// Opens both ends. A thread reads the commands and sends them; it ends when nobody receives or writes any more.
pub(crate) fn listen(control: &Control, sender: Sender<Message>) -> Result<Answers, Failure> {
    let failed = |path: &std::path::Path, error: std::io::Error| {
        Failure(format!("--control: {}: {error}", shown(path)))
    };
    // To open a FIFO for reading alone would wait for a writer, and its end would come with the first writer's.
    let is_fifo = !control.commands.starts_with("/proc/self/fd");
    let commands = File::options().read(true).write(is_fifo).open(&control.commands);
    let commands = commands.map_err(|error| failed(&control.commands, error))?;
    let answers = control.answers.as_ref().map(|path| {
        File::options().read(is_fifo).write(true).open(path).map_err(|error| failed(path, error))
    });
    let answers = answers.transpose()?;
    thread::spawn(move || {
        for line in BufReader::new(commands).lines().map_while(Result::ok) {
            let sent = match Command::of(&line) {
                Some(command) => sender.send(Message::Control(command)),
                None => sender.send(Message::Unknown(line)),
            };
            if sent.is_err() {
                break;
            }
        }
    });
    Ok(Answers(answers))
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
