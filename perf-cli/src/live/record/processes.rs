//! Processes and their threads, as `/proc` tells of them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest name of a task.
///
/// Kernel: `TASK_COMM_LEN`, without its NUL.
const COMM_LEN: usize = 15;

/// A task: a process, or a thread of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Process.
    pub(crate) pid: i32,
    /// Thread.
    pub(crate) tid: i32,
    /// Parent of the process.
    pub(crate) ppid: i32,
    /// Its name, at most 15 bytes.
    pub(crate) comm: Vec<u8>,
}

impl Task {
    /// A task by its folder in `/proc`; `None` if it is gone.
    ///
    /// Kernel: `proc_pid_status`, `fs/proc/array.c`, which escapes a newline in the name of the task.
    pub(crate) fn read(folder: &Path, tid: i32) -> Option<Self> {
        let status = fs::read(folder.join("status")).ok()?;
        let field = |name: &[u8]| {
            let value = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name))?;
            core::str::from_utf8(value).ok()?.trim().parse().ok()
        };
        let comm = fs::read(folder.join("comm")).ok()?;
        let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
        // A worker of the kernel's has what it works on behind its name.
        let comm = comm.get(..COMM_LEN).unwrap_or(comm).to_vec();
        Some(Self { pid: field(b"Tgid:")?, tid, ppid: field(b"PPid:")?, comm })
    }
}

/// All processes there are, rising; or none, if that cannot be read.
pub(crate) fn all(root: &Path) -> Vec<i32> {
    numbers(&root.join("proc"))
}

/// The threads of a process, rising; none if it is gone.
pub(crate) fn threads(root: &Path, pid: i32) -> Vec<i32> {
    numbers(&root.join(format!("proc/{pid}/task")))
}

/// The names in a folder that are numbers, rising.
fn numbers(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |name: &[u8]| core::str::from_utf8(name).ok()?.parse::<u32>().ok()?.try_into().ok();
    let mut numbers: Vec<i32> = entries.filter_map(|entry| number(entry.file_name().as_bytes())).collect();
    numbers.sort_unstable();
    numbers
}
