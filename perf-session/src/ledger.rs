//! The keys that a session has given out, and the changes that its last record made.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::map::Mapping;
use crate::maps::Maps;
use crate::thread::Thread;

/// The keys that a session has given out, and the changes that its last record made, if they are noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    next_key: u64,
    is_noting: bool,
    notes: Vec<ChangeNote>,
}

/// A change, as [`Change`](crate::Change) returns it. Owns what it has: one record can begin and replace the same thread.
#[derive(Clone, Debug)]
pub(crate) enum ChangeNote {
    ThreadBegun { thread: Thread, inherited: Option<u64> },
    ThreadIdentified { thread: Thread, process_before: u64 },
    ThreadNamed { thread: Thread, before: Arc<[u8]> },
    ThreadExited(Thread),
    ThreadRemoved(Thread),
    ProcessRemoved(u64),
    Exec { thread: Thread, before: Maps },
    Mapped { thread: Thread, mapping: Mapping, before: Option<Maps> },
    KernelMapped { guest: Option<i32>, mapping: Mapping, before: Option<Maps> },
    KernelUnmapped { guest: Option<i32>, mapping: Mapping },
    Cgroup(u64),
    BuildId(Vec<u8>),
}

impl Ledger {
    /// Returns a number that no two threads, and no two processes, of a session share.
    pub(crate) fn take_key(&mut self) -> u64 {
        let key = self.next_key;
        self.next_key = self.next_key.saturating_add(1);
        key
    }

    /// Forgets the changes of the record before, and notes those of the next one until [`stop`](Self::stop).
    pub(crate) fn start(&mut self) {
        self.notes.clear();
        self.is_noting = true;
    }

    pub(crate) fn stop(&mut self) {
        self.is_noting = false;
    }

    pub(crate) fn notes(&self) -> &[ChangeNote] {
        &self.notes
    }

    /// Notes a change, which is made only if somebody wants to know.
    #[inline]
    pub(crate) fn note(&mut self, change: impl FnOnce() -> ChangeNote) {
        if self.is_noting {
            self.notes.push(change());
        }
    }

    /// Adds a mapping, and notes the change that `change` makes of it and of the mappings before. Those are only kept if the
    /// new one replaces a part of them: a tree that is shared is copied when it changes.
    pub(crate) fn map(
        &mut self,
        maps: &mut Maps,
        mapping: Mapping,
        change: impl FnOnce(Mapping, Option<Maps>) -> ChangeNote,
    ) {
        let range = mapping.range();
        if !self.is_noting || range.is_empty() {
            return maps.insert(mapping);
        }
        let before = maps.overlaps(&range).then(|| maps.clone());
        maps.insert(mapping.clone());
        self.notes.push(change(mapping, before));
    }
}
