//! `runs`: the times for which threads ran.

use perf_profile::sched::Run;

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::sched_thread::SchedThread;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    process_key ? Int64, "", "The process: see `processes`. Null if no record has it.";
    thread_key ? Int64, "", "The thread: see `threads`. Null if no record has it.";
    pid ? Int32, "", "Process id. Null if no record has it.";
    tid: Int32, "", "Thread id.";
    comm ? Word, "", "Name of the thread when it stopped running. Null with `--drop comm`.";
    cpu ? Int32, "", "The CPU. Null if it is not recorded.";
    start: Int64, "ns", "When it began to run.";
    end: Int64, "ns", "When it stopped.";
    duration: Int64, "ns", "The time in between.";
    state ? Word, "", "The state in which it stopped, as the kernel of the capture writes it: `S`, `D`, `R+`. Null if the capture ended before.";
};

/// Adds a run.
pub(super) fn push(rows: &mut TableRows, context: &Context, thread: &SchedThread<'_>, run: &Run) {
    thread.push(rows, context);
    rows.int32(run.cpu.map(u32::cast_signed));
    rows.int64(run.start);
    rows.int64(run.end);
    rows.int64(run.end.saturating_sub(run.start));
    rows.text(run.state.as_ref().map(|state| &*state.letters));
    rows.end();
}
