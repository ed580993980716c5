//! Rings that the program writes itself, to test readers on a machine without perf_event.
//!
//! Only the writer differs from a ring of the kernel. Positions, guards, wakeups and pausing are the same.
//!
//! # Examples
//!
//! ```
//! use perf_open::abi::attr::Attr;
//! use perf_open::abi::record::RecordType;
//! use perf_open::ring::loopback;
//!
//! let (mut ring, mut writer) = loopback::ring(&Attr::default(), 1)?;
//! assert!(writer.write(b"\x0e\0\0\0\0\0\x08\0")); // a little-endian SWITCH
//! let mut drain = ring.read()?;
//! # #[cfg(target_endian = "little")]
//! assert_eq!(drain.next_record().transpose()?.map(|record| record.kind()), Some(RecordType::SWITCH));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use alloc::sync::Arc;
use std::fs::File;
use std::io::Write;
use std::sync::PoisonError;

use perf_abi::attr::Attr;

use super::aux_area::AuxMapping;
use super::map::{Sources, area_size, sizes};
use super::source::RingSource;
use super::{Overwrite, Ring, RingAccount};
use crate::error::Error;
use crate::sys::event_fd::event_fd;
use crate::sys::producer::Producer;
use crate::sys::sync::Mutex;

/// The name of the call in errors. There is no system call.
const CALL: &str = "loopback";

/// The writer of a ring, in place of the kernel.
#[derive(Debug)]
pub struct RingWriter {
    producer: Producer,
    wakeups: Arc<File>,
    paused: Arc<Mutex<bool>>,
}

/// The writer of an AUX area, in place of the hardware.
#[derive(Debug)]
pub struct AuxWriter {
    producer: Producer,
}

/// Returns a ring of `pages` pages for records of `attr`, like that of [`Ring::map`], and its writer.
///
/// # Errors
///
/// As for [`Ring::map`] if it refuses `pages` or the attr; the errno of `eventfd`.
pub fn ring(attr: &Attr, pages: usize) -> Result<(Ring, RingWriter), Error> {
    let (_, size) = sizes(pages)?;
    ring_of_bytes(attr, size)
}

/// Returns a ring of `size` bytes, which may be less than a page.
pub(super) fn ring_of_bytes(attr: &Attr, size: usize) -> Result<(Ring, RingWriter), Error> {
    let (producer, data) = Producer::forward(size).ok_or_else(too_large)?;
    let (source, writer) = writer(producer)?;
    let sources = Sources::of_attr(*attr)?;
    Ok((Ring { source, data, buffer: Box::default(), sources, account: RingAccount::default() }, writer))
}

/// Returns a ring that keeps the newest records, like that of [`Overwrite::map`], and its writer.
///
/// # Errors
///
/// The same as [`ring`].
pub fn overwrite(attr: &Attr, pages: usize) -> Result<(Overwrite, RingWriter), Error> {
    let (_, size) = sizes(pages)?;
    overwrite_of_bytes(attr, size)
}

/// Returns such a ring of `size` bytes, which may be less than a page.
pub(super) fn overwrite_of_bytes(attr: &Attr, size: usize) -> Result<(Overwrite, RingWriter), Error> {
    let (producer, memory) = Producer::backward(size).ok_or_else(too_large)?;
    let (source, writer) = writer(producer)?;
    Ok((Overwrite::new(source, memory, size, Sources::of_attr(*attr)?)?, writer))
}

/// Returns an AUX area of `pages` pages, like that of [`AuxMapping::map`], and its writer.
///
/// # Errors
///
/// If `ring` is the ring of an event, or already has an AUX area.
pub fn aux(ring: &Ring, pages: usize) -> Result<(AuxMapping, AuxWriter), Error> {
    aux_of_bytes(ring, area_size(pages)?)
}

/// Returns an AUX area of `size` bytes, which may be less than a page.
pub(super) fn aux_of_bytes(ring: &Ring, size: usize) -> Result<(AuxMapping, AuxWriter), Error> {
    let (producer, area) = Producer::aux(ring.control().clone(), size).ok_or_else(|| {
        Error::refused(CALL, "aux_size", "aux_size: the ring belongs to an event, or already has an AUX area")
    })?;
    Ok((AuxMapping::of(area), AuxWriter { producer }))
}

fn too_large() -> Error {
    Error::refused(CALL, "data_size", "data_size: there is not enough memory")
}

fn writer(producer: Producer) -> Result<(RingSource, RingWriter), Error> {
    let wakeups = event_fd().map_err(|error| Error::failed("eventfd", error, ""))?;
    let (wakeups, paused) = (Arc::new(wakeups), Arc::new(Mutex::new(false)));
    let source = RingSource::Loopback { wakeups: wakeups.clone(), paused: paused.clone() };
    Ok((source, RingWriter { producer, wakeups, paused }))
}

impl RingWriter {
    /// Writes a record and publishes it. Returns `false` if there is no room, or the ring is paused.
    ///
    /// The kernel would count the record as lost, and write a LOST record before the next one that fits.
    ///
    /// # Panics
    ///
    /// If the length is not a multiple of 8. That of every record of the kernel is.
    pub fn write(&mut self, record: &[u8]) -> bool {
        let paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        !*paused && self.producer.write(record)
    }

    /// Wakes the waiting reader.
    pub fn wake(&self) {
        // This fails only if the eventfd's counter is at its maximum; then the reader is awake already.
        let _ = (&*self.wakeups).write(&1_u64.to_ne_bytes());
    }

    /// Publishes a wrong head, as in a corrupt control page. Nothing can be written after that.
    pub fn corrupt(self, head: u64) {
        self.producer.corrupt(head);
    }
}

impl AuxWriter {
    /// Writes trace data and publishes it. Returns whether there was room.
    ///
    /// # Panics
    ///
    /// If the length is not a multiple of 8.
    pub fn write(&mut self, data: &[u8]) -> bool {
        self.producer.write(data)
    }

    /// Publishes a wrong head, like [`RingWriter::corrupt`].
    pub fn corrupt(self, head: u64) {
        self.producer.corrupt(head);
    }
}
