//! `perfdata stat`: counts events of a command, of tasks, or of the machine.

use core::time::Duration;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Instant;

use perf_open::EventGroup;
use perf_open::workload::{CpuTime, Workload};

use crate::args::live::StatArgs;
use crate::escape::shown;
use crate::live::exit_code;
use crate::live::observed::Observed;
use crate::output::say;
use crate::{Failure, Outcome};

mod counters;
mod mean;
mod metric;
mod plan;
mod report;
mod table;
mod tally;
mod watch;

use counters::{Counters, Scope};
use report::{Report, Totals};
use table::{Shown, rows};
use tally::{Reading, since};
use watch::{End, Until, Watch};

/// The result of one run.
struct Run {
    end: End,
    events: Vec<Shown>,
    /// The counts of the whole run.
    reading: Reading,
    elapsed: Duration,
    cpu_time: Option<CpuTime>,
}

pub(crate) fn run(args: &StatArgs) -> Result<Outcome, Failure> {
    let observed = plan::observed(args)?;
    let groups = plan::events(args, &observed)?;
    let stat = Stat { args, observed, groups, watch: Watch::new()? };
    let mut report = Report::new(args)?;
    let mut runs = Vec::new();
    for _ in 0..args.repeat.get() {
        let run = stat.run_once(&mut report)?;
        let is_over = !matches!(run.end, End::Command(_));
        runs.push(run);
        if is_over {
            break;
        }
    }
    stat.report(&runs, &mut report)?;
    Ok(match runs.last().map(|run| run.end) {
        Some(End::Command(status)) => Outcome::Command(exit_code(status)),
        _ => Outcome::Clean,
    })
}

/// The state of the verb.
struct Stat<'a> {
    args: &'a StatArgs,
    observed: Observed,
    groups: Vec<EventGroup>,
    watch: Watch,
}

impl Stat<'_> {
    /// Counts once: while the command runs, or until another condition ends the run.
    fn run_once(&self, report: &mut Report) -> Result<Run, Failure> {
        let mut command = match self.args.command.split_first() {
            Some((program, arguments)) => Some(Workload::prepare(program, arguments.iter().cloned())?),
            None => None,
        };
        let scope = Scope {
            observed: &self.observed,
            command: command.as_ref().map(Workload::pid),
            inherit: !self.args.no_inherit,
            apart: self.args.no_aggr || self.args.per_thread,
        };
        // Each event takes a file descriptor on each target. The command, which is prepared, keeps its limit.
        let _ = perf_record::raise_open_files();
        let counters = Counters::open(&self.groups, &scope)?;
        let events: Vec<Shown> = counters.events.iter().map(Shown::from).collect();
        let interval = self.args.interval_print.map(|millis| Duration::from_millis(millis.get()));
        if interval.is_some() {
            report.head(&self.what(), 1, true, unit_width(&events))?;
        }
        counters.enable()?;
        let start = Instant::now();
        if let Some(command) = &mut command {
            command.start()?;
        }
        let mut before: (Reading, Duration) = Default::default();
        let mut each = |at: Duration, reading: Reading| -> Result<bool, Failure> {
            let rows = rows(&events, &[since(&reading, &before.0)], at.saturating_sub(before.1));
            report.rows(&rows, Some(at), 1)?;
            before = (reading, at);
            Ok(report.is_open())
        };
        let threads: &[u32] = match &self.observed {
            // If there is a command, its end ends the run.
            Observed::Threads(threads) if command.is_none() => threads,
            _ => &[],
        };
        let timeout = self.args.timeout.map(|millis| Duration::from_millis(millis.get()));
        let mut until = Until { command: command.as_mut(), threads, timeout, interval };
        let end = self.watch.wait(&mut until, start, |at| each(at, counters.read()?))?;
        counters.disable()?;
        let elapsed = start.elapsed();
        let reading = counters.read()?;
        if interval.is_some() {
            each(elapsed, reading.clone())?;
        }
        if let (Some(command), false) = (&mut command, matches!(end, End::Command(_))) {
            self.watch.end(command)?;
        }
        if let End::Command(status) = end {
            self.report_signal(status);
        }
        // The cpu time of a command that is not itself counted is not shown.
        let cpu_time =
            command.as_ref().filter(|_| self.observed == Observed::Command).and_then(Workload::cpu_time);
        Ok(Run { end, events, reading, elapsed, cpu_time })
    }

    /// Prints the counts, unless the intervals have already done so.
    fn report(&self, runs: &[Run], report: &mut Report) -> Result<(), Failure> {
        let Some(last) = runs.last() else { return Ok(()) };
        let seconds: Vec<f64> = runs.iter().map(|run| run.elapsed.as_secs_f64()).collect();
        if self.args.interval_print.is_none() {
            let readings: Vec<Reading> = runs.iter().map(|run| run.reading.clone()).collect();
            let mean =
                mean::Mean::of(&seconds).map_or(last.elapsed, |mean| Duration::from_secs_f64(mean.value));
            report.head(&self.what(), runs.len(), false, unit_width(&last.events))?;
            report.rows(&rows(&last.events, &readings, mean), None, runs.len())?;
        }
        report.totals(&Totals {
            elapsed: seconds,
            cpu_times: runs.iter().filter_map(|run| run.cpu_time).collect(),
        })
    }

    /// Describes what is counted, for the text report.
    fn what(&self) -> String {
        let list = |numbers: &[u32]| {
            let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
            words.join(",")
        };
        match &self.observed {
            Observed::Threads(_) if !self.args.observed.pid.is_empty() => {
                format!("process id '{}'", list(&self.args.observed.pid))
            }
            Observed::Threads(tids) => format!("thread id '{}'", list(tids)),
            Observed::Cpus(cpus) if self.args.observed.cpu.is_some() => format!("cpu '{}'", list(cpus)),
            Observed::Cpus(_) => "'system wide'".to_owned(),
            Observed::Command => {
                let words: Vec<_> = self.args.command.iter().map(|word| word.to_string_lossy()).collect();
                format!("'{}'", words.join(" "))
            }
        }
    }

    /// Reports that a signal ended the command; its exit status does not show it.
    fn report_signal(&self, status: ExitStatus) {
        if let (Some(signal), Some(program)) = (status.signal(), self.args.command.first()) {
            say!("perfdata: {}: ended by signal {signal}", shown(program));
        }
    }
}

/// Returns the columns that the longest unit takes.
fn unit_width(events: &[Shown]) -> usize {
    events.iter().filter_map(|event| event.unit.as_ref()).map(|unit| unit.chars().count()).max().unwrap_or(0)
}
