//! `perfdata sched timehist`: each switch with the times before it, as `perf sched timehist` prints them.

mod idle;
mod json;
mod summary;
mod text;

use perf_abi::record::RecordType;
use perf_parse::file::Reader;
use perf_parse::{EventRecord, FileError, Record};
use perf_profile::samples::pass::CountedSample;
use perf_profile::sched::{PerfTasks, PerfVersion, SchedEvent, SchedReader, Timehist, TimehistOptions};
use perf_profile::selection::nanoseconds;
use perf_profile::{Symbols, has_stacks};
use perf_session::SampleContext;

use super::pass::{self, SchedPrinter};
use super::{cpus, numbers};
use crate::args::perf_text::PrintFormat;
use crate::args::sched::TimehistArgs;
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::selection;
use idle::IdleChains;
use text::{ChainOptions, TextColumns};

/// The times, and how they are printed.
struct TimehistPrinter<'a> {
    reader: SchedReader<'a>,
    timehist: Timehist,
    symbols: Symbols,
    args: &'a TimehistArgs,
    columns: TextColumns,
    /// Whether switches have call chains that are printed.
    shows_chains: bool,
    /// Whether an element of the JSON document was printed.
    has_elements: bool,
    /// The names of the functions of a call chain.
    chain: Vec<u8>,
    /// The call chains with which CPUs became idle.
    idle: IdleChains,
    version: PerfVersion,
}

impl TimehistPrinter<'_> {
    fn is_json(&self) -> bool {
        self.args.print.format == PrintFormat::Json
    }

    /// Returns whether switches are printed.
    fn shows_rows(&self) -> bool {
        !self.args.summary
    }
}

impl SchedPrinter for TimehistPrinter<'_> {
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        if let Some(cpu) = at.sample().cpu() {
            self.timehist.cpu(cpu);
        }
        let Some(sample) = self.reader.read(at) else { return Ok(()) };
        let max_cpu = self.timehist.max_cpu();
        let (is_json, shows_rows) = (self.is_json(), self.shows_rows());
        let chains = ChainOptions { max_stack: self.args.max_stack, is_json, version: self.version };
        let Self {
            reader, timehist, symbols, args, columns, shows_chains, has_elements, chain, idle, ..
        } = self;
        match &sample.event {
            SchedEvent::Switch(switch) => {
                let state = reader.state(at);
                let row = timehist.switch(&sample, switch, &state.letters);
                if args.idle_hist && *shows_chains && !is_json {
                    if switch.next_tid == 0 {
                        chain.clear();
                        text::push_chain(chain, at, counted, symbols, chains)?;
                        idle.begin(sample.cpu, chain);
                    } else if let Some(row) = row.as_ref().filter(|row| row.task.is_none()) {
                        idle.end(sample.cpu, row.times.run);
                    }
                }
                let Some(row) = row.filter(|_| shows_rows) else { return Ok(()) };
                chain.clear();
                if *shows_chains && row.task.is_some() {
                    text::push_chain(chain, at, counted, symbols, chains)?;
                }
                if is_json {
                    json::push_row(out, has_elements, &sample, switch, &row, &state.letters, chain);
                } else {
                    columns.push_row(out, &sample, switch, &row, max_cpu);
                    if row.task.is_some() {
                        out.extend_from_slice(chain);
                    }
                    out.push(b'\n');
                }
            }
            SchedEvent::Wakeup(wakeup) => {
                if let Some((waker, woken)) = timehist.wakeup(&sample, wakeup, args.wakeups) {
                    if is_json {
                        json::push_wakeup(out, has_elements, &sample, waker, woken);
                    } else {
                        columns.push_wakeup(out, &sample, waker, woken, max_cpu);
                    }
                }
            }
            SchedEvent::Migration(it) if args.migrations || args.pre_migrations => {
                let shows = args.migrations && shows_rows;
                if let Some((own, moved)) = timehist.migration(&sample, it, shows) {
                    if is_json {
                        json::push_migration(out, has_elements, &sample, own, moved, it);
                    } else {
                        columns.push_migration(out, &sample, own, moved, it, max_cpu);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn tasks(&self) -> &PerfTasks {
        self.timehist.tasks()
    }

    fn record(&mut self, record: &EventRecord<'_>, out: &mut Vec<u8>) {
        self.timehist.tasks_mut().record(record);
        if record.kind() == RecordType::LOST
            && let Ok(Record::Lost(it)) = record.decode()
        {
            let cpu = record.sample_id().ok().flatten().and_then(|id| id.cpu());
            let time = record.time().unwrap_or(0);
            if self.is_json() {
                json::push_lost(out, &mut self.has_elements, time, cpu, it.lost);
            } else {
                text::push_lost(out, time, cpu, it.lost);
            }
        }
    }
}

pub(super) fn run(reader: &Reader<'_>, memory: Memory<'_>, args: &TimehistArgs) -> Result<Outcome, Failure> {
    let version: PerfVersion = args.print.perf_version.into();
    let mut options = TimehistOptions::default();
    options.version = version;
    (options.pids, options.tids) = (args.pid.clone(), args.tid.clone());
    options.cpus = numbers("--cpu", args.cpu.as_deref())?;
    let prios = numbers("--prio", args.prio.as_deref())?;
    options.prios = prios.into_iter().map(|prio| prio as i32).collect();
    (options.start, options.end) = args.time.as_deref().map(span).transpose()?.unwrap_or_default();
    (options.idle, options.shows_rows) = (args.idle_hist, !args.summary);
    options.shows_prios = args.show_prio;
    let sched = SchedReader::new(reader).map_err(selection::failure)?;
    let shows_chains = !args.no_call_graph
        && reader.events().iter().any(|event| sched.is_switch(event) && has_stacks(event));
    let symbols = if shows_chains {
        let lines = if args.symbols.no_inline { Lines::Never } else { Lines::WithInlined };
        names::symbols_with(&args.symbols, reader.features(), memory, lines, NameStyle::Perf)?
    } else {
        Symbols::of(reader).without_names()
    };
    let mut printer = TimehistPrinter {
        reader: sched,
        timehist: Timehist::new(options, cpus(reader).0),
        symbols: symbols.clone(),
        args,
        columns: TextColumns::new(args, version, shows_chains),
        shows_chains,
        has_elements: false,
        chain: Vec::new(),
        idle: IdleChains::default(),
        version,
    };
    let mut output = Output::new();
    if printer.is_json() {
        output.buffer.extend_from_slice(b"{\"events\":[");
    } else if printer.shows_rows() {
        printer.columns.push_header(&mut output.buffer, printer.timehist.max_cpu());
    }
    pass::walk(reader, memory, symbols, &mut printer, &mut output, |printer, out| {
        let sums = args.summary || args.with_summary;
        if printer.is_json() {
            json::push_end(out, &printer.timehist);
        } else if sums {
            let idle = printer.shows_chains.then_some(&printer.idle);
            summary::push(out, &printer.timehist, args, idle, printer.columns.comm_width);
        }
    })
}

/// Returns the first and the last nanosecond of a span `A,B`; 0 is the start or the end of the capture.
fn span(text: &str) -> Result<(u64, u64), Failure> {
    let wrong =
        || Failure(format!("--time {text}: a start and an end in seconds are wanted, such as 12.5,13"));
    let time = |text: &str| if text.is_empty() { Some(0) } else { nanoseconds(text) };
    let (start, end) = text.split_once(',').unwrap_or((text, ""));
    let (start, end) = time(start.trim()).zip(time(end.trim())).ok_or_else(wrong)?;
    if end > 0 && start > end { Err(wrong()) } else { Ok((start, end)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_in_seconds() {
        assert_eq!(span("1.5,2").ok(), Some((1_500_000_000, 2_000_000_000)));
        assert_eq!(span(",2.000000001").ok(), Some((0, 2_000_000_001)));
        assert_eq!(span("3").ok(), Some((3_000_000_000, 0)));
        for wrong in ["x", "1,0.5", "1.0000000001", "99999999999999999999", "-1,2", "1.+2"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
