//! What is counted, and on which targets.

use perf_open::abi::event::{HwId, SwId};
use perf_open::{EventGroup, EventSpec};

use crate::Failure;
use crate::args::live::StatArgs;
use crate::live::events::asked_for;
use crate::live::observed::{self, Observed};

/// Returns the targets of the command line.
pub(crate) fn observed(args: &StatArgs) -> Result<Observed, Failure> {
    let observed = observed::of(&args.observed, !args.command.is_empty())?;
    match &observed {
        Observed::Cpus(_) | Observed::Command if args.per_thread => {
            Err(Failure("--per-thread needs -p or -t".to_owned()))
        }
        Observed::Command if args.no_aggr => Err(Failure("--no-aggr needs -a or -C".to_owned())),
        _ => Ok(observed),
    }
}

/// Returns the events of the command line, in groups; the defaults if it has none.
pub(crate) fn events(args: &StatArgs, observed: &Observed) -> Result<Vec<EventGroup>, Failure> {
    let groups = asked_for(&args.events, "not supported")?;
    Ok(if args.events.is_empty() { defaults(observed) } else { groups })
}

/// Returns the default events, those of `perf stat`.
fn defaults(observed: &Observed) -> Vec<EventGroup> {
    let clock = if matches!(observed, Observed::Cpus(_)) { SwId::CPU_CLOCK } else { SwId::TASK_CLOCK };
    let software = [clock, SwId::CONTEXT_SWITCHES, SwId::CPU_MIGRATIONS, SwId::PAGE_FAULTS];
    let hardware = [
        ("cycles", HwId::CPU_CYCLES),
        ("instructions", HwId::INSTRUCTIONS),
        ("branches", HwId::BRANCH_INSTRUCTIONS),
        ("branch-misses", HwId::BRANCH_MISSES),
    ];
    let hardware = hardware.map(|(name, id)| EventSpec::hardware(id).with_name(name)).into_iter();
    software.map(EventSpec::software).into_iter().chain(hardware).map(EventGroup::from).collect()
}
