//! The processes, and the threads with their samples and markers.

mod markers;
mod samples;

use hashbrown::HashMap;
use perf_profile::{OffCpu, Profile, Sample, text::OneLine};

use self::markers::MarkerTable;
use self::samples::SampleTable;
use super::{ThreadsWriter, milliseconds};
use crate::json::JsonDocument;

/// The type of the markers of samples.
pub(super) const SAMPLE: &str = "sample";
/// The type of the markers of times without a CPU.
pub(super) const OFF_CPU: &str = "off-cpu";
/// A process, as long as its main thread had one name.
pub(super) struct FirefoxProcess {
    pid: String,
    name: String,
    /// The time of its first sample.
    start: u64,
}

/// A thread, as long as it had one name.
pub(super) struct ThreadSpan {
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
struct UniqueIds(HashMap<i32, u32>);

impl ThreadSpan {
    /// Returns the number of samples and other moments.
    pub(super) fn moments(&self) -> usize {
        self.samples.len() + self.marked.len() + self.off_cpu.len()
    }
}

impl UniqueIds {
    fn next(&mut self, id: i32) -> String {
        let seen = self.0.entry(id).or_insert(0);
        *seen += 1;
        if *seen == 1 { id.to_string() } else { format!("{id}.{}", *seen - 1) }
    }
}

/// Returns the processes, and the threads of one after the other, main threads first.
pub(super) fn rows(profile: &Profile, event: u32) -> (Vec<FirefoxProcess>, Vec<ThreadSpan>) {
    let (mut pids, mut tids) = (UniqueIds::default(), UniqueIds::default());
    let mut processes: Vec<FirefoxProcess> = Vec::new();
    // The process and whether it has its main thread, by the key of the process.
    let mut current: HashMap<u64, (usize, bool)> = HashMap::new();
    let mut rows = Vec::new();
    for thread in profile.threads() {
        let is_main = thread.pid == thread.tid;
        let name = OneLine(&thread.comm).to_string();
        let known = current.get(&thread.process_key).copied().filter(|&(_, has_main)| !(is_main && has_main));
        let (process, has_main) = known.unwrap_or_else(|| {
            processes.push(FirefoxProcess {
                pid: pids.next(thread.pid),
                name: name.clone(),
                start: u64::MAX,
            });
            (processes.len() - 1, false)
        });
        if is_main && let Some(process) = processes.get_mut(process) {
            process.name.clone_from(&name);
        }
        current.insert(thread.process_key, (process, has_main || is_main));
        let (tid, start) = (tids.next(thread.tid), u64::MAX);
        let (samples, marked, off_cpu) = Default::default();
        rows.push(ThreadSpan { process, tid, name, is_main, start, samples, marked, off_cpu });
    }
    for (sample, number) in profile.samples().zip(0..) {
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

/// A thread with its tables.
pub(super) struct FirefoxThread<'a> {
    threads: &'a ThreadsWriter<'a>,
    row: &'a ThreadSpan,
    process: &'a FirefoxProcess,
    samples: SampleTable<'a>,
    markers: MarkerTable<'a>,
}

impl<'a> FirefoxThread<'a> {
    pub(super) fn new(
        threads: &'a ThreadsWriter<'a>,
        row: &'a ThreadSpan,
        process: &'a FirefoxProcess,
    ) -> Self {
        let (samples, markers) = (SampleTable::new(threads, row), MarkerTable::new(threads, row));
        Self { threads, row, process, samples, markers }
    }

    /// Adds the thread to a document.
    pub(super) fn add_to<'d>(&'d self, document: &mut JsonDocument<'d>) {
        let Self { threads, row, process, samples, markers } = self;
        document.open(b'{');
        document.field("name", &row.name);
        document.field("isMainThread", &row.is_main);
        document.field("processType", "default");
        document.field("processName", &process.name);
        document.field("processStartupTime", &threads.time(process.start));
        document.field("processShutdownTime", &());
        document.field("registerTime", &threads.time(row.start));
        document.field("unregisterTime", &());
        document.field("pausedRanges", &[(); 0]);
        document.field("pid", &process.pid);
        document.field("tid", &row.tid);
        document.field("showMarkersInTimeline", &row.samples.is_empty());
        samples.add_to(document);
        markers.add_to(document);
        document.close(b'}');
    }
}

impl ThreadsWriter<'_> {
    /// Returns milliseconds since the first sample. Samples without a time are there too.
    fn time(&self, time: u64) -> f64 {
        milliseconds(time.saturating_sub(self.start))
    }

    /// Returns a sample of the profile by its number.
    fn sample(&self, number: u32) -> Option<Sample> {
        self.profile.sample(number)
    }

    /// Returns a time without a CPU by its number.
    fn off_cpu(&self, number: u32) -> Option<&OffCpu> {
        self.profile.off_cpu().get(number as usize)
    }

    /// Returns the time of a moment; 0 for one that is none.
    fn time_of(&self, moment: ThreadMoment) -> u64 {
        match moment {
            ThreadMoment::Sample(number) => self.sample(number).map_or(0, |it| it.time),
            ThreadMoment::Off(number) => self.off_cpu(number).map_or(0, |it| it.start),
        }
    }

    /// Returns moments in the order of time, as the profiler needs them. At the same time, samples are first.
    fn in_order(&self, samples: &[u32], off_cpu: impl Iterator<Item = u32>) -> Vec<ThreadMoment> {
        let samples = samples.iter().map(|&number| ThreadMoment::Sample(number));
        let mut list: Vec<_> = samples.chain(off_cpu.map(ThreadMoment::Off)).collect();
        list.sort_by_key(|&moment| self.time_of(moment));
        list
    }
}

/// A sample or a time without a CPU of a thread, by its index.
#[derive(Clone, Copy, Debug)]
enum ThreadMoment {
    Sample(u32),
    /// The thread left the CPU.
    Off(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_come_again_get_a_number() {
        let mut ids = UniqueIds::default();
        assert_eq!([7, 7, 8, 7].map(|id| ids.next(id)), ["7", "7.1", "8", "7.2"]);
    }
}
