//! Descriptions of the targets that are counted: for the head of a report, and for each place.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::tally::Place;
use super::topology::{self, Label, Labels, Part};
use crate::Failure;
use crate::args::live::StatArgs;
use crate::live::observed::Observed;

/// Returns the place of each cpu whose counts are added to others', and the labels of the places that are shown.
pub(super) fn labels(
    args: &StatArgs,
    observed: &Observed,
) -> Result<(BTreeMap<u32, Place>, Labels), Failure> {
    let own = |place, key, width, text| (place, Label { key, width, text, counters: None });
    match observed {
        Observed::Cpus(cpus) => match Part::of(args) {
            Some(part) => topology::parts(part, cpus, Path::new("/sys")),
            None => {
                let of_cpu = |&cpu: &u32| own(Place::Cpu(cpu), "cpu", 8, format!("CPU{cpu}"));
                Ok((BTreeMap::new(), cpus.iter().map(of_cpu).collect()))
            }
        },
        Observed::Threads(threads) => {
            let of_thread = |&tid: &u32| {
                let comm = fs::read_to_string(format!("/proc/{tid}/comm")).unwrap_or_default();
                own(Place::Thread(tid), "thread", 25, format!("{}-{tid}", comm.trim_end_matches('\n')))
            };
            Ok((BTreeMap::new(), threads.iter().map(of_thread).collect()))
        }
        Observed::Command => Ok((BTreeMap::new(), Labels::new())),
    }
}

/// Describes what is counted, for the text report.
pub(super) fn what(args: &StatArgs, observed: &Observed) -> String {
    let list = |numbers: &[u32]| {
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        words.join(",")
    };
    match observed {
        Observed::Threads(_) if args.observed.all_cpus => "'system wide'".to_owned(),
        Observed::Threads(_) if !args.observed.pid.is_empty() => {
            format!("process id '{}'", list(&args.observed.pid))
        }
        Observed::Threads(tids) => format!("thread id '{}'", list(tids)),
        Observed::Cpus(cpus) if args.observed.cpu.is_some() => format!("cpu '{}'", list(cpus)),
        Observed::Cpus(_) => "'system wide'".to_owned(),
        Observed::Command => {
            let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
            format!("'{}'", words.join(" "))
        }
    }
}
