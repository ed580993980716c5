//! Captures of any size: memory that does not grow with the file, and `--time` with an index.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Context;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::perfdata;
use crate::system::{self, Load};
use crate::table::{Goal, Table};

/// Bytes of the larger capture, and of that of `--quick`. The smaller one has a sixteenth.
const LARGE: u64 = 8_000_000_000;
const QUICK: u64 = 8_000_000;

/// How much more anonymous memory the larger capture may take, in MB: what differs from run to run.
const GROWTH: Goal = Goal::AtMost(4.0);

/// The cost of 1 % of the span of an indexed capture against all of it, in percent.
const OF_SPAN: Goal = Goal::AtMost(3.0);

/// The work.
const VERBS: [(&str, &[&str]); 6] = [
    ("dump", &["dump"]),
    ("script", &["script"]),
    ("fold", &["fold"]),
    ("flamegraph", &["flamegraph", "-o", "out.html"]),
    ("export --to pprof", &["export", "--to", "pprof", "-o", "out.pb.gz"]),
    ("export --to firefox", &["export", "--to", "firefox", "-o", "out.json.gz"]),
];

/// Memory of the verbs; the cost of a hundredth of the time.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let perfdata = perfdata::build(!context.quick)?;
    let large = context.size.unwrap_or(if context.quick { QUICK } else { LARGE });
    let sizes = [large / 16, large];
    let folder = Folder::new(sizes[1] * 2)?;
    let paths = sizes.map(|size| folder.path(&format!("{size}.data")));
    let mut samples = [0; 2];
    for ((path, size), samples) in paths.iter().zip(sizes).zip(&mut samples) {
        *samples = system::write_file(path, Load::Long, size)?;
    }
    let (memory, whole) = memory(&perfdata, &folder, &paths, samples)?;
    Ok(vec![memory, times(context, &perfdata, &folder, &paths[1], &whole)?])
}

/// The memory of each verb, of both captures, and its times of the larger one.
fn memory(
    perfdata: &Path,
    folder: &Folder,
    paths: &[PathBuf; 2],
    samples: [u64; 2],
) -> Result<(Table, Vec<Duration>), Failure> {
    let mut times = Vec::new();
    let title = format!("Anonymous memory at most, of {} and of {} samples", samples[0], samples[1]);
    let mut table = Table::new(title, &["verb", "smaller, MB", "larger, MB", "larger, s"]);
    for (name, arguments) in VERBS {
        let mut used = Vec::new();
        for path in paths {
            used.push(folder.run_on(perfdata, arguments, path)?);
        }
        let [small, large] = [used[0].anonymous, used[1].anonymous].map(|bytes| bytes as f64 / 1e6);
        times.push(used[1].time);
        let seconds = format!("{:.2}", used[1].time.as_secs_f64());
        table.rows.push(vec![name.into(), format!("{small:.1}"), format!("{large:.1}"), seconds]);
        table.judge(&format!("{name}: MB more of the larger capture"), large - small, GROWTH);
    }
    Ok((table, times))
}

/// The time of a hundredth of the span, with an index, against that of the whole capture.
fn times(
    context: &Context,
    perfdata: &Path,
    folder: &Folder,
    path: &Path,
    whole: &[Duration],
) -> Result<Table, Failure> {
    folder.run_on(perfdata, &["index"], path)?;
    let (first, last) = span(path)?;
    // In the middle of the capture.
    let (start, end) = (first + (last - first) / 2, first + (last - first) / 2 + (last - first) / 100);
    let seconds = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    let part = format!("{},{}", seconds(start), seconds(end));
    let mut table =
        Table::new("1 % of the time of an indexed capture", &["verb", "all, s", "1 %, s", "per cent of all"]);
    for ((name, arguments), whole) in VERBS.into_iter().zip(whole) {
        let whole = whole.as_secs_f64();
        let mut parts = Vec::new();
        for _ in 0..if context.quick { 1 } else { 3 } {
            let used = folder.run_on(perfdata, &[arguments, &["--time", &part]].concat(), path)?;
            parts.push(used.time.as_secs_f64());
        }
        let part = crate::race::median(parts);
        let percent = part / whole * 100.0;
        table.rows.push(vec![
            name.into(),
            format!("{whole:.2}"),
            format!("{part:.3}"),
            format!("{percent:.2}"),
        ]);
        table.judge(&format!("{name}: per cent of all"), percent, OF_SPAN);
    }
    Ok(table)
}

/// Returns the times of the first and of the last sample.
pub(super) fn span(path: &Path) -> Result<(u64, u64), Failure> {
    let map = crate::capture::map(path)?;
    let reader = perf_parse::Reader::new(&map)?;
    let mut times = reader.records().filter_map(Result::ok).filter_map(|record| record.time());
    let first = times.next().ok_or_else(|| Failure("no record has a time".into()))?;
    Ok(times.fold((first, first), |(first, last), time| (first.min(time), last.max(time))))
}
