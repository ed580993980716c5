//! A machine: the host or a guest, with its threads and its kernel.

use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_parse::record::Task;

use crate::kernel::Kernel;
use crate::ledger::{ChangeNote, Ledger};
use crate::map::Mapping;
use crate::maps::Maps;
use crate::thread::{HOST, Thread, comm_of_unnamed};
use crate::threads::Threads;

/// A machine: the host or a guest.
///
/// perf: `struct machine`, `tools/perf/util/machine.h`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    /// The process id of the virtual machine; `None` for the host.
    pub(crate) guest: Option<i32>,
    pub(crate) kernel: Kernel,
    threads: Threads,
    processes: Vec<Process>,
    /// The places in `processes` that are free.
    free: Vec<usize>,
    /// Whether a thread that no record names has the name of its process.
    ///
    /// simpleperf: `ThreadTree::CreateThread`, `system/extras/simpleperf/thread_tree.cpp`.
    pub(crate) names_by_process: bool,
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
    pub(crate) fn of_guest(guest: i32) -> Self {
        Self { guest: Some(guest), ..Self::default() }
    }

    pub(crate) fn thread(&self, tid: i32) -> Option<&Thread> {
        self.threads.get(tid)
    }

    pub(crate) fn maps_of(&self, thread: &Thread) -> Option<&Maps> {
        Some(&self.processes.get(thread.process)?.maps)
    }

    /// Returns the mappings of the process of a thread, or of the process if the thread is not known.
    pub(crate) fn maps_of_ids(&self, pid: i32, tid: i32) -> Option<&Maps> {
        self.maps_of(self.thread(tid).or_else(|| self.thread(pid))?)
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
    pub(crate) fn see(&mut self, ledger: &mut Ledger, pid: i32, tid: i32) -> Option<u32> {
        let place = self.threads.find(tid);
        let thread = place.and_then(|place| self.threads.at(place));
        if thread.is_some_and(|thread| thread.pid == pid || pid == -1) {
            return place;
        }
        self.add_seen(ledger, pid, tid);
        self.threads.find(tid)
    }

    /// Makes the thread of a sample known, and returns its place. `is_user_code` says that the thread ran its own code, and
    /// not the kernel's: if it had just called exec, the new image runs. Then `ip` is noted in its mappings.
    #[inline(always)]
    pub(crate) fn see_sample(
        &mut self,
        ledger: &mut Ledger,
        pid: i32,
        tid: i32,
        is_user_code: bool,
        ip: Option<u64>,
    ) -> Option<u32> {
        let (place, process) = match self.threads.recent(tid) {
            Some((place, thread)) if thread.pid == pid || pid == -1 => (place, thread.process),
            _ => self.see_other(ledger, pid, tid)?,
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
    fn see_other(&mut self, ledger: &mut Ledger, pid: i32, tid: i32) -> Option<(u32, usize)> {
        let place = self.see(ledger, pid, tid)?;
        Some((place, self.threads.at(place)?.process))
    }

    /// Returns the thread at a place.
    #[inline]
    pub(crate) fn thread_at(&self, place: u32) -> Option<&Thread> {
        self.threads.at(place)
    }

    #[cold]
    fn add_seen(&mut self, ledger: &mut Ledger, pid: i32, tid: i32) {
        // No record had the process id before.
        if let Some(thread) = self.threads.get_mut(tid).filter(|thread| thread.pid == -1 && pid == tid) {
            thread.pid = pid;
            let process_before = thread.process_key;
            ledger.note(|| ChangeNote::ThreadIdentified { thread: thread.clone(), process_before });
            return;
        }
        let process = self.process_of(ledger, pid, tid);
        match self.threads.get_mut(tid) {
            Some(thread) if thread.pid == -1 => {
                let before = (thread.process, thread.process_key);
                (thread.pid, (thread.process, thread.process_key)) = (pid, process);
                let process_before = before.1;
                ledger.note(|| ChangeNote::ThreadIdentified { thread: thread.clone(), process_before });
                self.enter(process.0);
                self.leave(ledger, before);
            }
            // The thread id is in use again: its FORK record was lost.
            _ => {
                let leader = self.threads.get(pid).filter(|it| self.names_by_process && it.is_named);
                let comm = leader.map(|it| Arc::clone(&it.comm));
                self.add(ledger, (pid, tid, None), comm, process, None);
            }
        }
    }

    /// Returns the process that a new thread belongs to, and its key: that of the thread with the process id.
    fn process_of(&mut self, ledger: &mut Ledger, pid: i32, tid: i32) -> (usize, u64) {
        if pid == tid || pid == -1 {
            return self.add_process(ledger, Maps::default());
        }
        self.see(ledger, pid, pid);
        match self.threads.get(pid) {
            Some(leader) => (leader.process, leader.process_key),
            None => self.add_process(ledger, Maps::default()),
        }
    }

    fn add_process(&mut self, ledger: &mut Ledger, maps: Maps) -> (usize, u64) {
        let process = Process { maps, before_exec: Maps::default(), threads: 0 };
        let key = ledger.take_key();
        if let Some((place, slot)) =
            self.free.pop().and_then(|place| Some((place, self.processes.get_mut(place)?)))
        {
            *slot = process;
            return (place, key);
        }
        self.processes.push(process);
        (self.processes.len().saturating_sub(1), key)
    }

    /// Adds a thread, in the place of an earlier one with its id. It has no name if no record gave it one. `inherited` is the
    /// key of the process whose mappings its process begins with.
    fn add(
        &mut self,
        ledger: &mut Ledger,
        (pid, tid, ppid): (i32, i32, Option<i32>),
        comm: Option<Arc<[u8]>>,
        (process, process_key): (usize, u64),
        inherited: Option<u64>,
    ) {
        let key = ledger.take_key();
        let is_named = comm.is_some();
        let comm = comm.unwrap_or_else(|| comm_of_unnamed(tid));
        self.enter(process);
        let guest = self.guest.unwrap_or(HOST);
        let has_exited = false;
        let thread = Thread { pid, tid, ppid, comm, is_named, key, process, process_key, has_exited, guest };
        ledger.note(|| ChangeNote::ThreadBegun { thread: thread.clone(), inherited });
        if let Some(earlier) = self.threads.insert(thread) {
            self.drop_thread(ledger, earlier);
        }
    }

    fn enter(&mut self, process: usize) {
        if let Some(process) = self.processes.get_mut(process) {
            process.threads = process.threads.saturating_add(1);
        }
    }

    fn drop_thread(&mut self, ledger: &mut Ledger, thread: Thread) {
        let process = (thread.process, thread.process_key);
        ledger.note(|| ChangeNote::ThreadRemoved(thread));
        self.leave(ledger, process);
    }

    /// Takes a thread from a process, which is dropped with its last thread.
    fn leave(&mut self, ledger: &mut Ledger, (place, key): (usize, u64)) {
        let Some(process) = self.processes.get_mut(place) else { return };
        process.threads = process.threads.saturating_sub(1);
        if process.threads == 0 {
            (process.maps, process.before_exec) = (Maps::default(), Maps::default());
            self.free.push(place);
            ledger.note(|| ChangeNote::ProcessRemoved(key));
        }
    }

    /// Applies a FORK record. `is_new_image` says that an exec followed, so that the mappings are not inherited.
    ///
    /// perf: `machine__process_fork_event`, `thread__fork`.
    pub(crate) fn fork(&mut self, ledger: &mut Ledger, task: &Task, is_new_image: bool) {
        let Task { pid, ppid, tid, ptid, .. } = *task;
        self.see(ledger, ppid, ptid);
        let Some(parent) = self.threads.get(ptid) else { return };
        let comm = parent.is_named.then(|| Arc::clone(&parent.comm));
        let of_parent = (parent.process, parent.process_key);
        let is_thread = parent.pid == pid && tid != pid;
        let (process, inherited) = if is_thread {
            (of_parent, None)
        } else if is_new_image || tid != pid {
            (self.process_of(ledger, pid, tid), None)
        } else {
            let maps = self.processes.get(of_parent.0).map(|process| process.maps.clone());
            (self.add_process(ledger, maps.unwrap_or_default()), Some(of_parent.1))
        };
        self.add(ledger, (pid, tid, Some(ppid)), comm, process, inherited);
    }

    /// Applies an EXIT record. The thread is kept: its last samples come later. Returns its key if it had not exited
    /// before.
    pub(crate) fn exit(&mut self, ledger: &mut Ledger, pid: i32, tid: i32) -> Option<u64> {
        self.see(ledger, pid, tid);
        let thread = self.threads.get_mut(tid)?;
        if core::mem::replace(&mut thread.has_exited, true) {
            return None;
        }
        ledger.note(|| ChangeNote::ThreadExited(thread.clone()));
        Some(thread.key)
    }

    /// Removes a thread, unless another one has its id by now.
    pub(crate) fn remove(&mut self, ledger: &mut Ledger, tid: i32, key: u64) {
        if self.threads.get(tid).is_some_and(|thread| thread.key == key) {
            if let Some(thread) = self.threads.remove(tid) {
                self.drop_thread(ledger, thread);
            }
        }
    }

    /// Returns whether nothing is known of the machine any more.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty() && self.kernel.maps.is_empty() && self.kernel.relocation.is_none()
    }

    /// Applies a COMM record. `is_exec` says that the process got a new image, and so new mappings.
    pub(crate) fn set_comm(&mut self, ledger: &mut Ledger, pid: i32, tid: i32, comm: &[u8], is_exec: bool) {
        self.see(ledger, pid, tid);
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let before = Arc::clone(&thread.comm);
        let is_other = *before != *comm;
        if is_other {
            thread.comm = Arc::from(comm);
        }
        let was_named = core::mem::replace(&mut thread.is_named, true);
        if is_other || !was_named {
            ledger.note(|| ChangeNote::ThreadNamed { thread: thread.clone(), before });
        }
        if let Some(process) = self.processes.get_mut(thread.process).filter(|_| is_exec) {
            process.before_exec = core::mem::take(&mut process.maps);
            let (thread, before) = (&*thread, &process.before_exec);
            ledger.note(|| ChangeNote::Exec { thread: thread.clone(), before: before.clone() });
        }
    }

    /// Applies an MMAP record.
    pub(crate) fn map(&mut self, ledger: &mut Ledger, pid: i32, tid: i32, mapping: Mapping) {
        self.see(ledger, pid, tid);
        let Some(thread) = self.threads.get(tid) else { return };
        if let Some(process) = self.processes.get_mut(thread.process) {
            ledger.map(&mut process.maps, mapping, |mapping, before| ChangeNote::Mapped {
                thread: thread.clone(),
                mapping,
                before,
            });
        }
    }
}
