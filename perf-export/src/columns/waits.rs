//! `waits`: the times for which threads did not run.

use perf_profile::sched::Wait;

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
    comm ? Word, "", "Name of the thread when it ran again. Null with `--drop comm`.";
    start: Int64, "ns", "When it stopped running.";
    ready ? Int64, "ns", "When it could run again: its wake-up, or `start` if it was preempted. Null if it could not, and without wake-ups.";
    end: Int64, "ns", "When it ran again, or the end of the capture.";
    blocked: Int64, "ns", "The time before it could run.";
    runnable: Int64, "ns", "The time for which it could run and did not: the latency of the scheduler.";
    state: Word, "", "The state in which it stopped, as the kernel of the capture writes it; `new` of a new thread.";
    kind: Word, "", "What the state is: `off-cpu` (blocked), `runnable` or `stopped`.";
    cpu_before ? Int32, "", "The CPU that it left. Null if it is not recorded.";
    cpu ? Int32, "", "The CPU on which it ran again. Null if it did not, or if it is not recorded.";
    is_finished: Boolean, "", "Whether it ran again in the capture.";
    waker_tid ? Int32, "", "Thread id of what woke it; 0 is an interrupt of an idle CPU. Null if nothing did.";
    stack_id ? Int64, "", "The stack at which it stopped. Null if there is none, and with `--flat`.";
    waker_stack_id ? Int64, "", "The stack of the waker, likewise.";
};

/// Adds a wait.
pub(super) fn push(
    rows: &mut TableRows,
    context: &Context,
    thread: &SchedThread<'_>,
    wait: &Wait<Option<u64>>,
) {
    thread.push(rows, context);
    rows.int64(wait.start);
    rows.int64(wait.ready());
    rows.int64(wait.end);
    rows.int64(wait.before_ready());
    rows.int64(wait.runnable());
    rows.text(&*wait.state.letters);
    rows.text(wait.kind.event_name());
    rows.int32(wait.cpu_before.map(u32::cast_signed));
    rows.int32(wait.cpu.map(u32::cast_signed));
    rows.boolean(wait.is_finished);
    rows.int32(wait.wakeup.as_ref().map(|wakeup| wakeup.waker.tid));
    rows.int64(wait.kept.flatten());
    rows.int64(wait.wakeup.as_ref().and_then(|wakeup| wakeup.kept));
    rows.end();
}
