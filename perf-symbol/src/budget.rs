//! A reader of DWARF that ends when too much was read.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use gimli::{EndianSlice, Error, Reader, ReaderOffsetId, RunTimeEndian};

use crate::cancellation::Cancellation;
use crate::decompressed::lock;
use crate::no_symbols::NoSymbols;

/// What is left to be read and to be decompressed of the DWARF of one file.
///
/// Whatever addr2line keeps, it has read before; so the number of bytes that are read bounds its time and its memory, also
/// where many functions refer to one long list. What it does recursively, it reads in between.
#[derive(Debug)]
pub(crate) struct Budget {
    allowed: AtomicU64,
    /// Number of bytes that may be read before cancellation is checked again.
    left: AtomicU64,
    /// Number of bytes that may be read after those.
    reserve: AtomicU64,
    cancellation: Mutex<Cancellation>,
    room: AtomicU64,
    loaded: AtomicU64,
    /// Whether anything was refused.
    is_exceeded: AtomicBool,
    /// Address of the stack at which the last look-up began.
    stack: AtomicUsize,
}

/// Number of bytes that may be read of the smallest file: it may refer to its parts more often.
const LEAST: u64 = 4 << 20;

/// Number of bytes that are read between two checks of cancellation.
const STEP: u64 = 1 << 16;

/// Number of bytes of stack that a look-up may take. Threads have 2 MiB, unless a program chooses another size.
const STACK: usize = 512 << 10;

impl Budget {
    /// Begins with `room` bytes for sections that are decompressed or copied.
    pub(crate) fn new(room: u64) -> Self {
        Self {
            allowed: AtomicU64::new(LEAST),
            left: AtomicU64::new(0),
            reserve: AtomicU64::new(LEAST),
            cancellation: Mutex::default(),
            room: AtomicU64::new(room),
            loaded: AtomicU64::new(0),
            is_exceeded: AtomicBool::new(false),
            stack: AtomicUsize::new(0),
        }
    }

    /// Allows to read a section of `size` bytes, whose bytes in the file are `raw`, as often as honest files need it.
    pub(crate) fn add(&self, raw: u64, size: u64) {
        // When every function of libc, of Rust's std, of LTO and of dwz is looked up, all is read less than twice.
        const TIMES: u64 = 8;
        // Compilers do not write what shrinks to less than a quarter of that.
        const COMPRESSED_TIMES: u64 = 16 * TIMES;
        let more = size.saturating_mul(TIMES).min(raw.saturating_mul(COMPRESSED_TIMES));
        self.allowed.store(self.allowed.load(Relaxed).saturating_add(more), Relaxed);
        self.reserve.store(self.reserve.load(Relaxed).saturating_add(more), Relaxed);
    }

    /// Returns the number of bytes that may be read in all.
    pub(crate) fn allowed(&self) -> u64 {
        self.allowed.load(Relaxed)
    }

    /// Sets the flag that ends reading early.
    pub(crate) fn set_cancellation(&self, cancellation: &Cancellation) {
        lock(&self.cancellation).clone_from(cancellation);
    }

    pub(crate) fn cancellation(&self) -> Cancellation {
        lock(&self.cancellation).clone()
    }

    /// Returns the number of bytes that may still be decompressed or copied.
    pub(crate) fn room(&self) -> u64 {
        self.room.load(Relaxed)
    }

    /// Takes bytes that were decompressed or copied.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::TooLarge`] if there is no room for them.
    pub(crate) fn load(&self, size: u64) -> Result<(), NoSymbols> {
        let Some(room) = self.room().checked_sub(size) else {
            self.is_exceeded.store(true, Relaxed);
            return Err(NoSymbols::TooLarge);
        };
        self.room.store(room, Relaxed);
        self.loaded.store(self.loaded.load(Relaxed).saturating_add(size), Relaxed);
        Ok(())
    }

    /// Returns the number of bytes that were decompressed, copied, and read, which what is kept is in proportion to.
    pub(crate) fn used(&self) -> u64 {
        let left = self.left.load(Relaxed).saturating_add(self.reserve.load(Relaxed));
        let read = self.allowed.load(Relaxed).saturating_sub(left);
        self.loaded.load(Relaxed).saturating_add(read)
    }

    /// Returns whether anything was refused, because there was no room for it or because it was cancelled.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Relaxed)
    }

    /// Begins a look-up on the stack of this thread.
    pub(crate) fn begin(&self) {
        self.stack.store(stack(), Relaxed);
    }

    /// Takes bytes that are read.
    #[inline]
    fn take(&self, size: usize) -> bool {
        let size = size as u64;
        let left = self.left.load(Relaxed);
        if left < size || self.stack.load(Relaxed).abs_diff(stack()) > STACK {
            return self.take_of_reserve(size);
        }
        self.left.store(left.wrapping_sub(size), Relaxed);
        true
    }

    /// Takes bytes for which `left` is too small, unless the stack is too large, there are no more, or it is cancelled.
    #[cold]
    fn take_of_reserve(&self, size: u64) -> bool {
        let left = self.left.load(Relaxed);
        let all = left.saturating_add(self.reserve.load(Relaxed));
        let is_too_deep = self.stack.load(Relaxed).abs_diff(stack()) > STACK;
        if is_too_deep || all < size || lock(&self.cancellation).is_cancelled() {
            self.is_exceeded.store(true, Relaxed);
            return false;
        }
        let rest = all.saturating_sub(size);
        self.left.store(rest.min(STEP), Relaxed);
        self.reserve.store(rest.saturating_sub(STEP), Relaxed);
        true
    }
}

/// Returns an address of the stack, near to the caller's.
#[inline]
fn stack() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Bytes that are read within a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metered<'a> {
    slice: EndianSlice<'a, RunTimeEndian>,
    budget: &'a Budget,
}

impl<'a> Metered<'a> {
    pub(crate) fn new(bytes: &'a [u8], endian: RunTimeEndian, budget: &'a Budget) -> Self {
        Self { slice: EndianSlice::new(bytes, endian), budget }
    }

    /// Returns the bytes.
    pub(crate) fn slice(&self) -> &'a [u8] {
        self.slice.slice()
    }

    /// Takes bytes that are read without this reader.
    #[inline]
    pub(crate) fn take(&self, size: usize) -> gimli::Result<()> {
        if self.budget.take(size) { Ok(()) } else { Err(Error::UnexpectedEof(self.slice.offset_id())) }
    }
}

impl Reader for Metered<'_> {
    type Endian = RunTimeEndian;
    type Offset = usize;

    fn endian(&self) -> RunTimeEndian {
        self.slice.endian()
    }

    fn len(&self) -> usize {
        self.slice.len()
    }

    fn empty(&mut self) {
        self.slice.empty();
    }

    fn truncate(&mut self, len: usize) -> gimli::Result<()> {
        self.slice.truncate(len)
    }

    fn offset_from(&self, base: &Self) -> usize {
        self.slice.offset_from(base.slice)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        self.slice.offset_id()
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.slice.lookup_offset_id(id)
    }

    #[inline]
    fn find(&self, byte: u8) -> gimli::Result<usize> {
        let found = Reader::find(&self.slice, byte);
        self.take(found.as_ref().map_or(self.slice.len(), |&len| len))?;
        found
    }

    #[inline]
    fn skip(&mut self, len: usize) -> gimli::Result<()> {
        self.take(1)?;
        self.slice.skip(len)
    }

    #[inline]
    fn split(&mut self, len: usize) -> gimli::Result<Self> {
        self.take(1)?;
        Ok(Self { slice: self.slice.split(len)?, budget: self.budget })
    }

    fn to_slice(&self) -> gimli::Result<Cow<'_, [u8]>> {
        Ok(self.slice.slice().into())
    }

    fn to_string(&self) -> gimli::Result<Cow<'_, str>> {
        self.take(self.slice.len())?;
        Reader::to_string(&self.slice)
    }

    fn to_string_lossy(&self) -> gimli::Result<Cow<'_, str>> {
        self.take(self.slice.len())?;
        Reader::to_string_lossy(&self.slice)
    }

    #[inline]
    fn read_slice(&mut self, buf: &mut [u8]) -> gimli::Result<()> {
        self.take(buf.len())?;
        Reader::read_slice(&mut self.slice, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Below the limit, at it, and above it.
    #[test]
    fn reading_ends() {
        let bytes = [0; 10];
        for (taken, is_read) in [(LEAST, true), (LEAST + 80 - 10, true), (LEAST + 80 - 9, false)] {
            let budget = Budget::new(0);
            budget.begin();
            budget.add(10, 10);
            assert!(budget.take(usize::try_from(taken).unwrap()));
            let mut reader = Metered::new(&bytes, RunTimeEndian::Little, &budget);
            let mut read = [1; 10];
            assert_eq!(reader.read_slice(&mut read).is_ok(), is_read);
        }
    }

    #[test]
    fn reading_is_cancelled() {
        let budget = Budget::new(0);
        budget.begin();
        let cancellation = Cancellation::new();
        budget.set_cancellation(&cancellation);
        assert!(budget.take(1));
        cancellation.cancel();
        let taken = (0..).take_while(|_| budget.take(1)).count() as u64;
        assert_eq!((taken, budget.used()), (STEP, 1 + STEP));
        // The next look-up goes on.
        budget.set_cancellation(&Cancellation::new());
        assert!(budget.take(1));
    }

    #[test]
    fn loading_ends() {
        for (size, is_loaded) in [(9, true), (10, true), (11, false)] {
            let budget = Budget::new(10);
            assert_eq!(budget.load(size).is_ok(), is_loaded);
            assert_eq!(budget.used(), if is_loaded { size } else { 0 });
        }
    }

    #[test]
    fn recursion_ends() {
        fn deeper(budget: &Budget, depth: u32) -> u32 {
            let kept = std::hint::black_box([depth; 256]);
            if !budget.take(0) {
                return depth;
            }
            let reached = deeper(budget, depth + 1);
            reached.max(std::hint::black_box(kept)[0])
        }
        let budget = Budget::new(0);
        budget.begin();
        let reached = deeper(&budget, 0);
        assert!((10..=512).contains(&reached), "{reached}");
    }
}
