//! The threads of a capture, as perf keeps them.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::{EventRecord, Record};

/// The version of perf whose results are computed.
///
/// They differ in the states of threads, in what is known of threads that have ended, and in the order of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerfVersion {
    /// Linux 6.1. It numbers the states as Linux 4.13 did, whatever the capture says: on later kernels, it takes a thread that was
    /// preempted (`R+`) for one that sleeps.
    V6_1,
    /// Linux 7.2. It reads the states by the capture's print format, and forgets a thread with its EXIT record: the last switch away
    /// from it is that of a thread without a name.
    #[default]
    V7_2,
}

/// The number of a thread in [`PerfTasks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(u32);

/// A thread as perf knows it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PerfTask {
    /// The process id; -1 if no record had it, 0 of a thread that was first seen in a wake-up.
    pub pid: i32,
    /// The thread id.
    pub tid: i32,
    /// The thread id of the thread that it was forked from; -1 if no record had it.
    pub ppid: i32,
    /// The name; `:` and the thread id if no record named it.
    pub comm: Arc<[u8]>,
    /// Whether a record named it.
    pub is_named: bool,
    /// Whether a COMM record named it since this was last asked for: see [`PerfTasks::take_renamed`].
    is_renamed: bool,
    /// Whether its EXIT record came, in version 6.1; later ones forget it then.
    pub has_exited: bool,
}

/// The threads of a capture, found by their ids as perf finds them.
///
/// perf: `machine__findnew_thread`, `tools/perf/util/machine.c`.
#[derive(Debug)]
pub struct PerfTasks {
    version: PerfVersion,
    tasks: Vec<PerfTask>,
    by_tid: HashMap<i32, TaskId>,
    order: TableOrder,
    /// Whether EXIT records are skipped.
    ignores_exits: bool,
    limit: usize,
    beyond: u64,
}

/// The most threads that are kept by default.
const TASKS: usize = 1 << 20;

impl PerfTasks {
    /// Knows no thread but the idle one.
    #[must_use]
    pub fn new(version: PerfVersion) -> Self {
        Self::within(version, TASKS)
    }

    /// Knows no thread but the idle one, and keeps at most so many.
    #[must_use]
    pub fn within(version: PerfVersion, limit: usize) -> Self {
        let (tasks, by_tid, order) = (Vec::new(), HashMap::new(), TableOrder::default());
        let (ignores_exits, limit, beyond) = (false, limit.max(1), 0);
        let mut all = Self { version, tasks, by_tid, order, ignores_exits, limit, beyond };
        if let Some(idle) = all.find(0, 0) {
            all.name(idle, b"swapper");
        }
        all
    }

    /// Skips EXIT records, as `perf sched latency` and `perf sched map` do.
    #[must_use]
    pub fn without_exits(self) -> Self {
        Self { ignores_exits: true, ..self }
    }

    /// Returns the version.
    #[must_use]
    pub fn version(&self) -> PerfVersion {
        self.version
    }

    /// Returns a thread; `None` if the number is of other threads.
    #[must_use]
    pub fn get(&self, id: TaskId) -> Option<&PerfTask> {
        self.tasks.get(id.index())
    }

    /// Returns the number of times that a thread was not found because there are too many.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Finds a thread by its id, or makes one. A process id of -1 is unknown. `None` if there are too many threads.
    pub fn find(&mut self, pid: i32, tid: i32) -> Option<TaskId> {
        if let Some(&id) = self.by_tid.get(&tid) {
            if let Some(task) = self.tasks.get_mut(id.index()).filter(|task| task.pid == -1) {
                task.pid = pid;
            }
            return Some(id);
        }
        if self.tasks.len() >= self.limit {
            self.beyond += 1;
            return None;
        }
        let id = TaskId(self.tasks.len() as u32);
        let comm = format!(":{tid}").into_bytes().into();
        let (is_named, is_renamed, has_exited) = (false, false, false);
        self.tasks.push(PerfTask { pid, tid, ppid: -1, comm, is_named, is_renamed, has_exited });
        self.by_tid.insert(tid, id);
        self.order.insert(tid);
        Some(id)
    }

    /// Names a thread.
    pub fn name(&mut self, id: TaskId, comm: &[u8]) {
        if let Some(task) = self.tasks.get_mut(id.index()) {
            if *task.comm != *comm {
                task.comm = comm.into();
            }
            task.is_named = true;
        }
    }

    /// Returns whether a COMM record named a thread since the last call.
    pub fn take_renamed(&mut self, id: TaskId) -> bool {
        self.tasks.get_mut(id.index()).is_some_and(|task| core::mem::take(&mut task.is_renamed))
    }

    /// Takes a record that is not a sample. Those that cannot be decoded are skipped.
    pub fn record(&mut self, record: &EventRecord<'_>) {
        match record.decode() {
            Ok(Record::Comm(it)) => {
                if let Some(id) = self.find(it.pid, it.tid) {
                    self.name(id, it.comm.as_ref());
                }
                // perf takes the thread of the trailer, which is the idle one in records that it made itself.
                let own = record.sample_id().ok().flatten().and_then(|id| id.tid());
                let own = own.and_then(|tid| self.by_tid.get(&tid));
                if let Some(task) = own.and_then(|id| self.tasks.get_mut(id.index())) {
                    task.is_renamed = true;
                }
            }
            Ok(Record::Fork(it)) => self.fork((it.pid, it.tid), (it.ppid, it.ptid)),
            Ok(Record::Exit(_)) if self.ignores_exits => {}
            Ok(Record::Exit(it)) if self.version != PerfVersion::V6_1 => self.forget(it.tid),
            Ok(Record::Exit(it)) => {
                let id = self.by_tid.get(&it.tid);
                if let Some(task) = id.and_then(|id| self.tasks.get_mut(id.index())) {
                    task.has_exited = true;
                }
            }
            _ => {}
        }
    }

    fn fork(&mut self, (pid, tid): (i32, i32), (parent_pid, parent_tid): (i32, i32)) {
        let is_same = |this: &Self, id| this.get(id).is_some_and(|parent| parent.pid == parent_pid);
        let mut parent = self.find(parent_pid, parent_tid);
        if parent.is_some_and(|id| !is_same(self, id)) {
            self.forget(parent_tid);
            parent = self.find(parent_pid, parent_tid);
        }
        self.forget(tid);
        let Some(id) = self.find(pid, tid) else { return };
        let parent = parent.and_then(|id| self.get(id)).filter(|_| parent != Some(id)).cloned();
        if let Some(task) = self.tasks.get_mut(id.index()) {
            task.ppid = parent_tid;
            if let Some(parent) = parent.filter(|parent| parent.is_named) {
                (task.comm, task.is_named) = (parent.comm, true);
            }
        }
    }

    /// No longer finds a thread by its id.
    fn forget(&mut self, tid: i32) {
        if self.by_tid.remove(&tid).is_some() {
            self.order.remove(tid);
        }
    }

    /// Returns the threads that are found by their ids, in the order in which perf lists them.
    #[must_use]
    pub fn listed(&self) -> Vec<TaskId> {
        let tids = match self.version {
            PerfVersion::V6_1 => {
                let mut tids: Vec<_> = self.by_tid.keys().copied().collect();
                // perf 6.1 has 256 trees of threads, in each of which the ids ascend.
                tids.sort_unstable_by_key(|&tid| (tid.cast_unsigned() % 256, tid));
                tids
            }
            PerfVersion::V7_2 => self.order.tids().collect(),
        };
        tids.iter().filter_map(|tid| self.by_tid.get(tid).copied()).collect()
    }
}

impl TaskId {
    /// Returns the number: those of the threads of a capture are ascending from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The order of the threads in perf's tables: eight hash tables, each of which doubles when three quarters are in use.
///
/// perf: `threads__for_each_thread`, `tools/perf/util/threads.c`; `hash_bits`, `tools/lib/perf/hashmap.h`.
#[derive(Debug, Default)]
struct TableOrder([HashOrder; 8]);

/// The keys of a hash table by its buckets, the last one that came first.
#[derive(Debug, Default)]
struct HashOrder {
    buckets: Vec<Vec<i32>>,
    count: usize,
}

impl TableOrder {
    fn table(&mut self, tid: i32) -> Option<&mut HashOrder> {
        self.0.get_mut((tid.cast_unsigned() % 8) as usize)
    }

    fn insert(&mut self, tid: i32) {
        if let Some(table) = self.table(tid) {
            table.insert(tid);
        }
    }

    fn remove(&mut self, tid: i32) {
        if let Some(table) = self.table(tid) {
            table.remove(tid);
        }
    }

    fn tids(&self) -> impl Iterator<Item = i32> {
        let buckets = self.0.iter().flat_map(|table| &table.buckets);
        // A bucket is a list with the last key first.
        buckets.flat_map(|bucket| bucket.iter().rev().copied())
    }
}

impl HashOrder {
    fn bucket(&mut self, tid: i32) -> Option<&mut Vec<i32>> {
        let bits = self.buckets.len().checked_ilog2()?;
        // The constant is 2^64 divided by the golden ratio.
        let hash = (i64::from(tid).cast_unsigned()).wrapping_mul(11_400_714_819_323_198_485);
        let index = if bits == 0 { 0 } else { hash >> (64 - bits) };
        self.buckets.get_mut(index as usize)
    }

    fn insert(&mut self, tid: i32) {
        if (self.count + 1) * 4 / 3 > self.buckets.len() {
            let room = (self.buckets.len() * 2).max(4);
            let before = core::mem::replace(&mut self.buckets, vec![Vec::new(); room]);
            for tid in before.iter().flat_map(|bucket| bucket.iter().rev().copied()) {
                self.push(tid);
            }
        }
        self.push(tid);
        self.count += 1;
    }

    fn push(&mut self, tid: i32) {
        if let Some(bucket) = self.bucket(tid) {
            bucket.push(tid);
        }
    }

    fn remove(&mut self, tid: i32) {
        if let Some(bucket) = self.bucket(tid)
            && let Some(place) = bucket.iter().position(|&it| it == tid)
        {
            bucket.remove(place);
            self.count -= 1;
        }
    }
}
