//! `perfdata stat`: counts events of a command, of tasks, or of the machine.
//!
//! The counting itself is that of the crate perf-record. Here are the command line, the signals, and the tables.

use core::cell::RefCell;
use core::time::Duration;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use perf_open::workload::Workload;
use perf_record::ControlCommand;
use perf_record::stat::{
    CountRow, CountedEvent, Readout, RunMean, StatEnd, StatInterval, StatPlan, StatResult, StatRun,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::args::live::{StatArgs, StatCommand, StatVerb};
use crate::column;
use crate::escape::shown;
use crate::live::control::{self, Answers};
use crate::live::exit_code;
use crate::outcome::{Failure, Outcome};
use crate::output::say;

mod arguments;
mod capture;
mod described;
mod recorded;
mod report;
mod watch;

use arguments::failure;
use capture::CountCapture;
use report::{ReportedSpan, RunTotals, StatReport};
use watch::{CountEnd, StatMessage, StatQueue, StatWakeup};

pub(crate) fn run(command: &StatCommand) -> Result<Outcome, Failure> {
    match &command.verb {
        None => count(&command.args, None),
        Some(StatVerb::Record(args)) => {
            let path = args.output.clone().unwrap_or_else(|| "perf.data".into());
            capture::check(args)?;
            // A capture that goes to standard output is read by a program, which prints the counts.
            let quiet = args.quiet || path == Path::new("-");
            count(&StatArgs { output: None, quiet, ..(**args).clone() }, Some(&path))
        }
        Some(StatVerb::Report(args)) => recorded::run(args),
    }
}

/// Counts, prints the counts, and writes them to a capture if there is a path for it.
fn count(args: &StatArgs, capture: Option<&Path>) -> Result<Outcome, Failure> {
    let plan = arguments::plan(args)?;
    if capture.is_some() {
        plan.check_capture().map_err(failure)?;
    }
    let queue = StatQueue::new()?;
    let answers = match &args.control {
        Some(control) => {
            let sender = queue.sender();
            control::listen(control, move |line| sender.send(StatMessage::Control(line)).is_ok())?
        }
        None => Answers::default(),
    };
    let answers = RefCell::new(answers);
    let files = getrlimit(Resource::Nofile);
    let stat = StatContext { args, capture, plan, queue, answers, files };
    let mut report = StatReport::new(args)?;
    let mut runs = Vec::new();
    let is_endless = args.repeat == 0;
    let mut last_end = None;
    while is_endless || runs.len() < args.repeat as usize {
        let (end, run) = stat.run_once(&mut report)?;
        let is_over = !matches!(end, CountEnd::Due(StatEnd::Command(_))) || stat.queue.is_interrupted();
        last_end = Some(end);
        runs.push(run);
        if is_endless {
            stat.report(&runs, &mut report)?;
        }
        if is_over || !report.is_open() {
            break;
        }
        if is_endless {
            runs.clear();
        }
    }
    if !is_endless {
        stat.report(&runs, &mut report)?;
    }
    Ok(match last_end {
        Some(CountEnd::Due(StatEnd::Command(status))) => Outcome::Command(exit_code(status)),
        _ => Outcome::Clean,
    })
}

/// The state of the verb.
struct StatContext<'a> {
    args: &'a StatArgs,
    /// Where the counts are written to.
    capture: Option<&'a Path>,
    plan: StatPlan,
    queue: StatQueue,
    answers: RefCell<Answers>,
    /// How many descriptors this process could have open when it was started.
    files: Rlimit,
}

impl StatContext<'_> {
    /// Counts once: while the command runs, or until another condition ends the run.
    fn run_once(&self, report: &mut StatReport) -> Result<(CountEnd, StatResult), Failure> {
        if let Some(command) = &self.args.pre {
            in_shell("--pre", command)?;
        }
        if self.args.sync {
            rustix::fs::sync();
        }
        let run = self.count(report);
        // For the commands, which inherit it. A limit can always be lowered.
        let _ = setrlimit(Resource::Nofile, self.files);
        if let (Some(command), Ok(_)) = (&self.args.post, &run) {
            in_shell("--post", command)?;
        }
        run
    }

    fn count(&self, report: &mut StatReport) -> Result<(CountEnd, StatResult), Failure> {
        let args = self.args;
        let mut command = match args.command.split_first() {
            Some((program, arguments)) => Some(Workload::prepare(program, arguments.iter().cloned())?),
            None => None,
        };
        // Now that the command has its own. Each event on a cpu or a thread takes a descriptor; perf does the same.
        // If the limit stays lower, fewer events can be opened, and the error of the one too many says so.
        let _ = perf_record::raise_open_files();
        let mut run = self.plan.open(command.as_ref().map(Workload::pid)).map_err(failure)?;
        let mut capture = self.capture.map(|path| CountCapture::begin(path, &run)).transpose()?;
        let has_intervals = args.interval_print.is_some();
        if has_intervals {
            report.head(&self.targets(), 1, true, unit_width(run.events()))?;
        }
        run.start().map_err(failure)?;
        if let (Some(command), Some(program)) = (&mut command, args.command.first()) {
            command.start().map_err(|error| format!("{}: {error}", shown(program)))?;
        }
        if let Some(capture) = &mut capture {
            capture.publish()?;
        }
        let end = match self.delay(&mut run, &mut command)? {
            Some(end) => end,
            None => self.wait(&mut run, &mut command, &mut capture, report)?,
        };
        run.stop().map_err(failure)?;
        if let (Some(command), false) = (&mut command, matches!(end, CountEnd::Due(StatEnd::Command(_)))) {
            self.queue.end(command)?;
        }
        let result = run.finish(command.as_ref()).map_err(failure)?;
        if let Some(capture) = capture {
            capture.finish(&result.last)?;
        }
        if has_intervals && end != CountEnd::Unread {
            self.report_interval(&result.events, &result.last, report)?;
        }
        if args.verbose {
            self.print_raw(&result);
        }
        if let CountEnd::Due(StatEnd::Command(status)) = end {
            self.report_signal(status);
        }
        Ok((end, result))
    }

    /// Waits for the end of `--delay`, if it has one, and starts the events. Returns why counting ended before that.
    fn delay(
        &self,
        run: &mut StatRun<'_>,
        command: &mut Option<Workload>,
    ) -> Result<Option<CountEnd>, Failure> {
        // 0 is no delay, and -1 waits for a command of --control.
        let delay = self.args.delay.and_then(|delay| u64::try_from(delay).ok()).filter(|delay| *delay != 0);
        let Some(delay) = delay else { return Ok(None) };
        let mut schedule = run.delay(command.is_some(), Duration::from_millis(delay));
        let end =
            self.queue.wait(&mut schedule, command, |wakeup| self.control(run, wakeup).map(|()| true))?;
        run.end_delay().map_err(failure)?;
        Ok((end != CountEnd::Due(StatEnd::Timeout)).then_some(end))
    }

    /// Waits for the end of the run, and prints its intervals.
    fn wait(
        &self,
        run: &mut StatRun<'_>,
        command: &mut Option<Workload>,
        capture: &mut Option<CountCapture>,
        report: &mut StatReport,
    ) -> Result<CountEnd, Failure> {
        let mut schedule = run.schedule(command.is_some());
        let has_intervals = self.args.interval_print.is_some();
        let mut intervals = 0_u64;
        self.queue.wait(&mut schedule, command, |wakeup| {
            if !has_intervals {
                return self.control(run, wakeup).map(|()| true);
            }
            // What was counted before a command is an interval of its own, as perf prints it.
            let interval = run.interval().map_err(failure)?;
            if let Some(capture) = capture {
                capture.interval(&interval)?;
            }
            self.report_interval(run.events(), &interval, report)?;
            intervals = intervals.saturating_add(1);
            self.control(run, wakeup)?;
            Ok(report.is_open() && self.args.interval_count.is_none_or(|count| intervals < count.get()))
        })
    }

    fn targets(&self) -> String {
        described::targets(self.args, self.plan.targets())
    }

    fn report_interval(
        &self,
        events: &[CountedEvent],
        interval: &StatInterval,
        report: &mut StatReport,
    ) -> Result<(), Failure> {
        let readout = core::slice::from_ref(&interval.readout);
        report.rows(&self.rows(events, readout, interval.lasted), ReportedSpan::Interval(interval.at))
    }

    /// Returns the rows to print. Of all threads of the machine, those that were counted.
    fn rows<'a>(
        &'a self,
        events: &'a [CountedEvent],
        runs: &[Readout],
        elapsed: Duration,
    ) -> Vec<CountRow<'a>> {
        let mut rows = self.plan.rows(events, runs, elapsed);
        if self.args.observed.all_cpus && self.args.per_thread {
            rows.retain(|row| !row.is_zero());
        }
        rows
    }

    /// Does what a command of `--control` asks for.
    fn control(&self, run: &StatRun<'_>, wakeup: StatWakeup) -> Result<(), Failure> {
        let StatWakeup::Control(command) = wakeup else { return Ok(()) };
        let name = match &command {
            ControlCommand::Enable(name) | ControlCommand::Disable(name) => name.as_deref(),
            _ => None,
        };
        let is_counted = match command {
            ControlCommand::Enable(_) => run.enable(name).map_err(failure)?,
            ControlCommand::Disable(_) => run.disable(name).map_err(failure)?,
            ControlCommand::Evlist(_) => {
                run.events().iter().for_each(|event| say!("{}", event.name));
                true
            }
            ControlCommand::Ping => true,
            ControlCommand::Snapshot | ControlCommand::Stop => {
                say!("perfdata: --control: snapshot and stop are for perfdata record");
                true
            }
        };
        if let (false, Some(name)) = (is_counted, name) {
            say!("perfdata: --control: {name} is not counted");
        }
        self.answers.borrow_mut().ack();
        Ok(())
    }

    /// Prints the counts before any computation.
    fn print_raw(&self, run: &StatResult) {
        for (event, counts) in run.events.iter().zip(run.readout.iter()) {
            for (aggregate, count) in counts.into_iter().flatten() {
                let label = self.plan.labels().get(aggregate);
                let label = label.map(|label| format!("{}: ", label.text)).unwrap_or_default();
                say!("{label}{}: {} {} {}", event.name, count.value, count.enabled, count.running);
            }
        }
    }

    /// Prints the counts of all runs, unless the intervals have already done so.
    fn report(&self, runs: &[StatResult], report: &mut StatReport) -> Result<(), Failure> {
        let Some(last) = runs.last() else { return Ok(()) };
        let seconds: Vec<f64> = runs.iter().map(|run| run.elapsed.as_secs_f64()).collect();
        if self.args.interval_print.is_none() || self.args.summary {
            let readouts: Vec<Readout> = runs.iter().map(|run| run.readout.clone()).collect();
            let mean = RunMean::of(&seconds).map_or(last.elapsed, |mean| Duration::from_secs_f64(mean.value));
            report.head(&self.targets(), runs.len(), false, unit_width(&last.events))?;
            let span = if self.args.summary {
                ReportedSpan::Summary
            } else {
                ReportedSpan::Whole { runs: runs.len() }
            };
            report.rows(&self.rows(&last.events, &readouts, mean), span)?;
        }
        report.totals(&RunTotals {
            elapsed: seconds,
            cpu_times: runs.iter().filter_map(|run| run.cpu_time).collect(),
            table: self.args.table,
        })
    }

    /// Reports that a signal ended the command; its exit status does not show it.
    fn report_signal(&self, status: ExitStatus) {
        if let (Some(signal), Some(program)) = (status.signal(), self.args.command.first()) {
            say!("perfdata: {}: ended by signal {signal}", shown(program));
        }
    }
}

/// Runs a command of `--pre` or `--post`.
fn in_shell(option: &str, command: &OsStr) -> Result<(), Failure> {
    let status = std::process::Command::new("sh").arg("-c").arg(command).status();
    match status.map_err(|error| format!("{option} {}: sh: {error}", shown(command)))? {
        status if status.success() => Ok(()),
        status => Err(Failure(format!("{option} {}: {status}", shown(command)))),
    }
}

/// Returns the columns that the longest unit takes, up to the widest column.
fn unit_width(events: &[CountedEvent]) -> usize {
    let units = events.iter().filter_map(|event| event.unit.as_ref());
    units.map(|unit| unit.chars().count()).max().unwrap_or(0).min(column::WIDEST)
}
