//! The writer's side of an area on the heap: the program does what the kernel does for an event.

use alloc::sync::Arc;
use core::mem::offset_of;
use core::sync::atomic::Ordering;

use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;

use super::consumer::{Consumer, ControlArea, ReaderClaim};
use super::mapping::{SharedMapping, page_size};

type Page = MmapPage<NativeEndian>;

/// The only writer of an area on the heap.
///
/// Invariants. The area is `size` bytes, a power of two, at `start` of `memory`, which is on the heap. It has no other
/// producer. A forward producer does not write between the page's tail and `head`. A backward producer holds the claim,
/// so no [`Consumer`] of its area can exist.
#[derive(Debug)]
pub(crate) struct Producer {
    control: Arc<SharedMapping>,
    memory: Arc<SharedMapping>,
    area: ControlArea,
    start: usize,
    size: usize,
    head: u64,
    backward: Option<ReaderClaim>,
}

impl Producer {
    /// Returns the writer and the reader of a ring of `size` bytes after a control page, written forward. `None` if
    /// `size` is not a power of two, is less than 8, or is too large.
    pub(crate) fn forward(size: usize) -> Option<(Self, Consumer)> {
        let memory = ring(size)?;
        let claim = ReaderClaim::new(memory.clone(), ControlArea::Data)?;
        let consumer = Consumer::new(claim, memory.clone(), page_size(), size)?;
        Some((Self::new(memory.clone(), memory, ControlArea::Data, page_size(), size), consumer))
    }

    /// Returns the writer of such a ring that is written backward, and its memory.
    pub(crate) fn backward(size: usize) -> Option<(Self, Arc<SharedMapping>)> {
        let memory = ring(size).filter(|_| size.is_power_of_two())?;
        let claim = ReaderClaim::new(memory.clone(), ControlArea::Data)?;
        let producer = Self::new(memory.clone(), memory.clone(), ControlArea::Data, page_size(), size);
        Some((Self { backward: Some(claim), ..producer }, memory))
    }

    /// Returns the writer and the reader of an AUX area of `size` bytes for a ring on the heap. `None` as for
    /// [`forward`](Self::forward), and if the ring is the kernel's or already has an AUX area.
    pub(crate) fn aux(control: Arc<SharedMapping>, size: usize) -> Option<(Self, Consumer)> {
        let memory = Arc::new(SharedMapping::of_heap(size).filter(|_| control.is_heap())?);
        let claim = ReaderClaim::new(control.clone(), ControlArea::Aux)?;
        let consumer = Consumer::new(claim, memory.clone(), 0, size)?;
        let producer =
            Self { head: consumer.tail(), ..Self::new(control, memory, ControlArea::Aux, 0, size) };
        Some((producer, consumer))
    }

    fn new(
        control: Arc<SharedMapping>,
        memory: Arc<SharedMapping>,
        area: ControlArea,
        start: usize,
        size: usize,
    ) -> Self {
        Self { control, memory, area, start, size, head: 0, backward: None }
    }

    /// Writes `bytes` and moves the head. Returns whether there was room.
    ///
    /// # Panics
    ///
    /// If the length is not a multiple of 8.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        assert!(bytes.len().is_multiple_of(8), "whole words are written");
        if bytes.len() > self.size {
            return false;
        }
        let (from, head) = if self.backward.is_some() {
            let from = self.head.wrapping_sub(bytes.len() as u64);
            (from, from)
        } else {
            let unread = self.head.wrapping_sub(self.control.load_acquire(self.area.tail()));
            if unread + bytes.len() as u64 > self.size as u64 {
                return false;
            }
            (self.head, self.head.wrapping_add(bytes.len() as u64))
        };
        for (word, position) in bytes.chunks_exact(8).zip((from..).step_by(8)) {
            let at = self.start + (position as usize & (self.size - 1));
            let value = u64::from_ne_bytes(word.try_into().unwrap_or_default());
            // SAFETY: forward, the word is after our head and less than `size` after the tail, so it is not between
            // tail and head; the reader creates slices only of bytes between these. Backward, no reader creates slices.
            unsafe { self.memory.store(at, value, Ordering::Relaxed) };
        }
        self.head = head;
        self.publish();
        true
    }

    /// Publishes a wrong head, as in a corrupt control page. Nothing can be written after that.
    pub(crate) fn corrupt(mut self, head: u64) {
        self.head = head;
        self.publish();
    }

    /// Stores the head, after every write of the bytes before it.
    fn publish(&self) {
        // SAFETY: slices are created only of areas, and no area overlaps the control page.
        unsafe { self.control.store(self.area.head(), self.head, Ordering::Release) };
    }
}

/// Allocates a control page and `size` bytes on the heap.
fn ring(size: usize) -> Option<Arc<SharedMapping>> {
    let page = page_size();
    let memory = SharedMapping::of_heap(page.checked_add(size)?)?;
    for (at, value) in [(offset_of!(Page, data_offset), page), (offset_of!(Page, data_size), size)] {
        // SAFETY: no other reference to the mapping exists yet.
        unsafe { memory.store(at, value as u64, Ordering::Relaxed) };
    }
    Some(Arc::new(memory))
}
