//! Several rings merged in time order.

use alloc::collections::BinaryHeap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use perf_abi::endian::{Endian, NativeEndian};

use super::account::DumpAccount;
use super::dump::Dump;
use super::error::RingError;
use super::pieces::RecordPieces;
use crate::bytes::RecordBytes;
use crate::event::{EventOf, EventRecord, Events, RecordPosition};
use crate::record::RawRecord;

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
/// use perf_parse::event::Events;
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
/// let order = merge.map(|record| record.map(|record| (record.position().data_file, record.time())));
/// assert_eq!(order.collect::<Result<Vec<_>, _>>()?, [(0, Some(3)), (1, Some(5)), (0, Some(7))]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Merge<'a, O: Endian = NativeEndian> {
    rings: Vec<MergedRing<'a, O>>,
    /// The rings that have a next record, by its time and then in the order in which they were added.
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

#[derive(Clone, Debug)]
struct MergedRing<'a, O: Endian> {
    dump: Dump<'a, O>,
    events: &'a Events,
    next: Option<Result<EventRecord<'a>, RingError>>,
    /// Sort key of the next record: its time, or that of the record before it.
    key: u64,
}

/// The error of one of several rings, which cannot be read further.
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
        Self { rings: Vec::new(), order: BinaryHeap::new() }
    }

    /// Adds a ring and the events whose records it has; if there are several events, the ids in the records identify
    /// them. Returns the number of the ring, which is the number of rings added before it.
    ///
    /// A backward ring is reversed. Add all rings before you request the first record: older records of a ring that
    /// is added later are returned late.
    pub fn add(&mut self, dump: Dump<'a, O>, events: &'a Events) -> usize {
        let index = self.rings.len();
        let dump = dump.oldest_first();
        self.rings.push(MergedRing { dump, events, next: None, key: 0 });
        self.read_next(index);
        index
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
        ring.next = ring.read_next(index);
        if ring.next.is_some() {
            self.order.push(Reverse((ring.key, index)));
        }
    }
}

/// The records in time order. A record's [`data_file`](RecordPosition::data_file) is the number of its ring, its
/// [`offset`](RecordPosition::offset) the position of its header in the ring: a byte count that never wraps.
///
/// The error of a ring is the error of [`Dump::next`], with the number of the ring. The other rings continue.
impl<'a, O: Endian> Iterator for Merge<'a, O> {
    type Item = Result<EventRecord<'a>, MergeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((_, index)) = self.order.pop()?;
        let next = self.rings.get_mut(index)?.next.take()?;
        self.read_next(index);
        Some(next.map_err(|error| MergeError { ring: index, error }))
    }
}

impl<'a, O: Endian> MergedRing<'a, O> {
    /// Reads the next record of the ring, which has the number `index`.
    fn read_next(&mut self, index: usize) -> Option<Result<EventRecord<'a>, RingError>> {
        let (offset, record) = self.dump.step()?;
        let bytes = match record {
            Ok(RecordPieces::Whole(record)) => RecordBytes::record(record),
            Ok(RecordPieces::Wrapped { first, second, .. }) => {
                let copy = Arc::new([first, second].concat());
                let (raw, _) = RawRecord::<O>::whole_of_kernel((), &copy)?;
                RecordBytes::shared::<O>(&copy, (0, copy.len()), raw.len())
            }
            Err(error) => return Some(Err(error)),
        };
        let raw = bytes.raw().typed::<O>(());
        self.dump.count(&raw);
        let event = match self.events.index_of(&raw) {
            _ if raw.kind().is_user() => EventOf::None,
            Some(index) => EventOf::Opened(self.events.get(index)?),
            None => EventOf::unknown(self.events.unknown_id(raw)),
        };
        let place = RecordPosition { data_file: index, offset, decompressed: None };
        let record = EventRecord::new(bytes, place, event);
        self.key = record.time().unwrap_or(self.key);
        Some(Ok(record))
    }
}
