//! Samples decoded into columns: a run of records at a time, one array for each field.
//!
//! A record at a time costs a check for each field. Nearly all samples of a capture have one layout, so the checks can be
//! made once for a run of samples, and each field can then be copied by a loop of its own. [`SampleBatch`] holds the
//! arrays. This part needs neither std nor alloc.

mod columns;
mod fill;
mod find;

pub(crate) use columns::BatchColumns;
use find::{BLOCK, BatchSample};

use perf_abi::endian::{BigEndian, ByteOrder, Endianness, LittleEndian};
use perf_abi::sample_type::SampleType;

use crate::layout::SampleLayout;
use crate::list::List;
use crate::raw::Records;

/// Consecutive samples, decoded into columns. Holds up to `N` samples, in arrays of its own; `N` is at least 1.
///
/// A batch is filled by [`Records::next_batch`], or by the methods of the same name of `Events` and of `EventRecords`. It
/// ends after `N` samples, or before the first record that
///
/// - is not a sample,
/// - has a fault, or whose event is unknown, or
/// - is of an event that records other ones of the selected leading fields.
///
/// That record is left to the walk that the batch was filled from. So a walk in batches, with the other records one at a
/// time, finds exactly what a walk one record at a time finds.
///
/// [`new`](Self::new) selects the fields. The column of a field is `None` if the field was not selected, or if the events do
/// not record it. Otherwise the column has [`len`](Self::len) values, in the order of the records. A field of variable size
/// that some of the events do not record has the extent [`ABSENT`](Extent::ABSENT) in their samples. Fields that are not
/// selected cost nothing, but every sample is checked to its last byte.
///
/// Batches pay for long runs of samples that have only leading fields: each column is then copied by one short loop. Samples
/// with other fields are still walked one at a time, and take about as long as without a batch. If events that record other
/// fields alternate, batches are short, and single samples are faster. A batch takes about 100 bytes for each sample, and 4
/// KiB.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::attr::Attr;
/// use perf_parse::abi::endian::LittleEndian;
/// use perf_parse::abi::sample_type::SampleType;
/// use perf_parse::{Record, Records, SampleBatch, SampleLayout};
///
/// let attr = Attr { sample_type: SampleType::IP | SampleType::TIME, ..Attr::default() };
/// let layout = SampleLayout::new(&attr)?;
/// let mut bytes = Vec::new();
/// for time in 0..1000_u64 {
///     bytes.extend([9, 0, 0, 0, 2, 0, 24, 0]); // SAMPLE, USER, 24 bytes
///     bytes.extend([0x40_1000 + time, time].map(u64::to_le_bytes).as_flattened());
/// }
/// bytes.extend(*b"\x03\0\0\0\0\0\x18\0....tid.comm\0\0\0\0");
///
/// let mut batch = SampleBatch::<256>::new(SampleType::TIME | SampleType::CPU);
/// let mut records = Records::<LittleEndian>::new(&bytes);
/// let (mut sum, mut comms) = (0, 0);
/// loop {
///     records.next_batch(&layout, &mut batch);
///     assert_eq!(batch.cpu(), None, "the event does not record it");
///     sum += batch.time().unwrap_or_default().iter().sum::<u64>();
///     if batch.is_full() {
///         continue;
///     }
///     // The end, or a record that cannot be in the batch.
///     let Some(record) = records.next() else { break };
///     comms += u64::from(matches!(record?.decode(&layout)?, Record::Comm(_)));
/// }
/// assert_eq!((sum, comms), (499_500, 1));
/// # Ok::<(), perf_parse::Error>(())
/// ```
#[derive(Clone)]
pub struct SampleBatch<const N: usize = 256> {
    selected: SampleType,
    filled: BatchContents,
    rows: [BatchSample; BLOCK],
    starts: [u32; N],
    events: [u32; N],
    ip: [u64; N],
    pid: [i32; N],
    tid: [i32; N],
    time: [u64; N],
    addr: [u64; N],
    id: [u64; N],
    stream_id: [u64; N],
    cpu: [u32; N],
    period: [u64; N],
    callchain: [Extent; N],
    raw: [Extent; N],
    stack_user: [Extent; N],
}

/// What a batch holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchContents {
    /// The number of samples, and of their bytes.
    pub(crate) len: usize,
    pub(crate) bytes: usize,
    /// The size of each record, if all have the same size; 0 if `starts` has the offsets of the records.
    pub(crate) stride: usize,
    /// The columns that have values.
    pub(crate) columns: SampleType,
    /// Whether the indices of the events are known.
    pub(crate) has_events: bool,
    pub(crate) endianness: Endianness,
}

impl BatchContents {
    pub(crate) const NOTHING: Self = Self {
        len: 0,
        bytes: 0,
        stride: 0,
        columns: SampleType::NONE,
        has_events: false,
        endianness: Endianness::NATIVE,
    };
}

/// Where a field of variable size is, in the bytes of the batch's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extent {
    /// The offset of the first byte.
    pub start: u32,
    /// The number of bytes.
    pub size: u32,
}

impl Extent {
    /// The extent of a field that the event of a sample does not record, in a batch with events that record it.
    pub const ABSENT: Self = Self { start: u32::MAX, size: 0 };

    /// Returns the bytes of the field. `bytes` are those that the call returned that filled the batch; the result is empty
    /// if they are others, and too short.
    #[must_use]
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        let start = self.start as usize;
        bytes.get(start..start.saturating_add(self.size as usize)).unwrap_or_default()
    }
}

impl<const N: usize> core::fmt::Debug for SampleBatch<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SampleBatch")
            .field("len", &self.filled.len)
            .field("columns", &self.filled.columns)
            .finish_non_exhaustive()
    }
}

impl<const N: usize> SampleBatch<N> {
    /// Creates an empty batch for these fields: those of [`SampleType`] that this type has a column for. Other fields are
    /// checked, but not kept. [`IDENTIFIER`](SampleType::IDENTIFIER) and [`ID`](SampleType::ID) both select
    /// [`id`](Self::id).
    #[must_use]
    pub const fn new(fields: SampleType) -> Self {
        const { assert!(N > 0, "a batch has room for a sample") };
        Self {
            selected: fields,
            filled: BatchContents::NOTHING,
            rows: [BatchSample::EMPTY; BLOCK],
            starts: [0; N],
            events: [0; N],
            ip: [0; N],
            pid: [0; N],
            tid: [0; N],
            time: [0; N],
            addr: [0; N],
            id: [0; N],
            stream_id: [0; N],
            cpu: [0; N],
            period: [0; N],
            callchain: [Extent { start: 0, size: 0 }; N],
            raw: [Extent { start: 0, size: 0 }; N],
            stack_user: [Extent { start: 0, size: 0 }; N],
        }
    }

    /// Returns the number of samples.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.filled.len
    }

    /// Returns whether there are no samples.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.filled.len == 0
    }

    /// Returns whether the batch has all the samples that it has room for, so that the next record may be a sample too.
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.filled.len == N
    }

    /// Returns the number of bytes of the samples.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> usize {
        self.filled.bytes
    }

    /// Returns the byte order of the samples, which the fields at an [`Extent`] have.
    #[must_use]
    #[inline]
    pub fn endianness(&self) -> Endianness {
        self.filled.endianness
    }

    /// Returns the offset of the header of a sample, in bytes from that of the first one; `None` after the last sample.
    #[must_use]
    #[inline]
    pub fn offset(&self, index: usize) -> Option<usize> {
        if index >= self.filled.len {
            return None;
        }
        match self.filled.stride {
            0 => self.starts.get(index).map(|&start| start as usize),
            stride => Some(index.wrapping_mul(stride)),
        }
    }

    /// Returns the index of each sample's event in the list of events. `None` if the batch was filled without a list of
    /// events.
    #[must_use]
    #[inline]
    pub fn events(&self) -> Option<&[u32]> {
        if self.filled.has_events { self.events.get(..self.filled.len) } else { None }
    }

    /// Returns the instruction pointers.
    #[must_use]
    #[inline]
    pub fn ip(&self) -> Option<&[u64]> {
        self.column(SampleType::IP, &self.ip)
    }

    /// Returns the process ids; -1 if the task had already exited.
    #[must_use]
    #[inline]
    pub fn pid(&self) -> Option<&[i32]> {
        self.column(SampleType::TID, &self.pid)
    }

    /// Returns the thread ids; -1 if the task had already exited.
    #[must_use]
    #[inline]
    pub fn tid(&self) -> Option<&[i32]> {
        self.column(SampleType::TID, &self.tid)
    }

    /// Returns the times in nanoseconds of the event's clock.
    #[must_use]
    #[inline]
    pub fn time(&self) -> Option<&[u64]> {
        self.column(SampleType::TIME, &self.time)
    }

    /// Returns the addresses that the event refers to; 0 if the PMU provided none.
    #[must_use]
    #[inline]
    pub fn addr(&self) -> Option<&[u64]> {
        self.column(SampleType::ADDR, &self.addr)
    }

    /// Returns the ids of the events: IDENTIFIER, or ID if the event does not record that; for inherited events the id of the
    /// parent's.
    #[must_use]
    #[inline]
    pub fn id(&self) -> Option<&[u64]> {
        self.column(SampleType::ID, &self.id)
    }

    /// Returns the ids of the events themselves, even if they are inherited.
    #[must_use]
    #[inline]
    pub fn stream_id(&self) -> Option<&[u64]> {
        self.column(SampleType::STREAM_ID, &self.stream_id)
    }

    /// Returns the CPU numbers.
    #[must_use]
    #[inline]
    pub fn cpu(&self) -> Option<&[u32]> {
        self.column(SampleType::CPU, &self.cpu)
    }

    /// Returns the periods: the number of events that each sample represents.
    #[must_use]
    #[inline]
    pub fn period(&self) -> Option<&[u64]> {
        self.column(SampleType::PERIOD, &self.period)
    }

    /// Returns where the words of each call chain are; an extent is empty if the kernel found no frame.
    #[must_use]
    #[inline]
    pub fn callchain(&self) -> Option<&[Extent]> {
        self.column(SampleType::CALLCHAIN, &self.callchain)
    }

    /// Returns the words of a sample's call chain, including context markers and cookies. `bytes` are those that the call
    /// returned that filled the batch. `None` if there is no such [column](Self::callchain) or no such sample.
    #[must_use]
    #[inline]
    pub fn callchain_words<'b>(&self, index: usize, bytes: &'b [u8]) -> Option<List<'b, u64>> {
        let extent = self.callchain()?.get(index)?;
        Some(List::new_in(self.filled.endianness, extent.of(bytes)))
    }

    /// Returns where the raw data of each sample is, including padding.
    #[must_use]
    #[inline]
    pub fn raw(&self) -> Option<&[Extent]> {
        self.column(SampleType::RAW, &self.raw)
    }

    /// Returns where the bytes of the user stack are that the kernel copied: those of
    /// [`StackUser::copied`](crate::sample::StackUser::copied).
    #[must_use]
    #[inline]
    pub fn stack_user(&self) -> Option<&[Extent]> {
        self.column(SampleType::STACK_USER, &self.stack_user)
    }

    #[inline]
    fn column<'c, T>(&self, field: SampleType, values: &'c [T; N]) -> Option<&'c [T]> {
        if self.filled.columns.contains(field) { values.get(..self.filled.len) } else { None }
    }

    /// Sets what the columns hold.
    pub(crate) fn set(&mut self, filled: BatchContents) {
        self.filled = filled;
    }

    /// Returns the columns, to be filled.
    pub(crate) fn columns(&mut self) -> BatchColumns<'_> {
        BatchColumns {
            selected: self.selected,
            rows: &mut self.rows,
            starts: &mut self.starts,
            events: &mut self.events,
            ip: &mut self.ip,
            pid: &mut self.pid,
            tid: &mut self.tid,
            time: &mut self.time,
            addr: &mut self.addr,
            id: &mut self.id,
            stream_id: &mut self.stream_id,
            cpu: &mut self.cpu,
            period: &mut self.period,
            callchain: &mut self.callchain,
            raw: &mut self.raw,
            stack_user: &mut self.stack_user,
        }
    }
}

impl<'a, O: ByteOrder> Records<'a, O> {
    /// Takes the next samples, of an event with this layout, as many as the batch has room for. Returns their bytes.
    ///
    /// After a batch that is not [full](SampleBatch::is_full), [`next`](Iterator::next) returns the record at which it
    /// ended, or the fault, or `None` at the end. Allocates nothing.
    pub fn next_batch<const N: usize>(
        &mut self,
        layout: &SampleLayout,
        batch: &mut SampleBatch<N>,
    ) -> &'a [u8] {
        let filled = match O::endianness(self.order()) {
            Endianness::Little => batch.columns().fill_one::<LittleEndian>(layout, self.front()),
            Endianness::Big => batch.columns().fill_one::<BigEndian>(layout, self.front()),
        };
        batch.set(filled);
        self.take(filled.bytes)
    }
}
