//! The host and its guests.

use alloc::collections::{BTreeMap, VecDeque};

use perf_abi::record::CpuMode;

use crate::ledger::Ledger;
use crate::machine::Machine;

/// The host and its guests.
///
/// perf: `struct machines`, `tools/perf/util/machine.h`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machines {
    pub(crate) host: Machine,
    /// By the process ids of their virtual machines.
    guests: BTreeMap<i32, Machine>,
    pub(crate) ledger: Ledger,
    /// Threads that have exited: the first one exited first. Of all machines, so that a capture with many guests cannot
    /// make more of them be kept.
    exited: VecDeque<ExitedThread>,
}

/// A thread that has exited. If the thread with the id has another key, it came later.
#[derive(Clone, Copy, Debug)]
struct ExitedThread {
    guest: Option<i32>,
    tid: i32,
    key: u64,
}

impl Machines {
    /// Returns the machine that a record or a sample is of; `None` for a guest that is not known.
    #[inline]
    pub(crate) fn of(&self, mode: CpuMode, pid: i32) -> Option<&Machine> {
        match guest_of(mode, pid) {
            None => Some(&self.host),
            Some(guest) => self.guests.get(&guest),
        }
    }

    /// Returns the machine that a record or a sample is of, and the ledger for what it makes known.
    #[inline]
    pub(crate) fn of_mut(&mut self, mode: CpuMode, pid: i32) -> (&mut Machine, &mut Ledger) {
        let machine = match guest_of(mode, pid) {
            None => &mut self.host,
            Some(guest) => guest_in(&mut self.guests, guest),
        };
        (machine, &mut self.ledger)
    }

    /// Returns the number of threads and processes that a clone copies.
    pub(crate) fn entries(&self) -> usize {
        let of_guests = self.guests.values().map(|guest| guest.entries().saturating_add(1));
        of_guests.fold(self.host.entries().saturating_add(self.exited.len()), usize::saturating_add)
    }

    /// Applies an EXIT record. Keeps the last `limit` threads that have exited: their last samples come later.
    pub(crate) fn exit(&mut self, mode: CpuMode, pid: i32, tid: i32, limit: usize) {
        let (machine, ledger) = self.of_mut(mode, pid);
        if let Some(key) = machine.exit(ledger, pid, tid) {
            self.exited.push_back(ExitedThread { guest: guest_of(mode, pid), tid, key });
        }
        while self.exited.len() > limit {
            let Some(thread) = self.exited.pop_front() else { return };
            self.remove(thread);
        }
    }

    /// Removes a thread, and a guest with its last one.
    fn remove(&mut self, thread: ExitedThread) {
        let ExitedThread { guest, tid, key } = thread;
        let Some(guest) = guest else { return self.host.remove(&mut self.ledger, tid, key) };
        if let Some(machine) = self.guests.get_mut(&guest) {
            machine.remove(&mut self.ledger, tid, key);
            if machine.is_empty() {
                self.guests.remove(&guest);
            }
        }
    }
}

/// Returns a guest, and makes it known. A separate function: few captures have guests, and all samples ask for a machine.
#[inline(never)]
fn guest_in(guests: &mut BTreeMap<i32, Machine>, guest: i32) -> &mut Machine {
    guests.entry(guest).or_insert_with(|| Machine::of_guest(guest))
}

/// Returns the process id of the virtual machine that a record or a sample is of; `None` for the host.
#[inline]
fn guest_of(mode: CpuMode, pid: i32) -> Option<i32> {
    is_guest(mode).then_some(pid.max(0))
}

/// Returns whether code or a record is of a guest.
#[inline]
pub(crate) fn is_guest(mode: CpuMode) -> bool {
    matches!(mode, CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER)
}
