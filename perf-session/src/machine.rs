//! A machine: the host or a guest, with its threads and its kernel.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_parse::record::Task;

use crate::kernel::Kernel;
use crate::map::Mapping;
use crate::maps::Maps;
use crate::thread::{Thread, comm_of_unnamed};

/// A machine: the host or a guest.
///
/// perf: `struct machine`, `tools/perf/util/machine.h`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    pub(crate) kernel: Kernel,
    threads: BTreeMap<i32, Thread>,
    processes: Vec<Process>,
    /// The places in `processes` that are free.
    free: Vec<usize>,
    /// Threads that have exited, by their ids and keys: the first one exited first. A thread whose key differs came
    /// later.
    exited: VecDeque<(i32, u64)>,
    next_key: u64,
}

/// What the threads of a process share.
#[derive(Clone, Debug)]
struct Process {
    maps: Maps,
    /// What was mapped before the last exec, until the new image runs: the kernel's samples of the exec itself still have
    /// the stack of the caller. Empty otherwise.
    before_exec: Maps,
    /// Number of threads that are known, or were not dropped yet.
    threads: usize,
}

impl Machine {
    pub(crate) fn thread(&self, tid: i32) -> Option<&Thread> {
        self.threads.get(&tid)
    }

    pub(crate) fn maps_of(&self, thread: &Thread) -> Option<&Maps> {
        Some(&self.processes.get(thread.process)?.maps)
    }

    /// Returns the mapping of a thread's process that has an address.
    pub(crate) fn find(&self, thread: &Thread, addr: u64) -> Option<&Mapping> {
        let process = self.processes.get(thread.process)?;
        process.maps.find(addr).or_else(|| process.before_exec.find(addr))
    }

    /// Notes that a thread was seen to run its own code, and not the kernel's.
    #[inline]
    pub(crate) fn see_user_code(&mut self, tid: i32) {
        let Some(process) = self.threads.get(&tid).and_then(|it| self.processes.get_mut(it.process)) else {
            return;
        };
        if !process.before_exec.is_empty() {
            process.before_exec = Maps::default();
        }
    }

    pub(crate) fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values()
    }

    /// Makes a thread known: by a record that has its ids, and may be the first to do so.
    ///
    /// perf: `machine__findnew_thread`.
    #[inline]
    pub(crate) fn see(&mut self, pid: i32, tid: i32) {
        if self.threads.get(&tid).is_none_or(|thread| thread.pid != pid && pid != -1) {
            self.add_seen(pid, tid);
        }
    }

    #[cold]
    fn add_seen(&mut self, pid: i32, tid: i32) {
        let process = self.process_of(pid, tid);
        match self.threads.get_mut(&tid) {
            // No record had the process id before.
            Some(thread) if thread.pid == -1 => {
                let before = core::mem::replace(&mut thread.process, process.0);
                (thread.pid, thread.process_key) = (pid, process.1);
                self.enter(process.0);
                self.leave(before);
            }
            // The thread id is in use again: its FORK record was lost.
            _ => self.add(pid, tid, None, comm_of_unnamed(tid), false, process),
        }
    }

    /// Returns the process that a new thread belongs to, and its key: that of the thread with the process id.
    fn process_of(&mut self, pid: i32, tid: i32) -> (usize, u64) {
        if pid == tid || pid == -1 {
            return self.add_process(Maps::default());
        }
        self.see(pid, pid);
        match self.threads.get(&pid) {
            Some(leader) => (leader.process, leader.process_key),
            None => self.add_process(Maps::default()),
        }
    }

    fn add_process(&mut self, maps: Maps) -> (usize, u64) {
        let process = Process { maps, before_exec: Maps::default(), threads: 0 };
        let key = self.new_key();
        if let Some((place, slot)) =
            self.free.pop().and_then(|place| Some((place, self.processes.get_mut(place)?)))
        {
            *slot = process;
            return (place, key);
        }
        self.processes.push(process);
        (self.processes.len().saturating_sub(1), key)
    }

    fn new_key(&mut self) -> u64 {
        let key = self.next_key;
        self.next_key = self.next_key.saturating_add(1);
        key
    }

    /// Adds a thread, in the place of an earlier one with its id.
    fn add(
        &mut self,
        pid: i32,
        tid: i32,
        ppid: Option<i32>,
        comm: Arc<[u8]>,
        is_named: bool,
        (process, process_key): (usize, u64),
    ) {
        let key = self.new_key();
        self.enter(process);
        let thread = Thread { pid, tid, ppid, comm, is_named, key, process, process_key, has_exited: false };
        if let Some(earlier) = self.threads.insert(tid, thread) {
            self.leave(earlier.process);
        }
    }

    fn enter(&mut self, process: usize) {
        if let Some(process) = self.processes.get_mut(process) {
            process.threads = process.threads.saturating_add(1);
        }
    }

    /// Takes a thread from a process, which is dropped with its last thread.
    fn leave(&mut self, place: usize) {
        let Some(process) = self.processes.get_mut(place) else { return };
        process.threads = process.threads.saturating_sub(1);
        if process.threads == 0 {
            (process.maps, process.before_exec) = (Maps::default(), Maps::default());
            self.free.push(place);
        }
    }

    /// Applies a FORK record. `is_new_image` says that an exec followed, so that the mappings are not inherited.
    ///
    /// perf: `machine__process_fork_event`, `thread__fork`.
    pub(crate) fn fork(&mut self, task: &Task, is_new_image: bool) {
        let Task { pid, ppid, tid, ptid, .. } = *task;
        self.see(ppid, ptid);
        let Some(parent) = self.threads.get(&ptid) else { return };
        let (comm, is_named) = (Arc::clone(&parent.comm), parent.is_named);
        let of_parent = (parent.process, parent.process_key);
        let is_thread = parent.pid == pid && tid != pid;
        let process = if is_thread {
            of_parent
        } else if is_new_image || tid != pid {
            self.process_of(pid, tid)
        } else {
            let maps = self.processes.get(of_parent.0).map(|process| process.maps.clone());
            self.add_process(maps.unwrap_or_default())
        };
        let comm = if is_named { comm } else { comm_of_unnamed(tid) };
        self.add(pid, tid, Some(ppid), comm, is_named, process);
    }

    /// Applies an EXIT record. Keeps the last `limit` threads that have exited: their last samples come later.
    pub(crate) fn exit(&mut self, pid: i32, tid: i32, limit: usize) {
        self.see(pid, tid);
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        if !core::mem::replace(&mut thread.has_exited, true) {
            self.exited.push_back((tid, thread.key));
        }
        while self.exited.len() > limit {
            let Some((tid, key)) = self.exited.pop_front() else { return };
            if self.threads.get(&tid).is_some_and(|thread| thread.key == key) {
                if let Some(thread) = self.threads.remove(&tid) {
                    self.leave(thread.process);
                }
            }
        }
    }

    /// Applies a COMM record. `is_exec` says that the process got a new image, and so new mappings.
    pub(crate) fn set_comm(&mut self, pid: i32, tid: i32, comm: &[u8], is_exec: bool) {
        self.see(pid, tid);
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        if *thread.comm != *comm {
            thread.comm = Arc::from(comm);
        }
        thread.is_named = true;
        let process = thread.process;
        if let Some(process) = self.processes.get_mut(process).filter(|_| is_exec) {
            process.before_exec = core::mem::take(&mut process.maps);
        }
    }

    /// Applies an MMAP record.
    pub(crate) fn map(&mut self, pid: i32, tid: i32, mapping: Mapping) {
        self.see(pid, tid);
        let Some(thread) = self.threads.get(&tid) else { return };
        if let Some(process) = self.processes.get_mut(thread.process) {
            process.maps.insert(mapping);
        }
    }
}
