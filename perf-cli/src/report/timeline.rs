//! The activity of threads over time: `perfdata report --timeline`.

use core::num::NonZero;

use perf_profile::{EventTimeline, SampleDetail, ThreadTimeline, TimeDetail, event_name};

use crate::args::profile::NamingArgs;
use crate::args::report::ReportArgs;
use crate::escape::{OneLine, Seconds, print, push_name};
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::profile::{self, ProfileRequest, Profiles};

/// Number of parts that the time of a capture is divided into.
const PARTS: NonZero<usize> = NonZero::new(100).unwrap();

/// A part without samples, and parts with more and more of them.
const LEVELS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

pub(super) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let naming = NamingArgs { max_stack: 0, threads: args.threads };
    let paths = [args.file.to_path_buf()];
    let request = ProfileRequest {
        paths: &paths,
        only: &args.only,
        symbols: &args.symbols,
        naming: &naming,
        off_cpu: args.off_cpu,
        lock_waits: false,
        wakers: 0,
        marks: false,
        itrace: args.itrace,
    };
    let detail = SampleDetail { times: TimeDetail::Each, ..SampleDetail::default() };
    let Profiles { profiles, outcome, .. } = profile::read(&request, detail)?;
    let mut output = Output::new();
    for profile in &profiles {
        let Some(timeline) = ThreadTimeline::of(profile, PARTS) else {
            say!("perfdata: no sample has a time; record with perf record -T");
            continue;
        };
        push(&mut output.buffer, &timeline);
    }
    output.flush()?;
    Ok(outcome)
}

fn push(out: &mut Vec<u8>, timeline: &ThreadTimeline<'_>) {
    let (first, last) = timeline.span;
    print(
        out,
        format_args!(
            "# Samples in each hundredth of the time from {} to {}, {} s each\n",
            Seconds(first),
            Seconds(last),
            Seconds(timeline.part)
        ),
    );
    timeline.events.iter().for_each(|event| push_event(out, event));
}

fn push_event(out: &mut Vec<u8>, timeline: &EventTimeline<'_>) {
    out.extend_from_slice(b"#\n# ");
    push_name(out, &event_name(&timeline.event.event));
    let (samples, most) = (timeline.event.total.samples, timeline.most());
    print(out, format_args!(": {samples} samples, {most} in the fullest part of a thread\n#\n"));
    print(out, format_args!("# {:16} {:>15} {:>8}  {:100}\n", "Command", "Pid/Tid", "Samples", "Time"));
    for strip in &timeline.strips {
        let comm = OneLine(strip.comm).to_string();
        let ids = format!("{}/{}", strip.pid, strip.tid);
        print(out, format_args!("  {comm:16} {ids:>15} {:>8} |", strip.total()));
        strip.samples.iter().for_each(|&count| out.extend_from_slice(level(count, most).as_bytes()));
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
