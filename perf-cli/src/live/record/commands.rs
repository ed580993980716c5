//! The commands of `--control` to a recording.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver};

use perf_open::EventGroup;
use perf_parse::file::write::EventFields;
use perf_record::{ControlCommand, EvlistDetails, Recorder, UnknownCommand};

use super::signals::RecordSignals;
use crate::args::live::control::Control;
use crate::live::control::{self, Answers};
use crate::outcome::Failure;
use crate::output::say;
use crate::perf_text::header::attr;

/// The commands that have come.
#[derive(Debug)]
pub(super) struct Commands {
    lines: Receiver<Result<ControlCommand, UnknownCommand>>,
    answers: Answers,
    /// Wakes up the recorder.
    waker: UnixStream,
    /// The name of each group, and the number of its events.
    groups: Vec<(Option<String>, usize)>,
}

/// The requests of commands to the loop of the recording.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ControlRequests {
    pub(super) stop: bool,
    pub(super) snapshot: bool,
}

impl Commands {
    /// Listens for commands. Each command wakes up the recorder.
    pub(super) fn listen(
        control: &Control,
        signals: &RecordSignals,
        groups: &[EventGroup],
    ) -> Result<Self, Failure> {
        let (sender, lines) = mpsc::channel();
        let (mut waker, again) = (signals.waker()?, signals.waker()?);
        let answers = control::listen(control, move |line| {
            let is_received = sender.send(line).is_ok();
            // If it is full, the recorder wakes up anyway.
            let _ = waker.write(&[0]);
            is_received
        })?;
        let groups = groups.iter().map(|group| (group.name.clone(), group.events.len())).collect();
        Ok(Self { lines, answers, waker: again, groups })
    }

    /// Does what the commands that have come ask for, and answers them. A snapshot is answered by
    /// [`answer`](Self::answer).
    pub(super) fn run(&mut self, recorder: &Recorder) -> Result<ControlRequests, Failure> {
        let mut asked = ControlRequests::default();
        while let Ok(line) = self.lines.try_recv() {
            match line {
                Ok(ControlCommand::Enable(None)) => recorder.resume()?,
                Ok(ControlCommand::Disable(None)) => recorder.pause()?,
                Ok(ControlCommand::Enable(Some(name))) => switch(recorder, &name, true)?,
                Ok(ControlCommand::Disable(Some(name))) => switch(recorder, &name, false)?,
                Ok(ControlCommand::Evlist(details)) => self.print(recorder.events(), details),
                Ok(ControlCommand::Ping) => {}
                Ok(ControlCommand::Stop) => asked.stop = true,
                Ok(ControlCommand::Snapshot) => {
                    asked.snapshot = true;
                    // Other commands may have come, which are done after the snapshot.
                    let _ = self.waker.write(&[0]);
                    return Ok(asked);
                }
                Err(error) => {
                    say!("perfdata: --control: {error}");
                    continue;
                }
            }
            self.answers.ack();
        }
        Ok(asked)
    }

    /// Answers a snapshot, which was taken.
    pub(super) fn answer(&mut self) {
        self.answers.ack();
    }

    /// Prints the events on standard error.
    fn print(&self, events: &[EventFields], details: EvlistDetails) {
        let name = |event: &EventFields| {
            let name = event.name.as_deref().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        if details == EvlistDetails::Groups {
            // The event for mappings, names and tasks precedes those of the groups.
            let in_groups: usize = self.groups.iter().map(|(_, events)| events).sum();
            let mut rest = &events[events.len().saturating_sub(in_groups)..];
            for (group, len) in &self.groups {
                let (members, others) = rest.split_at((*len).min(rest.len()));
                rest = others;
                let names: Vec<String> = members.iter().map(name).collect();
                let names = names.join(",");
                match len {
                    1 => say!("{names}"),
                    _ => say!("{}{{{names}}}", group.as_deref().unwrap_or_default()),
                }
            }
            return;
        }
        for event in events {
            let more = match (details, event.attr.sample_freq()) {
                (EvlistDetails::Freq, Some(freq)) => format!(": sample_freq={freq}"),
                (EvlistDetails::Freq, None) => format!(": sample_period={}", event.attr.sample_period),
                (EvlistDetails::Attr, _) => attr(&event.attr),
                _ => String::new(),
            };
            say!("{}{more}", name(event));
        }
    }
}

/// Starts or stops the events of a name.
fn switch(recorder: &Recorder, name: &str, on: bool) -> Result<(), Failure> {
    let events = recorder.events().iter().enumerate();
    let named: Vec<_> = events.filter(|(_, event)| event.name.as_deref() == Some(name.as_bytes())).collect();
    if named.is_empty() {
        say!("perfdata: --control: {name} is not recorded");
    }
    Ok(named.into_iter().try_for_each(|(event, _)| recorder.switch_event(event, on))?)
}
