//! `wakeups`: what woke threads up.

use perf_profile::sched::Wakeup;

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::sched_thread::SchedThread;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    process_key ? Int64, "", "The process of the thread that is woken up: see `processes`. Null if no record has it.";
    thread_key ? Int64, "", "The thread that is woken up: see `threads`. Null if no record has it.";
    pid ? Int32, "", "Its process id. Null if no record has it.";
    tid: Int32, "", "Its thread id.";
    comm ? Word, "", "Its name. Null with `--drop comm`.";
    time: Int64, "ns", "When it is woken up.";
    waker_tid: Int32, "", "Thread id of what wakes it; 0 is an interrupt of an idle CPU.";
    waker_key ? Int64, "", "The thread that wakes it: see `threads`. Null if no record has it.";
    waker_cpu: Int32, "", "The CPU of the waker.";
    target_cpu ? Int32, "", "The CPU on which it should run. Null if the tracepoint does not have it.";
    is_new: Boolean, "", "Whether it is a new thread.";
    ends_wait: Boolean, "", "Whether it ends a wait. If not, the thread could run already.";
    waker_stack_id ? Int64, "", "The stack of the waker. Null if there is none, and with `--flat`.";
};

/// Adds a wake-up.
pub(super) fn push(
    rows: &mut TableRows,
    context: &Context,
    thread: &SchedThread<'_>,
    waker_key: Option<u64>,
    wakeup: &Wakeup<Option<u64>>,
) {
    thread.push(rows, context);
    rows.int64(wakeup.time);
    rows.int32(wakeup.waker.tid);
    rows.int64(waker_key);
    rows.int32(wakeup.waker_cpu.cast_signed());
    rows.int32(wakeup.target_cpu.map(u32::cast_signed));
    rows.boolean(wakeup.is_new);
    rows.boolean(wakeup.ends_wait);
    rows.int64(wakeup.kept);
    rows.end();
}
