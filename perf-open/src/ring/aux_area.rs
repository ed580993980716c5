//! AUX areas: the memory for hardware trace data, next to the ring.
//!
//! An AUX record in the ring reports where in the area new data is; [`AuxDrain::data`] returns the bytes. The PMU
//! decides whether its events have an area: Intel PT, BTS, Arm SPE, CoreSight and others do; software events do not.

use alloc::sync::Arc;

use perf_parse::record;
use perf_parse::ring::{AuxArea, AuxData, RingError, RingErrorKind};

use super::Ring;
use super::map::area_size;
use crate::error::Error;
use crate::sys::consumer::{Consumer, ControlArea, ReaderClaim, place_aux};
use crate::sys::mapping::SharedMapping;

/// An AUX area that is read while it fills. The hardware never overwrites unread data; it stops instead.
///
/// # Examples
///
/// ```no_run
/// use perf_open::parse::Record;
/// use perf_open::{AuxMapping, Builder, EventSpec, Ring, Target};
/// use perf_open::abi::event::EventType;
///
/// // The type of intel_pt in sysfs, on some machine.
/// let tracer = Builder::new(EventSpec::numeric("intel_pt//", EventType(8), 0)).open(&Target::this_thread())?;
/// let mut ring = Ring::map(&tracer, 8)?;
/// let mut aux = AuxMapping::map(&ring, 1024)?;
/// let mut drain = ring.read()?;
/// while let Some(record) = drain.next_with_event() {
///     if let Record::Aux(reported) = record?.decode()? {
///         let mut area = aux.read()?;
///         let data = area.data(&reported)?;
///         println!("{} bytes {:?}", data.first.len() + data.second.len(), data.flags);
///     }
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// Kernel: `rb_alloc_aux`, `kernel/events/ring_buffer.c`; since Linux 4.1.
#[derive(Debug)]
pub struct AuxMapping {
    area: Consumer,
}

/// An AUX area that the hardware overwrites: a snapshot of the newest data. Disable the event before reading it.
#[derive(Debug)]
pub struct AuxSnapshot {
    // Fields are dropped in this order: the area is unmapped before another reader may map it.
    memory: SharedMapping,
    claim: ReaderClaim,
    copy: Vec<u8>,
}

impl AuxMapping {
    /// Maps an area of `pages` pages for the event of `ring`.
    ///
    /// # Errors
    ///
    /// Without a system call: if `pages` is not a power of two, or if the ring already has an area. Otherwise the errno
    /// of `mmap`: `EOPNOTSUPP` if the event's PMU has no AUX area, `EPERM` if too many pages are locked, `EINVAL` if
    /// the PMU does not accept an area of this size.
    pub fn map(ring: &Ring, pages: usize) -> Result<Self, Error> {
        let (memory, claim, size) = map(ring, pages, true)?;
        let area = Consumer::new(claim, Arc::new(memory), 0, size);
        area.map(Self::of).ok_or_else(|| {
            Error::refused("mmap", "aux_size", "aux_size: the mapping is not a valid AUX area")
        })
    }

    pub(super) fn of(area: Consumer) -> Self {
        Self { area }
    }

    /// Returns the unread data of the area, in a guard that returns its room to the hardware when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Invalid`](RingErrorKind::Invalid) if `aux_head` exceeds `aux_tail` by more than the size of the area.
    pub fn read(&mut self) -> Result<AuxDrain<'_>, RingError> {
        self.area.refresh().map_err(|value| RingError {
            kind: RingErrorKind::Invalid {
                field: "aux_head",
                value,
                must: "at most aux_size beyond aux_tail",
            },
            position: 1056,
        })?;
        let taken = self.area.tail();
        Ok(AuxDrain { area: &mut self.area, taken })
    }

    /// Returns the size of the area in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.area.size()
    }
}

/// The data of an AUX area that was unread when [`AuxMapping::read`] was called. Borrows it from the area.
///
/// [`data`](Self::data) and [`all`](Self::all) take the data that they return. Dropping the guard returns the room of
/// the taken data, and of all data before it, to the hardware. [`cancel`](Self::cancel) keeps all of it in the area.
#[derive(Debug)]
pub struct AuxDrain<'a> {
    area: &'a mut Consumer,
    /// The position after the taken data.
    taken: u64,
}

impl AuxDrain<'_> {
    /// Returns the data that an AUX record reports, and takes it.
    ///
    /// # Errors
    ///
    /// The same as [`AuxData::from_unread`]; then nothing is taken.
    pub fn data(&mut self, record: &record::Aux) -> Result<AuxData<'_>, RingError> {
        let tail = self.area.tail();
        let (first, second) = self.area.unread(tail);
        let data = AuxData::from_unread(first, second, tail, record)?;
        let end = record.aux_offset.wrapping_add(record.aux_size);
        if end.wrapping_sub(tail) > self.taken.wrapping_sub(tail) {
            self.taken = end;
        }
        Ok(data)
    }

    /// Returns all unread data, and takes it: the piece up to the end of the area, and the piece from its start.
    pub fn all(&mut self) -> (&[u8], &[u8]) {
        self.taken = self.area.head();
        self.area.unread(self.area.tail())
    }

    /// Returns the position of the first unread byte, a byte count that never wraps.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.area.tail()
    }

    /// Drops the guard and keeps the taken data in the area.
    pub fn cancel(mut self) {
        self.taken = self.area.tail();
    }
}

impl Drop for AuxDrain<'_> {
    fn drop(&mut self) {
        self.area.release(self.taken);
    }
}

impl AuxSnapshot {
    /// Maps an area of `pages` pages for the event of `ring`, read-only, so that the hardware overwrites it.
    ///
    /// # Errors
    ///
    /// The same as [`AuxMapping::map`].
    pub fn map(ring: &Ring, pages: usize) -> Result<Self, Error> {
        let (memory, claim, size) = map(ring, pages, false)?;
        Ok(Self { memory, claim, copy: vec![0; size] })
    }

    /// Copies the area. An AUX record with `OVERWRITE` reports which part of it is the snapshot: [`AuxArea::data`].
    ///
    /// While the event is enabled, the hardware may overwrite the oldest data during the copy.
    ///
    /// # Errors
    ///
    /// The same as [`AuxArea::new`].
    pub fn read(&mut self) -> Result<AuxArea<'_>, RingError> {
        let (data, head) = self.contents();
        AuxArea::new(data, 0, head)
    }

    /// Copies the area. Returns all of its bytes, and the position after the newest, `aux_head`. Intel PT and BTS report
    /// it modulo the size of the area. What was never written is 0.
    ///
    /// While the event is enabled, the hardware may overwrite the oldest data during the copy.
    pub fn contents(&mut self) -> (&[u8], u64) {
        let head = self.claim.head();
        self.memory.copy(0, &mut self.copy);
        (&self.copy, head)
    }

    /// Returns the size of the area in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.copy.len()
    }
}

/// Maps the AUX area of a ring's event. Its file offset follows the ring.
fn map(ring: &Ring, pages: usize, writable: bool) -> Result<(SharedMapping, ReaderClaim, usize), Error> {
    use std::os::fd::AsFd;
    let size = area_size(pages)?;
    let control = ring.control();
    let claim = ReaderClaim::new(control.clone(), ControlArea::Aux)
        .ok_or_else(|| Error::refused("mmap", "aux_size", "aux_size: the ring already has an AUX area"))?;
    // The kernel requires an offset after the ring, at a multiple of the page size.
    let offset = control.len() as u64;
    place_aux(control, offset, size as u64);
    let memory = SharedMapping::of_event(ring.as_fd(), offset, size, writable).map_err(|error| {
        place_aux(control, 0, 0);
        let advice = match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => {
                "the event's PMU has no AUX area; intel_pt, arm_spe and cs_etm have one"
            }
            Some(libc::EPERM) => {
                "too many pages are locked: take fewer, raise RLIMIT_MEMLOCK or get CAP_IPC_LOCK"
            }
            Some(libc::EINVAL) => {
                "the PMU does not accept an area of this size, or the ring does not belong to an event"
            }
            _ => "",
        };
        Error::failed("mmap", error, advice)
    })?;
    Ok((memory, claim, size))
}
