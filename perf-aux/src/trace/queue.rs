//! The buffers of an AUX area, and what the kernel reported about its data.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::aux_area::AuxFlags;
use perf_parse::file::Section;

/// The data of an AUX area, as buffers in the order of the capture: that of a CPU, or of a thread.
///
/// perf: `struct auxtrace_queue`, `tools/perf/util/auxtrace.h`.
#[derive(Clone, Debug)]
#[doc(alias = "auxtrace_queue")]
#[non_exhaustive]
pub struct AuxQueue {
    /// Index of the AUX area. Queues of different CPUs or threads share it if two recordings were put together wrongly.
    pub idx: u32,
    /// CPU; `None` if the area belongs to a thread on any CPU.
    pub cpu: Option<u32>,
    /// Thread id; `None` if the area belongs to all threads of a CPU. An area of a CPU can also have the id of the first
    /// thread that was recorded, although it has the data of all of them.
    pub tid: Option<i32>,
    /// Process id of the thread, if a record has it.
    pub pid: Option<i32>,
    /// In the order of the capture.
    pub(super) buffers: Vec<AuxBuffer>,
    /// In ascending order of [`AuxRange::key`].
    pub(super) ranges: Vec<AuxRange>,
}

impl AuxQueue {
    pub(super) fn new((idx, cpu, tid): (u32, i32, i32)) -> Self {
        let tid = (tid >= 0).then_some(tid);
        let cpu = u32::try_from(cpu).ok();
        Self { idx, cpu, tid, pid: None, buffers: Vec::new(), ranges: Vec::new() }
    }

    /// Returns the buffers, in the order in which perf decodes them: that of the capture.
    #[must_use]
    pub fn buffers(&self) -> &[AuxBuffer] {
        &self.buffers
    }

    /// Returns what the kernel reported about the data of the area, in ascending order of positions: AUX records.
    ///
    /// The recorder may have written only part of this data.
    #[must_use]
    pub fn ranges(&self) -> &[AuxRange] {
        &self.ranges
    }

    /// Returns the AUX records of the data at some positions of the AUX area: those that begin there, and of data that is
    /// overwritten those that end there. Takes logarithmic time.
    #[must_use]
    pub fn ranges_within(&self, positions: Range<u64>) -> &[AuxRange] {
        let from = self.ranges.partition_point(|range| range.key() < positions.start);
        let to = self.ranges.partition_point(|range| range.key() < positions.end);
        self.ranges.get(from..to).unwrap_or_default()
    }

    /// Returns the last AUX record before a position.
    pub(super) fn range_before(&self, position: u64) -> Option<&AuxRange> {
        let at = self.ranges.partition_point(|range| range.key() < position);
        self.ranges.get(at.checked_sub(1)?)
    }
}

/// A piece of the data of an AUX area: where it is in the capture.
///
/// perf: `struct auxtrace_buffer`, `tools/perf/util/auxtrace.h`.
#[derive(Clone, Debug)]
#[doc(alias = "auxtrace_buffer")]
#[non_exhaustive]
pub struct AuxBuffer {
    /// Position of the first byte in the AUX area: a byte count. 0 for a sample's data, which has none.
    pub offset: u64,
    /// Number of bytes. Those of an AUXTRACE record include up to 7 bytes of padding.
    pub size: u64,
    /// A number that the tracer's decoder defines: of Intel PT and BTS the time stamp counter when the buffer was written. 0
    /// for a sample's data.
    pub reference: u64,
    /// Time of the sample that has the data, in nanoseconds. `None` for AUXTRACE records, which have none.
    pub time: Option<u64>,
    /// Number of bytes that the record announces and the capture does not have, because it was cut off.
    pub cut_off: u64,
    /// Where the data is.
    pub source: BufferSource,
}

/// Where the data of a buffer is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BufferSource {
    /// After an AUXTRACE record.
    #[non_exhaustive]
    Area {
        /// Index of the data file, as in [`RecordPosition`](perf_parse::event::RecordPosition).
        data_file: usize,
        /// The data in that file.
        data: Section,
    },
    /// In a sample.
    #[non_exhaustive]
    Sample {
        /// Index of the data file.
        data_file: usize,
        /// The data in that file.
        data: Section,
    },
    /// In a sample of a compressed record: a copy.
    Copy(Box<[u8]>),
}

/// An AUX record: data that the hardware wrote into an AUX area, and its state.
///
/// Kernel: `PERF_RECORD_AUX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuxRange {
    /// Positions of the data in the AUX area. Can be empty; `flags` then has the reason.
    ///
    /// Of data that is overwritten ([`AuxFlags::OVERWRITE`]) the record has the position of the end.
    pub start: u64,
    /// Position after the data.
    pub end: u64,
    /// State of the data.
    pub flags: AuxFlags,
    /// Time in nanoseconds; `None` if the event does not record it.
    pub time: Option<u64>,
    /// Process id and thread id that wrote the record; `None` if the event does not record them.
    pub pid_tid: Option<(i32, i32)>,
}

impl AuxRange {
    /// The position by which a record belongs to a buffer: the last byte of data that is overwritten, of which a snapshot may
    /// have only the end, and else the first byte.
    ///
    /// perf: `cs_etm__queue_aux_fragment`, `tools/perf/util/cs-etm.c`.
    pub(super) fn key(&self) -> u64 {
        if self.flags.contains(AuxFlags::OVERWRITE) { self.end.saturating_sub(1) } else { self.start }
    }
}
