//! The reader's side of a ring or an AUX area: which bytes are unread, and how they are returned to the writer.

use alloc::sync::Arc;
use core::mem::offset_of;
use core::sync::atomic::Ordering;

use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;

use super::mapping::{SharedMapping, page_size};

type Page = MmapPage<NativeEndian>;

/// One of the two areas that have a head and a tail in the control page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlArea {
    /// The ring of records.
    Data,
    /// The AUX area.
    Aux,
}

impl ControlArea {
    /// Returns the offset of the writer's position in the control page.
    pub(crate) fn head(self) -> usize {
        match self {
            Self::Data => offset_of!(Page, data_head),
            Self::Aux => offset_of!(Page, aux_head),
        }
    }

    /// Returns the offset of the reader's position in the control page.
    pub(crate) fn tail(self) -> usize {
        match self {
            Self::Data => offset_of!(Page, data_tail),
            Self::Aux => offset_of!(Page, aux_tail),
        }
    }

    /// Returns the offset of the word that marks the area as claimed by a reader. It is at the end of the control page,
    /// which the kernel zeroes when it allocates the page and does not use.
    fn claimed(self) -> usize {
        match self {
            Self::Data => page_size() - 8,
            Self::Aux => page_size() - 16,
        }
    }
}

/// The exclusive right to read an area: a word in the control page, which is cleared when the claim is dropped.
#[derive(Debug)]
pub(crate) struct ReaderClaim {
    control: Arc<SharedMapping>,
    area: ControlArea,
}

impl ReaderClaim {
    /// Claims the area; `None` if it is already claimed, by this or another process.
    ///
    /// # Panics
    ///
    /// If the control page is mapped read-only.
    pub(crate) fn new(control: Arc<SharedMapping>, area: ControlArea) -> Option<Self> {
        // SAFETY: slices are created only of areas, and no area overlaps the control page.
        let is_ours = unsafe { control.claim(area.claimed()) };
        // Not `then_some`: it would make and drop a claim that is not ours, and so clear that of the other reader.
        is_ours.then(|| Self { control, area })
    }

    /// Loads the writer's position. Later reads see everything that the writer wrote before that position.
    pub(crate) fn head(&self) -> u64 {
        self.control.load_acquire(self.area.head())
    }

    /// Stores the reader's position, after every read of the bytes before it.
    fn store_tail(&self, tail: u64) {
        // SAFETY: as in `new`.
        unsafe { self.control.store(self.area.tail(), tail, Ordering::Release) };
    }
}

impl Drop for ReaderClaim {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe { self.control.store(self.area.claimed(), 0, Ordering::Release) };
    }
}

/// Writes the offset and the size of the AUX area to the control page, for the kernel.
pub(crate) fn place_aux(control: &SharedMapping, offset: u64, size: u64) {
    // SAFETY: slices are created only of areas, and no area overlaps the control page.
    unsafe { control.store(offset_of!(Page, aux_offset), offset, Ordering::Relaxed) };
    // SAFETY: as above.
    unsafe { control.store(offset_of!(Page, aux_size), size, Ordering::Relaxed) };
}

/// The only reader of an area.
///
/// Invariants. The area is `size` bytes at `start` of `memory`; `size` is a power of two. The area is within the memory
/// and does not overlap the control page. The memory is not mapped read-only. `head - tail` is at most `size`. The
/// page's tail is equal to `tail`, and only `self` changes it, because it holds the claim. The writer of an area with a
/// writable mapping does not write between the page's tail and its own head. So it does not write the bytes between
/// `tail` and `head`.
#[derive(Debug)]
pub(crate) struct Consumer {
    // Fields are dropped in this order: an AUX area is unmapped before another reader may map it.
    memory: Arc<SharedMapping>,
    claim: ReaderClaim,
    start: usize,
    size: usize,
    tail: u64,
    head: u64,
}

impl Consumer {
    /// Returns the reader of the area of `size` bytes at `start` of `memory`, starting at the tail in the control page.
    ///
    /// `None` if `size` is not a power of two, `size` or `start` is not a multiple of 8, the area overlaps the control
    /// page, or it is not within writable memory.
    pub(crate) fn new(
        claim: ReaderClaim,
        memory: Arc<SharedMapping>,
        start: usize,
        size: usize,
    ) -> Option<Self> {
        let within = start.checked_add(size).is_some_and(|end| end <= memory.len());
        let is_after_page = !Arc::ptr_eq(&claim.control, &memory) || start >= page_size();
        if !within
            || !is_after_page
            || !memory.is_writable()
            || !size.is_power_of_two()
            || !size.is_multiple_of(8)
            || !start.is_multiple_of(8)
        {
            return None;
        }
        let tail = claim.control.load(claim.area.tail());
        Some(Self { memory, claim, start, size, tail, head: tail })
    }

    /// Returns the control page's mapping.
    pub(crate) fn control(&self) -> &Arc<SharedMapping> {
        &self.claim.control
    }

    /// Returns the size of the area in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the position of the first byte that has not been returned to the writer.
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// Returns the position after the last byte that is known to be written.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Reads the writer's position.
    ///
    /// # Errors
    ///
    /// The page's head, if it exceeds the tail by more than the size of the area. Then nothing is readable.
    pub(crate) fn refresh(&mut self) -> Result<(), u64> {
        let head = self.claim.head();
        if head.wrapping_sub(self.tail) > self.size as u64 {
            self.head = self.tail;
            return Err(head);
        }
        self.head = head;
        Ok(())
    }

    /// Returns the unread bytes from position `from` to the head, in two pieces: up to the end of the area, and from
    /// its start. Both are empty if `from` is not between tail and head.
    #[inline]
    pub(crate) fn unread(&self, from: u64) -> (&[u8], &[u8]) {
        let unread = self.head.wrapping_sub(self.tail);
        let left = unread.saturating_sub(from.wrapping_sub(self.tail));
        // Neither cast loses bits that matter: `left` is at most `size` by the invariants, and `at` is masked to below
        // `size`.
        let (left, at) = (left as usize, from as usize & (self.size - 1));
        let first = left.min(self.size - at);
        // SAFETY: `at + first` is at most `size`, and the area is within the memory. The bytes are at positions from
        // `from` to at most `head`. Nobody writes them before the page's tail moves beyond `from`. Only `release` and
        // `skip_to_head` move the tail, and both need exclusive access to self.
        let before_end = unsafe { self.memory.bytes(self.start + at, first) };
        // SAFETY: as above. The remaining bytes, of at most `size` in total, are at the area's start, before `at`.
        let from_start = unsafe { self.memory.bytes(self.start, left - first) };
        (before_end, from_start)
    }

    /// Returns the first of the two pieces of [`unread`](Self::unread).
    #[inline]
    pub(crate) fn unread_in_one(&self, from: u64) -> &[u8] {
        self.unread(from).0
    }

    /// Returns the bytes before position `to` to the writer. Does nothing if `to` is not between tail and head.
    pub(crate) fn release(&mut self, to: u64) {
        if to.wrapping_sub(self.tail) <= self.head.wrapping_sub(self.tail) {
            self.tail = to;
            self.claim.store_tail(to);
        }
    }

    /// Skips all unread bytes, even if the head is corrupt. Returns the new position.
    pub(crate) fn skip_to_head(&mut self) -> u64 {
        self.head = self.claim.head();
        self.tail = self.head;
        self.claim.store_tail(self.tail);
        self.head
    }
}
