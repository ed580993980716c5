//! Copies of user stacks without the bytes that the kernel left undefined.
//!
//! The kernel makes room for as many bytes as were asked for, and copies as many as the stack has. The rest of the room
//! keeps what the ring had there before: parts of older records. perf writes it to the capture, and reads it again.

use perf_abi::attr::Attr;
use perf_abi::endian::NativeEndian;
use perf_abi::event::{EventType, SwId};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::{RawRecord, SampleLayout};

/// Offset of `size` in a header.
const SIZE: usize = 6;
/// Bytes of the number that precedes a stack.
const WORD: usize = 8;

/// Removes the undefined bytes of samples.
#[derive(Clone, Debug)]
pub(crate) struct StackTrim {
    /// The layout of all events that take samples.
    layout: SampleLayout,
    /// The last records without these bytes.
    records: Vec<u8>,
}

impl StackTrim {
    /// Returns `None` if no event copies stacks, or if the events differ in the layout of their samples.
    pub(crate) fn new<'a>(attrs: impl IntoIterator<Item = &'a Attr>) -> Option<Self> {
        // A dummy event takes no samples.
        let is_dummy = |attr: &&Attr| attr.kind == EventType::SOFTWARE && attr.config == SwId::DUMMY.0;
        let mut layouts = attrs.into_iter().filter(|attr| !is_dummy(attr)).map(|attr| {
            attr.sample_type.contains(SampleType::STACK_USER).then(|| SampleLayout::new(attr).ok()).flatten()
        });
        let layout = layouts.next()??;
        layouts.all(|other| other == Some(layout)).then(|| Self { layout, records: Vec::new() })
    }

    /// Returns records, which are whole and follow each other, without the undefined bytes of stacks.
    ///
    /// A stack has at least 8 bytes, even if the kernel copied none: without bytes, the number of copied bytes would be
    /// missing.
    pub(crate) fn trimmed(&mut self, mut records: &[u8]) -> &[u8] {
        self.records.clear();
        self.records.reserve(records.len());
        while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
            match cut(&record, &self.layout) {
                Some(cut) => cut.put(record.as_bytes(), &mut self.records),
                None => self.records.extend_from_slice(record.as_bytes()),
            }
            records = rest;
        }
        &self.records
    }
}

/// The bytes of a sample that are removed.
struct UndefinedBytes {
    /// The offset of the stack.
    stack: usize,
    /// The number of bytes that are kept.
    kept: usize,
    /// The number of bytes after them that are removed.
    removed: usize,
}

/// Returns what is removed from a record; `None` if nothing is.
fn cut(record: &RawRecord<'_, NativeEndian>, layout: &SampleLayout) -> Option<UndefinedBytes> {
    if record.kind() != RecordType::SAMPLE {
        return None;
    }
    let stack = record.sample(layout)?.tail().ok()?.stack_user?;
    let copied = usize::try_from(stack.dyn_size?).ok()?;
    let kept = copied.max(1).checked_next_multiple_of(WORD)?;
    let removed = stack.data.len().checked_sub(kept).filter(|&removed| removed > 0)?;
    let stack = stack.data.as_ptr().addr().checked_sub(record.as_bytes().as_ptr().addr())?;
    Some(UndefinedBytes { stack, kept, removed })
}

impl UndefinedBytes {
    fn put(&self, record: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&record[..self.stack + self.kept]);
        out.extend_from_slice(&record[self.stack + self.kept + self.removed..]);
        let new = &mut out[start..];
        // The size of the record fits: it was larger before.
        let size = u16::try_from(new.len()).unwrap_or(u16::MAX);
        new[SIZE..SIZE + 2].copy_from_slice(&size.to_ne_bytes());
        new[self.stack - WORD..self.stack].copy_from_slice(&(self.kept as u64).to_ne_bytes());
    }
}
