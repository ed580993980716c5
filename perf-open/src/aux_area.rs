//! The AUX area: what hardware traces, beside the ring that tells of it.
//!
//! An AUX record in the ring says where in the area new data is: [`AuxDrain::data`] gives its bytes. Which events have
//! an area is the PMU's choice: Intel PT, BTS, Arm SPE, CoreSight and others; no software event.

use alloc::sync::Arc;

use perf_parse::record;
use perf_parse::ring::{AuxArea, AuxData, RingError, RingErrorKind};

use crate::error::Error;
use crate::ring::Ring;
use crate::ring::map::area_size;
use crate::sys::consumer::{Area, Claim, Consumer, place_aux};
use crate::sys::mapping::Mapping;

/// An AUX area that is read as it fills: the hardware stops where the reader has not been.
///
/// # Examples
///
/// ```no_run
/// use perf_open::parse::Record;
/// use perf_open::{Aux, Builder, Event, Ring, Target};
/// use perf_open::abi::event::EventType;
///
/// // The type of intel_pt in sysfs.
/// let tracer = Builder::new(Event::numeric("intel_pt//", EventType(8), 0)).open(&Target::this_thread())?;
/// let mut ring = Ring::map(&tracer, 8)?;
/// let mut aux = Aux::map(&ring, 1024)?;
/// let mut drain = ring.read()?;
/// while let Some(record) = drain.next_with_event() {
///     if let Record::Aux(told) = record?.decode()? {
///         let mut area = aux.read()?;
///         let data = area.data(&told)?;
///         println!("{} bytes {:?}", data.first.len() + data.second.len(), data.flags);
///     }
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// Kernel: `rb_alloc_aux`, `kernel/events/ring_buffer.c`; since Linux 4.1.
#[derive(Debug)]
pub struct Aux {
    area: Consumer,
}

/// An AUX area that the hardware overwrites: a snapshot of the newest. Disable the event before reading it.
#[derive(Debug)]
pub struct AuxSnapshot {
    // In this order dropped: the area is unmapped before another may map it.
    memory: Mapping,
    claim: Claim,
    copy: Vec<u8>,
}

impl Aux {
    /// Maps an area of `pages` pages for the event of `ring`.
    ///
    /// # Errors
    ///
    /// Refused without a call: `pages` that is no power of two, a ring that has an area. Then what `mmap` says:
    /// `EOPNOTSUPP` if the event's PMU has no AUX area; `EPERM` for too many locked pages; `EINVAL` if the PMU does not
    /// take an area of this size.
    pub fn map(ring: &Ring, pages: usize) -> Result<Self, Error> {
        let (memory, claim, size) = map(ring, pages, true)?;
        let area = Consumer::new(claim, Arc::new(memory), 0, size);
        area.map(Self::of).ok_or_else(|| Error::refused("mmap", "aux_size", "aux_size: the area is none"))
    }

    pub(crate) fn of(area: Consumer) -> Self {
        Self { area }
    }

    /// What is unread of the area now, under a guard that gives room back to the hardware when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Invalid`](RingErrorKind::Invalid) if `aux_head` is more than the area beyond `aux_tail`.
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

    /// Bytes of the area.
    #[must_use]
    pub fn size(&self) -> usize {
        self.area.size()
    }
}

/// What was unread of an AUX area when it was read, where it lies.
///
/// Data is taken when [`data`](Self::data) or [`all`](Self::all) gives it; dropping the guard gives back its room and
/// that of all data before it. [`cancel`](Self::cancel) leaves all of it.
#[derive(Debug)]
pub struct AuxDrain<'a> {
    area: &'a mut Consumer,
    /// The position behind what was taken.
    taken: u64,
}

impl AuxDrain<'_> {
    /// The data that an AUX record tells of. Takes it.
    ///
    /// # Errors
    ///
    /// As [`AuxData::of_unread`]; nothing is taken then.
    pub fn data(&mut self, record: &record::Aux) -> Result<AuxData<'_>, RingError> {
        let tail = self.area.tail();
        let (first, second) = self.area.unread(tail);
        let data = AuxData::of_unread(first, second, tail, record)?;
        let end = record.aux_offset.wrapping_add(record.aux_size);
        if end.wrapping_sub(tail) > self.taken.wrapping_sub(tail) {
            self.taken = end;
        }
        Ok(data)
    }

    /// All that is unread: up to the end of the area, and from its start. Takes it.
    pub fn all(&mut self) -> (&[u8], &[u8]) {
        self.taken = self.area.head();
        self.area.unread(self.area.tail())
    }

    /// The position of the first unread byte: a byte count that never wraps.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.area.tail()
    }

    /// Leaves what was taken in the area.
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
    /// Maps an area of `pages` pages read-only, so that the hardware overwrites it, for the event of `ring`.
    ///
    /// # Errors
    ///
    /// As [`Aux::map`].
    pub fn map(ring: &Ring, pages: usize) -> Result<Self, Error> {
        let (memory, claim, size) = map(ring, pages, false)?;
        Ok(Self { memory, claim, copy: vec![0; size] })
    }

    /// Copies the area. An AUX record with `OVERWRITE` tells what of it is the snapshot: [`AuxArea::data`].
    ///
    /// While the event is enabled, the hardware may write over the oldest data meanwhile.
    ///
    /// # Errors
    ///
    /// As [`AuxArea::new`].
    pub fn read(&mut self) -> Result<AuxArea<'_>, RingError> {
        let head = self.claim.head();
        self.memory.copy(0, &mut self.copy);
        AuxArea::new(&self.copy, 0, head)
    }
}

/// Maps the AUX area of a ring's event, right behind the ring.
fn map(ring: &Ring, pages: usize, writable: bool) -> Result<(Mapping, Claim, usize), Error> {
    use std::os::fd::AsFd;
    let size = area_size(pages)?;
    let control = ring.control();
    let claim = Claim::new(control.clone(), Area::Aux)
        .ok_or_else(|| Error::refused("mmap", "aux_size", "aux_size: the ring has an AUX area already"))?;
    // Behind the ring, at a multiple of the page, as the kernel asks for.
    let offset = control.len() as u64;
    place_aux(control, offset, size as u64);
    let memory = Mapping::of_event(ring.as_fd(), offset, size, writable).map_err(|error| {
        place_aux(control, 0, 0);
        let advice = match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => {
                "the event's PMU has no AUX area; intel_pt, arm_spe, cs_etm and their like have"
            }
            Some(libc::EPERM) => {
                "too many pages are locked: take fewer, raise RLIMIT_MEMLOCK or get CAP_IPC_LOCK"
            }
            Some(libc::EINVAL) => {
                "the PMU does not take an area of this size, or the ring is none of an event"
            }
            _ => "",
        };
        Error::failed("mmap", error, advice)
    })?;
    Ok((memory, claim, size))
}
