//! A machine: the host or a guest, with its threads and its kernel.

use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_parse::record::Task;

use crate::kernel::Kernel;
use crate::map::Mapping;
use crate::maps::Maps;
use crate::thread::{Thread, comm_of_unnamed};
use crate::threads::Threads;

/// A machine: the host or a guest.
///
/// perf: `struct machine`, `tools/perf/util/machine.h`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    pub(crate) kernel: Kernel,
    threads: Threads,
    processes: Vec<Process>,
    /// The places in `processes` that are free.
    free: Vec<usize>,
}

/// The source of the numbers that no two threads, and no two processes, of a session share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    next: u64,
}

impl Keys {
    fn take(&mut self) -> u64 {
        let key = self.next;
        self.next = self.next.saturating_add(1);
        key
    }
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
        self.threads.get(tid)
    }

    pub(crate) fn maps_of(&self, thread: &Thread) -> Option<&Maps> {
        Some(&self.processes.get(thread.process)?.maps)
    }

    /// Returns what a thread's process had mapped before its last exec, until the new image runs. Empty otherwise.
    pub(crate) fn maps_before_exec(&self, thread: &Thread) -> Option<&Maps> {
        Some(&self.processes.get(thread.process)?.before_exec)
    }

    pub(crate) fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter()
    }

    /// Returns the number of threads and processes that a clone copies.
    pub(crate) fn entries(&self) -> usize {
        self.threads.places().saturating_add(self.processes.len())
    }

    /// Makes a thread known: by a record that has its ids, and may be the first to do so. Returns its place.
    ///
    /// perf: `machine__findnew_thread`.
    pub(crate) fn see(&mut self, keys: &mut Keys, pid: i32, tid: i32) -> Option<u32> {
        let place = self.threads.find(tid);
        let thread = place.and_then(|place| self.threads.at(place));
        if thread.is_some_and(|thread| thread.pid == pid || pid == -1) {
            return place;
        }
        self.add_seen(keys, pid, tid);
        self.threads.find(tid)
    }

    /// Makes the thread of a sample known, and returns its place. `is_user_code` says that the thread ran its own code, and
    /// not the kernel's: if it had just called exec, the new image runs. Then `ip` is noted in its mappings.
    #[inline(always)]
    pub(crate) fn see_sample(
        &mut self,
        keys: &mut Keys,
        pid: i32,
        tid: i32,
        is_user_code: bool,
        ip: Option<u64>,
    ) -> Option<u32> {
        let (place, process) = match self.threads.recent(tid) {
            Some((place, thread)) if thread.pid == pid || pid == -1 => (place, thread.process),
            _ => self.see_other(keys, pid, tid)?,
        };
        if let Some(process) = self.processes.get_mut(process).filter(|_| is_user_code) {
            if !process.before_exec.is_empty() {
                process.before_exec = Maps::default();
            }
            if let Some(ip) = ip {
                process.maps.note(ip);
            }
        }
        Some(place)
    }

    /// Makes the thread of a sample known that was not found lately. Returns its place and that of its process.
    #[inline(never)]
    fn see_other(&mut self, keys: &mut Keys, pid: i32, tid: i32) -> Option<(u32, usize)> {
        let place = self.see(keys, pid, tid)?;
        Some((place, self.threads.at(place)?.process))
    }

    /// Returns the thread at a place.
    #[inline]
    pub(crate) fn thread_at(&self, place: u32) -> Option<&Thread> {
        self.threads.at(place)
    }

    #[cold]
    fn add_seen(&mut self, keys: &mut Keys, pid: i32, tid: i32) {
        // No record had the process id before.
        if let Some(thread) = self.threads.get_mut(tid).filter(|thread| thread.pid == -1 && pid == tid) {
            thread.pid = pid;
            return;
        }
        let process = self.process_of(keys, pid, tid);
        match self.threads.get_mut(tid) {
            Some(thread) if thread.pid == -1 => {
                let before = core::mem::replace(&mut thread.process, process.0);
                (thread.pid, thread.process_key) = (pid, process.1);
                self.enter(process.0);
                self.leave(before);
            }
            // The thread id is in use again: its FORK record was lost.
            _ => self.add(keys, pid, tid, None, None, process),
        }
    }

    /// Returns the process that a new thread belongs to, and its key: that of the thread with the process id.
    fn process_of(&mut self, keys: &mut Keys, pid: i32, tid: i32) -> (usize, u64) {
        if pid == tid || pid == -1 {
            return self.add_process(keys, Maps::default());
        }
        self.see(keys, pid, pid);
        match self.threads.get(pid) {
            Some(leader) => (leader.process, leader.process_key),
            None => self.add_process(keys, Maps::default()),
        }
    }

    fn add_process(&mut self, keys: &mut Keys, maps: Maps) -> (usize, u64) {
        let process = Process { maps, before_exec: Maps::default(), threads: 0 };
        let key = keys.take();
        if let Some((place, slot)) =
            self.free.pop().and_then(|place| Some((place, self.processes.get_mut(place)?)))
        {
            *slot = process;
            return (place, key);
        }
        self.processes.push(process);
        (self.processes.len().saturating_sub(1), key)
    }

    /// Adds a thread, in the place of an earlier one with its id. It has no name if no record gave it one.
    fn add(
        &mut self,
        keys: &mut Keys,
        pid: i32,
        tid: i32,
        ppid: Option<i32>,
        comm: Option<Arc<[u8]>>,
        (process, process_key): (usize, u64),
    ) {
        let key = keys.take();
        let is_named = comm.is_some();
        let comm = comm.unwrap_or_else(|| comm_of_unnamed(tid));
        self.enter(process);
        let thread = Thread { pid, tid, ppid, comm, is_named, key, process, process_key, has_exited: false };
        if let Some(earlier) = self.threads.insert(thread) {
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
    pub(crate) fn fork(&mut self, keys: &mut Keys, task: &Task, is_new_image: bool) {
        let Task { pid, ppid, tid, ptid, .. } = *task;
        self.see(keys, ppid, ptid);
        let Some(parent) = self.threads.get(ptid) else { return };
        let comm = parent.is_named.then(|| Arc::clone(&parent.comm));
        let of_parent = (parent.process, parent.process_key);
        let is_thread = parent.pid == pid && tid != pid;
        let process = if is_thread {
            of_parent
        } else if is_new_image || tid != pid {
            self.process_of(keys, pid, tid)
        } else {
            let maps = self.processes.get(of_parent.0).map(|process| process.maps.clone());
            self.add_process(keys, maps.unwrap_or_default())
        };
        self.add(keys, pid, tid, Some(ppid), comm, process);
    }

    /// Applies an EXIT record. The thread is kept: its last samples come later. Returns its key if it had not exited
    /// before.
    pub(crate) fn exit(&mut self, keys: &mut Keys, pid: i32, tid: i32) -> Option<u64> {
        self.see(keys, pid, tid);
        let thread = self.threads.get_mut(tid)?;
        (!core::mem::replace(&mut thread.has_exited, true)).then_some(thread.key)
    }

    /// Removes a thread, unless another one has its id by now.
    pub(crate) fn remove(&mut self, tid: i32, key: u64) {
        if self.threads.get(tid).is_some_and(|thread| thread.key == key) {
            if let Some(thread) = self.threads.remove(tid) {
                self.leave(thread.process);
            }
        }
    }

    /// Returns whether nothing is known of the machine any more.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty() && self.kernel.maps.is_empty() && self.kernel.relocation.is_none()
    }

    /// Applies a COMM record. `is_exec` says that the process got a new image, and so new mappings.
    pub(crate) fn set_comm(&mut self, keys: &mut Keys, pid: i32, tid: i32, comm: &[u8], is_exec: bool) {
        self.see(keys, pid, tid);
        let Some(thread) = self.threads.get_mut(tid) else { return };
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
    pub(crate) fn map(&mut self, keys: &mut Keys, pid: i32, tid: i32, mapping: Mapping) {
        self.see(keys, pid, tid);
        let Some(thread) = self.threads.get(tid) else { return };
        if let Some(process) = self.processes.get_mut(thread.process) {
            process.maps.insert(mapping);
        }
    }
}
