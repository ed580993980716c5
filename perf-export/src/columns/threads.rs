//! `threads`: the threads that samples, COMM and FORK records have.

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::task::TaskRow;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    thread_key: Int64, "", "Number of the thread in the capture. Thread ids are used again; these numbers are not.";
    process_key: Int64, "", "Its process: see `processes`.";
    pid: Int32, "", "Process id; -1 if it is not recorded.";
    tid: Int32, "", "Thread id; -1 if it is not recorded.";
    comm ? Text, "", "Its last name. Null with `--drop comm`.";
    start ? Int64, "ns", "When it was forked. Null if the capture does not have that.";
    end ? Int64, "ns", "When it exited. Null if the capture does not have that.";
    parent_pid ? Int32, "", "Process id of the parent. Null if the capture does not have the fork.";
    execs: Int32, "", "How many times it executed another program.";
    samples: Int64, "", "Number of its samples.";
};

pub(super) fn push(rows: &mut TableRows, context: &Context, thread_key: u64, task: &TaskRow) {
    rows.text(context.capture.as_str());
    rows.int64(thread_key);
    rows.int64(task.process_key);
    rows.int32(task.pid);
    rows.int32(task.tid);
    rows.text(context.comm(&task.comm).as_deref());
    rows.int64(task.start);
    rows.int64(task.end);
    rows.int32(task.parent_pid);
    rows.int32(task.execs);
    rows.int64(task.samples);
    rows.end();
}
