//! The `sample_id` trailer of records other than samples.

use perf_abi::endian::{ByteOrder, Endianness};

use super::{pair, word};
use crate::layout::SampleLayout;

/// The `sample_id` trailer of a record: the fields of a sample that identify its task, time, event and CPU.
///
/// Each getter returns `None` if the event does not record the field, and takes constant time. In records that the
/// perf tool synthesised the fields are zeros.
///
/// Kernel: `perf_event__output_id_sample`, `kernel/events/core.c`; since Linux 2.6.38.
#[derive(Clone, Copy, Debug)]
pub struct SampleId<'a, O: ByteOrder = Endianness> {
    pub(super) layout: &'a SampleLayout,
    pub(super) bytes: &'a [u8],
    pub(super) order: O::Value,
}

impl<O: ByteOrder> SampleId<'_, O> {
    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        pair::<O>(self.order, self.bytes, self.layout.id.tid).map(|(pid, _)| pid as i32)
    }

    /// Returns the thread id.
    #[must_use]
    pub fn tid(&self) -> Option<i32> {
        pair::<O>(self.order, self.bytes, self.layout.id.tid).map(|(_, tid)| tid as i32)
    }

    /// Returns the time in nanoseconds of the event's clock.
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        word::<O>(self.order, self.bytes, self.layout.id.time)
    }

    /// Returns the id of the event; for inherited events the id of the parent's.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        word::<O>(self.order, self.bytes, self.layout.id.id)
    }

    /// Returns the id of the event itself, even if it is inherited.
    #[must_use]
    pub fn stream_id(&self) -> Option<u64> {
        word::<O>(self.order, self.bytes, self.layout.id.stream_id)
    }

    /// Returns the CPU number.
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        pair::<O>(self.order, self.bytes, self.layout.id.cpu).map(|(cpu, _)| cpu)
    }

    /// Returns the id of the event from the last field, the only place that does not depend on the other fields.
    #[must_use]
    pub fn identifier(&self) -> Option<u64> {
        word::<O>(self.order, self.bytes, self.layout.id.identifier)
    }
}

/// The fields that the event records.
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for SampleId<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        crate::serialize::fields!(to, "SampleId" {
            pid: self.pid(),
            tid: self.tid(),
            time: self.time(),
            id: self.id(),
            stream_id: self.stream_id(),
            cpu: self.cpu(),
            identifier: self.identifier(),
        })
    }
}
