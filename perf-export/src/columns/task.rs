//! An event in the life of a thread.

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct TaskRow {
    pub(super) process_key: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) comm: Vec<u8>,
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) parent_pid: Option<i32>,
    pub(super) execs: i32,
    pub(super) samples: u64,
}
