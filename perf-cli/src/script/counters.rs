//! The counts of `perf stat record`, as a table.

use alloc::collections::BTreeMap;

use perf_abi::record::StatConfigTerm;
use perf_parse::event::Events;
use perf_parse::record::UserRecord;
use perf_parse::record::user::{Stat, StatConfig};

use crate::escape::print;
use crate::perf_text::print::push_name;
use perf_profile::event_name;

/// The aggregations whose counts are sums.
///
/// perf: `enum aggr_mode`, `tools/perf/util/stat.h`.
const AGGR_GLOBAL: u64 = 1;
const AGGR_UNSET: u64 = 6;

/// What a counter counted, and how long it was enabled and running, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct RecordedCount {
    val: u64,
    ena: u64,
    run: u64,
}

/// The counts of `perf stat record`, up to the last record.
#[derive(Debug)]
pub(super) struct Counters {
    /// The threads and the CPUs that are counted. Empty before the record that lists them.
    threads: Vec<i64>,
    cpus: Vec<i32>,
    /// The last counts of each event, by its index, the CPU and the index of the thread.
    counts: BTreeMap<(usize, i32, usize), RecordedCount>,
    /// The counts before them, as recorded.
    before: BTreeMap<(usize, i32, usize), RecordedCount>,
    /// How perf sums the counts.
    aggregation: u64,
    is_scaled: bool,
    has_header: bool,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self {
            threads: Vec::new(),
            cpus: Vec::new(),
            counts: BTreeMap::new(),
            before: BTreeMap::new(),
            aggregation: 0,
            is_scaled: false,
            has_header: false,
        }
    }

    /// Applies a record of the perf tool. Appends the counts at the end of a round.
    ///
    /// perf: `process_thread_map_event`, `process_cpu_map_event` and `process_stat_round_event`,
    /// `tools/perf/builtin-script.c`.
    pub(super) fn apply(&mut self, record: &UserRecord<'_>, events: &Events, out: &mut Vec<u8>) {
        match record {
            UserRecord::ThreadMap(it) if self.threads.is_empty() => {
                self.threads = it.entries.iter().map(|entry| entry.pid).collect();
            }
            UserRecord::CpuMap(it) if self.cpus.is_empty() => self.cpus = it.data.cpus().collect(),
            UserRecord::StatConfig(it) => self.configure(it),
            UserRecord::Stat(it) => self.count(it, events),
            UserRecord::StatRound(it) => self.push_round(it.time, events, out),
            _ => {}
        }
    }

    fn configure(&mut self, config: &StatConfig<'_>) {
        for entry in config.entries.iter() {
            match entry.tag {
                StatConfigTerm::AGGR_MODE => self.aggregation = entry.val,
                StatConfigTerm::SCALE => self.is_scaled = entry.val != 0,
                _ => {}
            }
        }
    }

    fn count(&mut self, stat: &Stat<'_>, events: &Events) {
        let Some(event) = events.by_id(stat.id).filter(|_| self.cpus.contains(&stat.cpu)) else { return };
        let thread = usize::try_from(stat.thread).unwrap_or(0);
        let Stat { val, ena, run, .. } = *stat;
        if thread < self.threads.len() {
            self.counts.insert((event.index, stat.cpu, thread), RecordedCount { val, ena, run });
        }
    }

    fn push_round(&mut self, time: u64, events: &Events, out: &mut Vec<u8>) {
        if self.threads.is_empty() || self.cpus.is_empty() {
            return;
        }
        if !core::mem::replace(&mut self.has_header, true) {
            out.extend_from_slice(
                b"CPU   THREAD             VAL             ENA             RUN            TIME EVENT\n",
            );
        }
        for event in events.iter() {
            for (thread, pid) in self.threads.iter().enumerate() {
                for cpu in &self.cpus {
                    let key = (event.index, *cpu, thread);
                    let count = self.counts.entry(key).or_default();
                    // perf: `process_counter_values`, `tools/perf/util/stat.c`.
                    if ![AGGR_GLOBAL, AGGR_UNSET].contains(&self.aggregation) {
                        let before = self.before.insert(key, *count).unwrap_or_default();
                        *count = difference(*count, before);
                        if self.is_scaled {
                            count.val = scaled(*count);
                        }
                    }
                    let RecordedCount { val, ena, run } = *count;
                    print(out, format_args!("{cpu:3} {pid:8} {val:15} {ena:15} {run:15} {time:15} "));
                    push_name(out, &event_name(event));
                    out.push(b'\n');
                }
            }
        }
    }
}

fn difference(count: RecordedCount, before: RecordedCount) -> RecordedCount {
    RecordedCount {
        val: count.val.wrapping_sub(before.val),
        ena: count.ena.wrapping_sub(before.ena),
        run: count.run.wrapping_sub(before.run),
    }
}

/// Returns the count that is expected if the counter had always been running.
///
/// perf: `perf_counts_values__scale`, `tools/lib/perf/evsel.c`.
fn scaled(count: RecordedCount) -> u64 {
    match count.run {
        0 => 0,
        run if run < count.ena => (count.val as f64 * count.ena as f64 / run as f64) as u64,
        _ => count.val,
    }
}
