//! `perfdata sched`: what the scheduler does, as `perf sched` prints it, and more.

mod latency;
mod map;
mod pass;
mod timehist;
mod waits;

use perf_abi::feature::Feature;
use perf_parse::feature::FeatureData;
use perf_parse::file::Reader;

use crate::args::sched::{SchedArgs, SchedVerb};
use crate::outcome::{Failure, Outcome};

pub(crate) fn run(args: &SchedArgs) -> Result<Outcome, Failure> {
    let refused = |verb: &str, instead: &str| {
        Err(Failure(format!("{verb}: perfdata sched does not have this verb; {instead}")))
    };
    match &args.verb {
        SchedVerb::Timehist(args) => {
            crate::input::read(&args.file, |reader, memory| timehist::run(&reader, memory, args))
        }
        SchedVerb::Latency(args) => {
            crate::input::read(&args.file, |reader, memory| latency::run(&reader, memory, args))
        }
        SchedVerb::Map(args) => {
            crate::input::read(&args.file, |reader, memory| map::run(&reader, memory, args))
        }
        SchedVerb::Waits(args) => {
            crate::input::read(&args.file, |reader, memory| waits::run(&reader, memory, args))
        }
        SchedVerb::Record(_) => refused("record", "use perfdata record --sched"),
        SchedVerb::Replay(_) => {
            refused("replay", "use perf sched replay, which runs threads as the capture has them")
        }
        SchedVerb::Script(_) => refused("script", "use perfdata script"),
        SchedVerb::Stats(_) => {
            refused("stats", "it reads /proc/schedstat of the machine; use perf sched stats")
        }
    }
}

/// Returns the numbers of a list of CPUs or priorities.
///
/// # Errors
///
/// If it is no list.
fn numbers(option: &str, list: Option<&str>) -> Result<Vec<u32>, Failure> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let wrong =
        || Failure(format!("{option} {list}: numbers and ranges below 4096 are wanted, such as 0,2-3"));
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number < 4096).ok_or_else(wrong);
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        all.extend(first..=last);
    }
    Ok(all)
}

/// Returns the number of CPUs of the machine that were online, and of all; 0 if the capture does not have it.
fn cpus(reader: &Reader<'_>) -> (u32, u32) {
    let section = reader.features().get(Feature::NRCPUS);
    match section.and_then(|section| section.decode().ok()) {
        Some(FeatureData::NrCpus(cpus)) => (cpus.online, cpus.available),
        _ => (0, 0),
    }
}
