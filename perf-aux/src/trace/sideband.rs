//! Records about a trace that are no part of it.

use alloc::boxed::Box;

use perf_abi::record::{AuxtraceErrorType, RecordType};
use perf_parse::Reader;
use perf_parse::file::EventRecords;

/// The id by which the hardware calls an event.
///
/// Intel PT: the counter of an event whose samples are in the trace. CoreSight: the trace id of a CPU.
///
/// Kernel: `PERF_RECORD_AUX_OUTPUT_HW_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HardwareId {
    /// The id; the PMU defines its meaning.
    pub id: u64,
    /// Index of the event in the capture; `None` if it is unknown.
    pub event_index: Option<usize>,
    /// CPU; `None` if the event does not record it.
    pub cpu: Option<u32>,
    /// Thread id; `None` if the event does not record it.
    pub tid: Option<i32>,
    /// Time in nanoseconds; `None` if the event does not record it.
    pub time: Option<u64>,
}

/// AUX data that a decoder that ran before could not decode.
///
/// perf: `struct perf_record_auxtrace_error`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceError {
    /// Type of the AUX data.
    pub kind: AuxtraceErrorType,
    /// Error number of the tracer's decoder.
    pub code: u32,
    /// CPU; `None` if unknown.
    pub cpu: Option<u32>,
    /// Thread id; `None` if unknown.
    pub tid: Option<i32>,
    /// Address of the instruction.
    pub ip: u64,
    /// Time in nanoseconds; `None` if an older perf wrote the record.
    pub time: Option<u64>,
    /// The decoder's message.
    pub message: Box<[u8]>,
}

/// The types of the records that a decoder of instructions needs besides the trace.
const SIDEBAND: &[RecordType] = &[
    RecordType::MMAP,
    RecordType::MMAP2,
    RecordType::COMM,
    RecordType::FORK,
    RecordType::EXIT,
    RecordType::SWITCH,
    RecordType::SWITCH_CPU_WIDE,
    RecordType::AUX,
    RecordType::ITRACE_START,
    RecordType::AUX_OUTPUT_HW_ID,
    RecordType::NAMESPACES,
    RecordType::KSYMBOL,
    RecordType::BPF_EVENT,
    RecordType::TEXT_POKE,
];

/// Walks over the records that a decoder of instructions needs besides the trace, in time order: mappings, names and lives of
/// processes, context switches, code that the kernel changed, and the state of the AUX areas.
///
/// [`perf_parse::EventRecord::cpu`] and [`pid_tid`](perf_parse::EventRecord::pid_tid) have the CPU and the thread of each. A
/// decoder takes the records up to the time of its next packet, which [`AuxTrace::time_at`](super::AuxTrace::time_at) converts.
/// Such a walk is the [`records`](Reader::records) of the capture without the others: add the types that are needed, such as
/// SAMPLE for `sched_switch`, by a walk of your own.
#[must_use]
pub fn sideband<'r>(reader: &'r Reader<'_>) -> EventRecords<'r> {
    reader.records().only(SIDEBAND).in_time_order()
}
