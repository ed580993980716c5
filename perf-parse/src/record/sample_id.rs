//! The trailer of records other than samples: who and when.

use core::marker::PhantomData;

use perf_abi::endian::Endian;

use crate::layout::SampleLayout;
use crate::sample::{pair, word};

/// The `sample_id` trailer of a record: the fields of a sample that say who and when.
///
/// Each getter is `None` where the event does not record the field, and takes constant time. Records that the perf
/// tool made up itself carry zeros here.
///
/// Kernel: `perf_event__output_id_sample`, `kernel/events/core.c`; since Linux 2.6.38.
#[derive(Clone, Copy, Debug)]
pub struct SampleId<'a, O: Endian> {
    pub(super) layout: &'a SampleLayout,
    pub(super) bytes: &'a [u8],
    pub(super) order: PhantomData<O>,
}

impl<O: Endian> SampleId<'_, O> {
    /// Process.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        pair::<O>(self.bytes, self.layout.id.tid).map(|(pid, _)| pid as i32)
    }

    /// Thread.
    #[must_use]
    pub fn tid(&self) -> Option<i32> {
        pair::<O>(self.bytes, self.layout.id.tid).map(|(_, tid)| tid as i32)
    }

    /// Nanoseconds of the event's clock.
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        word::<O>(self.bytes, self.layout.id.time)
    }

    /// Id of the event, for inherited events the parent's.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        word::<O>(self.bytes, self.layout.id.id)
    }

    /// Id of the very event, also where it is inherited.
    #[must_use]
    pub fn stream_id(&self) -> Option<u64> {
        word::<O>(self.bytes, self.layout.id.stream_id)
    }

    /// Cpu number.
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        pair::<O>(self.bytes, self.layout.id.cpu).map(|(cpu, _)| cpu)
    }

    /// Id of the event again, at the one place that does not depend on the other fields: last.
    #[must_use]
    pub fn identifier(&self) -> Option<u64> {
        word::<O>(self.bytes, self.layout.id.identifier)
    }
}
