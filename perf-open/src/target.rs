//! The target of an event: a task, a cpu, or a cgroup.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use perf_abi::open::OpenFlags;

use crate::error::Error;

/// The target of an event: a thread, all threads of a cpu, or the threads of a cgroup on a cpu.
///
/// A target holds any combination of the `pid` and `cpu` arguments that the kernel accepts, and none that it refuses.
///
/// | | any cpu | one cpu |
/// |---|---|---|
/// | the calling thread | [`this_thread`](Self::this_thread) | [`this_thread_on`](Self::this_thread_on) |
/// | another thread | [`pid`](Self::pid) | [`pid_on`](Self::pid_on) |
/// | all threads | refused | [`cpu`](Self::cpu) |
/// | those of a cgroup | refused | [`cgroup`](Self::cgroup) |
///
/// A thread target counts one thread. Other threads of the process are not counted, and children only with
/// [`inherit`](crate::Builder::inherit). To count a process, open the event for each thread in `/proc/PID/task`. To
/// count the machine, open it for each cpu.
///
/// # Examples
///
/// ```
/// use perf_open::Target;
/// assert_eq!(Target::this_thread_on(2).cpu_number(), Some(2));
/// // To count everything on all cpus, open one event per cpu.
/// assert!(Target::from_arguments(-1, -1).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Target<'fd> {
    task: TargetTask<'fd>,
    cpu: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum TargetTask<'fd> {
    /// 0 for the calling thread.
    Thread(u32),
    All,
    Cgroup(BorrowedFd<'fd>),
}

impl<'fd> Target<'fd> {
    /// Returns the target of the calling thread on any cpu.
    #[must_use]
    pub const fn this_thread() -> Self {
        Self::pid(0)
    }

    /// Returns the target of the calling thread while it runs on `cpu`.
    #[must_use]
    pub const fn this_thread_on(cpu: u32) -> Self {
        Self::pid_on(0, cpu)
    }

    /// Returns the target of thread `pid` on any cpu. `pid` is a number from `/proc/*/task`; 0 is the calling thread.
    #[must_use]
    pub const fn pid(pid: u32) -> Self {
        Self { task: TargetTask::Thread(pid), cpu: None }
    }

    /// Returns the target of thread `pid` while it runs on `cpu`. 0 is the calling thread.
    #[must_use]
    pub const fn pid_on(pid: u32, cpu: u32) -> Self {
        Self { task: TargetTask::Thread(pid), cpu: Some(cpu) }
    }

    /// Returns the target of all threads while they run on `cpu`.
    ///
    /// Needs `CAP_PERFMON` (since Linux 5.8), `CAP_SYS_ADMIN`, or a `perf_event_paranoid` below 1.
    #[must_use]
    pub const fn cpu(cpu: u32) -> Self {
        Self { task: TargetTask::All, cpu: Some(cpu) }
    }

    /// Returns the target of the tasks of a cgroup while they run on `cpu`. Since Linux 2.6.39.
    ///
    /// `directory` is an open file descriptor of the cgroup's directory. Needs the same privilege as
    /// [`cpu`](Self::cpu).
    #[must_use]
    #[doc(alias = "PERF_FLAG_PID_CGROUP")]
    pub fn cgroup<F: AsFd>(directory: &'fd F, cpu: u32) -> Self {
        Self { task: TargetTask::Cgroup(directory.as_fd()), cpu: Some(cpu) }
    }

    /// Converts the arguments of the system call: `pid` -1 for all threads, `cpu` -1 for any cpu.
    ///
    /// # Errors
    ///
    /// If both are -1, which the kernel refuses, or if one is below -1.
    pub fn from_arguments(pid: i32, cpu: i32) -> Result<Self, Error> {
        let refused = |field, why| Err(Error::refused("perf_event_open", field, why));
        match (u32::try_from(pid), u32::try_from(cpu)) {
            (Ok(pid), Ok(cpu)) => Ok(Self::pid_on(pid, cpu)),
            (Ok(pid), Err(_)) if cpu == -1 => Ok(Self::pid(pid)),
            (Err(_), Ok(cpu)) if pid == -1 => Ok(Self::cpu(cpu)),
            (Err(_), Err(_)) if (pid, cpu) == (-1, -1) => refused(
                "cpu",
                "pid -1 with cpu -1 is not a target; to count everything, open the event on each cpu"
                    .to_owned(),
            ),
            (Err(_), _) if pid != -1 => {
                refused("pid", format!("pid {pid}: must be a thread, or -1 for all threads"))
            }
            _ => refused("cpu", format!("cpu {cpu}: must be a cpu, or -1 for any cpu")),
        }
    }

    /// Returns the cpu; `None` for any cpu.
    #[must_use]
    pub const fn cpu_number(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the thread, 0 for the calling one; `None` for a cpu or a cgroup.
    #[must_use]
    pub const fn thread(&self) -> Option<u32> {
        match self.task {
            TargetTask::Thread(pid) => Some(pid),
            TargetTask::All | TargetTask::Cgroup(_) => None,
        }
    }

    /// Returns whether the target is a cgroup.
    #[must_use]
    pub const fn is_cgroup(&self) -> bool {
        matches!(self.task, TargetTask::Cgroup(_))
    }

    /// Returns the arguments of the system call: pid, cpu, and the flag that they need.
    pub(crate) fn arguments(&self) -> Result<(i32, i32, OpenFlags), Error> {
        let fits = |field, number| {
            i32::try_from(number).map_err(|_| {
                Error::refused("perf_event_open", field, format!("{field} {number}: larger than any {field}"))
            })
        };
        let cpu = self.cpu.map_or(Ok(-1), |cpu| fits("cpu", cpu))?;
        Ok(match self.task {
            TargetTask::Thread(pid) => (fits("pid", pid)?, cpu, OpenFlags::NONE),
            TargetTask::All => (-1, cpu, OpenFlags::NONE),
            TargetTask::Cgroup(directory) => (directory.as_raw_fd(), cpu, OpenFlags::PID_CGROUP),
        })
    }
}
