//! `spe`: the records of Arm SPE.

use perf_aux::spe::Operation;
use perf_profile::edit::TraceRecord;

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    time ? Int64, "ns", "Time of the events' clock. Null if the trace has no times, or nothing converts them.";
    utc ? Timestamp, "us", "`time` in UTC, as in `samples`.";
    cpu ? Int32, "", "CPU. Null if the AUX area is that of a thread.";
    pid: Int32, "", "Process id; -1 if unknown.";
    tid: Int32, "", "Thread id; -1 if unknown.";
    kind ? Word, "", "`load`, `store`, `load_store`, `branch` or `other`. Null if the record does not tell.";
    ip: Int64, "", "Address of the instruction.";
    exception_level ? Int32, "", "Exception level of the instruction: 0 is user space. Null if it is not recorded.";
    to ? Int64, "", "Target of the branch. Null if it is not recorded.";
    previous_to ? Int64, "", "Target of the last branch that was taken before the instruction. Null if it is not recorded.";
    vaddr ? Int64, "", "Virtual address of the data. Null if it is not recorded.";
    paddr ? Int64, "", "Physical address of the data. Null if it is not recorded.";
    latency: Int32, "cycles", "From the dispatch of the operation to its completion; 0 if it is not recorded.";
    issue_latency: Int32, "cycles", "From the dispatch of the operation to its issue; 0 if it is not recorded.";
    translation_latency: Int32, "cycles", "Translation of the address of the data; 0 if it is not recorded.";
    events: Int64, "", "The events, as bits: 1 retired, 2 first-level data cache access, 3 its refill, 4 TLB access, 5 page table walk, 6 not taken, 7 mispredicted, 8 last-level cache access, 9 its miss, 10 another socket, 11 not aligned; see `EventFlags` of `perf-aux`.";
    op: Int64, "", "What the operation is, as bits of `Operation` of `perf-aux`, which are those of perf.";
    source: Int32, "", "Source of the data, as the implementer of the CPU defines it; 0 if it is not recorded.";
    context ? Int64, "", "The context that ran: with Linux, a thread id. Null if it is not recorded.";
    damaged: Boolean, "", "Whether a fault in the data ended the record, so that it may lack parts.";
};

/// Writes a record.
pub(super) fn push(rows: &mut TableRows, context: &Context, traced: &TraceRecord) {
    let TraceRecord { record, pid, tid, cpu, time, .. } = traced;
    let recorded = |address: u64| Some(address).filter(|&address| address != 0);
    rows.text(context.capture.as_str());
    rows.int64(*time);
    rows.timestamp(context.utc(*time));
    rows.int32(cpu.map(u32::cast_signed));
    rows.int32(*pid);
    rows.int32(*tid);
    rows.text(kind(record.op));
    rows.int64(record.from_ip);
    rows.int32(record.exception_level.map(i32::from));
    rows.int64(recorded(record.to_ip));
    rows.int64(recorded(record.prev_br_tgt));
    rows.int64(recorded(record.virt_addr));
    rows.int64(recorded(record.phys_addr));
    rows.int32(i32::from(record.latency));
    rows.int32(i32::from(record.issue_latency));
    rows.int32(i32::from(record.translation_latency));
    rows.int64(record.events.0);
    rows.int64(u64::from(record.op.0));
    rows.int32(i32::from(record.source));
    rows.int64(record.context_id.map(u64::from));
    rows.boolean(record.is_damaged());
    rows.end();
}

/// Returns what an operation does.
fn kind(op: Operation) -> Option<&'static str> {
    if op.contains(Operation::BRANCH_ERET) {
        return Some("branch");
    }
    // These bits have another meaning of branches.
    match (op.contains(Operation::LD), op.contains(Operation::ST)) {
        (true, true) => Some("load_store"),
        (true, false) => Some("load"),
        (false, true) => Some("store"),
        (false, false) => (op != Operation::NONE).then_some("other"),
    }
}
