//! The targets that the command line names: the command, threads, or cpus.

use perf_open::pmu::parse_cpus;
use perf_record::{Targets, check_online, online};

use crate::args::live::ObservedArgs;
use crate::outcome::Failure;

/// Returns the targets of the command line; the whole machine if it names none and there is no command.
pub(crate) fn of(args: &ObservedArgs, has_command: bool) -> Result<Targets, Failure> {
    if !args.pid.is_empty() || !args.tid.is_empty() {
        return Ok(Targets::tasks(&args.pid, &args.tid)?);
    }
    if args.cpu.is_some() {
        return Ok(Targets::Cpus(cpus(args)?));
    }
    if args.all_cpus || !has_command {
        return Ok(Targets::machine()?);
    }
    Ok(Targets::Command)
}

/// Returns the cpus that the command line names, which must be online; all that are online if it names none.
pub(crate) fn cpus(args: &ObservedArgs) -> Result<Vec<u32>, Failure> {
    let Some(cpus) = &args.cpu else { return Ok(online()?) };
    let cpus = parse_cpus(cpus).map_err(|error| format!("--cpu {cpus}: {error}"))?;
    check_online(&cpus).map_err(|error| format!("--cpu: {error}"))?;
    Ok(cpus)
}
