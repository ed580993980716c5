//! The targets of events, each with the aggregate to which its counts are added.

use perf_open::Target;

use super::aggregation::{Aggregate, Aggregation};
use super::opening::OpeningScope;
use crate::{CgroupDirectory, Targets};

/// Returns the targets of a run. On cpus, tasks of `cgroup` alone are counted.
pub(super) fn targets<'a>(
    scope: &OpeningScope<'_>,
    cgroup: Option<&'a CgroupDirectory>,
) -> Vec<(Target<'a>, Aggregate)> {
    let aggregation = scope.options.aggregation;
    match scope.targets {
        Targets::Command => scope.command.iter().map(|&pid| (Target::pid(pid), Aggregate::Total)).collect(),
        Targets::Threads(tids) => {
            let aggregate = |tid| match aggregation {
                Aggregation::Thread => Aggregate::Thread(tid),
                _ => Aggregate::Total,
            };
            match &scope.options.cpus {
                None => tids.iter().map(|&tid| (Target::pid(tid), aggregate(tid))).collect(),
                Some(cpus) => {
                    let on =
                        |&cpu: &u32| tids.iter().map(move |&tid| (Target::pid_on(tid, cpu), aggregate(tid)));
                    cpus.iter().flat_map(on).collect()
                }
            }
        }
        Targets::Cpus(cpus) => {
            let target = |cpu| match cgroup {
                Some(cgroup) => Target::cgroup(cgroup.file(), cpu),
                None => Target::cpu(cpu),
            };
            let own = |cpu| match aggregation {
                Aggregation::Cpu => Aggregate::Cpu(cpu),
                _ => Aggregate::Total,
            };
            let aggregate = |cpu| scope.domains.get(&cpu).copied().unwrap_or(own(cpu));
            cpus.iter().map(|&cpu| (target(cpu), aggregate(cpu))).collect()
        }
    }
}
