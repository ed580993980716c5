//! The reader's side of a ring, and of an AUX area: which bytes are unread, and giving them back to the writer.

use alloc::sync::Arc;
use core::mem::offset_of;
use core::sync::atomic::Ordering;

use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;

use super::mapping::{Mapping, page_size};

type Page = MmapPage<NativeEndian>;

/// One of the two areas that a control page has a head and a tail for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// The ring of records.
    Data,
    /// What hardware traces.
    Aux,
}

impl Area {
    /// Where the writer's position is in the page.
    pub(super) fn head(self) -> usize {
        match self {
            Self::Data => offset_of!(Page, data_head),
            Self::Aux => offset_of!(Page, aux_head),
        }
    }

    /// Where the reader's position is in the page.
    pub(super) fn tail(self) -> usize {
        match self {
            Self::Data => offset_of!(Page, data_tail),
            Self::Aux => offset_of!(Page, aux_tail),
        }
    }

    /// Where the word is that says whether somebody reads the area: at the end of the page, which the kernel zeroed
    /// when it made it and has no use for.
    fn claimed(self) -> usize {
        match self {
            Self::Data => page_size() - 8,
            Self::Aux => page_size() - 16,
        }
    }
}

/// Being the only one who reads an area: a word in the control page, taken back when dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    control: Arc<Mapping>,
    area: Area,
}

impl Claim {
    /// `None` if the area is claimed already, here or in another process.
    ///
    /// # Panics
    ///
    /// If the control page is mapped read-only.
    pub(crate) fn new(control: Arc<Mapping>, area: Area) -> Option<Self> {
        // SAFETY: slices are made of areas only, which lie behind the control page.
        let is_ours = unsafe { control.claim(area.claimed()) };
        is_ours.then_some(Self { control, area })
    }

    /// The writer's position. What it wrote before is seen by later reads.
    pub(crate) fn head(&self) -> u64 {
        self.control.load_acquire(self.area.head())
    }

    /// Stores the reader's position, behind every read of the bytes before it.
    fn store_tail(&self, tail: u64) {
        // SAFETY: as in `new`.
        unsafe { self.control.store(self.area.tail(), tail, Ordering::Release) };
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe { self.control.store(self.area.claimed(), 0, Ordering::Release) };
    }
}

/// Tells the kernel where the AUX area is to be mapped and how large it is.
pub(crate) fn place_aux(control: &Mapping, offset: u64, size: u64) {
    // SAFETY: slices are made of areas only, which lie behind the control page.
    unsafe { control.store(offset_of!(Page, aux_offset), offset, Ordering::Relaxed) };
    // SAFETY: as above.
    unsafe { control.store(offset_of!(Page, aux_size), size, Ordering::Relaxed) };
}

/// The one reader of an area.
///
/// Invariants. The area, `size` bytes at `start` of `memory`, a power of two, lies behind the control page and within
/// the memory, which is not mapped read-only. `head - tail` is at most `size`. The page's tail is `tail`, and nobody
/// else moves it: the claim says so. The writer of an area that the reader may write too leaves alone what is between
/// the page's tail and its own head, and so the bytes between `tail` and `head`.
#[derive(Debug)]
pub(crate) struct Consumer {
    // In this order dropped: an AUX area is unmapped before another may map it.
    memory: Arc<Mapping>,
    claim: Claim,
    start: usize,
    size: usize,
    tail: u64,
    head: u64,
}

impl Consumer {
    /// The reader of the area of `size` bytes at `start` of `memory`, from the tail on that the control page says.
    /// `None` unless it is a power of two of bytes, behind the control page and within memory that may be written.
    pub(crate) fn new(claim: Claim, memory: Arc<Mapping>, start: usize, size: usize) -> Option<Self> {
        let within = start.checked_add(size).is_some_and(|end| end <= memory.len());
        let behind = !Arc::ptr_eq(&claim.control, &memory) || start >= page_size();
        if !within
            || !behind
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

    /// The control page's mapping.
    pub(crate) fn control(&self) -> &Arc<Mapping> {
        &self.claim.control
    }

    /// Bytes of the area.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The position of the first byte that is not given back.
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// The position behind the last byte that is known to be written.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Looks how far the writer has come.
    ///
    /// # Errors
    ///
    /// The page's head, if more bytes than the area has would be unread; nothing is readable then.
    pub(crate) fn refresh(&mut self) -> Result<(), u64> {
        let head = self.claim.head();
        if head.wrapping_sub(self.tail) > self.size as u64 {
            self.head = self.tail;
            return Err(head);
        }
        self.head = head;
        Ok(())
    }

    /// The unread bytes from position `from` on, up to the head: the piece up to the area's end and the one from its
    /// start. Both are empty if `from` is not between tail and head.
    #[inline]
    pub(crate) fn unread(&self, from: u64) -> (&[u8], &[u8]) {
        let unread = self.head.wrapping_sub(self.tail);
        let left = unread.saturating_sub(from.wrapping_sub(self.tail));
        // Both fit: `left` is at most the size, by the invariants, and the other is below it.
        let (left, at) = (left as usize, from as usize & (self.size - 1));
        let first = left.min(self.size - at);
        // SAFETY: `at + first` is at most `size`, and the area is within the memory. The bytes are those of positions
        // from `from` on to at most `head`, which nobody writes before the page's tail moves beyond `from`; only
        // `release` and `skip_to_head` move it, and they need self exclusively.
        let before_end = unsafe { self.memory.bytes(self.start + at, first) };
        // SAFETY: as above: the rest of at most `size` bytes lies from the area's start on, before `at`.
        let from_start = unsafe { self.memory.bytes(self.start, left - first) };
        (before_end, from_start)
    }

    /// The first of the two pieces of [`unread`](Self::unread).
    #[inline]
    pub(crate) fn unread_in_one(&self, from: u64) -> &[u8] {
        self.unread(from).0
    }

    /// Gives the bytes before position `to` back to the writer; nothing happens if `to` is not between tail and head.
    pub(crate) fn release(&mut self, to: u64) {
        if to.wrapping_sub(self.tail) <= self.head.wrapping_sub(self.tail) {
            self.tail = to;
            self.claim.store_tail(to);
        }
    }

    /// Gives up what is unread, wherever the head is; gives where it is.
    pub(crate) fn skip_to_head(&mut self) -> u64 {
        self.head = self.claim.head();
        self.tail = self.head;
        self.claim.store_tail(self.tail);
        self.head
    }
}
