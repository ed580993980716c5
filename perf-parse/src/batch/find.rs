//! The search for consecutive samples whose records differ in size.
//!
//! What it finds is collected in a block of rows, one for each sample, and is then copied to the columns. Writing each field
//! to its column at once would need more registers than there are.

use perf_abi::endian::{ByteOrder, Endian};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use zerocopy::FromBytes;

use super::Extent;
use crate::layout::{HeadOffsets, SampleLayout, TailFields};
use crate::raw::RawRecord;
use crate::sample::Sample;

/// The words of all leading fields, if an event records them all.
type Head = [[u8; 8]; 9];

/// Number of rows of a block.
pub(super) const BLOCK: usize = 32;

/// A sample that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchSample {
    /// The leading fields, and the bytes after them.
    pub(super) head: Head,
    pub(super) start: u32,
    pub(super) event: u32,
    pub(super) callchain: Extent,
    pub(super) raw: Extent,
    pub(super) stack_user: Extent,
}

impl BatchSample {
    pub(super) const EMPTY: Self = Self {
        head: [[0; 8]; 9],
        start: 0,
        event: 0,
        callchain: Extent::ABSENT,
        raw: Extent::ABSENT,
        stack_user: Extent::ABSENT,
    };
}

/// A search over samples.
#[derive(Debug)]
pub(super) struct Search<'b> {
    bytes: &'b [u8],
    rest: &'b [u8],
    /// The fields of the events of the samples that were found.
    pub(super) fields: SampleType,
}

impl<'b> Search<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        // An extent has an offset of 32 bits.
        let bytes = bytes.get(..u32::MAX as usize).unwrap_or(bytes);
        Self { bytes, rest: bytes, fields: SampleType::NONE }
    }

    /// Returns the number of bytes of the samples that were found.
    pub(super) fn passed(&self) -> usize {
        self.bytes.len().wrapping_sub(self.rest.len())
    }

    /// Finds the samples at the front, up to the end of `block` or to the first other record. Returns their number.
    /// `layout_of` returns the layout of a sample with this payload and sets the index of its event.
    ///
    /// `SORTED` is whether the leading fields of events differ. Each row then has them in the order of
    /// `HeadOffsets::SORTED`.
    #[inline(never)]
    pub(super) fn find<'l, O: Endian, const SORTED: bool>(
        &mut self,
        block: &mut [BatchSample],
        layout_of: &mut impl FnMut(&[u8], &mut u32) -> Option<&'l SampleLayout>,
    ) -> usize {
        let Self { bytes, mut rest, mut fields } = *self;
        let mut count = 0_usize;
        for row in block {
            let Some((record, after)) = RawRecord::<O>::whole_of_kernel((), rest) else { break };
            if record.kind() != RecordType::SAMPLE {
                break;
            }
            let Some(layout) = layout_of(record.payload(), &mut row.event) else { break };
            let Some(sample) = record.sample(layout) else { break };
            let at = bytes.len().wrapping_sub(rest.len());
            if set_extents(row, &sample, bytes, at).is_none() {
                break;
            }
            // The bytes after the leading fields do not matter, so a copy of constant size will do.
            match Head::ref_from_prefix(rest.get(8..).unwrap_or_default()) {
                Ok((head, _)) => row.head = *head,
                Err(_) => copy_short(&mut row.head, record.payload()),
            }
            if SORTED {
                row.head = sorted(&row.head, &layout.head);
            }
            row.start = offset(at);
            fields |= layout.sample_type;
            count = count.wrapping_add(1);
            rest = after;
        }
        (self.rest, self.fields) = (rest, fields);
        count
    }
}

/// Copies the payload of a sample at the end of the input, which may be shorter than `head`.
#[cold]
#[inline(never)]
fn copy_short(head: &mut Head, payload: &[u8]) {
    head.as_flattened_mut().iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
}

/// Returns leading fields in the order of [`HeadOffsets::SORTED`].
#[inline(always)]
fn sorted(head: &Head, from: &HeadOffsets) -> Head {
    let [a, b, c, d, e, f, g, h, i] = *head;
    const NONE: [u8; 8] = [0; 8];
    let words = [a, b, c, d, e, f, g, h, i, NONE, NONE, NONE, NONE, NONE, NONE, NONE];
    // The offset of a field that is not recorded has all bits set, so its word is the last one.
    let word = |offset: u16| words.get(usize::from(offset >> 3) & 15).copied().unwrap_or_default();
    let id = word(from.identifier.min(from.id));
    [
        id,
        word(from.ip),
        word(from.tid),
        word(from.time),
        word(from.addr),
        word(from.stream_id),
        word(from.cpu),
        word(from.period),
        NONE,
    ]
}

/// Decodes the fields after the leading ones of the sample at the offset `at` of `bytes`, and sets where they are. `None` for
/// a fault.
#[inline(always)]
fn set_extents<O: Endian>(
    row: &mut BatchSample,
    sample: &Sample<'_, O>,
    bytes: &[u8],
    at: usize,
) -> Option<()> {
    (row.callchain, row.raw, row.stack_user) = (Extent::ABSENT, Extent::ABSENT, Extent::ABSENT);
    let layout = sample.layout();
    let fields = sample.bytes().get(usize::from(layout.head.size)..)?;
    let end = at.wrapping_add(8).wrapping_add(sample.bytes().len());
    // Most events that record a field of variable size record one alone, which then fills the rest of the sample.
    match layout.tail {
        TailFields::None => {}
        TailFields::Callchain => {
            let (nr, words) = fields.split_first_chunk()?;
            if O::u64((), *nr) != words.len() as u64 / 8 || words.len() % 8 != 0 {
                return None;
            }
            row.callchain = Extent::before(end, words);
        }
        TailFields::Raw => {
            let (size, data) = fields.split_first_chunk()?;
            if O::u32((), *size) as usize != data.len() {
                return None;
            }
            row.raw = Extent::before(end, data);
        }
        TailFields::Others => set_any_extents(row, sample, bytes)?,
    }
    Some(())
}

/// Does the same for any fields.
#[inline(never)]
fn set_any_extents<O: Endian>(row: &mut BatchSample, sample: &Sample<'_, O>, bytes: &[u8]) -> Option<()> {
    let tail = sample.tail().ok()?;
    let of = |part: Option<&[u8]>| {
        let Some(part) = part else { return Extent::ABSENT };
        let start = part.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
        Extent::before(start.wrapping_add(part.len()), part)
    };
    row.callchain = of(tail.callchain.map(|chain| chain.words().as_bytes()));
    row.raw = of(tail.raw);
    row.stack_user = of(tail.stack_user.map(|stack| stack.copied()));
    Some(())
}

impl Extent {
    /// Returns where a part of the input is, which ends at the offset `end`.
    #[inline(always)]
    fn before(end: usize, part: &[u8]) -> Self {
        Self { start: offset(end.wrapping_sub(part.len())), size: offset(part.len()) }
    }
}

/// Returns an offset in the input of a batch.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the input is cut to offsets of 32 bits")]
fn offset(at: usize) -> u32 {
    at as u32
}
