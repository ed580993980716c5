//! `processes`: the processes of the threads in `threads`.

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::task::TaskRow;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    process_key: Int64, "", "Number of the process in the capture. Process ids are used again; these numbers are not.";
    pid: Int32, "", "Process id; -1 if it is not recorded.";
    comm ? Text, "", "Last name of its first thread. Null with `--drop comm`.";
    start ? Int64, "ns", "When its first thread was forked. Null if the capture does not have that.";
    end ? Int64, "ns", "When its last thread exited. Null if the capture does not have that of all threads.";
    parent_pid ? Int32, "", "Process id of the parent. Null if the capture does not have the fork.";
    threads: Int32, "", "Number of its threads in `threads`.";
    execs: Int32, "", "How many times its threads executed another program.";
    samples: Int64, "", "Number of its samples.";
};

/// Writes a process of these threads, which are in the order of their keys.
pub(super) fn push(rows: &mut TableRows, context: &Context, process_key: u64, threads: &[&TaskRow]) {
    let leader = threads.iter().find(|it| it.pid == it.tid).or(threads.first());
    let Some(leader) = leader else { return };
    let ends: Option<Vec<u64>> = threads.iter().map(|it| it.end).collect();
    rows.text(context.capture.as_str());
    rows.int64(process_key);
    rows.int32(leader.pid);
    rows.text(context.comm(&leader.comm).as_deref());
    rows.int64(leader.start);
    rows.int64(ends.and_then(|ends| ends.into_iter().max()));
    rows.int32(leader.parent_pid);
    rows.int32(i32::try_from(threads.len()).unwrap_or(i32::MAX));
    rows.int32(threads.iter().fold(0_i32, |sum, it| sum.saturating_add(it.execs)));
    rows.int64(threads.iter().fold(0_u64, |sum, it| sum.saturating_add(it.samples)));
    rows.end();
}
