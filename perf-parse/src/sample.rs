//! Samples: a lazy view over the bytes.
//!
//! The leading fields are words at offsets that the layout knows: each getter is one load and one check. What may
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
use perf_abi::sample_type::SampleType;
use zerocopy::FromBytes;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::layout::SampleLayout;
use crate::record::RawRecord;

/// A sample, not yet decoded but for where its leading fields are.
///
/// Three words, `Copy`; borrows from the record and the layout. A getter gives `None` where the event does not record
/// the field.
///
/// Kernel: `PERF_RECORD_SAMPLE`, `perf_output_sample`, `kernel/events/core.c`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a, O: Endian> {
    /// It is long enough for the leading fields.
    record: RawRecord<'a, O>,
    layout: &'a SampleLayout,
}

/// The word at `offset`, which is beyond the end for a field that is not recorded.
#[inline]
pub(crate) fn word<O: Endian>(bytes: &[u8], offset: impl Into<usize>) -> Option<u64> {
    Some(U64::<O>::read_from_bytes(word_at(bytes, offset.into())?).ok()?.get())
}

/// The two 32-bit halves of the word at `offset`, in the order they were written.
///
/// Each half is in the byte order of the capture; the word as a whole is not one number.
#[inline]
pub(crate) fn pair<O: Endian>(bytes: &[u8], offset: impl Into<usize>) -> Option<(u32, u32)> {
    let [first, second] = <[U32<O>; 2]>::read_from_bytes(word_at(bytes, offset.into())?).ok()?;
    Some((first.get(), second.get()))
}

/// The bytes of a word. Takes one check, against its end.
#[inline]
fn word_at(bytes: &[u8], start: usize) -> Option<&[u8]> {
    bytes.get(start..start.wrapping_add(8))
}

impl<'a, O: Endian> Sample<'a, O> {
    /// The view over a record of type SAMPLE. Takes constant time.
    ///
    /// # Errors
    ///
    /// [`Truncated`](crate::ErrorKind::Truncated) if the record ends within the leading fields, naming the one;
    /// [`Residue`](crate::ErrorKind::Residue) if the event records only leading fields and bytes are left.
    #[inline(always)]
    pub fn parse(layout: &'a SampleLayout, record: &RawRecord<'a, O>) -> Result<Self, Error> {
        match Self::fitting(layout, *record) {
            Some(sample) => Ok(sample),
            None => Err(Self::fault(layout, *record)),
        }
    }

    /// Why a record does not fit.
    #[cold]
    #[inline(never)]
    fn fault(layout: &SampleLayout, record: RawRecord<'a, O>) -> Error {
        let (payload, head) = (record.payload(), layout.head.size);
        match payload.get(usize::from(head)..) {
            None => layout.missing_head_field(payload.len()),
            Some(rest) => Cursor::new(rest, u32::from(head).wrapping_add(8)).residue(),
        }
    }

    /// As [`parse`](Self::parse), but for the reason.
    #[inline(always)]
    pub(crate) fn fitting(layout: &'a SampleLayout, record: RawRecord<'a, O>) -> Option<Self> {
        let (payload, head) = (record.payload().len(), usize::from(layout.head.size));
        let fits = payload == head || layout.has_tail && payload > head;
        fits.then_some(Self { layout, record })
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
        word::<O>(self.bytes(), self.layout.head.identifier)
    }

    /// Instruction pointer.
    #[must_use]
    #[inline]
    pub fn ip(&self) -> Option<u64> {
        word::<O>(self.bytes(), self.layout.head.ip)
    }

    /// Process; -1 where the task had already gone.
    #[must_use]
    #[inline]
    pub fn pid(&self) -> Option<i32> {
        pair::<O>(self.bytes(), self.layout.head.tid).map(|(pid, _)| pid as i32)
    }

    /// Thread; -1 where the task had already gone.
    #[must_use]
    #[inline]
    pub fn tid(&self) -> Option<i32> {
        pair::<O>(self.bytes(), self.layout.head.tid).map(|(_, tid)| tid as i32)
    }

    /// Nanoseconds of the event's clock.
    #[must_use]
    #[inline]
    pub fn time(&self) -> Option<u64> {
        word::<O>(self.bytes(), self.layout.head.time)
    }

    /// The address the event is about; 0 where the PMU gave none.
    #[must_use]
    #[inline]
    pub fn addr(&self) -> Option<u64> {
        word::<O>(self.bytes(), self.layout.head.addr)
    }

    /// Id of the event, for inherited events the parent's.
    #[must_use]
    #[inline]
    pub fn id(&self) -> Option<u64> {
        word::<O>(self.bytes(), self.layout.head.id)
    }

    /// Id of the very event, also where it is inherited.
    #[must_use]
    #[inline]
    pub fn stream_id(&self) -> Option<u64> {
        word::<O>(self.bytes(), self.layout.head.stream_id)
    }

    /// Cpu number.
    #[must_use]
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        pair::<O>(self.bytes(), self.layout.head.cpu).map(|(cpu, _)| cpu)
    }

    /// The period the sample stands for.
    #[must_use]
    #[inline]
    pub fn period(&self) -> Option<u64> {
        word::<O>(self.bytes(), self.layout.head.period)
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
        let behind = self.bytes().get(usize::from(self.layout.head.size)..);
        Cursor::ending(behind.unwrap_or_default(), self.record.size().into())
    }

    /// The payload.
    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.record.payload()
    }
}
