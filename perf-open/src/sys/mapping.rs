//! Shared memory: a ring or an AUX area that the kernel writes, or heap memory in place of one.
//!
//! Memory that another writer may change at any moment is read and copied by single atomic or volatile loads, never
//! through a reference. Only [`Consumer`](super::consumer::Consumer) creates references, to bytes that the writer does
//! not write meanwhile.

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::sync::{AtomicU64, fence};
#[cfg(loom)]
use super::tracked::TrackedWords;

/// Returns the bytes of a page of this machine.
pub(crate) fn page_size() -> usize {
    // SAFETY: sysconf takes a number and accesses no memory of this process.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(4096)
}

/// The origin of the memory, which determines how it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryOrigin {
    /// `mmap` of an event with `PROT_WRITE`.
    Writable,
    /// `mmap` of an event without `PROT_WRITE`.
    ReadOnly,
    /// The heap, with this layout.
    Heap(Layout),
}

/// Shared memory, released when dropped.
#[derive(Debug)]
pub(crate) struct SharedMapping {
    start: NonNull<u8>,
    len: usize,
    origin: MemoryOrigin,
    #[cfg(loom)]
    words: TrackedWords,
}

// SAFETY: the memory belongs to no thread: munmap and dealloc may be called from any thread.
unsafe impl Send for SharedMapping {}
// SAFETY: a shared Mapping gives access to the memory only by atomic or volatile accesses, which may race, and by the
// unsafe functions below, whose callers guarantee the rest.
unsafe impl Sync for SharedMapping {}

impl SharedMapping {
    /// Maps `len` bytes of the event `fd`, starting at `offset`.
    pub(crate) fn of_event(fd: BorrowedFd<'_>, offset: u64, len: usize, writable: bool) -> io::Result<Self> {
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let write = if writable { libc::PROT_WRITE } else { 0 };
        let protection = libc::PROT_READ | write;
        // SAFETY: with a null address and without MAP_FIXED, the kernel chooses addresses that nothing else uses.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), len, protection, libc::MAP_SHARED, fd.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self {
            start,
            len,
            origin: if writable { MemoryOrigin::Writable } else { MemoryOrigin::ReadOnly },
            #[cfg(loom)]
            words: TrackedWords::default(),
        })
    }

    /// Allocates `len` zeroed bytes of heap, aligned to a page; `None` if `len` is 0 or too large.
    pub(crate) fn of_heap(len: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len, page_size()).ok().filter(|_| len != 0)?;
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Some(Self {
            start,
            len,
            origin: MemoryOrigin::Heap(layout),
            #[cfg(loom)]
            words: TrackedWords::of_heap(len, page_size()),
        })
    }

    /// Returns the bytes of the mapping.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns whether this process may write the memory. The kernel does not wait for readers that may not.
    pub(crate) fn is_writable(&self) -> bool {
        self.origin != MemoryOrigin::ReadOnly
    }

    /// Returns whether the memory is heap, which no kernel writes.
    pub(crate) fn is_heap(&self) -> bool {
        matches!(self.origin, MemoryOrigin::Heap(_))
    }

    /// Returns the address of the `bytes` bytes at `at`.
    ///
    /// # Panics
    ///
    /// If they are not all in the mapping, or `at` is not a multiple of their number.
    fn address(&self, at: usize, bytes: usize) -> *mut u8 {
        let fits = at.checked_add(bytes).is_some_and(|end| end <= self.len);
        assert!(fits && at.is_multiple_of(bytes), "{bytes} bytes at {at} of a mapping of {}", self.len);
        // SAFETY: `at` is within the mapping, which is one object whose length fits an isize.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// Borrows the word at `at` as an atomic.
    #[cfg(not(loom))]
    fn atomic(&self, at: usize) -> &AtomicU64 {
        debug_assert!(self.is_writable(), "atomics are for memory that can be written");
        // SAFETY: the address is aligned. It is valid for reads and writes as long as self, because the memory is not
        // mapped read-only. While the reference lives, every access to the word is atomic or comes from outside the
        // program, except reads through the slices of `bytes`, and nobody writes their bytes while they exist.
        unsafe { AtomicU64::from_ptr(self.address(at, 8).cast()) }
    }

    /// Borrows the atomic that loom has in place of the word at `at`.
    #[cfg(loom)]
    fn atomic(&self, at: usize) -> &AtomicU64 {
        self.words.atomic(at)
    }

    /// Loads the word at `at`, in native byte order.
    pub(crate) fn load(&self, at: usize) -> u64 {
        if self.is_writable() {
            return self.atomic(at).load(Ordering::Relaxed);
        }
        let word = self.address(at, 8).cast::<u64>();
        loop {
            // SAFETY: the address is aligned and mapped, and any bytes are a valid u64. Only the kernel writes there.
            let value = unsafe { word.read_volatile() };
            // A 32-bit machine loads two halves. They belong together if a second load returns the same value.
            // SAFETY: as above.
            if cfg!(target_pointer_width = "64") || value == unsafe { word.read_volatile() } {
                return value;
            }
        }
    }

    /// Loads the word at `at`. If its writer stored it with release, later reads see everything written before it.
    pub(crate) fn load_acquire(&self, at: usize) -> u64 {
        if self.is_writable() {
            // A relaxed load and a fence would give the same order at the same cost, but ThreadSanitizer does not know
            // fences.
            return self.atomic(at).load(Ordering::Acquire);
        }
        // A volatile load is not atomic, so only a fence orders the reads after it.
        let value = self.load(at);
        fence(Ordering::Acquire);
        value
    }

    /// Copies words, starting at `at`, until `to` is full.
    ///
    /// Each word is loaded once. If the writer is active, some words are new and some are old.
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
    /// No slice of [`bytes`](Self::bytes) that contains this word may exist.
    ///
    /// # Panics
    ///
    /// If the word is not in the mapping, or the mapping is read-only.
    pub(super) unsafe fn store(&self, at: usize, value: u64, ordering: Ordering) {
        assert!(self.is_writable(), "a read-only mapping is not written");
        #[cfg(loom)]
        {
            // For slices. Before the store, which may be what releases the word.
            self.words.write(at);
            // SAFETY: the address is aligned and in the mapping, which is heap. loom runs one thread at a time.
            unsafe { self.address(at, 8).cast::<u64>().write(value) };
        }
        self.atomic(at).store(value, ordering);
    }

    /// Sets the word at `at`, which the kernel does not use, to 1. Returns whether it was 0.
    ///
    /// # Safety
    ///
    /// The same as [`store`](Self::store).
    pub(super) unsafe fn claim(&self, at: usize) -> bool {
        assert!(self.is_writable(), "a read-only mapping is not written");
        self.atomic(at).swap(1, Ordering::AcqRel) == 0
    }

    /// Borrows the `len` bytes at `at` as a slice.
    ///
    /// # Safety
    ///
    /// `at + len` must be at most [`len`](Self::len), and nobody may write these bytes while the slice exists.
    #[inline]
    pub(super) unsafe fn bytes(&self, at: usize, len: usize) -> &[u8] {
        #[cfg(loom)]
        self.words.read(at, len);
        // SAFETY: the caller guarantees that `at` is within the mapping, or its end.
        let start = unsafe { self.start.as_ptr().add(at) };
        // SAFETY: the caller guarantees that the bytes are in the mapping and are not written. They are initialised,
        // because both the kernel's pages and those of alloc_zeroed are. The mapping outlives the borrow of self.
        unsafe { core::slice::from_raw_parts(start, len) }
    }
}

impl Drop for SharedMapping {
    fn drop(&mut self) {
        match self.origin {
            MemoryOrigin::Writable | MemoryOrigin::ReadOnly => {
                // SAFETY: `start` and `len` are those of a successful mmap, and nothing borrows from self any more.
                let result = unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
                debug_assert_eq!(result, 0, "munmap of a whole mapping");
            }
            // SAFETY: the memory came from alloc_zeroed with this layout, and nothing borrows from self any more.
            MemoryOrigin::Heap(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
        }
    }
}
