//! The description of the targets in the head of a report.

use perf_record::Observed;

use crate::args::live::StatArgs;

/// Describes what is counted, for the text report.
pub(super) fn targets(args: &StatArgs, observed: &Observed) -> String {
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
