//! The threads of a machine, by their ids.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::thread::Thread;

/// Threads, by their ids.
// Each sample looks its thread up, so what was found lately is found again without the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    /// The place of each thread in `slots`.
    places: BTreeMap<i32, u32>,
    slots: Vec<Option<Thread>>,
    /// The places in `slots` that are free.
    free: Vec<u32>,
    /// By the low bits of a thread id, the place where one with these bits was found last. A hint: the thread may be
    /// another one by now, or gone. The length is a power of two.
    recent: Vec<u32>,
}

/// The length of the list of recent places at most.
const RECENT: usize = 4096;

impl Threads {
    #[inline]
    pub(crate) fn get(&self, tid: i32) -> Option<&Thread> {
        match self.recent(tid) {
            Some((_, thread)) => Some(thread),
            None => self.at(*self.places.get(&tid)?),
        }
    }

    /// Returns a thread that was found lately, and its place.
    #[inline]
    pub(crate) fn recent(&self, tid: i32) -> Option<(u32, &Thread)> {
        let &place = self.recent.get(self.low_bits(tid))?;
        self.at(place).filter(|thread| thread.tid == tid).map(|thread| (place, thread))
    }

    /// Returns the thread at a place; `None` if it is free.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> Option<&Thread> {
        self.slots.get(usize::try_from(place).ok()?)?.as_ref()
    }

    #[inline]
    fn low_bits(&self, tid: i32) -> usize {
        usize::try_from(tid.cast_unsigned()).unwrap_or(0) & self.recent.len().saturating_sub(1)
    }

    /// Finds the place of a thread, so that it is found faster the next time.
    pub(crate) fn find(&mut self, tid: i32) -> Option<u32> {
        if let Some((place, _)) = self.recent(tid) {
            return Some(place);
        }
        let place = *self.places.get(&tid)?;
        self.note(tid, place);
        Some(place)
    }

    fn note(&mut self, tid: i32, place: u32) {
        let bits = self.low_bits(tid);
        if let Some(recent) = self.recent.get_mut(bits) {
            *recent = place;
        }
    }

    pub(crate) fn get_mut(&mut self, tid: i32) -> Option<&mut Thread> {
        let place = *self.places.get(&tid)?;
        self.slots.get_mut(usize::try_from(place).ok()?)?.as_mut()
    }

    /// Adds a thread. Returns the one that had its id.
    pub(crate) fn insert(&mut self, thread: Thread) -> Option<Thread> {
        let tid = thread.tid;
        if let Some(known) = self.get_mut(tid) {
            return Some(core::mem::replace(known, thread));
        }
        let place = match self.free.pop() {
            Some(place) => {
                if let Some(slot) = usize::try_from(place).ok().and_then(|place| self.slots.get_mut(place)) {
                    *slot = Some(thread);
                }
                place
            }
            None => {
                // There are no more threads than thread ids.
                let place = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
                self.slots.push(Some(thread));
                place
            }
        };
        self.places.insert(tid, place);
        if self.recent.len() < self.slots.len() && self.recent.len() < RECENT {
            self.recent.resize(self.slots.len().next_power_of_two(), place);
        }
        self.note(tid, place);
        None
    }

    pub(crate) fn remove(&mut self, tid: i32) -> Option<Thread> {
        let place = self.places.remove(&tid)?;
        self.free.push(place);
        self.slots.get_mut(usize::try_from(place).ok()?)?.take()
    }

    /// Returns the number of places of threads, free ones included.
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    /// Returns the threads in ascending order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.places.values().filter_map(|&place| self.at(place))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
