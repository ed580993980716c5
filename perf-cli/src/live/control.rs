//! `--control`: commands from another program while events are counted or recorded.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::thread;

use perf_record::{ControlCommand, UnknownCommand};

use crate::args::live::control::Control;
use crate::escape::shown;
use crate::outcome::Failure;

/// The other end of the commands: where the answers go.
#[derive(Debug, Default)]
pub(crate) struct Answers(Option<File>);

impl Answers {
    /// Answers a command that was done.
    pub(crate) fn ack(&mut self) {
        if let Some(file) = &mut self.0 {
            // The program that asked may have ended.
            let _ = file.write_all(ControlCommand::ACK);
        }
    }
}

/// Opens both ends. A thread reads the commands and passes them to `send`, and a line that is no command as an error. It
/// ends when nobody writes any more, or when `send` returns that nobody receives.
pub(crate) fn listen(
    control: &Control,
    mut send: impl FnMut(Result<ControlCommand, UnknownCommand>) -> bool + Send + 'static,
) -> Result<Answers, Failure> {
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
            if !send(line.parse()) {
                break;
            }
        }
    });
    Ok(Answers(answers))
}
