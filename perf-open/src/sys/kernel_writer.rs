//! A model of the kernel's writer of a ring, in the test of all interleavings.

use alloc::sync::Arc;
use core::mem::offset_of;
use core::sync::atomic::Ordering;

use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;
use perf_abi::record::RecordType;

use super::mapping::{SharedMapping, page_size};
use super::sync::fence;

type Page = MmapPage<NativeEndian>;

/// Writes forward, with the kernel's barriers instead of the orderings of [`Producer`](super::producer::Producer).
///
/// Kernel: `__perf_output_begin`, `perf_output_put_handle`, `kernel/events/ring_buffer.c`.
#[derive(Debug)]
pub(crate) struct KernelWriter {
    memory: Arc<SharedMapping>,
    size: u64,
    head: u64,
    /// Records that found no room since the last LOST record.
    pub(crate) lost: u64,
}

impl KernelWriter {
    /// Returns the writer of the ring of `size` bytes after the control page. It must be the only one.
    pub(crate) fn new(memory: Arc<SharedMapping>, size: usize) -> Self {
        Self { memory, size: size as u64, head: 0, lost: 0 }
    }

    /// Writes a record, after a LOST record if records were lost before it. Counts it as lost if there is no room.
    pub(crate) fn write(&mut self, record: &[u64]) {
        let lost = [u64::from_ne_bytes(header(RecordType::LOST, 24)), 0, self.lost];
        let lost = if self.lost > 0 { &lost[..] } else { &[] };
        let bytes = 8 * (lost.len() + record.len()) as u64;
        // READ_ONCE of the tail. The writes below depend on it, which orders them after it.
        let tail = self.memory.load(offset_of!(Page, data_tail));
        fence(Ordering::Acquire);
        // CIRC_SPACE: one byte stays free.
        if tail.wrapping_sub(self.head + 1) & (self.size - 1) < bytes {
            self.lost += 1;
            return;
        }
        for word in lost.iter().chain(record) {
            let at = page_size() + (self.head & (self.size - 1)) as usize;
            // SAFETY: the word is not between tail and head, where the reader creates slices.
            unsafe { self.memory.store(at, *word, Ordering::Relaxed) };
            self.head += 8;
        }
        self.lost = 0;
        // smp_wmb, WRITE_ONCE of the head.
        fence(Ordering::Release);
        // SAFETY: slices are created only of areas, and no area overlaps the control page.
        unsafe { self.memory.store(offset_of!(Page, data_head), self.head, Ordering::Relaxed) };
    }
}

/// Returns the header of a record of `size` bytes.
pub(crate) fn header(kind: RecordType, size: u16) -> [u8; 8] {
    let ([a, b, c, d], [e, f]) = (kind.0.to_ne_bytes(), size.to_ne_bytes());
    [a, b, c, d, 0, 0, e, f]
}
