//! Processes and their threads, from `/proc`.

use std::fs;
use std::io;
use std::path::Path;

/// The longest name of a task.
///
/// Kernel: `TASK_COMM_LEN`, without its NUL.
const COMM_LEN: usize = 15;

/// A task: a process or one of its threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcTask {
    /// The process id.
    pub(crate) pid: i32,
    /// The thread id.
    pub(crate) tid: i32,
    /// The id of the parent process.
    pub(crate) ppid: i32,
    /// The name, at most 15 bytes.
    pub(crate) comm: Vec<u8>,
}

impl ProcTask {
    /// Reads a task from its folder in `/proc`; `None` if it has ended.
    ///
    /// Kernel: `proc_pid_status`, `fs/proc/array.c`, which escapes a newline in the name.
    pub(crate) fn read(folder: &Path, tid: i32) -> Option<Self> {
        let status = fs::read(folder.join("status")).ok()?;
        let field = |name: &[u8]| {
            let value = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name))?;
            core::str::from_utf8(value).ok()?.trim().parse().ok()
        };
        let comm = fs::read(folder.join("comm")).ok()?;
        let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
        // The name of a kernel worker is followed by what it works on.
        let comm = comm.get(..COMM_LEN).unwrap_or(comm).to_vec();
        Some(Self { pid: field(b"Tgid:")?, tid, ppid: field(b"PPid:")?, comm })
    }
}

/// Returns all processes in ascending order; empty if they cannot be read.
pub(crate) fn all(root: &Path) -> Vec<i32> {
    ids(&root.join("proc"))
}

/// Returns the threads of a process in ascending order; empty if it has ended.
pub(crate) fn threads(root: &Path, pid: i32) -> Vec<i32> {
    ids(&root.join(format!("proc/{pid}/task")))
}

/// Returns the threads of a process and of its descendants.
pub(crate) fn family(root: &Path, pid: u32) -> Vec<i32> {
    let tasks: Vec<ProcTask> = all(root)
        .into_iter()
        .filter_map(|pid| ProcTask::read(&root.join(format!("proc/{pid}")), pid))
        .collect();
    let mut family: Vec<i32> = i32::try_from(pid).into_iter().collect();
    let mut at = 0;
    // A child can have a lower number than its parent.
    while let Some(&parent) = family.get(at) {
        let children = tasks.iter().filter(|task| task.ppid == parent && !family.contains(&task.pid));
        let children: Vec<i32> = children.map(|task| task.pid).collect();
        family.extend(children);
        at += 1;
    }
    family.into_iter().flat_map(|pid| threads(root, pid)).collect()
}

/// Returns the ids in a folder in ascending order; empty if it cannot be read.
fn ids(folder: &Path) -> Vec<i32> {
    let numbers = numbers(folder).unwrap_or_default();
    let mut ids: Vec<i32> = numbers.into_iter().filter_map(|number| number.try_into().ok()).collect();
    ids.sort_unstable();
    ids
}

/// Returns the names in a folder that are numbers.
pub(crate) fn numbers(folder: &Path) -> io::Result<Vec<u32>> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(fs::read_dir(folder)?.flatten().filter_map(number).collect())
}
