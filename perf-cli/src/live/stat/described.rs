//! The description of the targets in the head of a report.

use perf_record::Targets;

use crate::args::live::StatArgs;

/// Describes what is counted, for the text report.
pub(super) fn targets(args: &StatArgs, observed: &Targets) -> String {
    let list = |numbers: &[u32]| {
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        words.join(",")
    };
    match observed {
        Targets::Threads(_) if args.observed.all_cpus => "'system wide'".to_owned(),
        Targets::Threads(_) if !args.observed.pid.is_empty() => {
            format!("process id '{}'", list(&args.observed.pid))
        }
        Targets::Threads(tids) => format!("thread id '{}'", list(tids)),
        Targets::Cpus(cpus) if args.observed.cpu.is_some() => format!("cpu '{}'", list(cpus)),
        Targets::Cpus(_) => "'system wide'".to_owned(),
        Targets::Command => {
            let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
            format!("'{}'", words.join(" "))
        }
    }
}
