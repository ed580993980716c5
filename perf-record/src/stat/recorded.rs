//! The counts of a capture.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::time::Duration;

use perf_abi::record::{StatConfigTerm, StatRoundType};
use perf_open::EventSpec;
use perf_parse::event::{Event, Events};
use perf_parse::record::UserRecord;
use perf_parse::record::user::{EventUpdateData, Stat, StatConfig, ThreadMap, ThreadMapEntry};

use super::aggregation::{Aggregate, AggregateLabel, AggregateLabels, Aggregation};
use super::counted_event::CountedEvent;
use super::readout::{Readout, TimedCount};
use super::rows::{self, CountRow};
use super::run::StatInterval;

/// The counts of a capture that [`StatCapture`](super::StatCapture) or `perf stat record` wrote, up to a record.
///
/// # Examples
///
/// ```
/// use perf_record::parse::{Reader, Record};
/// use perf_record::stat::RecordedCounts;
///
/// /// Prints the counts of a capture.
/// fn report(capture: &[u8]) -> Result<(), Box<dyn core::error::Error>> {
///     let reader = Reader::new(capture)?;
///     let mut counts = RecordedCounts::default();
///     let mut records = reader.records();
///     while let Some(record) = records.next() {
///         if let Record::User(record, _) = record?.decode()? {
///             let name = |event: &perf_record::parse::event::Event| {
///                 String::from_utf8_lossy(event.name.as_deref().unwrap_or_default()).into_owned()
///             };
///             counts.apply(&record, records.events(), name);
///         }
///     }
///     for row in counts.rows(&counts.total()) {
///         println!("{:?} {}", row.value(), row.event.name);
///     }
///     Ok(())
/// }
/// # assert!(report(b"no capture").is_err());
/// ```
#[derive(Debug, Default)]
pub struct RecordedCounts {
    /// The events, since the first count.
    events: Vec<CountedEvent>,
    /// The unit and the scale of each event, by an id of the event.
    units: BTreeMap<u64, (Option<String>, Option<f64>)>,
    /// The ids of the threads, and their names.
    threads: Vec<(i64, String)>,
    /// The code of the aggregation.
    aggr_mode: Option<u64>,
    interval: Duration,
    labels: AggregateLabels,
    /// The sums since the start, by event, cpu and index of the thread.
    sums: BTreeMap<(usize, i32, i32), TimedCount>,
    /// The counts and the time at the end of the round before.
    before: (Readout, Duration),
    /// When the last round ended.
    end: Duration,
}

impl RecordedCounts {
    /// Applies a record. Returns the counts of an interval if the record ends one. `events` are those of the capture, and `name`
    /// returns the name of one, which is called once for each, at the first count.
    pub fn apply(
        &mut self,
        record: &UserRecord<'_>,
        events: &Events,
        name: impl Fn(&Event) -> String,
    ) -> Option<StatInterval> {
        match record {
            UserRecord::EventUpdate(it) => match it.data {
                EventUpdateData::Unit(unit) => {
                    let unit = String::from_utf8_lossy(unit).into_owned();
                    self.units.entry(it.id).or_default().0 = Some(unit);
                }
                EventUpdateData::Scale(scale) => self.units.entry(it.id).or_default().1 = Some(scale),
                _ => {}
            },
            UserRecord::ThreadMap(it) => self.threads = threads(it),
            UserRecord::StatConfig(it) => self.configure(it),
            UserRecord::Stat(it) => {
                if self.events.is_empty() {
                    // Now all events are known.
                    let counted = |event: &Arc<Event>| CountedEvent::from(&self.spec(event, &name));
                    self.events = events.iter().map(counted).collect();
                }
                self.count(it, events);
            }
            UserRecord::StatRound(it) => {
                self.end = Duration::from_nanos(it.time);
                if it.kind == StatRoundType::INTERVAL {
                    let readout = self.readout();
                    let interval = StatInterval {
                        at: self.end,
                        lasted: self.end.saturating_sub(self.before.1),
                        readout: readout.since(&self.before.0),
                        counts: Vec::new(),
                    };
                    self.before = (readout, self.end);
                    return Some(interval);
                }
            }
            _ => {}
        }
        None
    }

    /// Returns the events; empty before the first count.
    #[must_use]
    pub fn events(&self) -> &[CountedEvent] {
        &self.events
    }

    /// Returns the length of an interval; 0 if the counts were only read at the end.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns whether the counts were recorded by parts of the machine, such as cores. A capture does not say which cpus
    /// belong to which part, so they are sums of everything here.
    #[must_use]
    pub fn is_by_domain(&self) -> bool {
        let is_told_apart = |mode| {
            [Aggregation::Total, Aggregation::Cpu, Aggregation::Thread]
                .iter()
                .any(|aggregation| aggregation.code() == Some(mode))
        };
        self.aggr_mode.is_some_and(|mode| !is_told_apart(mode))
    }

    /// Returns the counts from the start to the last round. An event without a count was not supported.
    #[must_use]
    pub fn total(&self) -> StatInterval {
        StatInterval { at: self.end, lasted: self.end, readout: self.readout(), counts: Vec::new() }
    }

    /// Returns the rows of an interval, or of the total, as [`StatPlan::rows`](super::StatPlan::rows) does.
    #[must_use]
    pub fn rows(&self, interval: &StatInterval) -> Vec<CountRow<'_>> {
        let readout = core::slice::from_ref(&interval.readout);
        rows::rows(&self.events, &self.labels, readout, interval.lasted, true)
    }

    fn configure(&mut self, config: &StatConfig<'_>) {
        for entry in config.entries.iter() {
            match entry.tag {
                StatConfigTerm::AGGR_MODE => self.aggr_mode = Some(entry.val),
                StatConfigTerm::INTERVAL => self.interval = Duration::from_millis(entry.val),
                _ => {}
            }
        }
    }

    fn count(&mut self, stat: &Stat<'_>, events: &Events) {
        let Some(event) = events.by_id(stat.id) else { return };
        let aggregate = self.aggregate(stat.cpu, stat.thread);
        let label = match (aggregate, usize::try_from(stat.thread).ok().and_then(|it| self.threads.get(it))) {
            (Aggregate::Cpu(cpu), _) => Some(AggregateLabel::cpu(cpu)),
            (Aggregate::Thread(_), Some((tid, comm))) => Some(AggregateLabel::thread(tid, comm)),
            _ => None,
        };
        if let Some(label) = label {
            self.labels.entry(aggregate).or_insert(label);
        }
        let count = TimedCount::new(stat.val, stat.ena, stat.run);
        self.sums.insert((event.index, stat.cpu, stat.thread), count);
    }

    /// Returns the aggregate that the count of a cpu and of a thread, by its index, is added to.
    fn aggregate(&self, cpu: i32, thread: i32) -> Aggregate {
        let is = |aggregation: Aggregation| self.aggr_mode.is_some() && self.aggr_mode == aggregation.code();
        if is(Aggregation::Cpu) {
            return u32::try_from(cpu).map_or(Aggregate::Total, Aggregate::Cpu);
        }
        if is(Aggregation::Thread) {
            let thread = usize::try_from(thread).ok().and_then(|index| self.threads.get(index));
            let tid = thread.and_then(|(tid, _)| u32::try_from(*tid).ok());
            return tid.map_or(Aggregate::Total, Aggregate::Thread);
        }
        Aggregate::Total
    }

    /// Returns the sums since the start.
    fn readout(&self) -> Readout {
        let mut readout = Readout::unsupported(self.events.len());
        for (&(event, cpu, thread), count) in &self.sums {
            readout.support(event);
            readout.add(event, self.aggregate(cpu, thread), *count);
        }
        readout
    }

    /// Returns an event of the capture as one that is counted.
    fn spec(&self, event: &Event, name: &impl Fn(&Event) -> String) -> EventSpec {
        let mut spec = EventSpec::numeric(name(event), event.attr.kind, event.attr.config);
        spec.attr = event.attr;
        let unit = event.ids.iter().find_map(|id| self.units.get(id));
        (spec.unit, spec.scale) = unit.cloned().unwrap_or_default();
        spec
    }
}

fn threads(map: &ThreadMap<'_>) -> Vec<(i64, String)> {
    let thread = |entry: ThreadMapEntry| (entry.pid, String::from_utf8_lossy(entry.comm()).into_owned());
    map.entries.iter().map(thread).collect()
}
