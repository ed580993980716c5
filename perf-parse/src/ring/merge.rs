//! Several rings merged in time order.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::account::DumpAccount;
use super::dump::Dump;
use super::error::RingError;
use super::pieces::RecordPieces;
use crate::file::{Event, Events, FileErrorKind};
use crate::record::{RawRecord, Record};

/// The records of several rings, such as one for each CPU or task, in time order.
///
/// This is a merge, not a sort: the records of each ring keep their order. Among records with the same time, those of
/// the ring that was added first come first. A record without a time, or whose event is unknown, follows the record
/// before it in its ring.
///
/// Allocates a few words for each ring, and the bytes of a record that wraps.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::attr::{Attr, AttrFlags};
/// use perf_parse::abi::endian::LittleEndian;
/// use perf_parse::abi::sample_type::SampleType;
/// use perf_parse::file::Events;
/// use perf_parse::ring::{Direction, Dump, Merge};
///
/// let attr = Attr { sample_type: SampleType::TIME, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
/// let events: Events = [(attr, vec![])].into_iter().collect();
///
/// let cpu0 = *b"\x0e\0\0\0\0\0\x10\0\x03\0\0\0\0\0\0\0\x0e\0\0\0\0\0\x10\0\x07\0\0\0\0\0\0\0";
/// let cpu1 = *b"\x0e\0\0\0\0\0\x10\0\x05\0\0\0\0\0\0\0";
/// let mut merge = Merge::<LittleEndian>::new();
/// merge.add(Dump::new(&cpu0, Direction::Forward, 0, 32)?, &events);
/// merge.add(Dump::new(&cpu1, Direction::Forward, 0, 16)?, &events);
/// let mut order = Vec::new();
/// while let Some(record) = merge.next() {
///     let record = record?;
///     order.push((record.ring, record.time));
/// }
/// assert_eq!(order, [(0, Some(3)), (1, Some(5)), (0, Some(7))]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Merge<'a, O: Endian> {
    rings: Vec<Ring<'a, O>>,
    /// The rings that have a next record, by its time and then in the order in which they were added.
    order: BinaryHeap<Reverse<(u64, usize)>>,
    /// The ring of the last returned record. Its next record has not been read yet.
    last_returned: Option<usize>,
}

#[derive(Clone, Debug)]
struct Ring<'a, O: Endian> {
    dump: Dump<'a, O>,
    events: &'a Events,
    next: Option<Result<Next<'a, O>, RingError>>,
    /// The bytes of the next record, if it wraps.
    copy: Vec<u8>,
    /// Sort key of the next record: its time, or that of the record before it.
    key: u64,
}

/// The next record of its ring.
#[derive(Clone, Copy, Debug)]
struct Next<'a, O: Endian> {
    position: u64,
    /// `None` for a record that wraps; its bytes are in the ring's `copy`.
    whole: Option<RawRecord<'a, O>>,
    time: Option<u64>,
    event: Result<&'a Event, FileErrorKind>,
}

/// A record of one of several rings. Borrows from the [`Merge`] until the next record is requested.
#[derive(Clone, Copy, Debug)]
pub struct RingRecord<'a, O: Endian> {
    /// The ring of the record: the number that [`Merge::add`] returned.
    pub ring: usize,
    /// Position of the record's header in the ring: a byte count that never wraps.
    pub position: u64,
    /// Time of the record in nanoseconds of its event's clock; `None` if the event does not record it or is unknown.
    pub time: Option<u64>,
    /// The record, not decoded.
    pub raw: RawRecord<'a, O>,
    /// The event of the record, or the reason why it is unknown.
    pub event: Result<&'a Event, FileErrorKind>,
}

/// A ring of several that cannot be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeError {
    /// The ring: the number that [`Merge::add`] returned.
    pub ring: usize,
    /// The error of the ring.
    pub error: RingError,
}

impl core::fmt::Display for MergeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ring {}: {}", self.ring, self.error)
    }
}

impl core::error::Error for MergeError {}

impl<'a, O: Endian> Merge<'a, O> {
    /// Returns a merge without rings.
    #[must_use]
    pub fn new() -> Self {
        Self { rings: Vec::new(), order: BinaryHeap::new(), last_returned: None }
    }

    /// Adds a ring and the events whose records it has; if there are several events, the ids in the records identify
    /// them. Returns the number of the ring, which is the number of rings added before it.
    ///
    /// A backward ring is reversed. Add all rings before you request the first record: older records of a ring that
    /// is added later are returned late.
    pub fn add(&mut self, dump: Dump<'a, O>, events: &'a Events) -> usize {
        let index = self.rings.len();
        let dump = dump.oldest_first();
        self.rings.push(Ring { dump, events, next: None, copy: Vec::new(), key: 0 });
        self.read_next(index);
        index
    }

    /// Returns the next record in time order; `None` at the end of all rings.
    ///
    /// # Errors
    ///
    /// The error of [`Dump::next`], with the number of the ring. The other rings continue.
    #[expect(clippy::should_implement_trait, reason = "an iterator's items cannot borrow from it")]
    pub fn next(&mut self) -> Option<Result<RingRecord<'_, O>, MergeError>> {
        if let Some(index) = self.last_returned.take() {
            self.read_next(index);
        }
        let Reverse((_, index)) = self.order.pop()?;
        self.last_returned = Some(index);
        let ring = self.rings.get_mut(index)?;
        let next = match ring.next.take()? {
            Ok(next) => next,
            Err(error) => return Some(Err(MergeError { ring: index, error })),
        };
        let Next { position, whole, time, event } = next;
        let raw = match whole {
            Some(raw) => raw,
            None => RawRecord::parse(&ring.copy).ok()?.0,
        };
        Some(Ok(RingRecord { ring: index, position, time, raw, event }))
    }

    /// Returns the account of a ring; `None` for an unknown number.
    ///
    /// The account includes the next record of the ring, which has already been read.
    #[must_use]
    pub fn account(&self, ring: usize) -> Option<DumpAccount> {
        self.rings.get(ring).map(|ring| ring.dump.account())
    }

    /// Reads the next record of a ring and sorts the ring by it.
    fn read_next(&mut self, index: usize) {
        let Some(ring) = self.rings.get_mut(index) else { return };
        ring.next = ring.read_next();
        if ring.next.is_some() {
            self.order.push(Reverse((ring.key, index)));
        }
    }
}

impl<'a, O: Endian> Ring<'a, O> {
    fn read_next(&mut self) -> Option<Result<Next<'a, O>, RingError>> {
        let (position, record) = self.dump.step()?;
        let (raw, whole) = match record {
            Ok(RecordPieces::Whole(record)) => (record, Some(record)),
            Ok(RecordPieces::Wrapped(first, second)) => {
                self.copy = [first, second].concat();
                (RawRecord::parse(&self.copy).ok()?.0, None)
            }
            Err(error) => return Some(Err(error)),
        };
        self.dump.count(&raw);
        let event = match self.events.of(&raw) {
            Ok(index) => index.and_then(|index| self.events.get(index)),
            Err(kind) => return Some(Ok(Next { position, whole, time: None, event: Err(kind) })),
        };
        let event = event.ok_or(FileErrorKind::UnknownEvent { kind: raw.kind() });
        let time = event.ok().and_then(|event| raw.time(&event.layout));
        self.key = time.unwrap_or(self.key);
        Some(Ok(Next { position, whole, time, event }))
    }
}

impl<'a, O: Endian> RingRecord<'a, O> {
    /// Decodes the record. Allocates nothing.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Record`] for a fault in the record, whose offset is from its [`position`](Self::position);
    /// [`FileErrorKind::UnknownId`], [`FileErrorKind::UnknownEvent`] or [`FileErrorKind::Layout`] if its layout is
    /// unknown. Other records are not affected.
    pub fn decode(&self) -> Result<Record<'a, O>, FileErrorKind> {
        let kind = self.raw.kind();
        let event = self.event?;
        match event.fault {
            Some(error) if kind == RecordType::SAMPLE => Err(FileErrorKind::Layout(error)),
            _ => self.raw.decode(&event.layout).map_err(|error| FileErrorKind::Record { kind, error }),
        }
    }
}
