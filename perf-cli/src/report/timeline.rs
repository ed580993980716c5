//! The activity of threads over time: `perfdata report --timeline`.

use std::collections::BTreeMap;

use perf_profile::{Keep, Profile, Thread, Times, event_name};

use crate::args::profile::NamingArgs;
use crate::args::report::ReportArgs;
use crate::escape::{OneLine, Seconds, print, push_name};
use crate::output::{Output, say};
use crate::profile::{self, Profiles, Request};
use crate::{Failure, Outcome};

/// Number of parts that the time of a capture is divided into.
const PARTS: usize = 100;

/// A part without samples, and parts with more and more of them.
const LEVELS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The samples of a thread in each part of the time.
type Strip = [u64; PARTS];

pub(super) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let naming = NamingArgs { max_stack: 0, threads: args.threads };
    let paths = [args.file.to_path_buf()];
    let request = Request {
        paths: &paths,
        only: &args.only,
        symbols: &args.symbols,
        naming: &naming,
        off_cpu: args.off_cpu,
        wakers: 0,
        marks: false,
    };
    let keep = Keep { times: Times::Each, ..Keep::default() };
    let Profiles { profiles, outcome, .. } = profile::read(&request, keep)?;
    let mut output = Output::new();
    for profile in &profiles {
        let Some((first, last)) = profile.span() else {
            say!("perfdata: no sample has a time; record with perf record -T");
            continue;
        };
        push(&mut output.buffer, profile, first, last);
    }
    output.flush()?;
    Ok(outcome)
}

fn push(out: &mut Vec<u8>, profile: &Profile, first: u64, last: u64) {
    let part = (last - first) / PARTS as u64 + 1;
    print(
        out,
        format_args!(
            "# Samples in each hundredth of the time from {} to {}, {} s each\n",
            Seconds(first),
            Seconds(last),
            Seconds(part)
        ),
    );
    for (event, number) in profile.events().iter().zip(0..) {
        let mut strips: BTreeMap<(i32, i32, &[u8]), Strip> = BTreeMap::new();
        for sample in profile.samples().filter(|sample| sample.event == number) {
            let Some(Thread { pid, tid, comm, .. }) = profile.threads().get(sample.thread as usize) else {
                continue;
            };
            let strip = strips.entry((*pid, *tid, comm)).or_insert([0; PARTS]);
            // Times are within the span, so the part is one of them.
            let number = ((sample.time - first) / part) as usize;
            if let Some(count) = strip.get_mut(number) {
                *count += sample.total.samples;
            }
        }
        out.extend_from_slice(b"#\n# ");
        push_name(out, &event_name(&event.event));
        let most = strips.values().flatten().max().copied().unwrap_or(0);
        print(
            out,
            format_args!(": {} samples, {most} in the fullest part of a thread\n#\n", event.total.samples),
        );
        push_strips(out, strips, most);
    }
}

fn push_strips(out: &mut Vec<u8>, strips: BTreeMap<(i32, i32, &[u8]), Strip>, most: u64) {
    let sum = |strip: &Strip| strip.iter().sum::<u64>();
    let mut strips: Vec<_> = strips.into_iter().collect();
    // The sort is stable, so that threads with equal sums stay in the order of their ids.
    strips.sort_by_key(|(_, strip)| core::cmp::Reverse(sum(strip)));
    print(out, format_args!("# {:16} {:>15} {:>8}  {:100}\n", "Command", "Pid/Tid", "Samples", "Time"));
    for ((pid, tid, comm), strip) in strips {
        let comm = OneLine(comm).to_string();
        print(out, format_args!("  {comm:16} {:>15} {:>8} |", format!("{pid}/{tid}"), sum(&strip)));
        strip.iter().for_each(|&count| out.extend_from_slice(level(count, most).as_bytes()));
        out.extend_from_slice(b"|\n");
    }
}

/// Returns the sign for a number of samples. Any sample shows.
fn level(count: u64, most: u64) -> &'static str {
    let steps = LEVELS.len() as u64 - 1;
    let number = (u128::from(count) * u128::from(steps)).div_ceil(u128::from(most.max(1)));
    LEVELS.get(number as usize).unwrap_or(&"█")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_sample_shows_and_the_most_fill_the_line() {
        assert_eq!(
            ["", " ", "▁", "▁", "▅", "█", "█"][1..],
            [0, 1, 125, 600, 999, 1000].map(|it| level(it, 1000))
        );
        assert_eq!(level(0, 0), " ");
    }
}
