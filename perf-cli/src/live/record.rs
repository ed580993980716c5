//! `perfdata record`: samples a command, tasks or the whole machine, and writes a perf.data.
//!
//! The kernel records tasks and mappings as they begin. Those from before the recording are in synthesized records
//! ([`synthesize`]), from `/proc`. After the records, the capture has features that describe the machine ([`host`]) and
//! the build ids of the files that samples hit ([`build_ids`]).
//!
//! All of it reads the machine below a root folder. That is `/`, except in tests.

mod attrs;
mod build_ids;
mod capture;
mod dump;
mod elf;
mod host;
mod kernel;
mod maps;
mod output;
mod overwrite;
mod processes;
mod session;
mod signals;
mod synthesize;
mod tracing;

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::io;
use std::path::Path;
use std::process::ExitStatus;

use perf_open::workload::Workload;

use crate::args::live::record::RecordArgs;
use crate::escape::shown;
use crate::live::exit_code;
use crate::live::observed::{self, Observed};
use crate::output::say;
use crate::{Failure, Outcome};
use attrs::Manner;
use capture::Capture;
use session::Session;
use signals::Signals;

/// The root folder of the machine that is recorded.
const ROOT: &str = "/";

/// How long the rings may fill if no wakeup asks to read them earlier.
const TICK: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &RecordArgs) -> Result<Outcome, Failure> {
    if args.overwrite && args.output == Path::new("-") {
        return Err(Failure(
            "--overwrite cannot write to standard output; give --output the name of a file".to_owned(),
        ));
    }
    if let Some(folder) = &args.dump_rings {
        dump::check(folder, &args.output)?;
    }
    let mut groups = attrs::events(args)?;
    let observed = Observed::of(&args.observed, !args.command.is_empty())?;
    let overwrite = args.overwrite
        || groups.iter().flat_map(|group| &group.events).any(|event| event.terms.overwrite == Some(true));
    let mut workload = match args.command.split_first() {
        Some((program, words)) => Some(Workload::prepare(program, words.iter().cloned())?),
        None => None,
    };
    let manner = Manner {
        args,
        several: overwrite || groups.iter().map(|group| group.events.len()).sum::<usize>() > 1,
        of_cpus: matches!(observed, Observed::Cpus(_)),
        on_exec: observed == Observed::Command,
        overwrite,
    };
    let rings = session::ring_targets(&observed, workload.as_ref().map(Workload::pid), !args.no_inherit)?;
    let mut session = Session::open(&mut groups, manner, &rings)?;
    if !session.dropped.is_empty() && !args.quiet {
        say!("perfdata: left out, because this kernel does not support it: {}", session.dropped.join(", "));
    }
    let signals = Signals::new()?;
    let capture = Capture::new(args, &groups, &session, &observed)?;
    let mut until = Until { workload: workload.as_mut(), observed: &observed, signals: &signals };
    if overwrite {
        overwrite::run(&mut session, &capture, &mut until)?;
    } else {
        capture::run(&mut session, &capture, &mut until)?;
    }
    match workload {
        Some(mut workload) => Ok(Outcome::Command(exit_code(end(&mut workload)?))),
        None => Ok(Outcome::Clean),
    }
}

/// Starts the recording: by the exec of the command, or at once.
fn start(session: &Session, args: &RecordArgs, until: &mut Until<'_>) -> Result<(), Failure> {
    if *until.observed != Observed::Command {
        session.enable()?;
    }
    if let (Some(workload), Some(program)) = (&mut until.workload, args.command.first()) {
        workload.start().map_err(|error| {
            let why = error.errno().map(io::Error::from_raw_os_error);
            let why = why.map_or_else(|| error.to_string(), |why| why.to_string());
            format!("{}: {why}", shown(program))
        })?;
    }
    Ok(())
}

/// The conditions that end a recording.
struct Until<'a> {
    workload: Option<&'a mut Workload>,
    observed: &'a Observed,
    signals: &'a Signals,
}

impl Until<'_> {
    /// Returns whether the recording ends: the command or all threads have ended, or Ctrl-C was pressed.
    fn is_over(&mut self) -> Result<bool, Failure> {
        if self.signals.is_over() {
            return Ok(true);
        }
        if let Some(workload) = &mut self.workload {
            return Ok(workload.try_wait()?.is_some());
        }
        Ok(match self.observed {
            Observed::Threads(tids) => !tids.iter().any(|&tid| observed::is_alive(tid)),
            Observed::Command | Observed::Cpus(_) => false,
        })
    }
}

/// Ends the command if it still runs, for example after Ctrl-C.
fn end(workload: &mut Workload) -> Result<ExitStatus, Failure> {
    if workload.try_wait()?.is_none() {
        // The command may end between the two calls.
        let _ = workload.terminate();
    }
    Ok(workload.wait()?)
}
