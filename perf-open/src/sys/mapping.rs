//! Memory that is shared: a ring or an AUX area that the kernel writes, or heap that stands in for one.
//!
//! What another writes at any moment is read by single atomic or volatile loads, and copied by such loads: never through
//! a reference. References are made by [`Consumer`](super::consumer::Consumer) alone, of bytes whose writer waits.

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering, fence};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Bytes of a page of this machine.
pub(crate) fn page_size() -> usize {
    // SAFETY: sysconf takes a number and touches no memory of ours.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(4096)
}

/// Where the memory comes from, and goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// `mmap` of an event; we may write it.
    Writable,
    /// `mmap` of an event without `PROT_WRITE`.
    ReadOnly,
    /// The heap.
    Heap(Layout),
}

/// Shared memory, given back when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    origin: Origin,
}

// SAFETY: the memory belongs to no thread: munmap and dealloc may be called from any.
unsafe impl Send for Mapping {}
// SAFETY: through a shared Mapping memory is only reached by atomic or volatile accesses, which may race, and by the
// unsafe functions below, whose callers answer for the rest.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of the event `fd` from `offset` on.
    pub(crate) fn of_event(fd: BorrowedFd<'_>, offset: u64, len: usize, writable: bool) -> io::Result<Self> {
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let write = if writable { libc::PROT_WRITE } else { 0 };
        let protection = libc::PROT_READ | write;
        // SAFETY: with a null address and without MAP_FIXED the kernel chooses addresses that nothing else uses.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), len, protection, libc::MAP_SHARED, fd.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { start, len, origin: if writable { Origin::Writable } else { Origin::ReadOnly } })
    }

    /// `len` zeroed bytes of the heap, aligned to a page; `None` if that is nothing or too much.
    pub(crate) fn of_heap(len: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len, page_size()).ok().filter(|_| len != 0)?;
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Some(Self { start, len, origin: Origin::Heap(layout) })
    }

    /// Bytes of the mapping.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether we may write it too; the kernel does not wait for readers who may not.
    pub(crate) fn is_writable(&self) -> bool {
        self.origin != Origin::ReadOnly
    }

    /// Whether it is heap, that no kernel writes.
    pub(crate) fn is_heap(&self) -> bool {
        matches!(self.origin, Origin::Heap(_))
    }

    /// The address of the `bytes` bytes at `at`.
    ///
    /// # Panics
    ///
    /// If they are not all in the mapping, or not aligned to their size.
    fn address(&self, at: usize, bytes: usize) -> *mut u8 {
        let fits = at.checked_add(bytes).is_some_and(|end| end <= self.len);
        assert!(fits && at.is_multiple_of(bytes), "{bytes} bytes at {at} of a mapping of {}", self.len);
        // SAFETY: `at` is within the mapping, one object whose length fits an isize.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// The word at `at`, as an atomic.
    fn atomic(&self, at: usize) -> &AtomicU64 {
        debug_assert!(self.is_writable(), "atomics are for memory that can be written");
        // SAFETY: the address is aligned, and valid for reads and writes as long as self: the memory is not mapped
        // read-only. Every access to it while the reference lives is atomic or comes from outside the program, but for
        // the slices of `bytes`, whose bytes nobody writes.
        unsafe { AtomicU64::from_ptr(self.address(at, 8).cast()) }
    }

    /// The word at `at`, in native order.
    pub(crate) fn load(&self, at: usize) -> u64 {
        if self.is_writable() {
            return self.atomic(at).load(Ordering::Relaxed);
        }
        let word = self.address(at, 8).cast::<u64>();
        loop {
            // SAFETY: the address is aligned and mapped; any bytes are a u64. Only the kernel writes there.
            let value = unsafe { word.read_volatile() };
            // A machine of 32 bits loads two halves: they belong together if a second load gives the same.
            // SAFETY: as above.
            if cfg!(target_pointer_width = "64") || value == unsafe { word.read_volatile() } {
                return value;
            }
        }
    }

    /// The word at `at`; what its writer wrote before it, a store with release, is seen by later reads.
    pub(crate) fn load_acquire(&self, at: usize) -> u64 {
        if self.is_writable() {
            // Not a fence after a relaxed load, which orders the same and costs the same, but which ThreadSanitizer does not
            // know.
            return self.atomic(at).load(Ordering::Acquire);
        }
        // Volatile loads are no atomics, so that only a fence orders what comes after them.
        let value = self.load(at);
        fence(Ordering::Acquire);
        value
    }

    /// Copies words from `at` on until `to` is full.
    ///
    /// Each is loaded once. Where the writer is at work meanwhile, some are its new ones and some are not.
    ///
    /// # Panics
    ///
    /// If `at` or the length of `to` is not a multiple of 8, or the mapping is too short.
    pub(crate) fn copy(&self, at: usize, to: &mut [u8]) {
        assert!(to.len().is_multiple_of(8), "whole words are copied");
        for (word, at) in to.chunks_exact_mut(8).zip((at..).step_by(8)) {
            word.copy_from_slice(&self.load(at).to_ne_bytes());
        }
    }

    /// Stores `value` at `at`.
    ///
    /// # Safety
    ///
    /// No slice of [`bytes`](Self::bytes) that holds this word is alive.
    ///
    /// # Panics
    ///
    /// If the word is not in the mapping, or the mapping is read-only.
    pub(super) unsafe fn store(&self, at: usize, value: u64, ordering: Ordering) {
        assert!(self.is_writable(), "a read-only mapping is not written");
        self.atomic(at).store(value, ordering);
    }

    /// Sets the word at `at`, which the kernel does not use, to 1; whether it was 0.
    ///
    /// # Safety
    ///
    /// As [`store`](Self::store).
    pub(super) unsafe fn claim(&self, at: usize) -> bool {
        assert!(self.is_writable(), "a read-only mapping is not written");
        self.atomic(at).swap(1, Ordering::AcqRel) == 0
    }

    /// The `len` bytes at `at`, as a slice.
    ///
    /// # Safety
    ///
    /// `at + len` is at most [`len`](Self::len), and nobody writes these bytes while the slice is alive.
    #[inline]
    pub(super) unsafe fn bytes(&self, at: usize, len: usize) -> &[u8] {
        // SAFETY: the caller says that `at` is within the mapping, or its end.
        let start = unsafe { self.start.as_ptr().add(at) };
        // SAFETY: the caller says that the bytes are in the mapping and not written; they are initialised, since the
        // kernel's pages and alloc_zeroed's are; the mapping outlives the borrow of self.
        unsafe { core::slice::from_raw_parts(start, len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        match self.origin {
            Origin::Writable | Origin::ReadOnly => {
                // SAFETY: `start` and `len` are what mmap gave, and nothing borrows from self any more.
                let result = unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
                debug_assert_eq!(result, 0, "munmap of a whole mapping");
            }
            // SAFETY: the memory came from alloc_zeroed with this layout, and nothing borrows from self any more.
            Origin::Heap(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
        }
    }
}
