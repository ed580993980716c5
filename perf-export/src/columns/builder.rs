//! Makes the tables of a capture from its records.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use perf_abi::feature::Feature;
use perf_parse::event::{Event, Events};
use perf_parse::feature::Features;
use perf_parse::file::{Account, Reader};
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};
use perf_profile::edit::TraceRecord;
use perf_profile::{CaptureOrigin, EMPTY, event_name, has_stacks};
use perf_session::{SampleContext, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use super::captures::{self, CaptureRow};
use super::context::Context;
use super::counts::{CounterReading, CounterTable};
use super::generation::Generation;
use super::identity::CaptureIdentity;
use super::options::Options;
use super::samples::SampleFacts;
use super::sched::SchedTables;
use super::switches::SwitchTracker;
use super::table::{Table, TableSet};
use super::tasks::TaskTable;
use super::trace::TraceFormats;
use super::trace_tables::{TraceSample, TraceTables};
use super::utf8::utf8;
use super::{events, losses, mmaps, spe};

/// Number of rows of a batch. A row of `samples` takes about 250 bytes until it is written.
const BATCH: usize = 1 << 15;

/// The tables of a capture while they are made: [`walk`](super::walk) calls with them. Take the batches that are ready with
/// [`take`](Self::take) and [`take_trace`](Self::take_trace), or they wait.
///
/// It gets the samples and the other records in order of time, and keeps only what is in no batch yet: at most 32,768 rows
/// of each table, and the stacks since they were last written, up to a limit. So memory does not grow with the capture.
#[derive(Debug)]
pub struct ColumnsBuilder<'a> {
    options: Options,
    context: Context,
    identity: Option<CaptureIdentity>,
    mode: &'static str,
    traces: TraceFormats<'a>,
    tables: TableSet,
    ready: VecDeque<(Table, RecordBatch)>,
    trace_tables: TraceTables,
    ready_traces: VecDeque<(Arc<str>, RecordBatch)>,
    events: Vec<EventSamples>,
    generation: Generation,
    tasks: TaskTable,
    counters: CounterTable,
    switches: SwitchTracker,
    sched: SchedTables<'a>,
    span: Option<(u64, u64)>,
    samples: u64,
    /// The first fault of a table, which is one of this crate.
    fault: Option<ArrowError>,
}

/// The name of an event and the sums of its samples.
#[derive(Debug, Default)]
struct EventSamples {
    samples: u64,
    period: u64,
}

impl<'a> ColumnsBuilder<'a> {
    /// Makes a builder without rows. Reads the first records of a capture that can be walked again, for its identity.
    pub(super) fn new(reader: &'a Reader<'_>, options: Options) -> Self {
        let tracing = reader.feature(Feature::TRACING_DATA).map_or(&[][..], |section| section.bytes);
        let traces = TraceFormats::new(tracing, reader.endianness());
        let switches = SwitchTracker::new(reader.events().iter().map(|event| &**event), &traces);
        let mut identity = CaptureIdentity::new(reader);
        let (mut capture, mut of_stream) = (String::new(), None);
        if reader.can_walk_again() {
            identity.add_first(reader);
            capture = identity.name();
        } else {
            of_stream = Some(identity);
        }
        let context = Context {
            capture,
            endianness: reader.endianness(),
            origin: CaptureOrigin::of(reader.features()),
            date: captures::date_of(reader.features()),
            redaction: options.redaction.clone(),
        };
        Self {
            generation: Generation::new(&options),
            options,
            context,
            identity: of_stream,
            mode: reader.mode().name(),
            traces,
            tables: TableSet::new(),
            ready: VecDeque::new(),
            trace_tables: TraceTables::default(),
            ready_traces: VecDeque::new(),
            events: Vec::new(),
            tasks: TaskTable::default(),
            counters: CounterTable::default(),
            switches,
            sched: SchedTables::new(reader),
            span: None,
            samples: 0,
            fault: None,
        }
    }

    /// Loads the symbols of files on another thread while samples are added, until stacks are written for the first time.
    /// `symbolizer` is that of [`finish`](Self::finish), or a clone of it. With one thread, or without a symbolizer,
    /// nothing is loaded ahead. The tables are the same.
    pub(super) fn load_ahead(&mut self, symbolizer: Option<&Symbolizer>) {
        self.generation.load_ahead(symbolizer);
    }

    /// Returns the name of the capture: 32 hexadecimal digits, a hash of its header and its first records. Empty before the
    /// first record of a stream.
    #[cfg(feature = "parquet")]
    pub(crate) fn capture(&self) -> &str {
        &self.context.capture
    }

    /// Returns the machine that the capture is from.
    #[cfg(feature = "parquet")]
    pub(crate) fn origin(&self) -> &CaptureOrigin {
        &self.context.origin
    }

    /// Returns the day on which the recording started in UTC, as `YYYY-MM-DD`; `None` if the capture does not relate its
    /// clock to the wall clock.
    #[cfg(feature = "parquet")]
    pub(crate) fn date(&self) -> Option<&str> {
        self.context.date.as_deref()
    }

    /// The identity of a stream has its first record.
    fn identify(&mut self, record: &EventRecord<'_>) {
        if let Some(mut identity) = self.identity.take() {
            identity.add(record);
            self.context.capture = identity.name();
        }
    }

    /// Adds a sample. `events` are those of the walk. `period` is its weight. `stack` and `end` are what
    /// [`perf_symbol::StackFinder::push`] gave. `finder` finds the ends of call chains, `symbolizer` the functions.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Record`](perf_parse::error::FileErrorKind::Record) if the sample cannot be decoded. It has no row then.
    #[allow(clippy::too_many_arguments, reason = "a sample, its stack, and what finds the rest")]
    pub(super) fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        event: &Arc<Event>,
        events: &Events,
        period: u64,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        finder: &mut perf_symbol::StackFinder,
        mut symbolizer: Option<&mut Symbolizer>,
    ) -> Result<(), FileError> {
        let (record, sample) = (at.record(), at.sample());
        let tail = sample.tail().map_err(|error| record.error(error))?;
        self.identify(record);
        let Self { generation, tables, context, options, .. } = self;
        let has_written = !generation.has_room(stack.len());
        if has_written {
            generation.write(tables, context, at.session(), symbolizer.as_deref());
        }
        let (stack, end) = generation.number(at, stack, end, finder, symbolizer.as_deref_mut());
        let stack_id = (stack != EMPTY && !options.flat).then(|| generation.stack_id(stack));
        let raw = tail.raw;
        self.switches.sample(&mut tables.switches, context, at, &self.traces, raw, stack_id);
        self.sched.sample(tables, context, at, stack_id);
        let time = sample.time();
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        self.tasks.sample(at.thread());
        self.samples += 1;
        if self.events.len() <= event.index {
            self.events.resize_with(event.index + 1, EventSamples::default);
        }
        let Some(seen) = self.events.get_mut(event.index) else { return Ok(()) };
        if seen.samples == 0 {
            tables.samples.name_event(event.index, utf8(&event_name(event)).into_owned());
        }
        seen.samples += 1;
        seen.period = seen.period.wrapping_add(period);
        let traced = raw.filter(|_| options.with.trace && context.has_trace());
        let traced = traced.and_then(|raw| Some((self.traces.of(event)?, raw)));
        let trace = traced.map(|(format, raw)| self.traces.fields(format, raw));
        if let Some((format, raw)) = traced {
            let traced = TraceSample { at, event, period, stack_id, raw };
            match self.trace_tables.push(context, format, &traced) {
                Some(Ok(batch)) => self.ready_traces.push_back(batch),
                Some(Err(fault)) => self.fault = Some(fault),
                None => {}
            }
        }
        let stack_end = has_stacks(event).then_some(end).flatten();
        let known = SampleFacts { event, period, stack_id, stack_end, trace, is_flat: options.flat };
        tables.samples.push(context, at, &tail, options.with, &known);
        if options.flat {
            generation.wait(stack);
        }
        if let Some(read) = &tail.read {
            let task = (sample.pid().unwrap_or(-1), sample.tid().unwrap_or(-1));
            let reading =
                CounterReading { source: "sample", time, cpu: sample.cpu(), task, event: Some(event) };
            self.counters.read(&mut tables.counts, context, events, &reading, read);
        }
        if self.tables.samples.len() >= BATCH {
            if self.options.flat {
                self.generation.write_flat(
                    &mut self.tables,
                    &self.context,
                    at.session(),
                    symbolizer.as_deref(),
                );
            }
            self.put(Table::Samples);
        }
        let of_threads = [Table::Counts, Table::Switches, Table::Runs, Table::Waits, Table::Wakeups];
        if has_written || of_threads.iter().any(|&table| self.tables.len(table) >= BATCH) {
            self.put_full();
        }
        Ok(())
    }

    /// Adds a record that is not a sample, after the session. `events` are those of the walk.
    pub(super) fn record(&mut self, record: &EventRecord<'_>, events: &Events, session: &Session) {
        self.identify(record);
        // The session has reported what cannot be decoded.
        let Ok(decoded) = record.decode() else { return };
        let Self { tables, context, .. } = self;
        self.tasks.record(record.misc(), &decoded, session);
        self.tasks.write_if_many(context, &mut tables.threads, &mut tables.processes);
        self.switches.record(&mut tables.switches, context, record, session);
        self.sched.record(tables, context, record, session);
        mmaps::push(&mut tables.mmaps, context, record, &decoded);
        losses::push(&mut tables.losses, context, record, &decoded);
        let counts = &mut tables.counts;
        match &decoded {
            Record::Read(it) => {
                let event = record.event().map(|event| &**event);
                let task = (it.pid, it.tid);
                let reading =
                    CounterReading { source: "read", time: record.time(), cpu: record.cpu(), task, event };
                self.counters.read(counts, context, events, &reading, &it.read);
            }
            Record::User(UserRecord::Stat(it), _) => {
                self.counters.stat(counts, context, events, it);
            }
            Record::User(UserRecord::StatRound(it), _) => {
                self.counters.round(counts, context, events, Some(it.time));
            }
            _ => {}
        }
        self.put_full();
    }

    /// Adds the facts known at the end of the capture, and makes batches of all remaining rows. `session` is that of the
    /// walk, after the last record; `features` and `account` are those of the walk.
    pub(super) fn finish(
        &mut self,
        session: &Session,
        symbolizer: Option<&Symbolizer>,
        events: &Events,
        features: &Features<'_>,
        account: &Account,
    ) {
        if let Some(identity) = self.identity.take() {
            self.context.capture = identity.name();
        }
        let Self { tables, context, .. } = self;
        self.generation.write(tables, context, session, symbolizer);
        self.tasks.write(context, &mut tables.threads, &mut tables.processes, |_| true);
        self.counters.round(&mut tables.counts, context, events, None);
        self.sched.finish(tables, context, session);
        for event in events.iter() {
            let seen = self.events.get(event.index);
            let (samples, period) = seen.map_or((0, 0), |seen| (seen.samples, seen.period));
            let name = utf8(&event_name(event)).into_owned();
            events::push(&mut tables.events, context, event, &name, samples, period);
        }
        losses::push_account(&mut tables.losses, context, account);
        context.origin = CaptureOrigin::of(features);
        context.date = captures::date_of(features);
        let capture = CaptureRow {
            path: self.options.path.as_deref(),
            mode: self.mode,
            features,
            account,
            span: self.span,
            samples: self.samples,
            quality: self.generation.quality(),
        };
        captures::push(&mut tables.captures, context, &capture);
        while let Some(batch) = self.trace_tables.take_largest(context) {
            match batch {
                Ok(batch) => self.ready_traces.push_back(batch),
                Err(fault) => self.fault = Some(fault),
            }
        }
        for &table in Table::ALL {
            self.put(table);
        }
    }

    /// Adds a record of Arm SPE to the table `spe`. They are of the AUX data of a capture, of which `TraceSamples` of perf-profile
    /// makes the samples of this capture.
    pub fn trace_record(&mut self, record: &TraceRecord) {
        spe::push(&mut self.tables.spe, &self.context, record);
        if self.tables.spe.len() >= BATCH {
            self.put(Table::Spe);
        }
    }

    /// Makes a batch of the records of Arm SPE that are in none, after the last one. They may come after all samples.
    pub fn end_trace_records(&mut self) {
        self.put(Table::Spe);
    }

    /// Returns the next batch; `None` if there is none until more records come. At the end, each table has at
    /// least one batch, which may have no rows.
    ///
    /// # Errors
    ///
    /// If the rows of a table do not fit its columns, which is a fault of this crate.
    pub fn take(&mut self) -> Result<Option<(Table, RecordBatch)>, ArrowError> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(self.ready.pop_front()),
        }
    }

    /// Returns the next batch of the table of a tracepoint, and the name of the table; `None` if there is none until more
    /// records come. Such tables exist with [`ExtraColumns::trace`](super::ExtraColumns::trace); `SCHEMA.md` describes them.
    pub fn take_trace(&mut self) -> Option<(Arc<str>, RecordBatch)> {
        self.ready_traces.pop_front()
    }

    /// Makes batches of the tables that have enough rows. The samples are put where they are written.
    fn put_full(&mut self) {
        for &table in Table::ALL {
            if table != Table::Samples && self.tables.len(table) >= BATCH {
                self.put(table);
            }
        }
    }

    fn put(&mut self, table: Table) {
        match self.tables.finish(table, &self.context) {
            Ok(batch) => self.ready.push_back((table, batch)),
            Err(fault) => self.fault = Some(fault),
        }
    }
}
