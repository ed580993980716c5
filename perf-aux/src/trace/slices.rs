//! The data of a queue, as a decoder takes it.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::aux_area::AuxFlags;
use perf_parse::{FileError, Reader};

use super::overlap::{MAX_PADDING, NewData, OverlapRule};
use super::{AuxBuffer, AuxQueue, AuxRange, BufferSource};

/// A piece of a trace, without the bytes that repeat the piece before it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuxSlice<'r> {
    data: AuxData<'r>,
    /// The bytes of the slice in the data of the buffer.
    range: Range<usize>,
    /// Index of the buffer in [`AuxQueue::buffers`].
    pub buffer: usize,
    /// Position of the first byte in the AUX area; 0 for a sample's data.
    pub offset: u64,
    /// [`AuxBuffer::reference`].
    pub reference: u64,
    /// [`AuxBuffer::time`].
    pub time: Option<u64>,
    /// Whether the bytes continue the slice before without a gap, so that a decoder can go on. If not, it has to synchronise
    /// again.
    ///
    /// Of snapshots and samples this is known only if they overlap. Of other data, perf takes all slices of a queue but the
    /// first for consecutive, without a look at their positions.
    pub is_consecutive: bool,
    /// Number of bytes at the start of the buffer that are not in the slice: they repeat the buffer before, or, in snapshots
    /// of Intel PT, come before the first PSB packet.
    pub left_out: usize,
    /// Number of bytes at the end of the buffer that are not in the slice: the recorder's padding. 0 also if it is unknown
    /// whether the last bytes are padding.
    pub padding: usize,
    /// Number of bytes that are missing between the buffer before and this one.
    pub gap: u64,
    /// Whether the kernel reported that data before the slice was lost, because the AUX area was full: the AUX record before it
    /// has the flag TRUNCATED. The hardware started again after it.
    pub follows_loss: bool,
    /// The AUX records of the data of the slice, in ascending order of positions. Empty for a sample's data.
    pub ranges: &'r [AuxRange],
}

impl<'r> AuxSlice<'r> {
    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes().get(self.range.clone()).unwrap_or_default()
    }

    /// Returns the bytes, borrowed from a capture in memory.
    #[must_use]
    pub fn into_bytes(self) -> Cow<'r, [u8]> {
        let range = self.range;
        match self.data {
            AuxData::Borrowed(bytes) => Cow::Borrowed(bytes.get(range).unwrap_or_default()),
            AuxData::Shared(bytes) => {
                let mut bytes = Arc::unwrap_or_clone(bytes);
                bytes.truncate(range.end);
                bytes.drain(..range.start.min(range.end));
                Cow::Owned(bytes)
            }
        }
    }

    /// Divides the bytes at the starts of the AUX records in it, which are the places where the hardware may have started
    /// again. Each piece has its AUX record; the bytes before the first one have none.
    ///
    /// CoreSight needs this: its decoder has to be reset at each AUX record, whose flags have the format of the data.
    pub fn pieces(&self) -> impl Iterator<Item = (Option<&'r AuxRange>, &[u8])> {
        let starts = self.ranges.iter().map(|range| {
            let start = range.start.saturating_sub(self.offset);
            (Some(range), usize::try_from(start).unwrap_or(usize::MAX).min(self.bytes().len()))
        });
        let ends = starts.clone().map(|(_, start)| start).chain([self.bytes().len()]);
        let pieces = core::iter::once((None, 0))
            .chain(starts)
            .zip(ends)
            .map(|((range, start), end)| (range, self.bytes().get(start..end).unwrap_or_default()));
        pieces.filter(|(range, bytes)| range.is_some() || !bytes.is_empty())
    }
}

/// The data of a buffer.
#[derive(Clone, Debug)]
enum AuxData<'r> {
    Borrowed(&'r [u8]),
    Shared(Arc<Vec<u8>>),
}

impl<'r> AuxData<'r> {
    fn read(reader: &'r Reader<'_>, buffer: &'r AuxBuffer) -> Result<Self, FileError> {
        let bytes = match &buffer.source {
            BufferSource::Area { data_file, data } => reader.aux_data_at(*data_file, *data)?,
            BufferSource::Sample { data_file, data } => reader.bytes_in(*data_file, *data)?,
            BufferSource::Copy(bytes) => Cow::Borrowed(&**bytes),
        };
        Ok(match bytes {
            Cow::Borrowed(bytes) => Self::Borrowed(bytes),
            Cow::Owned(bytes) => Self::Shared(Arc::new(bytes)),
        })
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// The slices of a queue; made by [`AuxTrace::slices`](super::AuxTrace::slices).
///
/// A buffer without new data has no slice. After an error, the next slice is not consecutive.
///
/// # Errors
///
/// Those of [`Reader::aux_data_at`]: a stream has skipped the data, the file cannot be read, or compressed data is damaged.
#[derive(Clone, Debug)]
pub struct AuxSlices<'r, 'a> {
    reader: &'r Reader<'a>,
    queue: &'r AuxQueue,
    rule: OverlapRule,
    /// Index of the next buffer.
    next: usize,
    /// `None` if there is none, or if the buffer before could not be read.
    last: Option<LastData<'r>>,
}

/// The last buffer that had new data. One that only repeats data is not compared with the next.
///
/// perf: `intel_pt_get_trace`, `tools/perf/util/intel-pt.c`.
#[derive(Clone, Debug)]
struct LastData<'r> {
    /// Position after the data.
    end: u64,
    data: AuxData<'r>,
}

impl<'r, 'a> AuxSlices<'r, 'a> {
    pub(super) fn new(reader: &'r Reader<'a>, queue: &'r AuxQueue, rule: OverlapRule) -> Self {
        Self { reader, queue, rule, next: 0, last: None }
    }

    /// Returns the part of `data` that comes after the buffer before, and the number of missing bytes between them.
    fn new_data(&self, buffer: &AuxBuffer, data: &[u8]) -> (NewData, u64) {
        let first = NewData { start: 0, is_consecutive: false };
        let Some(LastData { end, data: last }) = &self.last else { return (first, 0) };
        let (last, distance) = (last.bytes(), end.checked_sub(buffer.offset));
        let has_positions = self.rule == OverlapRule::Positions;
        let gap = if has_positions { buffer.offset.saturating_sub(*end) } else { 0 };
        if has_positions && padding(last, distance) > 0 {
            return (NewData { is_consecutive: true, ..first }, gap);
        }
        (self.rule.new_data(last, data, distance), gap)
    }

    /// Returns the number of bytes at the end of the data of a buffer that ends at `end` and have the positions of the next
    /// buffer's first bytes; `None` if there is no next one, or if it begins later.
    fn distance_to_next(&self, end: u64) -> Option<u64> {
        end.checked_sub(self.queue.buffers.get(self.next)?.offset)
    }

    fn slice(&mut self, index: usize, buffer: &'r AuxBuffer) -> Result<Option<AuxSlice<'r>>, FileError> {
        let read = AuxData::read(self.reader, buffer);
        let data = read.inspect_err(|_| self.last = None)?;
        let (NewData { start, is_consecutive }, gap) = self.new_data(buffer, data.bytes());
        let size = data.bytes().len();
        let end = buffer.offset.saturating_add(size as u64);
        let distance = self.distance_to_next(end);
        let has_positions = self.rule == OverlapRule::Positions;
        let padding = if has_positions { padding(data.bytes(), distance) } else { 0 };
        let range = start..size.saturating_sub(padding);
        if range.is_empty() {
            return Ok(None);
        }
        self.last = Some(LastData { end, data: data.clone() });
        let offset = buffer.offset.saturating_add(start as u64);
        let is_of_area = matches!(buffer.source, BufferSource::Area { .. });
        let ranges = if is_of_area { self.queue.ranges_within(offset..end) } else { &[] };
        let before = self.queue.range_before(offset).filter(|_| is_of_area);
        Ok(Some(AuxSlice {
            data,
            range,
            buffer: index,
            offset,
            reference: buffer.reference,
            time: buffer.time,
            is_consecutive,
            left_out: start,
            padding,
            gap,
            follows_loss: before.is_some_and(|range| range.flags.contains(AuxFlags::TRUNCATED)),
            ranges,
        }))
    }
}

impl<'r> Iterator for AuxSlices<'r, '_> {
    type Item = Result<AuxSlice<'r>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let index = self.next;
            let buffer = self.queue.buffers.get(index)?;
            self.next = index.saturating_add(1);
            if let Some(item) = self.slice(index, buffer).transpose() {
                return Some(item);
            }
        }
    }
}

/// Returns the number of bytes of padding at the end of a buffer, if the next one begins `distance` bytes before the end: the
/// recorder pads with zeros.
fn padding(data: &[u8], distance: Option<u64>) -> usize {
    let distance = distance.and_then(|distance| usize::try_from(distance).ok());
    let distance = distance.filter(|distance| (1..=MAX_PADDING).contains(distance)).unwrap_or(0);
    let tail = data.len().checked_sub(distance).and_then(|from| data.get(from..));
    if tail.is_some_and(|tail| tail.iter().all(|&byte| byte == 0)) { distance } else { 0 }
}
