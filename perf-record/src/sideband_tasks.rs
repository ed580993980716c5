//! The records of tasks that the samples of a snapshot need, and those of samples still to come.

use std::collections::{HashMap, HashSet};

use perf_abi::endian::NativeEndian;
use perf_abi::record::{CpuMode, Misc};
use perf_parse::Record;

/// The task of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskSample {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// `None` if samples have no times.
    pub(crate) time: Option<u64>,
}

/// The tasks that records describe. Each has its records, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct SidebandTasks {
    images: Vec<ProcessImage>,
    threads: Vec<ProcessThread>,
    /// The images of each process, and the threads of each thread id, oldest first.
    by_pid: HashMap<i32, Vec<usize>>,
    by_tid: HashMap<i32, Vec<usize>>,
}

/// A process from its fork or an exec to its end or the next exec: what its mappings belong to.
#[derive(Debug, Default)]
struct ProcessImage {
    start: u64,
    /// The image whose mappings and name it inherited, and the thread that forked it.
    parent: Option<usize>,
    parent_thread: Option<usize>,
    records: Vec<usize>,
    /// The records of its process that an exec does not change: the fork and the namespaces.
    of_process: Vec<usize>,
    /// The threads that have not ended.
    running: HashSet<i32>,
    has_ended: bool,
}

/// A thread that is not the first of its process.
#[derive(Debug, Default)]
struct ProcessThread {
    start: u64,
    /// The thread whose name it inherited, if that is not the first of the process.
    parent: Option<usize>,
    records: Vec<usize>,
    has_ended: bool,
}

impl SidebandTasks {
    /// Adds a record, in time order. `is_settled` says that no record can follow that is older.
    pub(crate) fn add(
        &mut self,
        number: usize,
        (time, is_settled): (u64, bool),
        misc: Misc,
        record: &Record<'_, NativeEndian>,
    ) {
        match record {
            Record::Fork(it) if it.pid == it.ppid && it.tid != it.pid => {
                let parent = newest(&self.by_tid, it.ptid);
                self.process(it.pid, time).running.insert(it.tid);
                let thread = self.new_thread(it.tid, time);
                thread.parent = parent;
                thread.records.push(number);
            }
            Record::Fork(it) => {
                let is_inherited = !misc.contains(Misc::FORK_EXEC);
                let parents = (newest(&self.by_pid, it.ppid), newest(&self.by_tid, it.ptid));
                let image = self.new_image(it.pid, (time, is_settled));
                (image.parent, image.parent_thread) = if is_inherited { parents } else { (None, None) };
                image.of_process.push(number);
                image.running.insert(it.tid);
            }
            Record::Comm(it) if it.tid != it.pid => {
                self.process(it.pid, time).running.insert(it.tid);
                self.thread(it.tid, time).records.push(number);
            }
            Record::Comm(it) => {
                if misc.contains(Misc::COMM_EXEC) {
                    let of_process = self.process(it.pid, time).of_process.clone();
                    self.new_image(it.pid, (time, is_settled)).of_process = of_process;
                }
                let image = self.process(it.pid, time);
                image.running.insert(it.tid);
                image.records.push(number);
            }
            Record::Namespaces(it) => self.process(it.pid, time).of_process.push(number),
            Record::Mmap(it) if misc.cpumode() == CpuMode::USER => {
                self.process(it.pid, time).records.push(number);
            }
            Record::Mmap2(it) if misc.cpumode() == CpuMode::USER => {
                self.process(it.pid, time).records.push(number);
            }
            Record::Exit(it) => {
                let image = self.process(it.pid, time);
                image.running.remove(&it.tid);
                image.has_ended |= is_settled && image.running.is_empty();
                if it.tid == it.pid {
                    image.records.push(number);
                } else {
                    let thread = self.thread(it.tid, time);
                    thread.records.push(number);
                    thread.has_ended |= is_settled;
                }
            }
            _ => {}
        }
    }

    /// Returns the records of tasks that have ended and have none of the samples.
    pub(crate) fn unneeded(&self, samples: &[TaskSample]) -> HashSet<usize> {
        let mut images: Vec<bool> = self.images.iter().map(|image| !image.has_ended).collect();
        let mut threads: Vec<bool> = self.threads.iter().map(|thread| !thread.has_ended).collect();
        for sample in samples {
            let start = |image: &usize| self.images[*image].start;
            mark(&mut images, self.by_pid.get(&sample.pid), start, sample.time);
            let start = |thread: &usize| self.threads[*thread].start;
            mark(&mut threads, self.by_tid.get(&sample.tid), start, sample.time);
        }
        // A parent is older than its children.
        for number in (0..self.images.len()).rev() {
            let ProcessImage { parent, parent_thread, .. } = self.images[number];
            if images[number] {
                parent.into_iter().for_each(|parent| images[parent] = true);
                parent_thread.into_iter().for_each(|parent| threads[parent] = true);
            }
        }
        for number in (0..self.threads.len()).rev() {
            if let Some(parent) = self.threads[number].parent.filter(|_| threads[number]) {
                threads[parent] = true;
            }
        }
        let of_images = self.images.iter().zip(&images).map(|(image, needed)| (image.all(), *needed));
        let of_threads =
            self.threads.iter().zip(&threads).map(|(thread, needed)| (thread.records.clone(), *needed));
        let (needed, others): (Vec<_>, Vec<_>) = of_images.chain(of_threads).partition(|(_, needed)| *needed);
        let mut unneeded: HashSet<usize> = others.into_iter().flat_map(|(records, _)| records).collect();
        // Images of one process share its fork.
        needed.iter().flat_map(|(records, _)| records).for_each(|number| {
            unneeded.remove(number);
        });
        unneeded
    }

    /// Returns the newest image of a process; a new one if there is none.
    fn process(&mut self, pid: i32, time: u64) -> &mut ProcessImage {
        match newest(&self.by_pid, pid) {
            Some(number) => &mut self.images[number],
            None => self.new_image(pid, (time, true)),
        }
    }

    /// Adds an image of a process. The one before has ended, if no record can follow that is older.
    fn new_image(&mut self, pid: i32, (start, is_settled): (u64, bool)) -> &mut ProcessImage {
        let (number, images) = (self.images.len(), self.by_pid.entry(pid).or_default());
        if let Some(&before) = images.last() {
            self.images[before].has_ended |= is_settled;
        }
        images.push(number);
        self.images.push(ProcessImage { start, ..ProcessImage::default() });
        &mut self.images[number]
    }

    fn thread(&mut self, tid: i32, time: u64) -> &mut ProcessThread {
        match newest(&self.by_tid, tid) {
            Some(number) => &mut self.threads[number],
            None => self.new_thread(tid, time),
        }
    }

    fn new_thread(&mut self, tid: i32, start: u64) -> &mut ProcessThread {
        let (number, threads) = (self.threads.len(), self.by_tid.entry(tid).or_default());
        if let Some(&before) = threads.last() {
            self.threads[before].has_ended = true;
        }
        threads.push(number);
        self.threads.push(ProcessThread { start, ..ProcessThread::default() });
        &mut self.threads[number]
    }
}

impl ProcessImage {
    fn all(&self) -> Vec<usize> {
        [&self.records[..], &self.of_process].concat()
    }
}

/// Returns the newest task of an id.
fn newest(tasks: &HashMap<i32, Vec<usize>>, id: i32) -> Option<usize> {
    tasks.get(&id)?.last().copied()
}

/// Marks the task that was current at a time: the last one that began before. Without a time, all.
fn mark(needed: &mut [bool], tasks: Option<&Vec<usize>>, start: impl Fn(&usize) -> u64, time: Option<u64>) {
    let Some(tasks) = tasks else { return };
    let Some(time) = time else {
        tasks.iter().for_each(|&task| needed[task] = true);
        return;
    };
    let after = tasks.partition_point(|task| start(task) <= time);
    // The first record of a task may be a little later than its first sample.
    if let Some(&task) = tasks.get(after.saturating_sub(1)) {
        needed[task] = true;
    }
}
