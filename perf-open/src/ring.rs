//! Rings: the records of events, from memory that the kernel writes.
//!
//! - [`Ring`]: records are read in the order in which they were written, each once, where they lie. A ring that is full
//!   loses what comes, and says so.
//! - [`Overwrite`]: a ring that keeps the newest records, read while it is paused.
//! - [`merge`]: several rings by time, as of all cpus.
//! - [`loopback`]: rings that the program writes itself, to test its readers with.
//!
//! Records are those of [`perf_parse`], live or from a file.
//!
//! # Waiting
//!
//! [`Ring::wait`] and [`wait`] block. An async runtime takes the descriptor: [`Ring`] is [`AsFd`] and [`AsRawFd`]. A ring
//! is readable once for each wakeup, however much is unread: read all there is after each, as with edge-triggered
//! `epoll`.
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
//! // `AsyncFd` is tokio's; others have the like.
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
mod drain;
pub mod loopback;
pub(crate) mod map;
mod merge;
mod overwrite;
mod source;

pub use account::Account;
pub use drain::{Drain, DrainError, EventRecord};
pub use merge::merge;
pub use overwrite::{Overwrite, Paused, Snapshot};
pub use source::wait;

use alloc::sync::Arc;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use perf_parse::file::Events;
use perf_parse::ring::{Buffer, Page, RingError, RingErrorKind};

use crate::counter::{Counter, Ready};
use crate::error::Error;
use crate::sys::consumer::{Area, Claim, Consumer};
use crate::sys::mapping::{Mapping, page_size};
use map::Sources;
use source::Source;

/// A ring, and the one reader of its records.
///
/// The event lives as long as its ring, also where the [`Counter`] is dropped. Unmapped when dropped.
///
/// # Examples
///
/// ```
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::sample_type::SampleType;
/// use perf_open::parse::Record;
/// use perf_open::{Builder, Event, Ring, Target};
///
/// let faults = Builder::new(Event::software(SwId::PAGE_FAULTS))
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
    source: Source,
    data: Consumer,
    buffer: Box<Buffer>,
    sources: Sources,
    account: Account,
}

impl Ring {
    /// Maps a ring of `pages` pages for the records of `counter`, and one for the control page.
    ///
    /// The pages count against `RLIMIT_MEMLOCK` once `/proc/sys/kernel/perf_event_mlock_kb` a cpu is used up.
    ///
    /// # Errors
    ///
    /// Refused without a call: `pages` that is no power of two; an event with `write_backward`, which takes an
    /// [`Overwrite`]; an attr whose samples cannot be placed. Then what `mmap` says: `EPERM` for too many locked pages,
    /// `EINVAL` if the event is inherited and not bound to a cpu, or has a ring of another size, `ENOMEM`. Also if the
    /// ring, of this event or of the one whose ring it shares, is read already, as two would take each other's records.
    pub fn map(counter: &Counter, pages: usize) -> Result<Self, Error> {
        map::check_direction(counter, false)?;
        let (len, size) = map::sizes(pages)?;
        let sources = Sources::new(counter)?;
        let source = Source::of(counter)?;
        let memory = map::map(counter, len, true)?;
        let claim = Claim::new(memory.clone(), Area::Data).ok_or_else(|| {
            Error::refused("mmap", "data_tail", "data_tail: another Ring reads this ring; drop it first")
        })?;
        let (start, size) = map::data_area(&memory, size);
        let data = Consumer::new(claim, memory, start, size).ok_or_else(|| {
            Error::refused("mmap", "data_offset", "data_offset: the ring is not where the control page says")
        })?;
        Ok(Self { source, data, buffer: Box::default(), sources, account: Account::default() })
    }

    /// Has the records of `counter` written to this ring too; gives its number, for [`EventRecord::event`]. That of the
    /// ring's own event is 0.
    ///
    /// Records tell their event by its id: all events need [`IDENTIFIER`](perf_abi::sample_type::SampleType::IDENTIFIER)
    /// (or `ID` at the same place), and `sample_id_all`.
    ///
    /// # Errors
    ///
    /// What `PERF_EVENT_IOC_SET_OUTPUT` says: `EINVAL` if the events are not of the same cpu, or of the same task where
    /// they are of any, or differ in clock or direction, or if `counter` has a ring of its own.
    pub fn add(&mut self, counter: &Counter) -> Result<usize, Error> {
        map::check_direction(counter, false)?;
        self.source.add(counter)?;
        self.sources.add(counter)
    }

    /// The events whose records are in the ring, in the order they were added.
    #[must_use]
    pub fn events(&self) -> &Events {
        self.sources.events()
    }

    /// The records that are in the ring now, under a guard that gives their room back to the kernel when it is dropped.
    ///
    /// # Errors
    ///
    /// `data_head` is more than the ring beyond `data_tail`, or is no multiple of 8: the page is corrupt, and nothing is
    /// read. [`skip`](Self::skip) goes on at the head.
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

    /// Gives the room before `position` back to the kernel, and counts it and what was taken of it.
    fn commit(&mut self, position: u64, taken: Account) {
        let bytes = position.wrapping_sub(self.data.tail()).wrapping_sub(taken.skipped);
        self.data.release(position);
        self.account.add(Account { bytes, ..taken });
    }

    /// Gives up all that is unread, and tells how many bytes; the [account](Account::skipped) counts them.
    pub fn skip(&mut self) -> u64 {
        let from = self.data.tail();
        let skipped = self.data.skip_to_head().wrapping_sub(from).min(self.data.size() as u64);
        self.account.skipped += skipped;
        skipped
    }

    /// Waits for a wakeup, which `wakeup_events` or `wakeup_watermark` of the attr asks for; `None` waits for ever.
    ///
    /// Ends early, with nothing ready, if a signal comes. What was written before the ring was last found readable does
    /// not make it readable again: read all there is before waiting.
    ///
    /// # Errors
    ///
    /// What `poll` says: `ENOMEM`.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Ready, Error> {
        wait(core::slice::from_mut(self), timeout)
    }

    /// The control page: every field, those from `index` to `time_mask` of one moment.
    ///
    /// Where the kernel keeps writing, it is not [settled](Page::is_settled) after 1000 tries.
    #[must_use]
    pub fn page(&self) -> Page {
        map::page(self.data.control())
    }

    /// What was read so far, and what was lost.
    #[must_use]
    pub fn account(&self) -> Account {
        self.account
    }

    /// Bytes of the ring.
    #[must_use]
    pub fn size(&self) -> usize {
        self.data.size()
    }

    /// The ring as it stands in memory, control page and all, for [`perf_parse::ring::Dump`] to decode.
    ///
    /// What is unread is in it whole; what was read already may be half overwritten.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        map::dump(self.data.control())
    }

    pub(crate) fn control(&self) -> &Arc<Mapping> {
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

/// Bytes of a page: what rings and AUX areas are counted in.
#[must_use]
pub fn page_bytes() -> usize {
    page_size()
}
