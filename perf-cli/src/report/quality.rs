//! The quality of a report's stacks and names, as comments at its end.

use core::fmt::Write;

use perf_profile::report::{Report, percent};
use perf_profile::{MissingSymbols, Quality, doubtful};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Doubt, SymbolLookup};

use crate::escape::{print, push_name};

/// The largest number of files that are listed.
const LISTED: usize = 3;

/// Returns the quality in a line.
pub(super) fn line(samples: u64, quality: &Quality) -> String {
    let share = |count: u64, all: u64| {
        let percent = percent(count, all);
        // A few of many are not none.
        if count > 0 && percent < 0.05 { "< 0.1 %".to_owned() } else { format!("{percent:.1} %") }
    };
    let mut line = format!("{} samples: ", grouped(samples));
    let stacks = quality.stacks();
    if stacks > 0 {
        let rooted = quality.stacks_with(StackEnd::Rooted);
        // Down, so that 100.00 % is all of them.
        let percent = (10_000.0 * rooted as f64 / stacks as f64).floor() / 100.0;
        let _ = write!(line, "{percent:.2} % of stacks rooted, ");
        let completed = quality.stacks_with(StackEnd::Completed);
        if completed > 0 {
            let _ = write!(line, "{} completed from other stacks, ", share(completed, stacks));
        }
    }
    let (frames, mapped, named) = (quality.frames(), quality.mapped(), quality.named());
    let unmapped = share(frames - mapped, frames);
    let _ = write!(line, "{unmapped} of frames unmapped, {} unnamed", share(mapped - named, frames));
    if quality.guessed() > 0 {
        let _ = write!(line, ", {} guessed", share(quality.guessed(), frames));
    }
    if quality.failed_unwinds() > 0 {
        let _ = write!(line, ", {} stacks that simpleperf could not unwind whole", quality.failed_unwinds());
    }
    line
}

/// Appends the quality.
pub(super) fn push(out: &mut Vec<u8>, report: &Report) {
    let (quality, missing) = (report.quality(), report.missing());
    print(out, format_args!("# {}\n", line(report.selected(), quality)));
    for it in missing.iter().take(LISTED) {
        out.extend_from_slice(b"# ");
        push_missing(out, it);
    }
    if let Some(more) = missing.len().checked_sub(LISTED).filter(|&more| more > 0) {
        print(out, format_args!("# and {more} more files without names (--format json lists them)\n"));
    }
    match report.lookups().iter().filter(|it| it.is_beyond_limit).count() {
        0 => {}
        count => print(
            out,
            format_args!(
                "# not fetched, because --debuginfod-time or --debuginfod-size was reached: symbols of {count} {}\n",
                if count == 1 { "file" } else { "files" }
            ),
        ),
    }
    if quality.guessed() > 0 {
        push_doubtful(out, report.lookups());
    }
}

/// Appends the files whose names are guesses.
fn push_doubtful(out: &mut Vec<u8>, looked: &[SymbolLookup]) {
    let mut doubtful = doubtful(looked);
    for (it, doubt) in doubtful.by_ref().take(LISTED) {
        out.extend_from_slice(b"# ");
        push_name(out, it.dso.name());
        print(out, format_args!(": its names are guesses: {doubt}"));
        if let Some(id) = &it.go_build_id {
            print(out, format_args!("; the file has Go's build id {id}"));
        }
        if matches!(doubt, Doubt::Replaced | Doubt::Modified) {
            out.extend_from_slice(b". Record with --buildid-mmap, which tells files apart");
        }
        out.push(b'\n');
    }
    match doubtful.count() {
        0 => {}
        more => print(
            out,
            format_args!("# and {more} more files whose names are guesses (--format json lists them)\n"),
        ),
    }
}

fn push_missing(out: &mut Vec<u8>, it: &MissingSymbols) {
    let name = it.dso.name();
    push_name(out, name);
    if let Some(id) = it.build_id {
        print(out, format_args!(" (build id {id})"));
    }
    let frames = match it.frames {
        1 => "1 frame".to_owned(),
        count => format!("{} frames", grouped(count)),
    };
    print(out, format_args!(": {frames} without a name: {}\n", it.cause()));
}

/// Returns a number with commas between groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_groups() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (22_246, "22,246"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
