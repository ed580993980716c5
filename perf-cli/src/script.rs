//! `perfdata script`: samples with their processes and stacks, as `perf script` prints them.

mod bpf_output;
mod branches;
mod counters;
mod data_src;
mod deferred;
mod dso;
mod event_name;
mod events;
mod fields;
mod filter;
mod frames;
mod header;
mod json;
mod known;
mod line;
mod print;
mod quality;
mod registers;
mod time;
mod tod;
mod trace;
mod trace_error;

use alloc::sync::Arc;

use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::file::{DeferredSamples, EventRecords, Reader};
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};
use perf_session::{At, Session};

use crate::args::script::{SampleFormat, ScriptArgs};
use crate::input::Memory;
use crate::names::Names;
use crate::output::{Diagnostics, Output, say};
use crate::progress::Progress;
use crate::{Failure, Outcome, advice};
use counters::Counters;
use fields::Choice;
use filter::Filter;
use json::Lines;
use known::{Events, Known, name_of};
use line::{Clock, Start};
use print::OneLine;
use time::Spans;

pub(crate) fn run(args: &ScriptArgs) -> Result<Outcome, Failure> {
    crate::input::read(&args.file, |reader, memory| script(&reader, memory, args))
}

/// Checks that the first event of each type has the CPU, if samples are selected by it.
///
/// perf: `perf_session__cpu_bitmap`, `tools/perf/util/session.c`.
fn check_cpus(list: &[Arc<Event>], args: &ScriptArgs) -> Result<(), Failure> {
    let Some(cpus) = &args.only.cpu else { return Ok(()) };
    let is_first = |&(index, event): &(usize, &Arc<Event>)| {
        list[..index].iter().all(|before| before.attr.kind != event.attr.kind)
    };
    let lacks_cpu = |(_, event): &(usize, &Arc<Event>)| !event.attr.sample_type.contains(SampleType::CPU);
    match list.iter().enumerate().filter(is_first).find(lacks_cpu) {
        None => Ok(()),
        Some((_, event)) => {
            let name = OneLine(&name_of(event)).to_string();
            let what = format!("the samples of {name} do not have the CPU; leave --cpu out, or record it");
            Err(Failure(format!("--cpu {cpus}: {what}")))
        }
    }
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
    /// Prints JSON lines, and no text.
    is_json: bool,
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
    let tracing_data = reader.feature(Feature::TRACING_DATA).map_or(&[][..], |it| it.bytes);
    let json = (args.format == SampleFormat::Jsonl)
        .then(|| Lines::new(tracing_data, reader.endianness(), args.max_stack));
    let options = Options {
        args,
        shows_chains: !args.hide_call_graph,
        ns: args.ns,
        reltime: args.reltime,
        deltatime: args.deltatime,
        max_stack: args.max_stack,
        is_json: json.is_some(),
    };
    let spans = args.time.as_deref().map_or_else(|| Ok(Spans::default()), |text| spans(reader, text))?;
    let filter = Filter::new(&args.only, spans)?;
    check_cpus(reader.events(), args)?;
    let mut progress = Progress::new(memory.size);
    let mut records = reader.records().in_time_order();
    records.check_features();
    let script = Script {
        options,
        filter,
        events: Events::new(Choice::new(&args.fields)?, options.shows_chains, reader)?,
        session: Session::new(),
        clock: Clock::default(),
        counters: Counters::new(),
        names: Names::new(&args.symbols, reader.features()),
        lines: json,
    };
    let mut run = Run { script, output, diagnostics: Diagnostics::new() };
    run.script.session.add_features(records.features());
    let mut waiting = DeferredSamples::within(reader.limits());
    while let Some(record) = records.next() {
        // The account of the walk has the error already.
        let Ok(record) = record else {
            run.diagnostics.report_new(records.account());
            continue;
        };
        progress.at(records.reached().offset);
        if waiting.hold(&record) {
            continue;
        }
        if let Some(ended) = deferred::end(&mut waiting, &record) {
            for sample in &ended.samples {
                if !run.push(&sample.record, ended.user_of(sample), &mut records)? {
                    return Ok(Outcome::Clean);
                }
            }
        }
        if !run.push(&record, None, &mut records)? {
            return Ok(Outcome::Clean);
        }
    }
    for sample in waiting.take_all() {
        if !run.push(&sample.record, None, &mut records)? {
            return Ok(Outcome::Clean);
        }
    }
    if let Some(fault) = waiting.fault() {
        records.account_mut().note(fault);
    }
    let Run { script, mut output, mut diagnostics } = run;
    if let Some(json) = &script.lines {
        json.push_account(&mut output.buffer, records.account(), &script.names);
    }
    output.flush()?;
    let count = script.events.traces.as_fields;
    if count > 0 {
        say!("perfdata: samples printed as fields, because their print formats cannot be evaluated: {count}");
    }
    let count = waiting.omitted();
    if count > 0 {
        say!(
            "perfdata: samples printed without the user part of their call chain, because too many waited for it: {count}"
        );
    }
    let account = records.account();
    diagnostics.report_all(account);
    if account.is_clean() {
        return Ok(Outcome::Clean);
    }
    let (walked, faults, skipped) = (account.records, account.faults(), account.bytes_skipped);
    say!("perfdata: records read: {walked}, faults: {faults}, bytes skipped: {skipped}{}", advice(account));
    Ok(Outcome::Partial)
}

/// A run: the records so far, and where their lines and faults go.
struct Run<'a> {
    script: Script<'a>,
    output: Output,
    diagnostics: Diagnostics,
}

impl Run<'_> {
    /// Applies a record, and prints it if it is selected; notes its fault. `user` is the part of its call chain that came
    /// later. Returns whether there is still a reader of the output.
    fn push(
        &mut self,
        record: &EventRecord<'_>,
        user: Option<&[u64]>,
        records: &mut EventRecords<'_>,
    ) -> Result<bool, Failure> {
        if let Err(error) = self.script.push(record, user, records, &mut self.output.buffer)? {
            records.account_mut().note(error);
            self.diagnostics.report_new(records.account());
        }
        self.output.flush_full()
    }
}

/// What is known up to the last record, and how it is printed.
struct Script<'a> {
    options: Options<'a>,
    filter: Filter<'a>,
    events: Events<'a>,
    session: Session,
    clock: Clock,
    counters: Counters,
    names: Names,
    lines: Option<Lines<'a>>,
}

/// The inner result is a fault of the record. The outer one ends the run.
type Pushed = Result<Result<(), FileError>, Failure>;

impl Script<'_> {
    /// Applies a record, and prints it if it is selected.
    fn push(
        &mut self,
        record: &EventRecord<'_>,
        user: Option<&[u64]>,
        records: &EventRecords<'_>,
        out: &mut Vec<u8>,
    ) -> Pushed {
        if record.kind() == RecordType::SAMPLE {
            return self.push_sample(record, user, records, out);
        }
        if let Err(error) = self.session.update(record) {
            return Ok(Err(error));
        }
        if record.kind().is_user() {
            return Ok(self.apply_user_record(record, records, out));
        }
        if !self.options.is_json && events::is_shown(record.kind(), &self.options.args.show) {
            return self.push_other(record, records, out);
        }
        Ok(Ok(()))
    }

    fn push_sample(
        &mut self,
        record: &EventRecord<'_>,
        user: Option<&[u64]>,
        records: &EventRecords<'_>,
        out: &mut Vec<u8>,
    ) -> Pushed {
        let Self { options, filter, events, session, clock, names, lines, .. } = self;
        let at = match session.update_at(record) {
            Ok(at) => at,
            Err(error) => return Ok(Err(error)),
        };
        let Some((at, known)) = at.zip(events.of(record, records)?) else { return Ok(Ok(())) };
        // The counts of a sample that is left out count for the next one.
        let mut push = |events: &mut Events<'_>, value: &Counted<'_>| match lines {
            _ if !filter.wants(&at, names) => Ok(()),
            Some(json) => json.push_sample(out, &at, value, names),
            None if value.known.fields.is_empty() => Ok(()),
            None => line::push_sample(out, &at, value, events, options, clock, names),
        };
        if known.has_read {
            return each_value(&at, user, events, records, push);
        }
        let value = Counted { known: &known, period: at.sample().period().unwrap_or(known.period), user };
        Ok(push(events, &value))
    }

    /// Prints a record that is not a sample.
    ///
    /// perf: `print_event_with_time`.
    fn push_other(
        &mut self,
        record: &EventRecord<'_>,
        records: &EventRecords<'_>,
        out: &mut Vec<u8>,
    ) -> Pushed {
        let decoded = match record.decode() {
            Ok(decoded) => decoded,
            Err(error) => return Ok(Err(error)),
        };
        let id = record.sample_id().ok().flatten();
        let of_trailer = id.map(|id| (id.pid().unwrap_or(-1), id.tid().unwrap_or(-1)));
        let of_record = events::ids(&decoded);
        let (pid, tid) = of_trailer.or(of_record).unwrap_or((-1, -1));
        let cpu = id.map_or(Some(0), |id| id.cpu());
        if !self.filter.wants_cpu(cpu) {
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
        let comm = self.session.thread(tid_of_comm).map_or(number.as_bytes(), |thread| thread.comm());
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
        out: &mut Vec<u8>,
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
        match decoded {
            UserRecord::IdIndex(index) => self.events.add_guests(&index),
            _ if self.options.is_json => {}
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
struct Counted<'a> {
    known: &'a Known,
    period: u64,
    /// The user part of its call chain that came in a later record.
    user: Option<&'a [u64]>,
}

/// Passes each counter value of a sample, as a sample of the event that was counted. The period is what was counted since
/// the sample before. Values that did not change are left out.
///
/// perf: `evlist__deliver_sample`, `tools/perf/util/session.c`.
fn each_value(
    at: &At<'_, '_>,
    user: Option<&[u64]>,
    events: &mut Events<'_>,
    records: &EventRecords<'_>,
    mut print: impl FnMut(&mut Events<'_>, &Counted<'_>) -> Result<(), FileError>,
) -> Pushed {
    let read = match at.sample().tail() {
        Ok(tail) => tail.read,
        Err(error) => return Ok(Err(at.record().error(error))),
    };
    for value in read.into_iter().flat_map(|read| read.values()) {
        let Some((id, event)) = value.id.and_then(|id| Some((id, records.events().by_id(id)?))) else {
            continue;
        };
        let before = events.counted.insert(id, value.value).unwrap_or(0);
        let period = value.value.wrapping_sub(before);
        let known = events.known(event, records)?;
        if period != 0
            && let Err(error) = print(events, &Counted { known: &known, period, user })
        {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Parses `--time`.
fn spans(reader: &Reader<'_>, text: &str) -> Result<Spans, Failure> {
    Spans::new(text, || {
        if let Some(Ok(times)) = reader.features().sample_time() {
            return Ok((times.first, times.last));
        }
        if !reader.can_walk_again() {
            let what = "percents need the times of the first and the last sample, which a stream does not have; \
                give spans in seconds, or a file";
            return Err(Failure(format!("--time {text}: {what}")));
        }
        let records = reader.records().filter_map(Result::ok);
        let times = records.filter_map(|record| record.sample()?.time());
        let bounds = times.fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
        Ok(bounds)
    })
}
