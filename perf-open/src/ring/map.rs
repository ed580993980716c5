//! Mapping a ring, in either direction of writing.

use alloc::sync::Arc;
use core::mem::offset_of;
use std::os::fd::AsFd;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;
use perf_parse::SampleLayout;
use perf_parse::event::Events;
use perf_parse::ring::Page;

use crate::counter::Counter;
use crate::error::Error;
use crate::sys::mapping::{SharedMapping, page_size};

type Wire = MmapPage<NativeEndian>;

/// The events whose records are in a ring.
#[derive(Debug)]
pub(super) struct Sources {
    list: Vec<(Attr, Vec<u64>)>,
    events: Events,
}

impl Sources {
    pub(super) fn new(counter: &Counter) -> Result<Self, Error> {
        let mut sources = Self { list: Vec::new(), events: Events::default() };
        sources.add(counter)?;
        Ok(sources)
    }

    /// Returns the sources of a ring with one event that is not open.
    pub(super) fn of_attr(attr: Attr) -> Result<Self, Error> {
        let mut sources = Self { list: Vec::new(), events: Events::default() };
        sources.push(attr, Vec::new())?;
        Ok(sources)
    }

    /// Adds an event and returns its number.
    pub(super) fn add(&mut self, counter: &Counter) -> Result<usize, Error> {
        self.push(*counter.attr(), vec![counter.id()?])
    }

    fn push(&mut self, attr: Attr, ids: Vec<u64>) -> Result<usize, Error> {
        SampleLayout::new(&attr)
            .map_err(|error| Error::refused("mmap", error.kind.field(), error.to_string()))?;
        self.list.push((attr, ids));
        self.events = self.list.iter().cloned().collect();
        Ok(self.list.len() - 1)
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }
}

/// Returns an error if the event's direction of writing is not `backward`.
pub(super) fn check_direction(counter: &Counter, backward: bool) -> Result<(), Error> {
    let why = match (counter.attr().flags.contains(AttrFlags::WRITE_BACKWARD), backward) {
        (true, false) => "write_backward: map this event with Overwrite, not Ring",
        (false, true) => {
            "write_backward: open the event with write_backward; in a ring that is overwritten forward, the start of \
             the oldest record is unknown"
        }
        _ => return Ok(()),
    };
    Err(Error::refused("mmap", "write_backward", why))
}

/// Returns the bytes of the mapping of a ring of `pages` pages, and the bytes of its data area.
pub(crate) fn sizes(pages: usize) -> Result<(usize, usize), Error> {
    let size = area_size(pages)?;
    match size.checked_add(page_size()) {
        Some(len) => Ok((len, size)),
        None => Err(too_many(pages)),
    }
}

/// Returns the bytes of an area of `pages` pages.
pub(crate) fn area_size(pages: usize) -> Result<usize, Error> {
    if !pages.is_power_of_two() {
        let below = 1_usize << pages.checked_ilog2().unwrap_or(0);
        let why = format!("pages {pages}: must be a power of two, such as {below}");
        return Err(Error::refused("mmap", "pages", why));
    }
    pages
        .checked_mul(page_size())
        .filter(|&size| isize::try_from(size).is_ok())
        .ok_or_else(|| too_many(pages))
}

fn too_many(pages: usize) -> Error {
    Error::refused("mmap", "pages", format!("pages {pages}: larger than the address space"))
}

/// Maps the control page and the ring of an event.
pub(super) fn map(counter: &Counter, len: usize, writable: bool) -> Result<Arc<SharedMapping>, Error> {
    SharedMapping::of_event(counter.as_fd(), 0, len, writable).map(Arc::new).map_err(|error| {
        let advice = match error.raw_os_error() {
            Some(libc::EPERM) => {
                "too many pages are locked: take fewer, raise RLIMIT_MEMLOCK or \
                 /proc/sys/kernel/perf_event_mlock_kb, or get CAP_IPC_LOCK"
            }
            Some(libc::EINVAL) => {
                "the event has a ring of another size, or is inherited and not bound to a cpu"
            }
            Some(libc::EBUSY) => "the event's records are sent to another event's ring",
            Some(libc::ENOMEM) => "the kernel has no memory for the ring: take fewer pages",
            _ => "",
        };
        Error::failed("mmap", error, advice)
    })
}

/// Returns the offset of the data area in the mapping, and its bytes. Kernels before 4.1 do not report them; there the
/// data area follows the control page.
pub(super) fn data_area(memory: &SharedMapping, size: usize) -> (usize, usize) {
    let field = |at| usize::try_from(memory.load(at)).unwrap_or(usize::MAX);
    match (field(offset_of!(Wire, data_offset)), field(offset_of!(Wire, data_size))) {
        (0, 0) => (page_size(), size),
        area => area,
    }
}

/// Reads the control page. The fields that the sequence count guards are from the same moment.
pub(crate) fn page(memory: &SharedMapping) -> Page {
    let mut bytes = [0; size_of::<Wire>()];
    let (counts, positions) = bytes.split_at_mut(offset_of!(Wire, data_head));
    memory.copy(offset_of!(Wire, data_head), positions);
    let counts = &mut counts[..offset_of!(Wire, reserved)];
    let mut is_settled = false;
    for _ in 0..1000 {
        let before = memory.load_acquire(offset_of!(Wire, lock));
        memory.copy(0, counts);
        core::sync::atomic::fence(core::sync::atomic::Ordering::Acquire);
        // The word contains the count and the field `index`. Neither may change.
        is_settled = memory.load(offset_of!(Wire, lock)) == before && lock(counts).is_multiple_of(2);
        if is_settled {
            break;
        }
        core::hint::spin_loop();
    }
    let mut page = Page::read::<NativeEndian>(&bytes).unwrap_or_default();
    page.lock |= u32::from(!is_settled);
    page
}

fn lock(bytes: &[u8]) -> u32 {
    let lock = bytes.get(offset_of!(Wire, lock)..).and_then(|from| from.first_chunk());
    lock.map_or(0, |lock| u32::from_ne_bytes(*lock))
}

/// Copies the control page and the data area. Reads the head before the data, so the data contains all bytes below it.
pub(super) fn dump(memory: &SharedMapping) -> Vec<u8> {
    let mut bytes = vec![0; memory.len()];
    let (page, data) = bytes.split_at_mut(page_size());
    memory.copy(0, page);
    core::sync::atomic::fence(core::sync::atomic::Ordering::Acquire);
    memory.copy(page_size(), data);
    bytes
}
