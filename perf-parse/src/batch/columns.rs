//! The arrays of a batch, whatever its size, and the copying of the leading fields into them.

use perf_abi::endian::{ByteOrder, Endian};
use perf_abi::sample_type::SampleType;

use super::Extent;
use super::find::BatchSample;
use crate::layout::{HeadOffsets, present};

/// The arrays of a batch. All have the same length, which is the room of the batch.
///
/// The size is not a parameter of the type, so the loops over the arrays are compiled once for each byte order.
#[derive(Debug)]
pub(crate) struct BatchColumns<'c> {
    pub(super) selected: SampleType,
    /// Room for the samples that are being collected.
    pub(super) rows: &'c mut [BatchSample],
    pub(super) starts: &'c mut [u32],
    pub(super) events: &'c mut [u32],
    pub(super) ip: &'c mut [u64],
    pub(super) pid: &'c mut [i32],
    pub(super) tid: &'c mut [i32],
    pub(super) time: &'c mut [u64],
    pub(super) addr: &'c mut [u64],
    pub(super) id: &'c mut [u64],
    pub(super) stream_id: &'c mut [u64],
    pub(super) cpu: &'c mut [u32],
    pub(super) period: &'c mut [u64],
    pub(super) callchain: &'c mut [Extent],
    pub(super) raw: &'c mut [Extent],
    pub(super) stack_user: &'c mut [Extent],
}

/// The leading fields that have a column of their own name.
const LEADING: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::ADDR)
    .union(SampleType::STREAM_ID)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

/// All fields that have a column of their own name.
const NAMED: SampleType =
    LEADING.union(SampleType::CALLCHAIN).union(SampleType::RAW).union(SampleType::STACK_USER);

/// The fields that have the column [`id`](super::SampleBatch::id).
const IDS: SampleType = SampleType::IDENTIFIER.union(SampleType::ID);

impl BatchColumns<'_> {
    /// Sets the index of the event of the first `len` samples.
    #[cfg(feature = "alloc")]
    pub(crate) fn set_events(&mut self, event: u32, len: usize) {
        self.events.get_mut(..len).unwrap_or_default().fill(event);
    }

    /// Returns the columns that are selected, of samples with these fields.
    pub(super) fn selected_of(&self, fields: SampleType) -> SampleType {
        let named = SampleType(fields.0 & self.selected.0 & NAMED.0);
        let has_ids = fields.intersects(IDS) && self.selected.intersects(IDS);
        if has_ids { named | SampleType::ID } else { named }
    }

    /// Returns the leading fields that are selected. The events of all samples of a batch agree in which of them they record,
    /// so that a column has a value of each sample.
    #[cfg(feature = "alloc")]
    pub(crate) fn selected_leading(&self) -> SampleType {
        SampleType(self.selected.0 & LEADING.0)
    }

    /// Copies the selected leading fields of samples to the columns, from the sample with the number `first` on. `heads` are
    /// the payloads of the samples, or at least their leading fields.
    #[inline(always)]
    pub(super) fn copy_leading<'b, O: Endian>(
        &mut self,
        first: usize,
        head: &HeadOffsets,
        heads: impl ExactSizeIterator<Item = &'b [u8]> + Clone,
    ) {
        let selected = self.selected;
        let of = |fields, offset| present(offset).filter(|_| selected.intersects(fields));
        let word = |bytes| O::u64((), bytes);
        let half = |bytes| O::u32((), bytes);
        let signed = |bytes| O::u32((), bytes).cast_signed();

        let tid = of(SampleType::TID, head.tid);
        copy(tid, heads.clone(), self.pid, first, signed);
        copy(tid.map(|tid| tid.wrapping_add(4)), heads.clone(), self.tid, first, signed);
        copy(of(SampleType::CPU, head.cpu), heads.clone(), self.cpu, first, half);
        copy(of(SampleType::IP, head.ip), heads.clone(), self.ip, first, word);
        copy(of(SampleType::TIME, head.time), heads.clone(), self.time, first, word);
        copy(of(SampleType::ADDR, head.addr), heads.clone(), self.addr, first, word);
        copy(of(SampleType::STREAM_ID, head.stream_id), heads.clone(), self.stream_id, first, word);
        copy(of(SampleType::PERIOD, head.period), heads.clone(), self.period, first, word);
        // An offset beyond all others is that of a field that is not recorded.
        copy(of(IDS, head.identifier.min(head.id)), heads, self.id, first, word);
    }
}

/// Copies the field at an offset of the payloads to a column, from the value `first` on.
#[inline(never)]
fn copy<'b, const B: usize, T>(
    offset: Option<usize>,
    heads: impl ExactSizeIterator<Item = &'b [u8]>,
    column: &mut [T],
    first: usize,
    read: impl Fn([u8; B]) -> T,
) {
    let Some(offset) = offset else { return };
    let column = column.get_mut(first..).unwrap_or_default();
    // The checks do not depend on the sample, so the compiler moves them out of the loop, which it then unrolls.
    for (to, head) in column.iter_mut().zip(heads) {
        if let Some(field) = head.get(offset..).and_then(<[u8]>::first_chunk) {
            *to = read(*field);
        }
    }
}
