//! Filling a batch from the samples at the front of some bytes.

use core::ops::Range;

use perf_abi::endian::Endian;
use perf_abi::record::{Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;

use super::find::{BLOCK, BatchSample, Search};
use super::{BatchColumns, BatchContents, Extent};
use crate::layout::{HeadOffsets, SampleLayout};

/// Number of samples of equal size whose headers are read before their fields are copied. Headers wait for memory and copies do
/// not, so steps that are shorter than a batch keep both busy.
const EQUAL_BLOCK: usize = 128;

impl BatchColumns<'_> {
    /// Fills the columns from the samples of one event, up to the first other record.
    pub(crate) fn fill_one<O: Endian>(&mut self, layout: &SampleLayout, bytes: &[u8]) -> BatchContents {
        if layout.has_tail {
            self.fill_various::<O, false>(layout, bytes, |_, _| Some(layout))
        } else {
            self.fill_equal::<O>(layout, bytes, |_, _| true)
        }
    }

    /// Fills the columns from the samples that have this layout, which has only leading fields, up to the first other
    /// record. `admits` gets the payload of a sample and sets the index of its event; it returns whether there is one.
    pub(crate) fn fill_equal<O: Endian>(
        &mut self,
        layout: &SampleLayout,
        bytes: &[u8],
        mut admits: impl FnMut(&[u8], &mut u32) -> bool,
    ) -> BatchContents {
        let stride = usize::from(layout.head.size).wrapping_add(8);
        let (mut len, room, mut rest) = (0_usize, self.events.len(), bytes);
        while len < room {
            let end = len.saturating_add(EQUAL_BLOCK).min(room);
            let found = self.count_equal::<O>(rest, stride, len..end, &mut admits);
            let (samples, after) = rest.split_at_checked(found.wrapping_mul(stride)).unwrap_or_default();
            let payloads = samples.chunks_exact(stride).map(|record| record.get(8..).unwrap_or_default());
            self.copy_leading::<O>(len, &layout.head, payloads);
            (len, rest) = (len.wrapping_add(found), after);
            if len < end {
                break;
            }
        }
        if len == 0 {
            return BatchContents::NOTHING;
        }
        self.filled::<O>(len, len.wrapping_mul(stride), stride, layout.sample_type)
    }

    /// Returns the number of records of `size` bytes at the front that are samples, as many as these rows of the columns take.
    #[inline(never)]
    fn count_equal<O: Endian>(
        &mut self,
        bytes: &[u8],
        size: usize,
        rows: Range<usize>,
        admits: &mut impl FnMut(&[u8], &mut u32) -> bool,
    ) -> usize {
        // All bits of the header but those of `misc` are known, so a record has one comparison.
        let of = |kind, size| u64::from_ne_bytes(zerocopy::transmute!(Header::<O>::new(kind, Misc(0), size)));
        let header = of(RecordType::SAMPLE, u16::try_from(size).unwrap_or(u16::MAX));
        let mask = of(RecordType(u32::MAX), u16::MAX);
        let mut len = 0_usize;
        let events = self.events.get_mut(rows).unwrap_or_default();
        for (event, record) in events.iter_mut().zip(bytes.chunks_exact(size)) {
            let Some((front, payload)) = record.split_first_chunk() else { break };
            if u64::from_ne_bytes(*front) & mask != header || !admits(payload, event) {
                break;
            }
            len = len.wrapping_add(1);
        }
        len
    }

    /// Fills the columns from samples whose fields after the leading ones may differ, up to the first other record.
    /// `layout_of` returns the layout of a sample with this payload and sets the index of its event.
    ///
    /// `SORTED` is whether leading fields may differ too; otherwise they are those of `first`.
    pub(crate) fn fill_various<'l, O: Endian, const SORTED: bool>(
        &mut self,
        first: &SampleLayout,
        bytes: &[u8],
        mut layout_of: impl FnMut(&[u8], &mut u32) -> Option<&'l SampleLayout>,
    ) -> BatchContents {
        let head = if SORTED { &HeadOffsets::SORTED } else { &first.head };
        // Apart from the columns, which are written while the rows are read.
        let rows = core::mem::take(&mut self.rows);
        let mut search = Search::new(bytes);
        let (mut len, room) = (0_usize, self.events.len());
        while len < room {
            let left = room.wrapping_sub(len);
            let block = rows.get_mut(..left.min(BLOCK)).unwrap_or_default();
            let found = search.find::<O, SORTED>(block, &mut layout_of);
            let is_last = found < block.len();
            let block = block.get(..found).unwrap_or_default();
            self.copy_rows(len, block);
            self.copy_leading::<O>(len, head, block.iter().map(|row| row.head.as_flattened()));
            len = len.wrapping_add(found);
            if is_last {
                break;
            }
        }
        self.filled::<O>(len, search.passed(), 0, search.fields)
    }

    /// Copies the places, events and extents of samples to the columns, from the sample with the number `first` on.
    fn copy_rows(&mut self, first: usize, rows: &[BatchSample]) {
        fn copy<T>(column: &mut [T], first: usize, rows: &[BatchSample], of: impl Fn(&BatchSample) -> T) {
            for (to, row) in column.get_mut(first..).unwrap_or_default().iter_mut().zip(rows) {
                *to = of(row);
            }
        }
        copy(self.starts, first, rows, |row| row.start);
        copy(self.events, first, rows, |row| row.event);
        let copy_extents = |field, column: &mut [Extent], of: fn(&BatchSample) -> Extent| {
            if self.selected.contains(field) {
                copy(column, first, rows, of);
            }
        };
        copy_extents(SampleType::CALLCHAIN, self.callchain, |row| row.callchain);
        copy_extents(SampleType::RAW, self.raw, |row| row.raw);
        copy_extents(SampleType::STACK_USER, self.stack_user, |row| row.stack_user);
    }

    /// Returns what the columns hold. `fields` are those that the events of the samples record.
    fn filled<O: Endian>(
        &self,
        len: usize,
        bytes: usize,
        stride: usize,
        fields: SampleType,
    ) -> BatchContents {
        let columns = self.selected_of(fields);
        BatchContents { len, bytes, stride, columns, has_events: false, endianness: O::ENDIANNESS }
    }
}
