//! Rings that keep the newest records.

use alloc::sync::Arc;
use core::mem::offset_of;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;
use perf_parse::RawRecord;
use perf_parse::event::Events;
use perf_parse::ring::{Buffer, Page, RingError, RingErrorKind, RingWalk, TornRecord};

use super::drain::{DrainError, LiveRecord, with_event};
use super::map::{self, Sources};
use super::source::{RingSource, polled, readiness};
use crate::counter::{Counter, Readiness};
use crate::error::Error;
use crate::sys::mapping::SharedMapping;

/// A ring that the kernel writes backward, over its oldest records: a flight recorder.
///
/// It needs no reader while it runs. [`pause`](Self::pause) stops it. Its records are then copied, because the kernel
/// does not wait for readers with a read-only mapping.
///
/// # Examples
///
/// ```no_run
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::sample_type::SampleType;
/// use perf_open::{Builder, EventSpec, Overwrite, Target};
///
/// let faults = Builder::new(EventSpec::software(SwId::PAGE_FAULTS))
///     .exclude_kernel(true)
///     .sample_period(1)
///     .sample_type(SampleType::TIME)
///     .write_backward(true)
///     .open(&Target::this_thread())?;
/// let mut ring = Overwrite::map(&faults, 1)?;
/// drop(vec![1_u8; 8 << 20]); // more than the ring holds
///
/// let mut paused = ring.pause()?;
/// let mut newest_first = paused.records()?;
/// let mut records = 0;
/// while let Some(record) = newest_first.next_record() {
///     record?;
///     records += 1;
/// }
/// assert!(records > 0);
/// paused.resume()?; // as dropping it would
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// Kernel: `perf_output_begin_backward`, `kernel/events/ring_buffer.c`; since Linux 4.7.
#[derive(Debug)]
pub struct Overwrite {
    source: RingSource,
    memory: Arc<SharedMapping>,
    start: usize,
    size: usize,
    sources: Sources,
    buffer: Box<Buffer>,
    copy: Vec<u8>,
    /// The head at the last copy.
    seen: u64,
}

impl Overwrite {
    /// Maps a ring of `pages` pages, read-only, for the records of `counter`, whose attr has `write_backward`.
    ///
    /// # Errors
    ///
    /// The same as [`Ring::map`](super::Ring::map). An event without `write_backward` is refused, because it is not
    /// known where the oldest record in its ring begins.
    pub fn map(counter: &Counter, pages: usize) -> Result<Self, Error> {
        map::check_direction(counter, true)?;
        let (len, size) = map::sizes(pages)?;
        let sources = Sources::new(counter)?;
        let source = RingSource::of(counter)?;
        Self::new(source, map::map(counter, len, false)?, size, sources)
    }

    pub(super) fn new(
        source: RingSource,
        memory: Arc<SharedMapping>,
        size: usize,
        sources: Sources,
    ) -> Result<Self, Error> {
        let (start, size) = map::data_area(&memory, size);
        if start.checked_add(size).is_none_or(|end| end > memory.len()) {
            let why = "data_offset: the control page has an impossible offset or size of the ring";
            return Err(Error::refused("mmap", "data_offset", why));
        }
        Ok(Self { source, memory, start, size, sources, buffer: Box::default(), copy: Vec::new(), seen: 0 })
    }

    /// Redirects the records of `counter` to this ring. Returns its number.
    ///
    /// # Errors
    ///
    /// The same as [`Ring::add`](super::Ring::add).
    pub fn add(&mut self, counter: &Counter) -> Result<usize, Error> {
        map::check_direction(counter, true)?;
        self.source.add(counter)?;
        self.sources.add(counter)
    }

    /// Returns the events whose records are in the ring, in the order they were added.
    #[must_use]
    pub fn events(&self) -> &Events {
        self.sources.events()
    }

    /// Stops the ring until the guard is dropped. Records from this time are lost, and a LOST record reports how many.
    ///
    /// Waits until the records that are being written are complete. This takes a grace period of the kernel, some
    /// milliseconds. It needs `membarrier`, since Linux 4.3. If that does not work, as with `nohz_full`, a record that
    /// is still being written may damage the oldest ones.
    ///
    /// # Errors
    ///
    /// The errno of `PERF_EVENT_IOC_PAUSE_OUTPUT`: `ENOTTY` before Linux 4.7.
    pub fn pause(&mut self) -> Result<PausedRing<'_>, Error> {
        self.source.pause(true)?;
        Ok(PausedRing { previous: self.seen, ring: self, resumed: false })
    }

    /// Waits for a wakeup, like [`Ring::wait`](super::Ring::wait).
    ///
    /// # Errors
    ///
    /// The errno of `poll`: `ENOMEM`.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Readiness, Error> {
        let revents = polled(&[self.as_fd()], timeout)?;
        let ready = revents.first().copied().map(readiness).unwrap_or_default();
        self.source.awake(ready);
        Ok(ready)
    }

    /// Reads the control page, like [`Ring::page`](super::Ring::page).
    #[must_use]
    pub fn page(&self) -> Page {
        map::page(&self.memory)
    }

    /// Returns the size of the ring in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Copies the data area while the head does not move. Returns the head.
    fn copy(&mut self) -> Result<u64, RingError> {
        let head = || self.memory.load_acquire(offset_of!(MmapPage<NativeEndian>, data_head));
        self.copy.resize(self.size, 0);
        let mut before = head();
        for _ in 0..16 {
            self.memory.copy(self.start, &mut self.copy);
            core::sync::atomic::fence(core::sync::atomic::Ordering::Acquire);
            let after = head();
            if after == before {
                self.seen = after;
                return Ok(after);
            }
            before = after;
        }
        let must = "unchanged while the ring is paused";
        Err(RingError {
            kind: RingErrorKind::Invalid { field: "data_head", value: before, must },
            position: 1024,
        })
    }
}

impl AsFd for Overwrite {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl AsRawFd for Overwrite {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// A paused ring. Dropping it resumes the ring.
#[derive(Debug)]
pub struct PausedRing<'r> {
    ring: &'r mut Overwrite,
    /// The head at the copy before this pause.
    previous: u64,
    resumed: bool,
}

impl PausedRing<'_> {
    /// Returns all records of the ring, newest first. Copies the ring.
    ///
    /// # Errors
    ///
    /// [`Invalid`](RingErrorKind::Invalid) if the head (`data_head`) keeps moving, or is not a multiple of 8.
    pub fn records(&mut self) -> Result<OverwriteSnapshot<'_>, RingError> {
        self.snapshot(None)
    }

    /// Returns the records that are newer than those of the previous pause, newest first. Copies the ring.
    ///
    /// # Errors
    ///
    /// The same as [`records`](Self::records).
    pub fn news(&mut self) -> Result<OverwriteSnapshot<'_>, RingError> {
        self.snapshot(Some(self.previous))
    }

    fn snapshot(&mut self, until: Option<u64>) -> Result<OverwriteSnapshot<'_>, RingError> {
        let head = self.ring.copy()?;
        let Overwrite { copy, buffer, sources, .. } = &mut *self.ring;
        Ok(OverwriteSnapshot {
            walk: RingWalk::backward(copy, head)?,
            buffer,
            events: sources.events(),
            until,
        })
    }

    /// Copies the ring from memory, including the control page; [`perf_parse::ring::Dump`] decodes the copy.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        map::dump(&self.ring.memory)
    }

    /// Resumes the ring.
    ///
    /// # Errors
    ///
    /// The errno of `PERF_EVENT_IOC_PAUSE_OUTPUT`.
    pub fn resume(mut self) -> Result<(), Error> {
        self.resumed = true;
        self.ring.source.pause(false)
    }
}

impl Drop for PausedRing<'_> {
    fn drop(&mut self) {
        if !self.resumed {
            // The request that paused the ring succeeded, and this one has no other reason to fail.
            let _ = self.ring.source.pause(false);
        }
    }
}

/// The records of a paused ring, from a copy, newest first.
#[derive(Debug)]
pub struct OverwriteSnapshot<'a> {
    walk: RingWalk<'a, NativeEndian>,
    buffer: &'a mut Buffer,
    events: &'a Events,
    until: Option<u64>,
}

impl OverwriteSnapshot<'_> {
    /// Returns the next older record; `None` after the oldest.
    ///
    /// # Errors
    ///
    /// The same as [`RingWalk::next`].
    pub fn next_record(&mut self) -> Option<Result<RawRecord<'_, NativeEndian>, RingError>> {
        // Heads count down: the records at `until` and above were there before.
        let is_seen = |until: u64| until.wrapping_sub(self.walk.position()) as i64 <= 0;
        if self.until.is_some_and(is_seen) {
            return None;
        }
        self.walk.next(self.buffer)
    }

    /// Returns the next older record, and its event; `None` after the oldest.
    ///
    /// # Errors
    ///
    /// The same as [`Drain::next_with_event`](super::Drain::next_with_event).
    pub fn next_with_event(&mut self) -> Option<Result<LiveRecord<'_>, Box<DrainError>>> {
        let (position, events) = (self.walk.position(), self.events);
        let record = self.next_record()?.map_err(|error| Box::new(DrainError::Ring(error)));
        Some(record.and_then(|raw| with_event(events, raw, position)))
    }

    /// Returns the oldest record if its end was overwritten. It is known after all other records were returned.
    #[must_use]
    pub fn torn(&self) -> Option<TornRecord> {
        self.walk.torn()
    }
}
