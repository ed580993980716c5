//! `perfdata stat`: counts events of a command, of tasks, or of the machine.

use alloc::collections::BTreeMap;
use core::cell::RefCell;
use core::time::Duration;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Instant;

use perf_open::EventSpec;
use perf_open::abi::record::StatRoundType;
use perf_open::event::Tool;
use perf_open::workload::{CpuTime, Workload};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::args::live::{StatArgs, StatCommand, StatVerb};
use crate::column;
use crate::escape::shown;
use crate::live::cgroup::Cgroup;
use crate::live::command::Command;
use crate::live::control::{self, Answers};
use crate::live::exit_code;
use crate::live::observed::{self, Observed};
use crate::output::say;
use crate::{Failure, Outcome};

mod capture;
mod counters;
mod described;
mod machine;
mod mean;
mod message;
mod metric;
mod named;
mod opening;
mod plan;
mod recorded;
mod report;
mod table;
mod tally;
mod times;
mod topdown;
mod topology;
mod watch;

use capture::Capture;
use counters::Counters;
use message::Message;
use opening::Scope;
use plan::Planned;
use report::{Report, Span, Totals};
use table::{Row, Shown, ShownMetric, rows};
use tally::{Place, Reading, since};
use times::{Passed, Ticks};
use topdown::Topdown;
use topology::Labels;
use watch::{End, Moment, Until, Watch};

/// The result of one run.
struct Run {
    end: End,
    events: Vec<Shown>,
    /// The counts of the whole run.
    reading: Reading,
    elapsed: Duration,
    cpu_time: Option<CpuTime>,
}

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

/// Returns whether this machine has an event that the tool measures itself.
pub(super) fn is_of_machine(tool: Tool) -> bool {
    tool.is_time() || machine::property(tool, &Observed::Command, Path::new("/sys")).is_some()
}

/// Counts, prints the counts, and writes them to a capture if there is a path for it.
fn count(args: &StatArgs, capture: Option<&Path>) -> Result<Outcome, Failure> {
    let observed = plan::observed(args)?;
    let planned = plan::events(args, &observed)?;
    let names = if args.cgroup.is_empty() { &args.for_each_cgroup } else { &args.cgroup };
    let cgroups = names.iter().map(|name| Cgroup::open(name)).collect::<Result<Vec<_>, _>>()?;
    let (parts, labels) = described::labels(args, &observed)?;
    let watch = Watch::new()?;
    let answers = match &args.control {
        Some(control) => {
            let sender = watch.sender();
            control::listen(control, move |line| sender.send(Message::from(line)).is_ok())?
        }
        None => Answers::default(),
    };
    let answers = RefCell::new(answers);
    let files = getrlimit(Resource::Nofile);
    let stat = Stat { args, capture, observed, planned, cgroups, parts, labels, watch, answers, files };
    let mut report = Report::new(args)?;
    let mut runs = Vec::new();
    let is_endless = args.repeat == 0;
    while is_endless || runs.len() < args.repeat as usize {
        let run = stat.run_once(&mut report)?;
        let is_over = !matches!(run.end, End::Command(_)) || stat.watch.is_interrupted();
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
    Ok(match runs.last().map(|run| run.end) {
        Some(End::Command(status)) => Outcome::Command(exit_code(status)),
        _ => Outcome::Clean,
    })
}

/// The state of the verb.
struct Stat<'a> {
    args: &'a StatArgs,
    /// Where the counts are written to.
    capture: Option<&'a Path>,
    observed: Observed,
    planned: Vec<Planned>,
    cgroups: Vec<Cgroup>,
    parts: BTreeMap<u32, Place>,
    labels: Labels,
    watch: Watch,
    answers: RefCell<Answers>,
    /// How many descriptors this process could have open when it was started.
    files: Rlimit,
}

impl Stat<'_> {
    /// Counts once: while the command runs, or until another condition ends the run.
    fn run_once(&self, report: &mut Report) -> Result<Run, Failure> {
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

    fn count(&self, report: &mut Report) -> Result<Run, Failure> {
        let args = self.args;
        let mut command = match args.command.split_first() {
            Some((program, arguments)) => Some(Workload::prepare(program, arguments.iter().cloned())?),
            None => None,
        };
        // Now that the command has its own. Each event on a cpu or a thread takes a descriptor; perf does the same.
        // If the limit stays lower, fewer events can be opened, and the error of the one too many says so.
        let _ = perf_record::raise_open_files();
        let pid = command.as_ref().map(Workload::pid);
        // 0 is no delay.
        let delay = args.delay.filter(|delay| *delay != 0);
        let scope = Scope {
            observed: &self.observed,
            command: pid,
            cpus: args.observed.cpu.as_ref().map(|_| observed::cpus(&args.observed)).transpose()?,
            inherit: !args.no_inherit,
            on_exec: self.observed == Observed::Command && delay.is_none(),
            apart: args.no_aggr || args.per_thread,
            parts: self.parts.clone(),
            cgroups: &self.cgroups,
            merge: !args.no_merge,
        };
        let counters = Counters::open(&self.planned, &scope)?;
        let events = self.shown(&counters);
        let mut capture = match self.capture {
            Some(path) => Some(Capture::begin(path, args, &counters, &events, (&self.observed, pid))?),
            None => None,
        };
        let interval = args.interval_print.map(|millis| Duration::from_millis(millis.get()));
        if interval.is_some() {
            report.head(&described::what(self.args, &self.observed), 1, true, unit_width(&events))?;
        }
        if delay.is_none() {
            counters.enable()?;
        }
        let mut start = Instant::now();
        if let (Some(command), Some(program)) = (&mut command, args.command.first()) {
            command.start().map_err(|error| format!("{}: {error}", shown(program)))?;
        }
        if let Some(capture) = &mut capture {
            capture.publish()?;
        }
        let threads: &[u32] = match &self.observed {
            // If there is a command, its end ends the run.
            Observed::Threads(threads) if command.is_none() => threads,
            _ => &[],
        };
        let mut early = None;
        if let Some(delay) = delay.and_then(|delay| u64::try_from(delay).ok()) {
            let timeout = Some(Duration::from_millis(delay));
            let mut until = Until { command: command.as_mut(), threads, timeout, interval: None };
            let end = self
                .watch
                .wait(&mut until, start, |moment, _| self.control(&counters, moment).map(|()| true))?;
            early = (end != End::Timeout).then_some(end);
            counters.enable()?;
            start = Instant::now();
        }
        let needs_ticks = plan::has_cpu_times(&self.planned);
        let first = needs_ticks.then(|| Ticks::now(&self.observed, pid)).flatten();
        let passed = |elapsed| {
            let now = needs_ticks.then(|| Ticks::now(&self.observed, pid)).flatten();
            Passed { elapsed, cpu: now.zip(first).map(|(now, first)| now.since(first)) }
        };
        let mut before: (Reading, Duration) = Default::default();
        let mut intervals = 0_u64;
        let mut each = |at: Duration, reading: Reading| -> Result<bool, Failure> {
            let lasted = at.saturating_sub(before.1);
            let rows = self.rows(&events, &[since(&reading, &before.0)], lasted);
            report.rows(&rows, Span::Interval(at))?;
            before = (reading, at);
            intervals = intervals.saturating_add(1);
            Ok(report.is_open() && args.interval_count.is_none_or(|count| intervals < count.get()))
        };
        let timeout = args.timeout.map(|millis| Duration::from_millis(millis.get()));
        let mut until = Until { command: command.as_mut(), threads, timeout, interval };
        let end = match early {
            Some(end) => end,
            None => self.watch.wait(&mut until, start, |moment, at| {
                if interval.is_some() {
                    // What was counted before a command is an interval of its own, as perf prints it.
                    let counts = counters.counts()?;
                    if let Some(capture) = &mut capture {
                        capture.round(&counts, StatRoundType::INTERVAL, at)?;
                    }
                    let goes_on = each(at, counters.reading(&counts, &passed(at)))?;
                    self.control(&counters, moment)?;
                    return Ok(goes_on);
                }
                self.control(&counters, moment).map(|()| true)
            })?,
        };
        counters.disable()?;
        let elapsed = start.elapsed();
        if let (Some(command), false) = (&mut command, matches!(end, End::Command(_))) {
            self.watch.end(command)?;
        }
        // The cpu time of a command that is not itself counted is not shown.
        let cpu_time =
            command.as_ref().filter(|_| self.observed == Observed::Command).and_then(Workload::cpu_time);
        let last = Passed { elapsed, cpu: cpu_time.or_else(|| passed(elapsed).cpu) };
        let counts = counters.counts()?;
        if let Some(mut capture) = capture {
            let kind = if interval.is_some() { StatRoundType::INTERVAL } else { StatRoundType::FINAL };
            capture.round(&counts, kind, elapsed)?;
            capture.finish()?;
        }
        let reading = counters.reading(&counts, &last);
        if interval.is_some() && end != End::Unread {
            each(elapsed, reading.clone())?;
        }
        if args.verbose {
            self.print_raw(&events, &reading);
        }
        if let End::Command(status) = end {
            self.report_signal(status);
        }
        Ok(Run { end, events, reading, elapsed, cpu_time })
    }

    /// Returns the events as the report shows them.
    fn shown(&self, counters: &Counters) -> Vec<Shown> {
        let shown = |(index, event): (usize, &EventSpec)| {
            let cgroup = counters.cgroups.get(index).copied().flatten();
            let mut shown = Shown::from(event);
            shown.cgroup =
                cgroup.and_then(|number| self.cgroups.get(number)).map(|cgroup| cgroup.name.clone());
            shown.shown_metric = self.metric_of(index, counters);
            shown.is_merged = counters.merged_into.get(index).is_some_and(|&into| into != index);
            shown
        };
        counters.events.iter().enumerate().map(shown).collect()
    }

    /// Returns the rows to print. Of all threads of the machine, those that were counted.
    fn rows<'a>(&'a self, events: &'a [Shown], runs: &[Reading], elapsed: Duration) -> Vec<Row<'a>> {
        let mut rows = rows(events, &self.labels, runs, elapsed, !self.args.no_scale);
        if self.args.observed.all_cpus && self.args.per_thread {
            rows.retain(|row| !row.is_zero());
        }
        rows
    }

    /// Returns the metric to show of the event with this number.
    fn metric_of(&self, index: usize, counters: &Counters) -> ShownMetric {
        if self.args.metrics.is_empty() {
            let event = counters.events.get(index).and_then(|event| Topdown::of(&event.name));
            let is_hidden = self.args.td_level == Some(1) && event.is_some_and(Topdown::is_second_level);
            return if is_hidden { ShownMetric::None } else { ShownMetric::Own };
        }
        let mut firsts = self.planned.iter().scan(0_usize, |next, planned| {
            let first = *next;
            *next = next.saturating_add(planned.group.events.len());
            Some((first, planned))
        });
        let metric =
            firsts.find(|(first, _)| *first == index).and_then(|(_, planned)| planned.metric.as_ref());
        let Some((named, divisor)) = metric else { return ShownMetric::None };
        let Some(divisor) = divisor else { return ShownMetric::Named(*named, None) };
        let cgroup = counters.cgroups.get(index);
        let mut others = counters.events.iter().zip(&counters.cgroups);
        let at = others.position(|(event, of)| plan::is_same(event, divisor) && Some(of) == cgroup);
        at.map_or(ShownMetric::None, |at| ShownMetric::Named(*named, Some(at)))
    }

    /// Does what a command of `--control` asks for.
    fn control(&self, counters: &Counters, moment: Moment) -> Result<(), Failure> {
        let Moment::Control(command) = moment else { return Ok(()) };
        match command {
            Command::Enable(None) => counters.enable_now()?,
            Command::Disable(None) => counters.disable()?,
            Command::Enable(Some(name)) => counters.switch(&name, true)?,
            Command::Disable(Some(name)) => counters.switch(&name, false)?,
            Command::Evlist(_) => counters.events.iter().for_each(|event| say!("{}", event.name)),
            Command::Ping => {}
            Command::Snapshot | Command::Stop => {
                say!("perfdata: --control: snapshot and stop are for perfdata record");
            }
        }
        self.answers.borrow_mut().ack();
        Ok(())
    }

    /// Prints the counts before any computation.
    fn print_raw(&self, events: &[Shown], reading: &Reading) {
        for (event, tallies) in events.iter().zip(reading) {
            for (place, tally) in tallies.iter().flatten() {
                let label =
                    self.labels.get(place).map(|label| format!("{}: ", label.text)).unwrap_or_default();
                say!("{label}{}: {} {} {}", event.name, tally.value, tally.enabled, tally.running);
            }
        }
    }

    /// Prints the counts of all runs, unless the intervals have already done so.
    fn report(&self, runs: &[Run], report: &mut Report) -> Result<(), Failure> {
        let Some(last) = runs.last() else { return Ok(()) };
        let seconds: Vec<f64> = runs.iter().map(|run| run.elapsed.as_secs_f64()).collect();
        if self.args.interval_print.is_none() || self.args.summary {
            let readings: Vec<Reading> = runs.iter().map(|run| run.reading.clone()).collect();
            let mean =
                mean::Mean::of(&seconds).map_or(last.elapsed, |mean| Duration::from_secs_f64(mean.value));
            report.head(
                &described::what(self.args, &self.observed),
                runs.len(),
                false,
                unit_width(&last.events),
            )?;
            let span = if self.args.summary { Span::Summary } else { Span::Whole { runs: runs.len() } };
            report.rows(&self.rows(&last.events, &readings, mean), span)?;
        }
        report.totals(&Totals {
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
fn unit_width(events: &[Shown]) -> usize {
    let units = events.iter().filter_map(|event| event.unit.as_ref());
    units.map(|unit| unit.chars().count()).max().unwrap_or(0).min(column::WIDEST)
}
