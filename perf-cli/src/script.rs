//! `perfdata script`: samples with their processes and stacks, as `perf script` prints them.

mod bpf_output;
mod branches;
mod counters;
mod data_src;
mod event_name;
mod events;
mod fields;
mod filter;
mod header;
mod json;
mod line;
mod print;
mod registers;
mod time;
mod tod;
mod trace;
mod trace_error;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::cell::Cell;

use perf_abi::attr::Attr;
use perf_abi::event::{EventType, HwId, SwId};
use perf_abi::feature::Feature;
use perf_abi::record::{CpuMode, RecordType};
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::feature::{BuildId, ClockData, Features};
use perf_parse::file::{EventRecords, Mode, Reader};
use perf_parse::record::UserRecord;
use perf_parse::record::user::{IdIndex, IdIndexGuest};
use perf_parse::{EventRecord, FileError, Record};
use perf_session::{At, Session};

use crate::args::script::{SampleFormat, ScriptArgs};
use crate::input::Memory;
use crate::output::{Diagnostics, Output, say};
use crate::progress::Progress;
use crate::{Failure, Outcome, advice};
use counters::Counters;
use fields::{Choice, Fields, type_of};
use filter::Filter;
use json::Lines;
use line::{Clock, Start};
use print::{OneLine, push_name};
use time::Spans;
use trace::Traces;

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
    json: Option<&'a Lines<'a>>,
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
        json: json.as_ref(),
    };
    let spans = args.time.as_deref().map_or_else(|| Ok(Spans::default()), |text| spans(reader, text))?;
    let filter = Filter::new(&args.only, spans)?;
    check_cpus(reader.events(), args)?;
    let mut diagnostics = Diagnostics::new();
    let mut progress = Progress::new(memory.size);
    let mut records = reader.records().in_time_order();
    records.check_features();
    let mut events = Events::new(Choice::new(&args.fields)?, reader)?;
    let mut session = Session::new();
    session.add_features(records.features());
    let mut clock = Clock::default();
    let mut counters = Counters::new();
    while let Some(record) = records.next() {
        // The account of the walk has the error already.
        let Ok(record) = record else {
            diagnostics.report_new(records.account());
            continue;
        };
        progress.at(records.reached().offset);
        let printed = one(
            &record,
            &mut session,
            &mut events,
            &records,
            &filter,
            &options,
            &mut clock,
            &mut counters,
            &mut output.buffer,
        )?;
        if let Err(error) = printed {
            records.account_mut().note(error);
            diagnostics.report_new(records.account());
        }
        if !output.flush_full()? {
            return Ok(Outcome::Clean);
        }
    }
    if let Some(json) = &json {
        json.push_account(&mut output.buffer, records.account());
    }
    output.flush()?;
    if events.traces.as_fields > 0 {
        let count = events.traces.as_fields;
        say!("perfdata: samples printed as fields, because their print formats cannot be evaluated: {count}");
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

/// Applies a record to the session, and prints it if it is selected. The inner result is a fault of the record.
#[allow(clippy::too_many_arguments, reason = "the parts of one run")]
fn one(
    record: &EventRecord<'_>,
    session: &mut Session,
    events: &mut Events<'_>,
    records: &EventRecords<'_>,
    filter: &Filter<'_>,
    options: &Options<'_>,
    clock: &mut Clock,
    counters: &mut Counters,
    out: &mut Vec<u8>,
) -> Result<Result<(), FileError>, Failure> {
    if let Err(error) = session.update(record) {
        return Ok(Err(error));
    }
    if let Some(at) = session.at(record) {
        let Some(known) = events.of(record, records)? else { return Ok(Ok(())) };
        let is_wanted =
            |known: &Known| (options.json.is_some() || !known.fields.is_empty()) && filter.wants(&at);
        let mut push = |events: &mut Events<'_>, value: &Counted<'_>| match options.json {
            Some(json) => json.push_sample(out, session, &at, value),
            None => line::push_sample(out, &at, value, events, options, clock),
        };
        if known.has_read {
            return each_value(&at, events, records, |events, value| {
                if is_wanted(value.known) { push(events, value) } else { Ok(()) }
            });
        }
        if !is_wanted(&known) {
            return Ok(Ok(()));
        }
        let value = Counted { known: &known, period: at.sample().period().unwrap_or(known.period) };
        return Ok(push(events, &value));
    }
    if record.kind().0 >= USER_TYPES {
        return Ok(apply_user_record(record, events, records, options, counters, out));
    }
    if options.json.is_some() {
        return Ok(Ok(()));
    }
    if !events::is_shown(record.kind(), &options.args.show) {
        return Ok(Ok(()));
    }
    let decoded = match record.decode() {
        Ok(decoded) => decoded,
        Err(error) => return Ok(Err(error)),
    };
    let known = events.of(record, records)?;
    push_record(out, record, &decoded, session, known.as_deref(), filter, options, clock);
    Ok(Ok(()))
}

/// The first type of the perf tool's own records.
const USER_TYPES: u32 = 64;

/// Applies a record of the perf tool itself, and prints it if perf prints it.
fn apply_user_record(
    record: &EventRecord<'_>,
    events: &mut Events<'_>,
    records: &EventRecords<'_>,
    options: &Options<'_>,
    counters: &mut Counters,
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
        UserRecord::IdIndex(index) => events.add_guests(&index),
        _ if options.json.is_some() => {}
        UserRecord::AuxtraceError(error) => trace_error::push(out, &error),
        UserRecord::HeaderFeature(it) if options.args.header => {
            let section = u32::try_from(it.feat_id).ok().and_then(|id| records.feature(Feature(id)));
            if let Some(section) = section {
                header::push_feature(out, &section, records.events());
            }
        }
        decoded => counters.apply(&decoded, records.events(), out),
    }
    Ok(())
}

/// A sample of an event, or the part of a sample that one event of a group has.
#[derive(Debug)]
struct Counted<'a> {
    known: &'a Known,
    period: u64,
}

/// Passes each counter value of a sample, as a sample of the event that was counted. The period is what was counted since
/// the sample before. Values that did not change are left out.
///
/// perf: `evlist__deliver_sample`, `tools/perf/util/session.c`.
fn each_value(
    at: &At<'_, '_>,
    events: &mut Events<'_>,
    records: &EventRecords<'_>,
    mut print: impl FnMut(&mut Events<'_>, &Counted<'_>) -> Result<(), FileError>,
) -> Result<Result<(), FileError>, Failure> {
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
        if period != 0 {
            if let Err(error) = print(events, &Counted { known: &known, period }) {
                return Ok(Err(error));
            }
        }
    }
    Ok(Ok(()))
}

/// Prints a record that is not a sample.
///
/// perf: `print_event_with_time`.
#[allow(clippy::too_many_arguments, reason = "the parts of one run")]
fn push_record(
    out: &mut Vec<u8>,
    record: &EventRecord<'_>,
    decoded: &Record<'_>,
    session: &Session,
    known: Option<&Known>,
    filter: &Filter<'_>,
    options: &Options<'_>,
    clock: &mut Clock,
) {
    let id = record.sample_id().ok().flatten();
    let of_trailer = id.map(|id| (id.pid().unwrap_or(-1), id.tid().unwrap_or(-1)));
    let of_record = events::ids(decoded);
    let (pid, tid) = of_trailer.or(of_record).unwrap_or((-1, -1));
    let cpu = id.map_or(Some(0), |id| id.cpu());
    if !filter.wants_cpu(cpu) {
        return;
    }
    let time = match (id, decoded) {
        (Some(id), _) => id.time().unwrap_or(u64::MAX),
        (None, Record::Fork(it) | Record::Exit(it)) => it.time,
        (None, _) => 0,
    };
    // A thread that no record named before has its number as its name.
    let tid_of_comm = of_record.unwrap_or((pid, tid)).1;
    let number = format!(":{tid_of_comm}");
    let comm = session.thread(tid_of_comm).map_or(number.as_bytes(), |thread| thread.comm());
    if let Some(known) = known {
        let (kind, misc) = (record.kind(), record.misc());
        let start = Start { kind, misc, comm, pid, tid, cpu, time, guest: None };
        line::push_start(out, &start, known, options, clock);
    }
    events::push(out, decoded, record.misc());
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

/// What is known of an event.
#[derive(Debug)]
struct Known {
    event: Arc<Event>,
    /// The name, safe to print.
    name: Vec<u8>,
    fields: Fields,
    has_callchain: bool,
    /// Whether samples have the values of counters.
    has_read: bool,
    /// Whether the address of its samples is one of data or code that can be looked up.
    has_data_address: bool,
    needs_tail: bool,
    /// The index of the format of its raw data.
    trace: Option<usize>,
    is_bpf_output: bool,
    /// Whether its samples are the branches that a processor recorded one by one.
    is_branch_trace: bool,
    /// Whether the user chose its fields.
    is_chosen: bool,
    /// The architecture that names the registers.
    arch: Option<Arch>,
    /// The paths of the modules whose build ids the capture lists.
    modules: Arc<BTreeSet<Vec<u8>>>,
    /// One moment on the wall clock and on the clock of the samples.
    clock: Option<ClockData>,
    /// The period of samples that do not record it.
    period: u64,
}

/// The events of the capture, prepared for printing.
#[derive(Debug)]
struct Events<'a> {
    traces: Traces<'a>,
    choice: Choice,
    /// The types whose first event was checked.
    checked: Vec<usize>,
    /// By the index of the event.
    known: Vec<Option<Arc<Known>>>,
    /// The width of the longest name, in bytes.
    name_width: usize,
    /// The last value of each counter, by its id.
    counted: BTreeMap<u64, u64>,
    /// The virtual machines, by the ids of the events in them.
    guests: BTreeMap<u64, IdIndexGuest>,
    /// The paths of the modules whose build ids the capture lists.
    modules: Arc<BTreeSet<Vec<u8>>>,
    /// The width of the longest data source so far.
    data_src_width: Cell<usize>,
}

impl<'a> Events<'a> {
    fn new(choice: Choice, reader: &'a Reader<'_>) -> Result<Self, Failure> {
        let tracing_data = reader.feature(Feature::TRACING_DATA).map_or(&[][..], |section| section.bytes);
        let traces = Traces::new(tracing_data, reader.endianness());
        let mut events = Self {
            traces,
            choice,
            checked: Vec::new(),
            known: Vec::new(),
            name_width: 0,
            counted: BTreeMap::new(),
            guests: BTreeMap::new(),
            modules: Arc::new(modules_of(reader.features())),
            data_src_width: Cell::new(0),
        };
        events.check(reader.events(), reader)?;
        let is_complete = !matches!(reader.mode(), Mode::Pipe);
        let is_missing =
            |kind| is_complete && !reader.events().iter().any(|event| type_of(event.attr.kind) == kind);
        let shows_tod = || {
            reader
                .events()
                .iter()
                .any(|event| events.choice.of(event).has(Fields::TOD) && !is_dummy(&event.attr))
        };
        if is_complete && reader.features().clock_data().is_none() && shows_tod() {
            let what = "the capture does not have the time of day; record with --clockid, or leave tod out";
            return Err(Failure(format!("-F tod: {what}")));
        }
        if let Some((name, _)) = events.choice.required().find(|&(_, kind)| is_missing(kind)) {
            return Err(Failure(format!("-F {name}: the capture has no events of this type; leave it out")));
        }
        Ok(events)
    }

    /// Adapts the fields to the first event of each type.
    fn check(&mut self, list: &[Arc<Event>], reader: &Reader<'_>) -> Result<(), Failure> {
        let has_aux = reader.feature(Feature::AUXTRACE).is_some();
        let is_counted = reader.feature(Feature::STAT).is_some();
        let is_pipe = matches!(reader.mode(), Mode::Pipe);
        let stacks = list.iter().fold(0, |all, event| all | event.attr.sample_type.0);
        let of_registers = SampleType::REGS_USER.0 | SampleType::STACK_USER.0;
        let has_stacks = stacks & (SampleType::CALLCHAIN.0 | SampleType::BRANCH_STACK.0) != 0
            || stacks & of_registers == of_registers;
        for event in list.iter().filter(|event| !is_dummy(&event.attr)) {
            let kind = type_of(event.attr.kind);
            if self.checked.contains(&kind) {
                continue;
            }
            self.checked.push(kind);
            if !is_counted {
                self.choice.check(event, &String::from_utf8_lossy(&name_of(event)), has_aux)?;
            }
            if is_pipe && has_stacks {
                self.choice.add_addresses_to_pipes(event);
            }
        }
        let is_traced =
            |event: &Arc<Event>| event.attr.kind == EventType::TRACEPOINT && has_callchain(&event.attr);
        if list.iter().any(is_traced) {
            self.choice.add_addresses_to_tracepoints();
        }
        Ok(())
    }

    /// Returns what is known of a record's event; `None` if the record has none.
    fn of(
        &mut self,
        record: &EventRecord<'_>,
        records: &EventRecords<'_>,
    ) -> Result<Option<Arc<Known>>, Failure> {
        record.event().map(|event| self.known(event, records)).transpose()
    }

    fn known(&mut self, event: &Arc<Event>, records: &EventRecords<'_>) -> Result<Arc<Known>, Failure> {
        if let Some(Some(known)) = self.known.get(event.index) {
            if Arc::ptr_eq(&known.event, event) {
                return Ok(Arc::clone(known));
            }
        }
        self.add(event, records)
    }

    #[cold]
    fn add(&mut self, event: &Arc<Event>, records: &EventRecords<'_>) -> Result<Arc<Known>, Failure> {
        if self.name_width == 0 {
            self.name_width = records.events().iter().map(|event| name_of(event).len()).max().unwrap_or(0);
        }
        let fields = self.choice.of(event);
        let mut name = Vec::new();
        push_name(&mut name, &name_of(event));
        let is_bpf_output = event.attr.kind == EventType::SOFTWARE && event.attr.config == SwId::BPF_OUTPUT.0;
        let needs_tail = fields.has(line::OF_TAIL) || is_bpf_output && fields.has(Fields::BPF_OUTPUT);
        let features = records.features();
        let known = Arc::new(Known {
            event: Arc::clone(event),
            name,
            fields,
            has_callchain: has_callchain(&event.attr),
            has_read: event.attr.sample_type.contains(SampleType::READ),
            has_data_address: has_data_address(&event.attr),
            needs_tail,
            trace: self.traces.of(event),
            is_bpf_output,
            is_branch_trace: is_branch_trace(&event.attr),
            is_chosen: self.choice.is_chosen(event),
            arch: Arch::from_machine(&machine_of(features)),
            modules: Arc::clone(&self.modules),
            clock: features.clock_data().and_then(Result::ok),
            period: event.attr.sample_period,
        });
        if self.known.len() <= event.index {
            self.known.resize_with(event.index + 1, || None);
        }
        self.known[event.index] = Some(Arc::clone(&known));
        Ok(known)
    }

    /// Notes the virtual machines of events.
    fn add_guests(&mut self, index: &IdIndex<'_>) {
        let guests = index.guests.iter().flat_map(|guests| guests.iter());
        let of_guests = index.entries.iter().zip(guests).filter(|(_, guest)| guest.machine_pid != 0);
        self.guests.extend(of_guests.map(|(entry, guest)| (entry.id, guest)));
    }

    /// Returns the virtual machine of an event, by its id.
    #[inline]
    fn guest_of(&self, id: Option<u64>) -> Option<IdIndexGuest> {
        if self.guests.is_empty() { None } else { self.guests.get(&id?).copied() }
    }
}

fn name_of(event: &Event) -> Vec<u8> {
    event.name.clone().unwrap_or_else(|| event_name::of_attr(&event.attr).into_bytes())
}

/// Returns the machine that recorded the capture; this machine if the capture does not tell.
fn machine_of(features: &Features<'_>) -> String {
    match features.arch() {
        Some(Ok(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}

/// Returns the paths of the modules whose build ids the capture lists.
fn modules_of(features: &Features<'_>) -> BTreeSet<Vec<u8>> {
    let ids = features.build_ids().and_then(Result::ok);
    let of_kernel = |id: &BuildId<'_>| id.cpumode() == CpuMode::KERNEL;
    ids.iter().flat_map(|ids| ids.iter()).filter(of_kernel).map(|id| id.filename.to_vec()).collect()
}

/// perf: `is_bts_event`, `tools/perf/util/event.h`.
fn is_branch_trace(attr: &Attr) -> bool {
    attr.kind == EventType::HARDWARE
        && attr.config & u64::from(HwId::BRANCH_INSTRUCTIONS.0) != 0
        && attr.sample_period == 1
}

fn has_callchain(attr: &Attr) -> bool {
    attr.sample_type.contains(SampleType::CALLCHAIN)
}

/// perf: `evsel__is_dummy_event`.
fn is_dummy(attr: &Attr) -> bool {
    attr.kind == EventType::SOFTWARE && attr.config == SwId::DUMMY.0
}

/// perf: `sample_addr_correlates_sym`, `tools/perf/util/event.c`.
fn has_data_address(attr: &Attr) -> bool {
    let faults = [SwId::PAGE_FAULTS.0, SwId::PAGE_FAULTS_MIN.0, SwId::PAGE_FAULTS_MAJ.0];
    attr.kind == EventType::SOFTWARE && faults.contains(&attr.config) || is_branch_trace(attr)
}
