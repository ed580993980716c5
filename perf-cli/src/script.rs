//! `perfdata script`: samples with their processes and stacks, as `perf script` prints them.

mod bpf_output;
mod branches;
mod counters;
pub(crate) mod data_src;
mod dso;
mod events;
mod fields;
mod frames;
pub(crate) mod header;
mod json;
mod known;
pub(crate) mod line;
mod print;
mod registers;
mod tod;
pub(crate) mod trace;
mod trace_error;

use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::file::{EventRecords, Reader};
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};
use perf_session::{At, Session};

use crate::args::script::{SampleFormat, ScriptArgs};
use crate::input::Memory;
use crate::names::Names;
use crate::output::{Output, say};
use crate::samples::{Counted, Filter, Samples, Visit, Visited};
use crate::{Failure, Outcome};
use counters::Counters;
use fields::Choice;
use json::Lines;
use known::{Events, Known};
use line::{Clock, Start};

pub(crate) fn run(args: &ScriptArgs) -> Result<Outcome, Failure> {
    crate::input::read(&args.file, |reader, memory| script(&reader, memory, args))
}

/// How lines are printed.
#[derive(Clone, Copy, Debug)]
struct Options<'a> {
    args: &'a ScriptArgs,
    shows_chains: bool,
    ns: bool,
    reltime: bool,
    deltatime: bool,
    max_stack: usize,
}

fn script(reader: &Reader<'_>, memory: Memory<'_>, args: &ScriptArgs) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    if args.header || args.header_only {
        header::push(&mut output.buffer, reader, &args.file);
        if args.header_only {
            output.flush()?;
            return Ok(Outcome::Clean);
        }
    }
    let json = (args.format == SampleFormat::Jsonl).then(|| Lines::new(reader, args.max_stack));
    let options = Options {
        args,
        shows_chains: !args.hide_call_graph,
        ns: args.ns,
        reltime: args.reltime,
        deltatime: args.deltatime,
        max_stack: args.max_stack,
    };
    let samples = Samples::new(reader, memory, &args.only)?;
    let mut script = Script {
        options,
        events: Events::new(Choice::new(&args.fields)?, options.shows_chains, reader)?,
        clock: Clock::default(),
        counters: Counters::new(),
        lines: json,
        output,
    };
    let names = Names::new(&args.symbols, reader.features())?;
    let Some(walked) = samples.walk(names, &mut script)? else { return Ok(Outcome::Clean) };
    if let Some(json) = &script.lines {
        json.push_account(&mut script.output.buffer, walked.account(), &walked.names);
    }
    script.output.flush()?;
    let count = script.events.traces.as_fields;
    if count > 0 {
        say!("perfdata: samples printed as fields, because their print formats cannot be evaluated: {count}");
    }
    Ok(walked.finish("printed"))
}

/// What is known up to the last record, and how it is printed.
struct Script<'a> {
    options: Options<'a>,
    events: Events<'a>,
    clock: Clock,
    counters: Counters,
    lines: Option<Lines<'a>>,
    output: Output,
}

impl Visit for Script<'_> {
    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Names,
        records: &EventRecords<'_>,
    ) -> Visited {
        let Self { options, events, clock, lines, output, .. } = self;
        let known = events.known(counted.event, records)?;
        let out = &mut output.buffer;
        let sample = Shown { known: &known, period: counted.period, user: counted.user };
        Ok(match lines {
            Some(json) => json.push_sample(out, at, &sample, names),
            None if known.fields.is_empty() => Ok(()),
            None => line::push_sample(out, at, &sample, events, options, clock, names),
        })
    }

    fn other(
        &mut self,
        record: &EventRecord<'_>,
        session: &Session,
        filter: &Filter<'_>,
        records: &EventRecords<'_>,
    ) -> Visited {
        if record.kind().is_user() {
            return Ok(self.apply_user_record(record, records));
        }
        if self.lines.is_none() && events::is_shown(record.kind(), &self.options.args.show) {
            return self.push_other(record, session, filter, records);
        }
        Ok(Ok(()))
    }

    const PRINTS: bool = true;

    fn goes_on(&mut self) -> Result<bool, Failure> {
        self.output.flush_full()
    }
}

impl Script<'_> {
    /// Prints a record that is not a sample.
    ///
    /// perf: `print_event_with_time`.
    fn push_other(
        &mut self,
        record: &EventRecord<'_>,
        session: &Session,
        filter: &Filter<'_>,
        records: &EventRecords<'_>,
    ) -> Visited {
        let decoded = match record.decode() {
            Ok(decoded) => decoded,
            Err(error) => return Ok(Err(error)),
        };
        let id = record.sample_id().ok().flatten();
        let of_trailer = id.map(|id| (id.pid().unwrap_or(-1), id.tid().unwrap_or(-1)));
        let of_record = events::ids(&decoded);
        let (pid, tid) = of_trailer.or(of_record).unwrap_or((-1, -1));
        let cpu = id.map_or(Some(0), |id| id.cpu());
        if !filter.wants_cpu(cpu) {
            return Ok(Ok(()));
        }
        let time = match (id, &decoded) {
            (Some(id), _) => id.time().unwrap_or(u64::MAX),
            (None, Record::Fork(it) | Record::Exit(it)) => it.time,
            (None, _) => 0,
        };
        // A thread that no record named before has its number as its name.
        let tid_of_comm = of_record.unwrap_or((pid, tid)).1;
        let number = format!(":{tid_of_comm}");
        let comm = session.thread(tid_of_comm).map_or(number.as_bytes(), |thread| thread.comm());
        let out = &mut self.output.buffer;
        if let Some(known) = self.events.of(record, records)? {
            let (kind, misc) = (record.kind(), record.misc());
            let start = Start { kind, misc, comm, pid, tid, cpu, time, guest: None };
            line::push_start(out, &start, &known, &self.options, &mut self.clock);
        }
        events::push(out, &decoded, record.misc());
        Ok(Ok(()))
    }

    /// Applies a record of the perf tool itself, and prints it if perf prints it.
    fn apply_user_record(
        &mut self,
        record: &EventRecord<'_>,
        records: &EventRecords<'_>,
    ) -> Result<(), FileError> {
        match record.kind() {
            RecordType::ID_INDEX
            | RecordType::THREAD_MAP
            | RecordType::CPU_MAP
            | RecordType::STAT_CONFIG
            | RecordType::STAT
            | RecordType::STAT_ROUND
            | RecordType::AUXTRACE_ERROR
            | RecordType::HEADER_FEATURE => {}
            _ => return Ok(()),
        }
        let Record::User(decoded, _) = record.decode()? else { return Ok(()) };
        let out = &mut self.output.buffer;
        match decoded {
            UserRecord::IdIndex(index) => self.events.add_guests(&index),
            _ if self.lines.is_some() => {}
            UserRecord::AuxtraceError(error) => trace_error::push(out, &error),
            UserRecord::HeaderFeature(it) if self.options.args.header => {
                let section = u32::try_from(it.feat_id).ok().and_then(|id| records.feature(Feature(id)));
                if let Some(section) = section {
                    header::push_feature(out, &section, records.events());
                }
            }
            decoded => self.counters.apply(&decoded, records.events(), out),
        }
        Ok(())
    }
}

/// A sample of an event, or the part of a sample that one event of a group has.
#[derive(Debug)]
struct Shown<'a> {
    known: &'a Known,
    period: u64,
    /// The user part of its call chain that came in a later record.
    user: Option<&'a [u64]>,
}
