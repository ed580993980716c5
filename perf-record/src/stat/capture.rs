//! Counts in a capture, as `perf stat record` writes them and `perf stat report` reads them.

use std::path::Path;

use perf_abi::record::{RecordType, StatConfigTerm, StatRoundType};
use perf_open::EventSpec;
use perf_open::abi::attr::AttrFlags;
use perf_open::abi::sample_type::SampleType;
use perf_parse::ByteStr;
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FeaturePayloads};

use super::error::StatError;
use super::group::StatGroup;
use super::options::{StatCgroups, StatOptions};
use super::plan::StatPlan;
use super::run::{StatInterval, StatRun};
use super::times::nanoseconds;
use crate::Error;
use crate::host::{self, ROOT};
use crate::record_body::{put, word};
use crate::sink::{CaptureHead, RecordingSink};
use crate::user_records::{cpu_map, thread_map};

/// Facts about a capture of counts that the counts do not have.
///
/// Fields may be added: end a literal with `..StatCaptureOptions::default()`.
#[derive(Clone, Debug, Default)]
pub struct StatCaptureOptions {
    /// Words of the command line, for the feature `CMDLINE`.
    pub command_line: Vec<Vec<u8>>,
    /// Name and version of the program that counts, for the feature `VERSION`.
    pub version: String,
    /// Whether the capture goes to a [stream](crate::PipeSink) rather than to a file.
    pub is_stream: bool,
    // `#[non_exhaustive]` would also forbid `..StatCaptureOptions::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

/// A capture of the counts of one run, which is being written.
///
/// # Examples
///
/// ```
/// use std::io::Cursor;
///
/// use perf_record::open::event::parse;
/// use perf_record::stat::{StatCapture, StatCaptureOptions, StatError, StatOptions, StatPlan};
/// use perf_record::{FileSink, Targets};
///
/// /// Returns the page faults of this process while it writes to fresh memory, as a capture.
/// fn page_faults() -> Result<Vec<u8>, StatError> {
///     let this = Targets::Threads(vec![std::process::id()]);
///     let plan = StatPlan::new(parse("page-faults:u")?, this, StatOptions::default())?;
///     let mut run = plan.open(None)?;
///     let sink = FileSink::new(Cursor::new(Vec::new()));
///     let mut capture = StatCapture::begin(sink, &run, &StatCaptureOptions::default())?;
///     run.start()?;
///     drop(vec![1_u8; 1 << 20]);
///     capture.round(&run.finish(None)?.last, true)?;
///     Ok(capture.finish()?.into_inner().unwrap_or_default().into_inner())
/// }
///
/// match page_faults() {
///     Ok(file) => assert!(perf_record::parse::Reader::new(&file)?.records().count() > 4),
///     // For example in a container that forbids the call.
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// perf: `tools/perf/builtin-stat.c`.
#[derive(Debug)]
pub struct StatCapture<S> {
    sink: S,
    features: FeaturePayloads,
    /// The id of each counter.
    ids: Vec<u64>,
    /// The threads that are counted; empty for all.
    threads: Vec<u32>,
    /// Whether the rounds are intervals.
    has_intervals: bool,
}

/// Returns perf's code of the aggregation, or an error if a capture has no place for what the options ask for, or for an event.
fn check<'e>(
    options: &StatOptions,
    mut events: impl Iterator<Item = &'e EventSpec>,
) -> Result<u64, StatError> {
    if options.cgroups != StatCgroups::All {
        return Err(StatError::CaptureOfCgroups);
    }
    let code = options.aggregation.code().ok_or(StatError::UnnumberedAggregation)?;
    match events.find(|event| event.tool.is_some()) {
        Some(event) => Err(StatError::ToolEvent { event: event.name.clone() }),
        None => Ok(code),
    }
}

impl StatPlan {
    /// Checks that a [capture](StatCapture) has a place for what is counted, before an event is opened and a file is created.
    ///
    /// # Errors
    ///
    /// If an event is one that the tool itself measures; if tasks of cgroups are counted, or by clusters or caches.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_record::Targets;
    /// use perf_record::open::event::parse;
    /// use perf_record::stat::{StatOptions, StatPlan};
    ///
    /// let plan = |events| StatPlan::new(parse(events)?, Targets::Command, StatOptions::default());
    /// assert!(plan("page-faults").is_ok_and(|plan| plan.check_capture().is_ok()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn check_capture(&self) -> Result<(), StatError> {
        self.aggregation_code().map(drop)
    }

    /// Returns perf's code of the aggregation, or the error of [`check_capture`](Self::check_capture).
    fn aggregation_code(&self) -> Result<u64, StatError> {
        check(&self.options, self.groups.iter().flat_map(StatGroup::events))
    }
}

impl<S: RecordingSink> StatCapture<S> {
    /// Begins a capture of a run: the features of the machine, and the records THREAD_MAP, CPU_MAP and STAT_CONFIG.
    ///
    /// # Errors
    ///
    /// If the run counts an event that the tool itself measures, tasks of cgroups, or by clusters or caches; if the sink fails.
    pub fn begin(sink: S, run: &StatRun<'_>, options: &StatCaptureOptions) -> Result<Self, StatError> {
        let aggr_mode = run.plan.aggregation_code()?;
        let threads = run.plan.targets.threads(run.command);
        let (mut events, ids) = events(run)?;
        if options.is_stream {
            adapt_to_stream(&mut events);
        }
        let interval = run.plan.options.interval;
        let config = [
            (StatConfigTerm::AGGR_MODE, aggr_mode),
            (
                StatConfigTerm::INTERVAL,
                interval.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
            ),
            (StatConfigTerm::SCALE, 1),
        ];
        let mut features = FeaturePayloads::new();
        let words: Vec<_> = options.command_line.iter().map(|word| ByteStr::new(word)).collect();
        host::describe(Path::new(ROOT), &options.version, &words, &mut features).map_err(Error::from)?;
        features.set(&FeatureData::Stat).map_err(Error::from)?;
        let has_intervals = interval.is_some();
        let mut capture = Self { sink, features, ids, threads, has_intervals };
        capture.write_head(&events, run.counters.cpus(), &config)?;
        Ok(capture)
    }

    fn write_head(
        &mut self,
        events: &[EventFields],
        cpus: Vec<Option<u32>>,
        config: &[(StatConfigTerm, u64)],
    ) -> Result<(), Error> {
        self.sink.begin(&CaptureHead { events, features: &self.features })?;
        let mut write = |record: &[u8]| self.sink.records(record);
        thread_map(&self.threads, &mut write)?;
        cpu_map(cpus, &mut write)?;
        let mut body = Vec::new();
        word(&mut body, config.len() as u64);
        for &(term, value) in config {
            word(&mut body, term.0);
            word(&mut body, value);
        }
        put(RecordType::STAT_CONFIG, &body, &mut write)?;
        self.sink.flush()
    }

    /// Returns the sink.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Adds a round: the counts since the start, at the end of an interval of the run, or with `is_last` at its end.
    ///
    /// # Errors
    ///
    /// If the sink fails.
    pub fn round(&mut self, interval: &StatInterval, is_last: bool) -> Result<(), StatError> {
        for count in &interval.counts {
            let Some(&id) = self.ids.get(count.counter) else { continue };
            let thread = self.threads.iter().position(|tid| Some(*tid) == count.thread).unwrap_or(0);
            let cpu = count.cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
            let thread = i32::try_from(thread).unwrap_or(0);
            let mut body = Vec::new();
            word(&mut body, id);
            body.extend(cpu.to_ne_bytes());
            body.extend(thread.to_ne_bytes());
            let values = [count.count.value, count.count.enabled, count.count.running];
            values.into_iter().for_each(|value| word(&mut body, value));
            put(RecordType::STAT, &body, &mut |record| self.sink.records(record))?;
        }
        let kind =
            if is_last && !self.has_intervals { StatRoundType::FINAL } else { StatRoundType::INTERVAL };
        let mut body = Vec::new();
        word(&mut body, kind.0);
        word(&mut body, nanoseconds(interval.at));
        put(RecordType::STAT_ROUND, &body, &mut |record| self.sink.records(record))?;
        Ok(self.sink.flush()?)
    }

    /// Ends the capture. Returns the sink.
    ///
    /// # Errors
    ///
    /// If the sink fails.
    pub fn finish(mut self) -> Result<S, StatError> {
        self.sink.finish(&self.features)?;
        Ok(self.sink)
    }
}

/// Returns the events as a capture lists them, and the id of each counter.
fn events(run: &StatRun<'_>) -> Result<(Vec<EventFields>, Vec<u64>), StatError> {
    let fields = |event: &EventSpec| EventFields {
        attr: event.attr,
        name: Some(event.name.clone().into_bytes()),
        ..EventFields::default()
    };
    let mut events: Vec<EventFields> = run.counters.events.iter().map(fields).collect();
    let mut ids = Vec::new();
    for (index, counter) in run.counters.counters() {
        let id = counter.id()?;
        ids.push(id);
        if let (Some(event), Some(counted)) = (events.get_mut(index), run.events.get(index)) {
            event.attr = *counter.attr();
            event.ids.push(id);
            (event.unit, event.scale) = (counted.unit.clone().map(String::into_bytes), counted.factor());
        }
    }
    Ok((events, ids))
}

/// Changes events so that perf reads them in a stream.
fn adapt_to_stream(events: &mut [EventFields]) {
    // perf script takes an event of a stream that has fields for one that has samples.
    events.iter_mut().for_each(|event| event.attr.sample_type = SampleType::NONE);
    // A stream names an event by an id. One that is not supported has none; readers name it by its attr.
    for event in events.iter_mut().filter(|event| event.ids.is_empty()) {
        event.name = None;
        // perf's default, without which the name would have a modifier.
        event.attr.flags |= AttrFlags::EXCLUDE_GUEST;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Aggregation, CpuDomain};
    use super::*;

    #[test]
    fn what_a_capture_has_no_place_for() {
        let cgroups = StatCgroups::ForEach(vec!["a".to_owned()]);
        let options = StatOptions { cgroups, ..StatOptions::default() };
        assert!(matches!(check(&options, [].iter()), Err(StatError::CaptureOfCgroups)));
        let options = |aggregation| StatOptions { aggregation, ..StatOptions::default() };
        let clusters = options(Aggregation::Domain(CpuDomain::Cluster));
        assert!(matches!(check(&clusters, [].iter()), Err(StatError::UnnumberedAggregation)));
        assert_eq!(check(&options(Aggregation::Cpu), [].iter()).unwrap(), 0);
        assert_eq!(check(&options(Aggregation::Total), [].iter()).unwrap(), 1);
    }

    #[test]
    fn a_stream_has_no_fields_of_samples() {
        let unsupported = EventFields { name: Some(b"cycles".to_vec()), ..EventFields::default() };
        let mut counted = EventFields { ids: vec![7], ..unsupported.clone() };
        counted.attr.sample_type = SampleType::IDENTIFIER;
        let mut events = [counted, unsupported];
        adapt_to_stream(&mut events);
        assert_eq!((events[0].attr.sample_type, events[0].name.is_some()), (SampleType::NONE, true));
        assert_eq!(events[1].name, None);
        assert!(events[1].attr.flags.contains(AttrFlags::EXCLUDE_GUEST));
    }
}
