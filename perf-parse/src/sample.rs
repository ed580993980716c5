//! Samples: a lazy view over the bytes.
//!
//! The leading fields are words at offsets that the layout knows: each getter is one load and one check.
//! [`Sample::tail`] walks the fields of variable size, and the fields after them, once. Nothing is copied or
//! allocated.

mod branch_stack;
mod callchain;
mod read;
mod regs;
mod simd_regs;
mod stack_user;
mod tail;

pub use branch_stack::BranchStack;
pub use callchain::{Callchain, ChainFrame, ChainFrames};
pub use read::{Read, ReadValue, ReadValues};
pub use regs::{Regs, RegsIter};
pub use simd_regs::{SimdRegs, simd_register_number};
pub use stack_user::StackUser;
#[cfg(feature = "std")]
pub(crate) use tail::AFTER_STACK;
pub use tail::{Reading, Readings, Tail};

use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::sample_type::SampleType;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::layout::SampleLayout;
use crate::raw::{RawRecord, pair, word};

/// A view of one sample. Only the offsets of its leading fields are known; nothing is decoded yet.
///
/// Consists of three words, and a fourth if the byte order is known only at run time. Borrows from the record and the
/// layout. A getter returns `None` if the event does not record the field.
///
/// Kernel: `PERF_RECORD_SAMPLE`, `perf_output_sample`, `kernel/events/core.c`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "SampleRecord")]
pub struct Sample<'a, O: ByteOrder = Endianness> {
    /// The record, which is long enough for the leading fields.
    record: RawRecord<'a, O>,
    layout: &'a SampleLayout,
}

impl<'a, O: ByteOrder> Sample<'a, O> {
    /// Returns a view of a record of type SAMPLE. Takes constant time.
    ///
    /// # Errors
    ///
    /// [`Truncated`](crate::ErrorKind::Truncated) with the name of the field if the record ends within the leading
    /// fields; [`Residue`](crate::ErrorKind::Residue) if the event records only leading fields and bytes are left.
    #[inline(always)]
    pub fn parse(layout: &'a SampleLayout, record: &RawRecord<'a, O>) -> Result<Self, Error> {
        match Self::fitting(layout, *record) {
            Some(sample) => Ok(sample),
            None => Err(Self::fault(layout, *record)),
        }
    }

    /// Returns the reason why a record does not fit the layout.
    #[cold]
    #[inline(never)]
    fn fault(layout: &SampleLayout, record: RawRecord<'a, O>) -> Error {
        let (payload, head) = (record.payload(), layout.head.size);
        match payload.get(usize::from(head)..) {
            None => layout.missing_head_field(payload.len()),
            Some(rest) => Cursor::new(rest, u32::from(head).wrapping_add(8)).residue(),
        }
    }

    /// Does the same as [`parse`](Self::parse), but returns `None` instead of an error.
    #[inline(always)]
    pub(crate) fn fitting(layout: &'a SampleLayout, record: RawRecord<'a, O>) -> Option<Self> {
        let (payload, head) = (record.payload().len(), usize::from(layout.head.size));
        let fits = payload == head || layout.has_tail && payload > head;
        fits.then_some(Self { layout, record })
    }

    /// Returns the fields that the sample's event records.
    #[must_use]
    pub fn layout(&self) -> &'a SampleLayout {
        self.layout
    }

    /// Returns the id of the event from the first field, the only place that does not depend on the other fields.
    #[must_use]
    #[inline]
    pub fn identifier(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.identifier)
    }

    /// Returns the instruction pointer.
    #[must_use]
    #[inline]
    pub fn ip(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.ip)
    }

    /// Returns the process id; -1 if the task had already exited.
    #[must_use]
    #[inline]
    pub fn pid(&self) -> Option<i32> {
        pair::<O>(self.record.order(), self.bytes(), self.layout.head.tid).map(|(pid, _)| pid as i32)
    }

    /// Returns the thread id; -1 if the task had already exited.
    #[must_use]
    #[inline]
    pub fn tid(&self) -> Option<i32> {
        pair::<O>(self.record.order(), self.bytes(), self.layout.head.tid).map(|(_, tid)| tid as i32)
    }

    /// Returns the time in nanoseconds of the event's clock.
    #[must_use]
    #[inline]
    pub fn time(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.time)
    }

    /// Returns the address that the event refers to; 0 if the PMU provided none.
    #[must_use]
    #[inline]
    pub fn addr(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.addr)
    }

    /// Returns the id of the event; for inherited events the id of the parent's.
    #[must_use]
    #[inline]
    pub fn id(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.id)
    }

    /// Returns the id of the event itself, even if it is inherited.
    #[must_use]
    #[inline]
    pub fn stream_id(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.stream_id)
    }

    /// Returns the CPU number.
    #[must_use]
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        pair::<O>(self.record.order(), self.bytes(), self.layout.head.cpu).map(|(cpu, _)| cpu)
    }

    /// Returns the period: the number of events that the sample represents.
    #[must_use]
    #[inline]
    pub fn period(&self) -> Option<u64> {
        word::<O>(self.record.order(), self.bytes(), self.layout.head.period)
    }

    /// Returns the call chain. Takes constant time: the fields after the chain are not walked.
    ///
    /// `None` if the event does not record call chains; empty if the kernel found no frame.
    ///
    /// # Errors
    ///
    /// [`Truncated`](crate::ErrorKind::Truncated) if the record ends before the chain does. Only [`tail`](Self::tail)
    /// finds a fault after the chain.
    #[inline(always)]
    pub fn callchain(&self) -> Result<Option<Callchain<'a, O>>, Error> {
        if !self.layout.sample_type.contains(SampleType::CALLCHAIN) {
            return Ok(None);
        }
        let mut at = self.cursor();
        self.read(&mut at)?;
        Callchain::parse(self.record.order(), &mut at).map(Some)
    }

    /// Takes the counter values if the event records them.
    #[inline(always)]
    fn read(&self, at: &mut Cursor<'a>) -> Result<Option<Read<'a, O>>, Error> {
        if !self.layout.sample_type.contains(SampleType::READ) {
            return Ok(None);
        }
        // A copy, so that the caller's cursor stays in registers for samples without counter values.
        let mut cursor = *at;
        let read = Read::parse(self.record.order(), &mut cursor, self.layout.read_format)?;
        *at = cursor;
        Ok(Some(read))
    }

    /// Returns a cursor over the fields after the leading ones.
    #[inline]
    fn cursor(&self) -> Cursor<'a> {
        let tail = self.bytes().get(usize::from(self.layout.head.size)..);
        Cursor::ending(tail.unwrap_or_default(), self.record.size())
    }

    /// Returns the record.
    #[cfg(feature = "alloc")]
    pub(crate) fn record(&self) -> RawRecord<'a, O> {
        self.record
    }

    /// Returns the payload.
    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.record.payload()
    }
}

/// The leading fields that the event records, and the [`tail`](Sample::tail) if the event records fields of it. A tail with
/// a fault is replaced by the fault.
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for Sample<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (tail, fault) = match self.layout.has_tail.then(|| self.tail()) {
            None => (None, None),
            Some(Ok(tail)) => (Some(tail), None),
            Some(Err(fault)) => (None, Some(fault)),
        };
        crate::serialize::fields!(to, "Sample" {
            identifier: self.identifier(),
            ip: self.ip(),
            pid: self.pid(),
            tid: self.tid(),
            time: self.time(),
            addr: self.addr(),
            id: self.id(),
            stream_id: self.stream_id(),
            cpu: self.cpu(),
            period: self.period(),
            tail: tail,
            fault: fault,
        })
    }
}
