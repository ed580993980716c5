//! The processes, and the threads with their samples and markers.

use std::collections::HashMap;

use serde::Serialize;

use super::{Threads, milliseconds};
use crate::profile::{OffCpu, Profile, Sample, Total};
use crate::text::OneLine;

/// The type of the markers of samples.
pub(super) const SAMPLE: &str = "sample";
/// The type of the markers of times without a CPU.
pub(super) const OFF_CPU: &str = "off-cpu";
/// Of markers at a moment, and of those with a duration.
const INSTANT: u32 = 0;
const INTERVAL: u32 = 1;

/// A process, as long as its main thread had one name.
pub(super) struct Process {
    pid: String,
    name: String,
    /// The time of its first sample.
    start: u64,
}

/// A thread, as long as it had one name.
pub(super) struct Row {
    pub(super) process: usize,
    tid: String,
    name: String,
    is_main: bool,
    start: u64,
    /// The indices of the samples of the event that is shown, and of those that are markers.
    samples: Vec<u32>,
    marked: Vec<u32>,
    /// The indices of the times without a CPU.
    off_cpu: Vec<u32>,
}

/// Makes ids of processes or threads that differ: `12`, `12.1`, `12.2`.
#[derive(Default)]
struct Ids(HashMap<i32, u32>);

impl Ids {
    fn next(&mut self, id: i32) -> String {
        let seen = self.0.entry(id).or_insert(0);
        *seen += 1;
        if *seen == 1 { id.to_string() } else { format!("{id}.{}", *seen - 1) }
    }
}

/// Returns the processes, and the threads of one after the other, main threads first.
pub(super) fn rows(profile: &Profile, event: u32) -> (Vec<Process>, Vec<Row>) {
    let (mut pids, mut tids) = (Ids::default(), Ids::default());
    let mut processes: Vec<Process> = Vec::new();
    // The process and whether it has its main thread, by the key of the process.
    let mut current: HashMap<u64, (usize, bool)> = HashMap::new();
    let mut rows = Vec::new();
    for thread in profile.threads() {
        let is_main = thread.pid == thread.tid;
        let name = OneLine(&thread.comm).to_string();
        let known = current.get(&thread.process_key).copied().filter(|&(_, has_main)| !(is_main && has_main));
        let (process, has_main) = known.unwrap_or_else(|| {
            processes.push(Process { pid: pids.next(thread.pid), name: name.clone(), start: u64::MAX });
            (processes.len() - 1, false)
        });
        if is_main && let Some(process) = processes.get_mut(process) {
            process.name.clone_from(&name);
        }
        current.insert(thread.process_key, (process, has_main || is_main));
        let (tid, start) = (tids.next(thread.tid), u64::MAX);
        let (samples, marked, off_cpu) = Default::default();
        rows.push(Row { process, tid, name, is_main, start, samples, marked, off_cpu });
    }
    for (sample, number) in profile.samples().iter().zip(0..) {
        let Some(row) = rows.get_mut(sample.thread as usize) else { continue };
        if sample.event == event {
            row.samples.push(number);
        }
        if sample.event != event || profile.text(number).is_some() {
            row.marked.push(number);
        }
        row.start = row.start.min(sample.time);
        if let Some(process) = processes.get_mut(row.process) {
            process.start = process.start.min(sample.time);
        }
    }
    for (off, number) in profile.off_cpu().iter().zip(0..) {
        if let Some(row) = rows.get_mut(off.thread as usize) {
            row.off_cpu.push(number);
        }
    }
    rows.sort_by_key(|row| (row.process, !row.is_main));
    (processes, rows)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread<'a> {
    name: &'a str,
    is_main_thread: bool,
    process_type: &'static str,
    process_name: &'a str,
    process_startup_time: f64,
    process_shutdown_time: Option<f64>,
    register_time: f64,
    unregister_time: Option<f64>,
    paused_ranges: [(); 0],
    pid: &'a str,
    tid: &'a str,
    show_markers_in_timeline: bool,
    samples: Samples,
    markers: Markers,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    length: usize,
    stack: Vec<Option<u32>>,
    time: Vec<f64>,
    weight: Vec<u64>,
    weight_type: &'static str,
    #[serde(rename = "threadCPUDelta", skip_serializing_if = "Option::is_none")]
    thread_cpu_delta: Option<Vec<u64>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Markers {
    length: usize,
    name: Vec<u32>,
    start_time: Vec<f64>,
    end_time: Vec<Option<f64>>,
    phase: Vec<u32>,
    category: Vec<u32>,
    data: Vec<Marker>,
}

#[derive(Serialize)]
struct Marker {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
}

#[derive(Serialize)]
struct Cause {
    stack: u32,
}

impl<'a> Thread<'a> {
    pub(super) fn new(threads: &Threads<'_>, row: &'a Row, process: &'a Process) -> Self {
        Self {
            name: &row.name,
            is_main_thread: row.is_main,
            process_type: "default",
            process_name: &process.name,
            process_startup_time: threads.time(process.start),
            process_shutdown_time: None,
            register_time: threads.time(row.start),
            unregister_time: None,
            paused_ranges: [],
            pid: &process.pid,
            tid: &row.tid,
            show_markers_in_timeline: row.samples.is_empty(),
            samples: threads.samples(row),
            markers: threads.markers(row),
        }
    }
}

impl Threads<'_> {
    /// Returns milliseconds since the first sample. Samples without a time are there too.
    fn time(&self, time: u64) -> f64 {
        milliseconds(time.saturating_sub(self.start))
    }

    /// Returns samples and their numbers in the order of time, as the profiler needs them.
    fn in_order(&self, numbers: &[u32]) -> Vec<(&Sample, u32)> {
        let samples = self.profile.samples();
        let with_sample = |&number: &u32| Some((samples.get(number as usize)?, number));
        let mut list: Vec<_> = numbers.iter().filter_map(with_sample).collect();
        list.sort_by_key(|(sample, _)| sample.time);
        list
    }

    /// Returns the samples. Where the thread leaves the CPU is one without a stack that weighs nothing, so that the stack
    /// before it does not seem to last until the thread is back.
    fn samples(&self, row: &Row) -> Samples {
        let stack = |sample: &Sample| self.shared.row_of(sample.stack);
        let own = self.in_order(&row.samples).into_iter().map(|(it, _)| (it.time, stack(it), it.total));
        let mut list: Vec<_> = own.collect();
        let first = list.first().map(|(time, ..)| *time);
        let ends = self.off_cpu(row).map(|off| (off.start, None, Total::default()));
        list.extend(ends.filter(|(time, ..)| first.is_some_and(|first| first <= *time)));
        list.sort_by_key(|(time, ..)| *time);
        Samples {
            length: list.len(),
            stack: list.iter().map(|(_, stack, _)| *stack).collect(),
            time: list.iter().map(|(time, ..)| self.time(*time)).collect(),
            weight: list.iter().map(|(.., total)| total.samples).collect(),
            weight_type: "samples",
            thread_cpu_delta: self.has_cpu.then(|| list.iter().map(|(.., total)| total.period).collect()),
        }
    }

    /// Returns the times without a CPU.
    fn off_cpu<'s>(&'s self, row: &'s Row) -> impl Iterator<Item = &'s OffCpu> {
        row.off_cpu.iter().filter_map(|&number| self.profile.off_cpu().get(number as usize))
    }

    fn markers(&self, row: &Row) -> Markers {
        let mut all = Vec::new();
        for (sample, number) in self.in_order(&row.marked) {
            let data = Marker {
                kind: SAMPLE,
                text: self.profile.text(number).map(|text| OneLine(text).to_string()),
                period: Some(sample.total.period),
                cpu: sample.cpu,
                cause: self.shared.row_of(sample.stack).map(|stack| Cause { stack }),
            };
            let name = self.markers.get(sample.event as usize).copied().unwrap_or_default();
            all.push((sample.time, None, name, data));
        }
        for off in self.off_cpu(row) {
            let text = if off.is_preempted { "preempted" } else { "waits" };
            let (text, period) = (Some(text.to_owned()), None);
            let data = Marker { kind: OFF_CPU, text, period, cpu: None, cause: None };
            all.push((off.start, Some(off.end), self.off_cpu, data));
        }
        all.sort_by_key(|(start, ..)| *start);
        let end = |end: Option<u64>| end.map(|end| self.time(end));
        Markers {
            length: all.len(),
            name: all.iter().map(|(_, _, name, _)| *name).collect(),
            start_time: all.iter().map(|(start, ..)| self.time(*start)).collect(),
            end_time: all.iter().map(|(_, it, ..)| end(*it)).collect(),
            phase: all.iter().map(|(_, it, ..)| if it.is_some() { INTERVAL } else { INSTANT }).collect(),
            category: vec![0; all.len()],
            data: all.into_iter().map(|(.., data)| data).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_come_again_get_a_number() {
        let mut ids = Ids::default();
        assert_eq!([7, 7, 8, 7].map(|id| ids.next(id)), ["7", "7.1", "8", "7.2"]);
    }
}
