//! Whom an event is about: a task, a cpu, a cgroup.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use perf_abi::open::OpenFlags;

use crate::error::Error;

/// Whom an event counts: a thread, all threads of a cpu, or those of a cgroup on a cpu.
///
/// Every combination of the `pid` and `cpu` arguments that the kernel accepts, and none that it refuses.
///
/// | | any cpu | one cpu |
/// |---|---|---|
/// | the calling thread | [`this_thread`](Self::this_thread) | [`this_thread_on`](Self::this_thread_on) |
/// | another thread | [`pid`](Self::pid) | [`pid_on`](Self::pid_on) |
/// | all threads | refused | [`cpu`](Self::cpu) |
/// | those of a cgroup | refused | [`cgroup`](Self::cgroup) |
///
/// A thread is one thread: the others of its process are not counted, and what it starts only with
/// [`inherit`](crate::Builder::inherit). For a process, open each of `/proc/PID/task`; for a machine, each cpu.
///
/// # Examples
///
/// ```
/// use perf_open::Target;
/// assert_eq!(Target::this_thread_on(2).cpu_number(), Some(2));
/// // Everything on every cpu takes an event a cpu.
/// assert!(Target::from_arguments(-1, -1).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Target<'fd> {
    task: Task<'fd>,
    cpu: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Task<'fd> {
    /// 0 for the calling thread.
    Thread(u32),
    All,
    Cgroup(BorrowedFd<'fd>),
}

impl<'fd> Target<'fd> {
    /// The calling thread, on whatever cpu it runs.
    #[must_use]
    pub const fn this_thread() -> Self {
        Self::pid(0)
    }

    /// The calling thread, while it runs on `cpu`.
    #[must_use]
    pub const fn this_thread_on(cpu: u32) -> Self {
        Self::pid_on(0, cpu)
    }

    /// The thread `pid`, on whatever cpu it runs: a number of `/proc/*/task`. 0 is the calling thread.
    #[must_use]
    pub const fn pid(pid: u32) -> Self {
        Self { task: Task::Thread(pid), cpu: None }
    }

    /// The thread `pid`, while it runs on `cpu`.
    #[must_use]
    pub const fn pid_on(pid: u32, cpu: u32) -> Self {
        Self { task: Task::Thread(pid), cpu: Some(cpu) }
    }

    /// All that runs on `cpu`. Needs `CAP_PERFMON` (since Linux 5.8, before `CAP_SYS_ADMIN`) or a
    /// `perf_event_paranoid` below 1.
    #[must_use]
    pub const fn cpu(cpu: u32) -> Self {
        Self { task: Task::All, cpu: Some(cpu) }
    }

    /// The tasks of a cgroup while they run on `cpu`; `directory` is open on the cgroup's directory. Needs what
    /// [`cpu`](Self::cpu) needs. Since Linux 2.6.39.
    #[must_use]
    #[doc(alias = "PERF_FLAG_PID_CGROUP")]
    pub fn cgroup<F: AsFd>(directory: &'fd F, cpu: u32) -> Self {
        Self { task: Task::Cgroup(directory.as_fd()), cpu: Some(cpu) }
    }

    /// The target that the kernel's own arguments mean: `pid` -1 for all, `cpu` -1 for any.
    ///
    /// # Errors
    ///
    /// If both are -1, which the kernel refuses, or one is below -1.
    pub fn from_arguments(pid: i32, cpu: i32) -> Result<Self, Error> {
        let refused = |field, why| Err(Error::refused("perf_event_open", field, why));
        match (u32::try_from(pid), u32::try_from(cpu)) {
            (Ok(pid), Ok(cpu)) => Ok(Self::pid_on(pid, cpu)),
            (Ok(pid), Err(_)) if cpu == -1 => Ok(Self::pid(pid)),
            (Err(_), Ok(cpu)) if pid == -1 => Ok(Self::cpu(cpu)),
            (Err(_), Err(_)) if (pid, cpu) == (-1, -1) => refused(
                "cpu",
                "pid -1 with cpu -1 is no target: to count everything, open the event on each cpu".to_owned(),
            ),
            (Err(_), _) if pid != -1 => {
                refused("pid", format!("pid {pid} is neither a thread nor -1 for all"))
            }
            _ => refused("cpu", format!("cpu {cpu} is neither a cpu nor -1 for any")),
        }
    }

    /// The cpu; `None` for any.
    #[must_use]
    pub const fn cpu_number(&self) -> Option<u32> {
        self.cpu
    }

    /// The thread, 0 for the calling one; `None` for all or a cgroup's.
    #[must_use]
    pub const fn thread(&self) -> Option<u32> {
        match self.task {
            Task::Thread(pid) => Some(pid),
            Task::All | Task::Cgroup(_) => None,
        }
    }

    /// Whether the target is a cgroup.
    #[must_use]
    pub const fn is_cgroup(&self) -> bool {
        matches!(self.task, Task::Cgroup(_))
    }

    /// The arguments of the system call: pid, cpu, and the flag they need.
    pub(crate) fn arguments(&self) -> Result<(i32, i32, OpenFlags), Error> {
        let fits = |field, number| {
            i32::try_from(number).map_err(|_| {
                Error::refused("perf_event_open", field, format!("{field} {number}: there is no such number"))
            })
        };
        let cpu = self.cpu.map_or(Ok(-1), |cpu| fits("cpu", cpu))?;
        Ok(match self.task {
            Task::Thread(pid) => (fits("pid", pid)?, cpu, OpenFlags::NONE),
            Task::All => (-1, cpu, OpenFlags::NONE),
            Task::Cgroup(directory) => (directory.as_raw_fd(), cpu, OpenFlags::PID_CGROUP),
        })
    }
}
