//! The data of an AUX area, and the thread that its samples are of.

use perf_aux::trace::{AuxQueue, AuxSlice, AuxSlices, AuxTrace};
use perf_parse::Reader;

/// The data of an AUX area, slice by slice.
#[derive(Debug)]
pub(super) struct AreaData<'r, 'a> {
    slices: AuxSlices<'r, 'a>,
    /// Number of buffers that cannot be read.
    pub(super) unreadable: u64,
}

impl<'r, 'a> AreaData<'r, 'a> {
    pub(super) fn new(reader: &'r Reader<'a>, trace: &AuxTrace, queue: &'r AuxQueue) -> Self {
        Self { slices: trace.slices(reader, queue), unreadable: 0 }
    }

    /// Returns the next slice, or `Some(None)` for a buffer that cannot be read; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Option<AuxSlice<'r>>> {
        let slice = self.slices.next()?;
        if slice.is_err() {
            self.unreadable = self.unreadable.saturating_add(1);
        }
        Some(slice.ok())
    }
}

/// The thread, process and CPU that samples are of; -1 if unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) cpu: i32,
    /// The thread of the area.
    pub(super) area_tid: i32,
}

impl Owner {
    /// Returns the owner of an area before its first record.
    pub(super) fn of(queue: &AuxQueue) -> Self {
        let cpu = queue.cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
        Self { pid: -1, tid: -1, cpu, area_tid: queue.tid.unwrap_or(-1) }
    }
}

/// Returns the time of an item of the trace in nanoseconds; 0 if no record converts it.
pub(super) fn time(trace: &AuxTrace, ticks: u64) -> u64 {
    trace.time_at(ticks).unwrap_or_default()
}
