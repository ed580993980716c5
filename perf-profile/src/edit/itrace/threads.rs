//! The threads of a capture, as the records so far have them.

use hashbrown::HashMap;
use perf_parse::{EventRecord, Record};

/// Number of threads that are known, at most. Damaged data can name any.
const MOST: usize = 1 << 20;

/// The process of each thread, and the thread on each CPU.
///
/// perf: `machine__findnew_thread`, `machine__set_current_tid`, `tools/perf/util/machine.c`.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// -1 for a process that no record has.
    processes: HashMap<i32, i32>,
    on_cpus: HashMap<i32, i32>,
}

impl Threads {
    /// Takes what a record reports, which the samples after it are of.
    pub(super) fn update(&mut self, record: &EventRecord<'_>) {
        match record.decode() {
            Ok(Record::Comm(it)) => self.add(it.pid, it.tid),
            Ok(Record::Fork(it)) => {
                self.processes.remove(&it.tid);
                self.add(it.pid, it.tid);
            }
            Ok(Record::Mmap(it)) => self.add(it.pid, it.tid),
            Ok(Record::Mmap2(it)) => self.add(it.pid, it.tid),
            _ => {}
        }
    }

    /// Puts a thread on a CPU. Its process may be -1.
    pub(super) fn switch(&mut self, cpu: i32, pid: i32, tid: i32) {
        if self.on_cpus.len() < MOST || self.on_cpus.contains_key(&cpu) {
            self.on_cpus.insert(cpu, tid);
        }
        self.add(pid, tid);
    }

    /// Adds a thread. The first known process of a thread stays.
    pub(super) fn add(&mut self, pid: i32, tid: i32) {
        if self.processes.len() < MOST || self.processes.contains_key(&tid) {
            let process = self.processes.entry(tid).or_insert(pid);
            if *process == -1 {
                *process = pid;
            }
        }
    }

    /// Returns the process of a thread; `None` if no record has the thread, -1 if none has the process.
    pub(super) fn process(&self, tid: i32) -> Option<i32> {
        self.processes.get(&tid).copied()
    }

    /// Returns the thread on a CPU.
    pub(super) fn on_cpu(&self, cpu: i32) -> Option<i32> {
        self.on_cpus.get(&cpu).copied().filter(|&tid| tid != -1)
    }
}
