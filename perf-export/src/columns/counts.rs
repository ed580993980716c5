//! `counts`: what counters counted, from READ and STAT records and from samples.

use hashbrown::HashMap;
use perf_abi::attr::AttrFlags;
use perf_abi::sample_type::SampleType;
use perf_parse::event::{Event, Events};
use perf_parse::record::user::Stat;
use perf_parse::sample::Read;
use perf_profile::event_name;

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::utf8::utf8;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    source: Word, "", "`read` (a READ record), `stat` (of perf stat) or `sample` (a sample that reads counters).";
    time ? Int64, "ns", "Time of the record; of `stat`, of its round. Null if it is not recorded.";
    cpu ? Int32, "", "CPU. Null if it is not recorded, or for any CPU.";
    pid ? Int32, "", "Process id. Null for `stat`.";
    tid ? Int32, "", "Thread id. Null for `stat`.";
    event_id ? Int32, "", "The event: see `events`. Null if no event has the id.";
    event ? Word, "", "Name of the event. Null if no event has the id.";
    id ? Int64, "", "Id of the counter. Null if it is not recorded.";
    value: Int64, "as events.unit", "Occurrences counted: since the start for `read` and `sample`, in the round for `stat`.";
    delta ? Int64, "as events.unit", "Occurrences since the last sample of this counter. Null unless the source is `sample`.";
    time_enabled ? Int64, "ns", "Time for which the event was enabled. Null if it is not recorded.";
    time_running ? Int64, "ns", "Time for which the event was on a counter. Null if it is not recorded.";
    scaled ? Float64, "as events.unit", "`value` times `time_enabled` by `time_running`; `value` if both are equal or not recorded. Null if the event never ran.";
    lost ? Int64, "", "Number of samples that the counter lost. Null if it is not recorded.";
};

/// Number of counters whose last value is kept.
const LIMIT: usize = 1 << 16;

/// The last values of counters.
#[derive(Debug, Default)]
pub(super) struct CounterTable {
    /// By the id, and by the thread if the event is inherited: see `perf_session::Periods`.
    last: HashMap<(u64, Option<i32>), u64>,
    /// The counts of perf stat whose round has not ended.
    stats: Vec<StatCount>,
}

/// A count of perf stat.
#[derive(Clone, Copy, Debug)]
struct StatCount {
    id: u64,
    cpu: i32,
    count: ScaledCount,
}

/// CPU, thread and time at which counters were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterReading<'a> {
    pub(super) source: &'static str,
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
    pub(super) task: (i32, i32),
    /// The event of the record, which the values of a read without ids are of.
    pub(super) event: Option<&'a Event>,
}

impl CounterReading<'_> {
    /// Returns the thread that the counters are of; `None` if they are shared by the threads that use their ids.
    fn thread_of_counter(&self) -> Option<i32> {
        let attr = self.event.map(|event| &event.attr)?;
        let is_inherited = attr.flags.contains(AttrFlags::INHERIT);
        (is_inherited && attr.sample_type.contains(SampleType::TID)).then_some(self.task.1)
    }
}

/// A count with the times that scale it.
#[derive(Clone, Copy, Debug)]
struct ScaledCount {
    value: u64,
    enabled: Option<u64>,
    running: Option<u64>,
}

impl ScaledCount {
    /// perf: `perf_counts_values__scale`, `tools/lib/perf/evsel.c`.
    fn scaled(self) -> Option<f64> {
        match (self.enabled, self.running) {
            (_, Some(0)) => None,
            (Some(enabled), Some(running)) if enabled != running => {
                Some(self.value as f64 * enabled as f64 / running as f64)
            }
            _ => Some(self.value as f64),
        }
    }
}

impl CounterTable {
    /// Writes the counts of a read. The values of members of a group are of the events that have their ids.
    pub(super) fn read(
        &mut self,
        rows: &mut TableRows,
        context: &Context,
        events: &Events,
        at: &CounterReading<'_>,
        read: &Read<'_>,
    ) {
        let (enabled, running) = (read.time_enabled(), read.time_running());
        for value in read.values() {
            let of_id = value.id.and_then(|id| events.by_id(id)).map(|event| &**event);
            let event = of_id.or(at.event.filter(|_| !read.is_group()));
            let delta = value.id.filter(|_| at.source == "sample").map(|id| {
                let counter = (id, at.thread_of_counter());
                if self.last.len() >= LIMIT && !self.last.contains_key(&counter) {
                    self.last.clear();
                }
                value.value.wrapping_sub(self.last.insert(counter, value.value).unwrap_or(0))
            });
            rows.text(context.capture.as_str());
            rows.text(at.source);
            rows.int64(at.time);
            rows.int32(at.cpu.map(u32::cast_signed));
            rows.int32(at.task.0);
            rows.int32(at.task.1);
            push_event(rows, event);
            rows.int64(value.id);
            push_count(rows, ScaledCount { value: value.value, enabled, running }, delta);
            rows.int64(value.lost);
            rows.end();
        }
    }

    /// Adds a STAT record. Its time is that of the STAT_ROUND record that follows.
    pub(super) fn stat(&mut self, rows: &mut TableRows, context: &Context, events: &Events, stat: &Stat<'_>) {
        if self.stats.len() >= LIMIT {
            self.round(rows, context, events, None);
        }
        let count = ScaledCount { value: stat.val, enabled: Some(stat.ena), running: Some(stat.run) };
        self.stats.push(StatCount { id: stat.id, cpu: stat.cpu, count });
    }

    /// Writes the counts of a round of perf stat.
    pub(super) fn round(
        &mut self,
        rows: &mut TableRows,
        context: &Context,
        events: &Events,
        time: Option<u64>,
    ) {
        for StatCount { id, cpu, count } in self.stats.drain(..) {
            rows.text(context.capture.as_str());
            rows.text("stat");
            rows.int64(time);
            rows.int32((cpu >= 0).then_some(cpu));
            rows.int32(None);
            rows.int32(None);
            push_event(rows, events.by_id(id).map(|event| &**event));
            rows.int64(id);
            push_count(rows, count, None);
            rows.int64(None);
            rows.end();
        }
    }
}

fn push_event(rows: &mut TableRows, event: Option<&Event>) {
    rows.int32(event.map(|it| it.index as i32));
    rows.text(event.map(event_name).as_deref().map(utf8).as_deref());
}

fn push_count(rows: &mut TableRows, count: ScaledCount, delta: Option<u64>) {
    rows.int64(count.value);
    rows.int64(delta);
    rows.int64(count.enabled);
    rows.int64(count.running);
    rows.float64(count.scaled());
}
