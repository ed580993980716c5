//! The walk over the samples of a capture, in time order, with what is known of their processes.

mod filter;
mod spans;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
#[cfg(feature = "parquet")]
use perf_parse::event::Events;
use perf_parse::feature::Features;
use perf_parse::file::{Account, DeferredSamples, EventRecords, Reader};
use perf_parse::{EventRecord, FileError};
use perf_session::{At, Session};

use crate::args::only::OnlyArgs;
use crate::escape::OneLine;
use crate::event_filter::EventFilter;
use crate::input::Memory;
use crate::names::Names;
use crate::output::{Diagnostics, say};
use crate::progress::Progress;
use crate::{Failure, Outcome, advice};
pub(crate) use filter::Filter;
use perf_export::event_name;
use spans::{Mark, Spans};

/// What a verb does with the records of a capture.
pub(crate) trait Visit {
    /// Takes a sample that is selected.
    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Names,
        records: &EventRecords<'_>,
    ) -> Visited;

    /// Sees each sample before it is selected or not.
    fn before(&mut self, _at: &At<'_, '_>) {}

    /// Takes a sample of the selected times, CPUs and events, but not of the selected threads, files and functions.
    fn filtered(&mut self, _at: &At<'_, '_>, _counted: &Counted<'_>, _names: &mut Names) -> Visited {
        Ok(Ok(()))
    }

    /// Takes a record that is not a sample, after the session did.
    fn other(
        &mut self,
        _record: &EventRecord<'_>,
        _session: &Session,
        _filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        Ok(Ok(()))
    }

    /// Whether the visitor prints during the walk.
    const PRINTS: bool;

    /// Whether a sample that reads several counters is passed once, as the sample of its event, and not once for each counter.
    const TAKES_GROUPS: bool = false;

    /// Ends a record. Returns whether the walk goes on.
    fn goes_on(&mut self) -> Result<bool, Failure> {
        Ok(true)
    }
}

/// The inner result is a fault of the record. The outer one ends the run.
pub(crate) type Visited = Result<Result<(), FileError>, Failure>;

/// A sample of an event, or the part of a sample that one event of a group has.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) event: &'a Arc<Event>,
    pub(crate) period: u64,
    /// The user part of its call chain that came in a later record.
    pub(crate) user: Option<&'a [u64]>,
}

/// The samples of a capture.
#[derive(Debug)]
pub(crate) struct Samples<'a, 'b> {
    reader: &'a Reader<'b>,
    size: u64,
    filter: Filter<'a>,
}

impl<'a, 'b> Samples<'a, 'b> {
    /// Selects samples of a capture.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection.
    pub(crate) fn new(
        reader: &'a Reader<'b>,
        memory: Memory<'_>,
        only: &'a OnlyArgs,
    ) -> Result<Self, Failure> {
        let spans = only.time.as_deref().map_or_else(|| Ok(Spans::default()), |text| spans(reader, text))?;
        let filter = Filter::new(only, reader, spans)?;
        check_cpus(reader.events(), only)?;
        Ok(Self { reader, size: memory.size, filter })
    }

    /// Passes all records to `visitor`, and returns what is left at the end; `None` if the visitor ended the walk.
    ///
    /// # Errors
    ///
    /// Those of the visitor.
    pub(crate) fn walk<V: Visit>(self, names: Names, visitor: &mut V) -> Result<Option<Walked<'a>>, Failure> {
        let Self { reader, size, filter } = self;
        let mut progress = Progress::new(size, V::PRINTS);
        let mut records = reader.records().in_time_order();
        records.check_features();
        let mut session = Session::new();
        session.add_features(records.features());
        let mut walk = Walk {
            visitor,
            filter,
            session,
            names,
            counted: BTreeMap::new(),
            diagnostics: Diagnostics::new(),
        };
        let mut waiting = DeferredSamples::within(reader.limits());
        while let Some(record) = records.next() {
            // The account of the walk has the error already.
            let Ok(record) = record else {
                walk.diagnostics.report_new(records.account());
                continue;
            };
            progress.at(records.reached().offset);
            if waiting.hold(&record) {
                continue;
            }
            if let Some(ended) = waiting.end(&record) {
                for sample in &ended.samples {
                    if !walk.push(&sample.record, ended.user_of(sample), &mut records)? {
                        return Ok(None);
                    }
                }
            }
            if !walk.push(&record, None, &mut records)? {
                return Ok(None);
            }
        }
        for sample in waiting.take_all() {
            if !walk.push(&sample.record, None, &mut records)? {
                return Ok(None);
            }
        }
        if let Some(fault) = waiting.fault() {
            records.account_mut().note(fault);
        }
        let Walk { session, names, diagnostics, .. } = walk;
        Ok(Some(Walked { records, session, names, omitted: waiting.omitted(), diagnostics }))
    }
}

/// What is left at the end of a walk.
#[derive(Debug)]
pub(crate) struct Walked<'a> {
    records: EventRecords<'a>,
    /// The state after the last record.
    pub(crate) session: Session,
    pub(crate) names: Names,
    /// The number of samples that did not wait for the user part of their call chain.
    omitted: u64,
    diagnostics: Diagnostics,
}

impl Walked<'_> {
    pub(crate) fn account(&self) -> &Account {
        self.records.account()
    }

    /// Returns all events of the capture.
    #[cfg(feature = "parquet")]
    pub(crate) fn events(&self) -> &Events {
        self.records.events()
    }

    /// Returns all features of the capture.
    pub(crate) fn features(&self) -> &Features<'_> {
        self.records.features()
    }

    /// Reports what could not be decoded. `done` is what the verb did with the samples: printed, counted.
    pub(crate) fn finish(self, done: &str) -> Outcome {
        let Self { records, omitted, mut diagnostics, .. } = self;
        if omitted > 0 {
            say!(
                "perfdata: samples {done} without the user part of their call chain, because too many waited for it: {omitted}"
            );
        }
        let account = records.account();
        diagnostics.report_all(account);
        if account.is_clean() {
            return Outcome::Clean;
        }
        let (walked, faults, skipped) = (account.records, account.faults(), account.bytes_skipped);
        say!(
            "perfdata: records read: {walked}, faults: {faults}, bytes skipped: {skipped}{}",
            advice(account)
        );
        Outcome::Partial
    }
}

/// What is known up to the last record.
struct Walk<'a, 'v, V> {
    visitor: &'v mut V,
    filter: Filter<'a>,
    session: Session,
    names: Names,
    /// The last value of each counter, by its id.
    counted: BTreeMap<u64, u64>,
    diagnostics: Diagnostics,
}

impl<V: Visit> Walk<'_, '_, V> {
    /// Applies a record and passes it on; notes its fault. `user` is the part of its call chain that came later. Returns
    /// whether the walk goes on.
    fn push(
        &mut self,
        record: &EventRecord<'_>,
        user: Option<&[u64]>,
        records: &mut EventRecords<'_>,
    ) -> Result<bool, Failure> {
        if let Err(error) = self.pass(record, user, records)? {
            records.account_mut().note(error);
            self.diagnostics.report_new(records.account());
        }
        self.visitor.goes_on()
    }

    fn pass(
        &mut self,
        record: &EventRecord<'_>,
        user: Option<&[u64]>,
        records: &EventRecords<'_>,
    ) -> Visited {
        if record.kind() == RecordType::SAMPLE {
            return self.pass_sample(record, user, records);
        }
        if let Err(error) = self.session.update(record) {
            return Ok(Err(error));
        }
        self.visitor.other(record, &self.session, &self.filter, records)
    }

    fn pass_sample(
        &mut self,
        record: &EventRecord<'_>,
        user: Option<&[u64]>,
        records: &EventRecords<'_>,
    ) -> Visited {
        let Self { visitor, filter, session, names, counted, .. } = self;
        let at = match session.update_at(record) {
            Ok(at) => at,
            Err(error) => return Ok(Err(error)),
        };
        let Some((at, event)) = at.zip(record.event()) else { return Ok(Ok(())) };
        visitor.before(&at);
        let mut pass = |sample: &Counted<'_>| {
            if !filter.counts(&at, sample.event) {
                return Ok(Ok(()));
            }
            if !filter.wants(&at, names) {
                return visitor.filtered(&at, sample, names);
            }
            visitor.sample(&at, sample, names, records)
        };
        if event.attr.sample_type.contains(SampleType::READ) && !V::TAKES_GROUPS {
            return each_value(&at, user, counted, records, pass);
        }
        let period = at.sample().period().unwrap_or(event.attr.sample_period);
        pass(&Counted { event, period, user })
    }
}

/// Passes each counter value of a sample, as a sample of the event that was counted. The period is what was counted since
/// the sample before, whether that was selected or not. Values that did not change are left out.
///
/// perf: `evlist__deliver_sample`, `tools/perf/util/session.c`.
fn each_value(
    at: &At<'_, '_>,
    user: Option<&[u64]>,
    counted: &mut BTreeMap<u64, u64>,
    records: &EventRecords<'_>,
    mut pass: impl FnMut(&Counted<'_>) -> Visited,
) -> Visited {
    let read = match at.sample().tail() {
        Ok(tail) => tail.read,
        Err(error) => return Ok(Err(at.record().error(error))),
    };
    for value in read.into_iter().flat_map(|read| read.values()) {
        let Some((id, event)) = value.id.and_then(|id| Some((id, records.events().by_id(id)?))) else {
            continue;
        };
        let before = counted.insert(id, value.value).unwrap_or(0);
        let period = value.value.wrapping_sub(before);
        if period != 0
            && let Err(error) = pass(&Counted { event, period, user })?
        {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Checks that the first event of each type has the CPU, if samples are selected by it.
///
/// perf: `perf_session__cpu_bitmap`, `tools/perf/util/session.c`.
fn check_cpus(list: &[Arc<Event>], only: &OnlyArgs) -> Result<(), Failure> {
    let Some(cpus) = &only.cpu else { return Ok(()) };
    let is_first = |&(index, event): &(usize, &Arc<Event>)| {
        list[..index].iter().all(|before| before.attr.kind != event.attr.kind)
    };
    let lacks_cpu = |(_, event): &(usize, &Arc<Event>)| !event.attr.sample_type.contains(SampleType::CPU);
    match list.iter().enumerate().filter(is_first).find(lacks_cpu) {
        None => Ok(()),
        Some((_, event)) => {
            let name = OneLine(&event_name(event)).to_string();
            let what = format!("the samples of {name} do not have the CPU; leave --cpu out, or record it");
            Err(Failure(format!("--cpu {cpus}: {what}")))
        }
    }
}

/// Parses `--time`.
fn spans(reader: &Reader<'_>, text: &str) -> Result<Spans, Failure> {
    if let Some((from, to)) = text.split_once("..") {
        return spans_between(reader, text, from, to);
    }
    Spans::new(text, || {
        if let Some(Ok(times)) = reader.features().sample_time() {
            return Ok((times.first, times.last));
        }
        let what = "percents need the times of the first and the last sample";
        check_walk_again(reader, text, what)?;
        let records = reader.records().filter_map(Result::ok);
        let times = records.filter_map(|record| record.sample()?.time());
        let bounds = times.fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
        Ok(bounds)
    })
}

/// Returns the spans from each sample of an event to the next one of another.
fn spans_between(reader: &Reader<'_>, text: &str, from: &str, to: &str) -> Result<Spans, Failure> {
    let event = |name: &str| -> Result<Option<EventFilter>, Failure> {
        (!name.is_empty()).then(|| EventFilter::new(reader, "--time", name)).transpose()
    };
    let (begin, end) = (event(from)?, event(to)?);
    if begin.is_none() && end.is_none() {
        let what = "name an event before or after the dots, for example app:request..app:response";
        return Err(Failure(format!("--time {text}: {what}")));
    }
    check_walk_again(reader, text, "spans between events need the times of their samples")?;
    let mut records = reader.records().in_time_order();
    let marks = core::iter::from_fn(|| {
        loop {
            let Ok(record) = records.next()? else { continue };
            let Some((event, time)) = record.event().zip(record.sample().and_then(|it| it.time())) else {
                continue;
            };
            let is = |filter: &Option<EventFilter>| filter.as_ref().is_some_and(|filter| filter.wants(event));
            return Some(Mark { time, begins: is(&begin), ends: is(&end) });
        }
    });
    let spans = Spans::between(marks, begin.is_none());
    if spans.is_empty() {
        return Err(Failure(format!("--time {text}: there is no sample of {from}")));
    }
    Ok(spans)
}

/// Checks that the records can be read before the walk that uses them.
fn check_walk_again(reader: &Reader<'_>, text: &str, what: &str) -> Result<(), Failure> {
    if reader.can_walk_again() {
        return Ok(());
    }
    let instead = "which a stream does not have; give spans in seconds, or a file";
    Err(Failure(format!("--time {text}: {what}, {instead}")))
}
