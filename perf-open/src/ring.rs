//! Rings: memory to which the kernel writes the records of events.
//!
//! - [`Ring`]: reads each record once, in the order of writing, without copying it. A full ring loses new records and
//!   reports how many.
//! - [`Overwrite`]: keeps the newest records; read while it is paused.
//! - [`merge`]: reads several rings in time order, for example those of all cpus.
//! - [`loopback`]: rings that the program writes itself, to test readers.
//!
//! The records are those of [`perf_parse`], the same for live rings and for files.
//!
//! # Waiting
//!
//! [`Ring::wait`] and [`wait`] block. An async runtime can use the descriptor: [`Ring`] implements [`AsFd`] and
//! [`AsRawFd`]. A ring becomes readable once for each wakeup, however much is unread. Read all records after each
//! wakeup, as with edge-triggered `epoll`.
//!
//! ```no_run
//! use std::os::fd::{AsRawFd, RawFd};
//! # struct AsyncFd<T>(T);
//! # struct Guard;
//! # impl Guard { fn clear_ready(&mut self) {} }
//! # impl<T: AsRawFd> AsyncFd<T> {
//! #     fn new(inner: T) -> std::io::Result<Self> { Ok(Self(inner)) }
//! #     async fn readable_mut(&mut self) -> std::io::Result<Guard> { Ok(Guard) }
//! #     fn get_mut(&mut self) -> &mut T { &mut self.0 }
//! # }
//! use perf_open::Ring;
//!
//! // `AsyncFd` is tokio's; other runtimes have similar types.
//! async fn pump(ring: Ring) -> Result<(), Box<dyn core::error::Error>> {
//!     let mut ring = AsyncFd::new(ring)?;
//!     loop {
//!         let mut ready = ring.readable_mut().await?;
//!         ready.clear_ready(); // before reading: what comes meanwhile makes it ready again
//!         let mut drain = ring.get_mut().read()?;
//!         while let Some(record) = drain.next_record() {
//!             println!("{:?}", record?.kind());
//!         }
//!     }
//! }
//! ```

mod account;
pub mod aux_area;
mod drain;
#[cfg(all(loom, test))]
mod interleavings;
pub mod loopback;
pub(crate) mod map;
mod merge;
mod overwrite;
mod source;

pub use account::RingAccount;
pub use drain::{Drain, DrainError, LiveRecord};
pub use merge::merge;
pub use overwrite::{Overwrite, OverwriteSnapshot, PausedRing};
pub use source::wait;

use alloc::sync::Arc;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use perf_parse::event::Events;
use perf_parse::ring::{Buffer, Page, RingError, RingErrorKind};

use crate::counter::{Counter, Readiness};
use crate::error::Error;
use crate::sys::consumer::{Consumer, ControlArea, ReaderClaim};
use crate::sys::mapping::{SharedMapping, page_size};
use map::Sources;
use source::RingSource;

/// A ring, and its only reader.
///
/// The event stays open as long as its ring, even if the [`Counter`] is dropped. Dropping the ring unmaps it.
///
/// # Examples
///
/// ```no_run
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::sample_type::SampleType;
/// use perf_open::parse::Record;
/// use perf_open::{Builder, EventSpec, Ring, Target};
///
/// let faults = Builder::new(EventSpec::software(SwId::PAGE_FAULTS))
///     .exclude_kernel(true)
///     .sample_period(1)
///     .sample_type(SampleType::IP | SampleType::TID | SampleType::TIME)
///     .open(&Target::this_thread())?;
/// let mut ring = Ring::map(&faults, 8)?;
/// drop(vec![1_u8; 1 << 20]);
///
/// let mut drain = ring.read()?;
/// while let Some(record) = drain.next_with_event() {
///     if let Record::Sample(sample) = record?.decode()? {
///         assert!(sample.time().is_some());
///     }
/// }
/// drop(drain); // now the kernel has the room again
/// assert!(ring.account().records > 0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// Kernel: `perf_mmap`, `kernel/events/core.c`; since Linux 2.6.31.
#[derive(Debug)]
pub struct Ring {
    source: RingSource,
    data: Consumer,
    buffer: Box<Buffer>,
    sources: Sources,
    account: RingAccount,
}

impl Ring {
    /// Maps a ring of `pages` pages for the records of `counter`, plus the control page.
    ///
    /// The pages count against `RLIMIT_MEMLOCK` beyond `/proc/sys/kernel/perf_event_mlock_kb` per cpu. Before Linux
    /// 2.6.39 an event only samples if it has a ring, even if nothing reads it.
    ///
    /// # Errors
    ///
    /// Without a system call: if `pages` is not a power of two, if the event has `write_backward` (use an
    /// [`Overwrite`]), or if [`SampleLayout::new`](perf_parse::SampleLayout::new) refuses the attr. From `mmap`:
    /// `EPERM` if too many pages are locked, `EINVAL` if the event is inherited and not bound to a cpu, or has a ring
    /// of another size, `ENOMEM`. Also if the ring, of this event or of the event whose ring it shares, already has a
    /// reader, because two readers would take each other's records.
    pub fn map(counter: &Counter, pages: usize) -> Result<Self, Error> {
        map::check_direction(counter, false)?;
        let (len, size) = map::sizes(pages)?;
        let sources = Sources::new(counter)?;
        let source = RingSource::of(counter)?;
        let memory = map::map(counter, len, true)?;
        let claim = ReaderClaim::new(memory.clone(), ControlArea::Data).ok_or_else(|| {
            Error::refused("mmap", "data_tail", "data_tail: another Ring reads this ring; drop it first")
        })?;
        let (start, size) = map::data_area(&memory, size);
        let data = Consumer::new(claim, memory, start, size).ok_or_else(|| {
            Error::refused(
                "mmap",
                "data_offset",
                "data_offset: the control page has an impossible offset or size of the ring",
            )
        })?;
        Ok(Self { source, data, buffer: Box::default(), sources, account: RingAccount::default() })
    }

    /// Redirects the records of `counter` to this ring. Returns its number, which [`LiveRecord::event`] contains; the
    /// ring's own event has number 0.
    ///
    /// The reader finds the event of a record by its id. So every event needs `sample_id_all`, and
    /// [`IDENTIFIER`](perf_abi::sample_type::SampleType::IDENTIFIER) or an `ID` at the same offset as the other events.
    ///
    /// # Errors
    ///
    /// The errno of `PERF_EVENT_IOC_SET_OUTPUT`: `EINVAL` if the events are not of the same cpu (or, if they are not
    /// bound to a cpu, of the same task), if they differ in clock or direction, or if `counter` has a ring of its own.
    pub fn add(&mut self, counter: &Counter) -> Result<usize, Error> {
        map::check_direction(counter, false)?;
        self.source.add(counter)?;
        self.sources.add(counter)
    }

    /// Returns the events whose records are in the ring, in the order they were added.
    #[must_use]
    pub fn events(&self) -> &Events {
        self.sources.events()
    }

    /// Returns the records that are in the ring now, in a guard that returns their room to the kernel when it is
    /// dropped.
    ///
    /// # Errors
    ///
    /// If `data_head` exceeds `data_tail` by more than the size of the ring, or is not a multiple of 8: the control
    /// page is corrupt, and nothing is read. [`skip`](Self::skip) continues at the head.
    pub fn read(&mut self) -> Result<Drain<'_>, RingError> {
        self.refresh()?;
        Ok(Drain::new(self))
    }

    fn refresh(&mut self) -> Result<(), RingError> {
        let must = "at most data_size beyond data_tail, and a multiple of 8";
        let invalid = |value| RingError {
            kind: RingErrorKind::Invalid { field: "data_head", value, must },
            position: 1024,
        };
        self.data.refresh().map_err(invalid)?;
        let head = self.data.head();
        if head.is_multiple_of(8) { Ok(()) } else { Err(invalid(head)) }
    }

    /// Returns the room before `position` to the kernel, and adds `taken` to the account.
    fn commit(&mut self, position: u64, taken: RingAccount) {
        let bytes = position.wrapping_sub(self.data.tail()).wrapping_sub(taken.skipped);
        self.data.release(position);
        self.account.add(RingAccount { bytes, ..taken });
    }

    /// Skips all unread records and returns their number of bytes; [`RingAccount::skipped`] counts them.
    pub fn skip(&mut self) -> u64 {
        let from = self.data.tail();
        let skipped = self.data.skip_to_head().wrapping_sub(from).min(self.data.size() as u64);
        self.account.skipped += skipped;
        skipped
    }

    /// Waits for a wakeup, as `wakeup_events` or `wakeup_watermark` of the attr requests. `None` waits forever.
    ///
    /// A signal ends the wait early, with nothing ready. Data from before the last wakeup does not make the ring
    /// readable again, so read all records before waiting.
    ///
    /// # Errors
    ///
    /// The errno of `poll`: `ENOMEM`.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Readiness, Error> {
        wait(core::slice::from_mut(self), timeout)
    }

    /// Reads every field of the control page. Those from `index` to `time_mask` are from the same moment.
    ///
    /// If the kernel changes them during each of 1000 tries, the page is not [settled](Page::is_settled).
    #[must_use]
    pub fn page(&self) -> Page {
        map::page(self.data.control())
    }

    /// Returns what was read so far, and what was lost.
    #[must_use]
    pub fn account(&self) -> RingAccount {
        self.account
    }

    /// Returns the size of the ring in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.data.size()
    }

    /// Copies the ring from memory, including the control page; [`perf_parse::ring::Dump`] decodes the copy.
    ///
    /// All unread records are complete in the copy. Records that were already read may be partly overwritten.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        map::dump(self.data.control())
    }

    pub(crate) fn control(&self) -> &Arc<SharedMapping> {
        self.data.control()
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl AsRawFd for Ring {
    fn as_raw_fd(&self) -> RawFd {
        self.source.as_fd().as_raw_fd()
    }
}

/// Returns the bytes of a page, the unit of the sizes of rings and AUX areas.
#[must_use]
pub fn page_bytes() -> usize {
    page_size()
}
