//! Samples: a lazy view over the bytes.
//!
//! The leading fields are words at indices that the layout knows: each getter is one load and one check. What may
//! vary in size, and what comes after, is walked once by [`Sample::tail`]. Nothing is copied or allocated.

mod branch_stack;
mod callchain;
mod read;
mod regs;
mod stack_user;
mod tail;

pub use branch_stack::BranchStack;
pub use callchain::{Callchain, Frame, Frames};
pub use read::{Read, ReadValue, ReadValues};
pub use regs::{Regs, RegsIter};
pub use stack_user::StackUser;
pub use tail::{Reading, Readings, Tail};

use perf_abi::endian::{Endian, U32, U64};
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use zerocopy::FromBytes;
#[cfg(feature = "alloc")]
use zerocopy::IntoBytes;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::layout::SampleLayout;
use crate::record::RawRecord;

/// A sample, not yet decoded but for where its leading fields are.
///
/// Five words, `Copy`; borrows from the record and the layout. A getter gives `None` where the event does not record
/// the field.
///
/// Kernel: `PERF_RECORD_SAMPLE`, `perf_output_sample`, `kernel/events/core.c`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a, O: Endian> {
    layout: &'a SampleLayout,
    misc: Misc,
    head: &'a [U64<O>],
    tail: &'a [u8],
}

/// The word at `index`, which is beyond the end for a field that is not recorded.
#[inline]
pub(crate) fn word<O: Endian>(words: &[U64<O>], index: u8) -> Option<u64> {
    words.get(usize::from(index)).map(|word| word.get())
}

/// The two 32-bit halves of the word at `index`, in the order they were written.
///
/// Each half is in the byte order of the capture; the word as a whole is not one number.
#[inline]
pub(crate) fn pair<O: Endian>(words: &[U64<O>], index: u8) -> Option<(u32, u32)> {
    let halves: [U32<O>; 2] = zerocopy::transmute!(*words.get(usize::from(index))?);
    let [first, second] = halves;
    Some((first.get(), second.get()))
}

impl<'a, O: Endian> Sample<'a, O> {
    /// The view over a record of type SAMPLE. Takes constant time.
    ///
    /// # Errors
    ///
    /// [`Truncated`](crate::ErrorKind::Truncated) if the record ends within the leading fields, naming the one;
    /// [`Residue`](crate::ErrorKind::Residue) if the event records only leading fields and bytes are left.
    #[inline]
    pub fn parse(layout: &'a SampleLayout, record: &RawRecord<'a, O>) -> Result<Self, Error> {
        let payload = record.payload();
        let words = usize::from(layout.head.words);
        let Ok((head, tail)) = <[U64<O>]>::ref_from_prefix_with_elems(payload, words) else {
            return Err(layout.missing_head_field(payload.len()));
        };
        let sample = Self { layout, misc: record.misc(), head, tail };
        if !layout.has_tail {
            sample.cursor().finish()?;
        }
        Ok(sample)
    }

    /// As [`parse`](Self::parse), but for the reason. For a result that is larger: by way of the smaller one the view would
    /// be moved through memory, which costs more than all else.
    #[inline]
    pub(crate) fn fitting(layout: &'a SampleLayout, record: &RawRecord<'a, O>) -> Option<Self> {
        let words = usize::from(layout.head.words);
        let (head, tail) = <[U64<O>]>::ref_from_prefix_with_elems(record.payload(), words).ok()?;
        let fits = layout.has_tail || tail.is_empty();
        fits.then_some(Self { layout, misc: record.misc(), head, tail })
    }

    /// What the sample's event records.
    #[must_use]
    pub fn layout(&self) -> &'a SampleLayout {
        self.layout
    }

    /// Id of the event, at the one place that does not depend on the other fields: first.
    #[must_use]
    #[inline]
    pub fn identifier(&self) -> Option<u64> {
        word(self.head, self.layout.head.identifier)
    }

    /// Instruction pointer.
    #[must_use]
    #[inline]
    pub fn ip(&self) -> Option<u64> {
        word(self.head, self.layout.head.ip)
    }

    /// Process; -1 where the task had already gone.
    #[must_use]
    #[inline]
    pub fn pid(&self) -> Option<i32> {
        pair(self.head, self.layout.head.tid).map(|(pid, _)| pid as i32)
    }

    /// Thread; -1 where the task had already gone.
    #[must_use]
    #[inline]
    pub fn tid(&self) -> Option<i32> {
        pair(self.head, self.layout.head.tid).map(|(_, tid)| tid as i32)
    }

    /// Nanoseconds of the event's clock.
    #[must_use]
    #[inline]
    pub fn time(&self) -> Option<u64> {
        word(self.head, self.layout.head.time)
    }

    /// The address the event is about; 0 where the PMU gave none.
    #[must_use]
    #[inline]
    pub fn addr(&self) -> Option<u64> {
        word(self.head, self.layout.head.addr)
    }

    /// Id of the event, for inherited events the parent's.
    #[must_use]
    #[inline]
    pub fn id(&self) -> Option<u64> {
        word(self.head, self.layout.head.id)
    }

    /// Id of the very event, also where it is inherited.
    #[must_use]
    #[inline]
    pub fn stream_id(&self) -> Option<u64> {
        word(self.head, self.layout.head.stream_id)
    }

    /// Cpu number.
    #[must_use]
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        pair(self.head, self.layout.head.cpu).map(|(cpu, _)| cpu)
    }

    /// The period the sample stands for.
    #[must_use]
    #[inline]
    pub fn period(&self) -> Option<u64> {
        word(self.head, self.layout.head.period)
    }

    /// The call chain alone. Takes constant time: it does not walk what comes behind.
    ///
    /// `None` if the event does not record call chains; empty if the kernel found no frame.
    ///
    /// # Errors
    ///
    /// [`Truncated`](crate::ErrorKind::Truncated) if the record ends before the chain does. A fault behind the chain
    /// is found by [`tail`](Self::tail) only.
    #[inline]
    pub fn callchain(&self) -> Result<Option<Callchain<'a, O>>, Error> {
        if !self.layout.sample_type.contains(SampleType::CALLCHAIN) {
            return Ok(None);
        }
        let mut at = self.cursor();
        self.read(&mut at)?;
        Callchain::parse(&mut at).map(Some)
    }

    /// Takes the counter values, if the event records them.
    #[inline]
    fn read(&self, at: &mut Cursor<'a>) -> Result<Option<Read<'a, O>>, Error> {
        if !self.layout.sample_type.contains(SampleType::READ) {
            return Ok(None);
        }
        Read::parse(at, self.layout.read_format).map(Some)
    }

    /// What follows the leading fields.
    #[inline]
    fn cursor(&self) -> Cursor<'a> {
        let head = u32::from(self.layout.head.words).wrapping_mul(8);
        Cursor::new(self.tail, head.wrapping_add(8))
    }

    /// The payload: the leading fields, and what follows them.
    #[cfg(feature = "alloc")]
    pub(crate) fn bytes(&self) -> [&'a [u8]; 2] {
        [self.head.as_bytes(), self.tail]
    }
}
