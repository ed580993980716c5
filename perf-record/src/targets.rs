//! The targets of a recording or a count: the command, threads, or cpus.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;

use perf_open::pmu::parse_cpus;

use crate::{Error, processes};

/// The targets of a recording or a count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "perf_event_open has no other targets than tasks and cpus")]
pub enum Targets {
    /// A command, which a [`Workload`](perf_open::workload::Workload) starts.
    Command,
    /// These threads.
    Threads(Vec<u32>),
    /// Everything on these cpus.
    Cpus(Vec<u32>),
}

/// Returns the cpus that are online: from sysfs, or from `/proc/stat` if sysfs is not mounted, as in some containers.
///
/// # Errors
///
/// If neither file can be read, or the one in sysfs is not a list of cpus.
pub fn online() -> Result<Vec<u32>, Error> {
    const PATH: &str = "/sys/devices/system/cpu/online";
    const STAT: &str = "/proc/stat";
    if let Ok(text) = fs::read_to_string(PATH) {
        return parse_cpus(&text).map_err(|error| Error::Request(format!("{PATH}: {error}")));
    }
    let text = fs::read_to_string(STAT).map_err(Error::io(STAT))?;
    Ok(text.lines().filter_map(cpu_of_line).collect())
}

/// Returns the cpu of a line of `/proc/stat` such as `cpu3 1132 34 ...`. `None` for the sum of all cpus
/// (`cpu 4705 ...`) and for other lines.
fn cpu_of_line(line: &str) -> Option<u32> {
    line.split_whitespace().next()?.strip_prefix("cpu")?.parse().ok()
}

/// Returns an error if there are no cpus, or one of them is not online.
///
/// # Errors
///
/// That, or those of [`online`].
///
/// # Examples
///
/// ```
/// assert!(perf_record::check_online(&[65000]).is_err());
/// assert!(perf_record::check_online(&[]).is_err());
/// ```
pub fn check_online(cpus: &[u32]) -> Result<(), Error> {
    let online = online()?;
    let why = match cpus.iter().find(|cpu| !online.contains(cpu)) {
        Some(cpu) => format!("CPU {cpu} does not exist or is offline"),
        None if cpus.is_empty() => "names no CPU".to_owned(),
        None => return Ok(()),
    };
    Err(Error::Request(why))
}

impl Targets {
    /// Returns everything that runs on the cpus that are online.
    ///
    /// # Errors
    ///
    /// Those of [`online`].
    pub fn machine() -> Result<Self, Error> {
        online().map(Self::Cpus)
    }

    /// Returns these threads, and all threads of these processes, in ascending order.
    ///
    /// # Errors
    ///
    /// If a process does not exist. A thread that does not exist is an error when events are opened.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_record::Targets;
    ///
    /// let this = std::process::id();
    /// let Targets::Threads(threads) = Targets::tasks(&[this], &[])? else { panic!() };
    /// assert!(threads.contains(&this));
    /// # Ok::<(), perf_record::Error>(())
    /// ```
    pub fn tasks(processes: &[u32], threads: &[u32]) -> Result<Self, Error> {
        let mut all = BTreeSet::from_iter(threads.iter().copied());
        for pid in processes {
            let of_process = processes::numbers(Path::new(&format!("/proc/{pid}/task")));
            all.extend(of_process.map_err(Error::io(format!("process {pid}")))?);
        }
        Ok(Self::Threads(all.into_iter().collect()))
    }

    /// Returns all threads of the machine that this process can see, in ascending order.
    ///
    /// # Errors
    ///
    /// If `/proc` cannot be read.
    pub fn all_threads() -> Result<Self, Error> {
        Ok(Self::Threads(threads_of(|_| true)?))
    }

    /// Returns the threads of all processes of a user, except this process. Empty if the user has none.
    ///
    /// perf: `thread_map__new_by_uid`.
    ///
    /// # Errors
    ///
    /// If `/proc` cannot be read.
    pub fn user(uid: u32) -> Result<Self, Error> {
        let is_of_user = |pid: u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let owner = status.lines().find_map(|line| line.strip_prefix("Uid:"));
            let owner = owner.and_then(|ids| ids.split_whitespace().next()?.parse::<u32>().ok());
            owner == Some(uid) && pid != std::process::id()
        };
        Ok(Self::Threads(threads_of(is_of_user)?))
    }

    /// Returns the threads: that of the command, given its process id, or the given ones; none for cpus.
    pub(crate) fn threads(&self, command: Option<u32>) -> Vec<u32> {
        match self {
            Self::Command => command.into_iter().collect(),
            Self::Threads(tids) => tids.clone(),
            Self::Cpus(_) => Vec::new(),
        }
    }

    /// Returns whether all threads have ended. Always `false` for a command, which its
    /// [`Workload`](perf_open::workload::Workload) waits for, and for cpus. Reads a file of `/proc` for each thread that has
    /// ended, and one of a thread that has not.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_record::Targets;
    ///
    /// assert!(!Targets::Threads(vec![std::process::id()]).has_ended());
    /// assert!(!Targets::Command.has_ended());
    /// ```
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Threads(threads) if !threads.iter().any(|&tid| is_alive(tid)))
    }
}

/// Returns the threads of the processes that fulfil a condition, in ascending order.
fn threads_of(is_chosen: impl Fn(u32) -> bool) -> Result<Vec<u32>, Error> {
    let mut threads = BTreeSet::new();
    for pid in processes::numbers(Path::new("/proc")).map_err(Error::io("/proc"))? {
        if is_chosen(pid) {
            // A process may end at any moment.
            let of_process = processes::numbers(Path::new(&format!("/proc/{pid}/task")));
            threads.extend(of_process.unwrap_or_default());
        }
    }
    Ok(threads.into_iter().collect())
}

/// Returns whether a thread exists and has not ended.
fn is_alive(tid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain some.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_found_by_process_and_user() {
        let this = std::process::id();
        let threads = |targets| match targets {
            Ok(Targets::Threads(threads)) => threads,
            other => panic!("{other:?}"),
        };
        assert!(threads(Targets::tasks(&[this], &[1])).starts_with(&[1]));
        assert!(threads(Targets::tasks(&[this], &[])).contains(&this));
        assert!(threads(Targets::all_threads()).contains(&this));
        assert!(!threads(Targets::user(0)).contains(&this));
        assert_eq!(threads(Targets::user(u32::MAX)), []);
        let error = Targets::tasks(&[4_194_305], &[]).unwrap_err().to_string();
        assert!(error.starts_with("process 4194305: "), "{error}");
    }

    #[test]
    fn threads_end() {
        assert!(Targets::Threads(vec![4_194_305]).has_ended());
        assert!(!Targets::Threads(vec![4_194_305, std::process::id()]).has_ended());
    }

    #[test]
    fn cpus_must_be_online() {
        let error = |cpus: &[u32]| check_online(cpus).unwrap_err().to_string();
        assert_eq!(error(&[65000]), "CPU 65000 does not exist or is offline");
        assert_eq!(error(&[]), "names no CPU");
        assert!(check_online(&online().unwrap()).is_ok());
    }
}
