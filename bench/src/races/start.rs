//! Start-up: what perfdata costs before it reads records, and if there are few.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::Context;
use crate::capture;
use crate::failure::Failure;
use crate::folder::{Folder, Used};
use crate::inputs::CALLCHAIN;
use crate::ours;
use crate::perfdata;
use crate::race::median;
use crate::system::{self, Load};
use crate::table::{Goal, Table};

/// Bytes of the large capture, and of that of `--quick`.
const LARGE: u64 = 10_000_000_000;
const QUICK: u64 = 8_000_000;

/// Runs of what takes milliseconds, and of what reads the large capture.
const SHORT: usize = 51;
const LONG: usize = 5;

/// A program that takes about a thousand samples of itself and of libc: a shell that counts.
const COUNTS: [&str; 3] = ["sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done"];

/// The goals, in milliseconds, and against the walk from header to header.
const HELP: Goal = Goal::AtMost(3.0);
const HEADER_ONLY: Goal = Goal::AtMost(10.0);
const INFO: Goal = Goal::AtMost(1.1);
const SCRIPT: Goal = Goal::AtMost(10.0);

pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let perfdata = perfdata::build(!context.quick)?;
    let size = context.size.unwrap_or(if context.quick { QUICK } else { LARGE });
    let folder = Folder::new(size + size / 8)?;
    let (short, long) = if context.quick { (1, 1) } else { (SHORT, LONG) };

    let large = folder.path("large.data");
    system::write_file(&large, Load::Long, size)?;
    let help = median(milliseconds(short, || folder.run(Command::new(&perfdata).arg("--help")))?);
    let header_only =
        median(milliseconds(short, || folder.run_on(&perfdata, &["info", "--header-only"], &large))?);
    // In turns, so that both find the same in the page cache.
    let (mut info, mut walk) = (Vec::new(), Vec::new());
    for _ in 0..long + 1 {
        walk.push(walked(&large)?);
        info.extend(milliseconds(1, || folder.run_on(&perfdata, &["info"], &large))?);
    }
    // The first round is not counted.
    let (info, walk) = (median(info.split_off(1)), median(walk.split_off(1)));
    let small = samples(context, &folder)?;
    let script = |options: &[&str]| {
        let run = || folder.run_on(&perfdata, &[&["script"], options].concat(), &small);
        milliseconds(short, run).map(median)
    };
    let first = script(&["--no-cache"])?;
    // Its first run fills the cache.
    let again = script(&[])?;

    let title = format!("Start-up; the large capture has {} MB", size / 1_000_000);
    let mut table = Table::new(title, &["", "ms, median"]);
    for (what, time) in [
        ("perfdata --help", help),
        ("info --header-only of the large capture", header_only),
        ("walk from header to header of the large capture", walk),
        ("info of the large capture", info),
        ("script of about 1,000 samples of a shell", first),
        ("the same, with the names of the run before", again),
    ] {
        table.rows.push(vec![what.into(), format!("{time:.2}")]);
    }
    table.judge("--help, ms", help, HELP);
    table.judge("info --header-only over --help, ms", header_only - help, HEADER_ONLY);
    table.judge("info against the walk", info / walk, INFO);
    table.judge("script of about 1,000 samples, ms", first, SCRIPT);
    table.judge("script of about 1,000 samples again, ms", again, SCRIPT);
    Ok(vec![table])
}

/// Runs a program so many times. Returns its times in milliseconds.
fn milliseconds(runs: usize, run: impl Fn() -> Result<Used, Failure>) -> Result<Vec<f64>, Failure> {
    (0..runs).map(|_| run().map(|used| used.time.as_secs_f64() * 1e3)).collect()
}

/// Maps a capture, and reads the header of each record. Returns the time in milliseconds.
fn walked(path: &Path) -> Result<f64, Failure> {
    let start = Instant::now();
    let map = capture::map(path)?;
    let (_, data) = capture::parts(&map).ok_or_else(|| Failure::of(path.display(), "is not a capture"))?;
    let records = &map[data];
    let sum = ours::hop(records)?;
    if sum != records.len() as u64 {
        return Err(Failure(format!("{sum} bytes of records, of {}", records.len())));
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// Returns a small capture without frames of the kernel.
fn samples(context: &Context, folder: &Folder) -> Result<PathBuf, Failure> {
    if context.quick {
        return Ok(context.inputs.path(CALLCHAIN));
    }
    let path = folder.path("small.data");
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-g", "-o"])
        .arg(&path)
        .arg("--")
        .args(COUNTS);
    folder.run(&mut perf)?;
    Ok(path)
}
