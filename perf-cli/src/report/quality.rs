//! The quality of a report's stacks and names, as comments at its end.

use core::fmt::Write;

use perf_profile::report::{Report, percent};
use perf_profile::{MissingSymbols, Quality, doubtful};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Doubt, SymbolLookup};

use crate::escape::{print, push_name};
use crate::quality::grouped;

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

/// The share of named frames, in percent, from which on stacks are taken to be right although they are not rooted.
const GOOD: f64 = 90.0;

/// Returns whether most stacks end before the first function of the program, and nothing else is wrong with them: those by frame
/// pointers, which the start of libc does not keep.
fn lacks_starts_alone(quality: &Quality) -> bool {
    let ends_early = quality.stacks_with(StackEnd::NoUnwindInfo);
    let is_good = quality.guessed() == 0 && percent(quality.named(), quality.frames()) >= GOOD;
    ends_early > 0 && 2 * ends_early >= quality.stacks() && is_good
}

/// Appends the quality.
pub(super) fn push(out: &mut Vec<u8>, report: &Report) {
    let (quality, missing) = (report.quality(), report.missing());
    print(out, format_args!("# {}\n", line(report.selected(), quality)));
    if lacks_starts_alone(quality) {
        let named = percent(quality.named(), quality.frames());
        print(
            out,
            format_args!(
                "# Stacks that are not rooted lack the start of the program or thread, such as libc's, which has no frame pointer. \
                 {named:.1} % of frames have names\n"
            ),
        );
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks by frame pointers: so many that are rooted, and that end early.
    fn quality(rooted: u64, early: u64) -> Quality {
        let mut quality = Quality::default();
        quality.count_stacks(StackEnd::Rooted, rooted);
        quality.count_stacks(StackEnd::NoUnwindInfo, early);
        quality
    }

    #[test]
    fn stacks_that_lack_their_starts_need_frames_with_names() {
        // No frame is counted, so that none has a name.
        assert!(!lacks_starts_alone(&quality(0, 10)));
        assert!(!lacks_starts_alone(&quality(0, 0)));
    }
}
