//! The targets of the live verbs: the command, threads, or cpus.

use alloc::collections::BTreeSet;
use std::{fs, io};

use perf_open::pmu::parse_cpus;
pub(crate) use perf_record::{Observed, is_alive, online};

use crate::Failure;
use crate::args::live::ObservedArgs;

/// Returns the targets of the command line; the whole machine if it names none and there is no command.
pub(crate) fn of(args: &ObservedArgs, has_command: bool) -> Result<Observed, Failure> {
    if !args.pid.is_empty() || !args.tid.is_empty() {
        return Ok(Observed::Threads(threads(args)?));
    }
    if args.cpu.is_some() {
        return Ok(Observed::Cpus(cpus(args)?));
    }
    if args.all_cpus || !has_command {
        return Ok(Observed::Cpus(online()?));
    }
    Ok(Observed::Command)
}

/// Returns the cpus that the command line names, which must be online; all that are online if it names none.
pub(crate) fn cpus(args: &ObservedArgs) -> Result<Vec<u32>, Failure> {
    let online = online()?;
    let Some(cpus) = &args.cpu else { return Ok(online) };
    let cpus = parse_cpus(cpus).map_err(|error| format!("--cpu {cpus}: {error}"))?;
    match cpus.iter().find(|cpu| !online.contains(cpu)) {
        Some(cpu) => Err(Failure(format!("--cpu: CPU {cpu} does not exist or is offline"))),
        None if cpus.is_empty() => Err(Failure("--cpu: names no CPU".to_owned())),
        None => Ok(cpus),
    }
}

/// Returns the threads that the command line names, and all threads of the processes that it names.
fn threads(args: &ObservedArgs) -> Result<Vec<u32>, Failure> {
    let mut threads = BTreeSet::from_iter(args.tid.iter().copied());
    for pid in &args.pid {
        let of_process = numbers(&format!("/proc/{pid}/task"));
        threads.extend(of_process.map_err(|error| format!("process {pid}: {error}"))?);
    }
    Ok(threads.into_iter().collect())
}

/// Returns all threads of the machine that this process can see.
pub(crate) fn all_threads() -> Result<Vec<u32>, Failure> {
    let mut threads = BTreeSet::new();
    for pid in processes()? {
        // A process may end at any moment.
        threads.extend(numbers(&format!("/proc/{pid}/task")).unwrap_or_default());
    }
    Ok(threads.into_iter().collect())
}

/// Returns all processes of the machine that this process can see.
pub(crate) fn processes() -> Result<Vec<u32>, Failure> {
    numbers("/proc").map_err(|error| Failure(format!("/proc: {error}")))
}

/// Returns the names in a folder that are numbers.
pub(crate) fn numbers(folder: &str) -> io::Result<Vec<u32>> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(fs::read_dir(folder)?.flatten().filter_map(number).collect())
}
