//! What is to be counted, and of whom.

use alloc::collections::BTreeSet;
use std::fs;

use perf_open::abi::event::{HwId, SwId};
use perf_open::event::parse;
use perf_open::pmu::parse_cpus;
use perf_open::{Event, EventGroup};

use crate::Failure;
use crate::args::live::StatArgs;

/// Of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// The command.
    Command,
    /// These threads.
    Threads(Vec<u32>),
    /// Everything on these cpus.
    Cpus(Vec<u32>),
}

impl Whom {
    pub(crate) fn of(args: &StatArgs) -> Result<Self, Failure> {
        if !args.pid.is_empty() || !args.tid.is_empty() {
            return Ok(Self::Threads(threads(args)?));
        }
        if args.per_thread {
            return Err(Failure("--per-thread is for threads: -p or -t".to_owned()));
        }
        let online = online()?;
        if let Some(cpus) = &args.cpu {
            let cpus = parse_cpus(cpus).map_err(|error| format!("--cpu {cpus}: {error}"))?;
            return match cpus.iter().find(|cpu| !online.contains(cpu)) {
                Some(cpu) => Err(Failure(format!("--cpu: there is no cpu {cpu}; perhaps it is offline"))),
                None if cpus.is_empty() => Err(Failure("--cpu: names no cpu".to_owned())),
                None => Ok(Self::Cpus(cpus)),
            };
        }
        if args.all_cpus || args.command.is_empty() {
            return Ok(Self::Cpus(online));
        }
        if args.no_aggr {
            return Err(Failure("--no-aggr is for cpus: -a or -C".to_owned()));
        }
        Ok(Self::Command)
    }
}

/// The cpus that are online.
fn online() -> Result<Vec<u32>, Failure> {
    const PATH: &str = "/sys/devices/system/cpu/online";
    let text = fs::read_to_string(PATH).map_err(|error| format!("{PATH}: {error}"))?;
    Ok(parse_cpus(&text).map_err(|error| format!("{PATH}: {error}"))?)
}

/// The threads that are named, and those of the processes that are.
fn threads(args: &StatArgs) -> Result<Vec<u32>, Failure> {
    let mut threads = BTreeSet::from_iter(args.tid.iter().copied());
    for pid in &args.pid {
        let folder = fs::read_dir(format!("/proc/{pid}/task"));
        for entry in folder.map_err(|error| format!("process {pid}: {error}"))?.flatten() {
            threads.extend(entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
        }
    }
    Ok(threads.into_iter().collect())
}

/// Whether a thread is there and has not ended.
pub(crate) fn is_alive(tid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
    // The state is behind the name, which is in parentheses and may hold some.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}

/// The events, in groups.
pub(crate) fn events(args: &StatArgs, whom: &Whom) -> Result<Vec<EventGroup>, Failure> {
    let mut groups = Vec::new();
    for list in &args.events {
        groups.extend(parse(list).map_err(|error| format!("{error:#}"))?);
    }
    if args.events.is_empty() {
        groups = defaults(whom);
    }
    match groups.iter().flat_map(|group| &group.events).find(|event| event.bpf_counter) {
        Some(event) => Err(Failure(format!("{}: the modifier b is not supported", event.name))),
        None => Ok(groups),
    }
}

/// What is counted where nothing is asked for: what `perf stat` counts.
fn defaults(whom: &Whom) -> Vec<EventGroup> {
    let clock = if matches!(whom, Whom::Cpus(_)) { SwId::CPU_CLOCK } else { SwId::TASK_CLOCK };
    let software = [clock, SwId::CONTEXT_SWITCHES, SwId::CPU_MIGRATIONS, SwId::PAGE_FAULTS];
    let hardware = [
        ("cycles", HwId::CPU_CYCLES),
        ("instructions", HwId::INSTRUCTIONS),
        ("branches", HwId::BRANCH_INSTRUCTIONS),
        ("branch-misses", HwId::BRANCH_MISSES),
    ];
    let hardware =
        hardware.map(|(name, id)| Event { name: name.to_owned(), ..Event::hardware(id) }).into_iter();
    software.map(Event::software).into_iter().chain(hardware).map(EventGroup::from).collect()
}
