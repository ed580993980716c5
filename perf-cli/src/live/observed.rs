//! The targets of the live verbs: the command, threads, or cpus.

use alloc::collections::BTreeSet;
use std::fs;

use perf_open::pmu::parse_cpus;

use crate::Failure;
use crate::args::live::ObservedArgs;

/// The targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// The command.
    Command,
    /// These threads.
    Threads(Vec<u32>),
    /// Everything on these cpus.
    Cpus(Vec<u32>),
}

impl Observed {
    /// Returns the targets of the command line; the whole machine if it names none and there is no command.
    pub(crate) fn of(args: &ObservedArgs, has_command: bool) -> Result<Self, Failure> {
        if !args.pid.is_empty() || !args.tid.is_empty() {
            return Ok(Self::Threads(threads(args)?));
        }
        let online = online()?;
        if let Some(cpus) = &args.cpu {
            let cpus = parse_cpus(cpus).map_err(|error| format!("--cpu {cpus}: {error}"))?;
            return match cpus.iter().find(|cpu| !online.contains(cpu)) {
                Some(cpu) => Err(Failure(format!("--cpu: CPU {cpu} does not exist or is offline"))),
                None if cpus.is_empty() => Err(Failure("--cpu: names no CPU".to_owned())),
                None => Ok(Self::Cpus(cpus)),
            };
        }
        if args.all_cpus || !has_command {
            return Ok(Self::Cpus(online));
        }
        Ok(Self::Command)
    }
}

/// Returns the CPUs that are online: from sysfs, or from `/proc/stat` if sysfs is not mounted, as in some containers.
pub(crate) fn online() -> Result<Vec<u32>, Failure> {
    const PATH: &str = "/sys/devices/system/cpu/online";
    const STAT: &str = "/proc/stat";
    if let Ok(text) = fs::read_to_string(PATH) {
        return Ok(parse_cpus(&text).map_err(|error| format!("{PATH}: {error}"))?);
    }
    let text = fs::read_to_string(STAT).map_err(|error| format!("{STAT}: {error}"))?;
    Ok(text.lines().filter_map(cpu_of_line).collect())
}

/// Returns the cpu of a line of `/proc/stat` such as `cpu3 1132 34 ...`. `None` for the sum of all cpus
/// (`cpu 4705 ...`) and for other lines.
fn cpu_of_line(line: &str) -> Option<u32> {
    line.split_whitespace().next()?.strip_prefix("cpu")?.parse().ok()
}

/// Returns the threads that the command line names, and all threads of the processes that it names.
fn threads(args: &ObservedArgs) -> Result<Vec<u32>, Failure> {
    let mut threads = BTreeSet::from_iter(args.tid.iter().copied());
    for pid in &args.pid {
        let folder = fs::read_dir(format!("/proc/{pid}/task"));
        for entry in folder.map_err(|error| format!("process {pid}: {error}"))?.flatten() {
            threads.extend(entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
        }
    }
    Ok(threads.into_iter().collect())
}

/// Returns all threads of the machine that this process can see.
pub(crate) fn all_threads() -> Result<Vec<u32>, Failure> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let numbers = |path: &str| Ok::<_, std::io::Error>(fs::read_dir(path)?.flatten().filter_map(number));
    let mut threads = BTreeSet::new();
    for pid in numbers("/proc").map_err(|error| format!("/proc: {error}"))? {
        // A process may end at any moment.
        threads.extend(numbers(&format!("/proc/{pid}/task")).into_iter().flatten());
    }
    Ok(threads.into_iter().collect())
}

/// Returns whether a thread exists and has not ended.
pub(crate) fn is_alive(tid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain some.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}
