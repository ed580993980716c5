//! Captures of any size: memory that does not grow with the file, and `--time` with an index.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Context;
use crate::failure::Failure;
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
    let folder = Folder::new()?;
    let large = context.size.unwrap_or(if context.quick { QUICK } else { LARGE });
    let sizes = [large / 16, large];
    let room = sizes[1] * 2;
    if available(&folder.0)? < room {
        return Err(Failure(format!("{} has not {room} bytes of free space", folder.0.display())));
    }
    let paths = sizes.map(|size| folder.0.join(format!("{size}.data")));
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
            used.push(folder.run(perfdata, arguments, path)?);
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
    folder.run(perfdata, &["index"], path)?;
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
            let used = folder.run(perfdata, &[arguments, &["--time", &part]].concat(), path)?;
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
fn span(path: &Path) -> Result<(u64, u64), Failure> {
    let map = crate::capture::map(path)?;
    let reader = perf_parse::Reader::new(&map)?;
    let mut times = reader.records().filter_map(Result::ok).filter_map(|record| record.time());
    let first = times.next().ok_or_else(|| Failure("no record has a time".into()))?;
    Ok(times.fold((first, first), |(first, last), time| (first.min(time), last.max(time))))
}

/// What a run took.
#[derive(Clone, Copy, Debug)]
struct Used {
    time: Duration,
    /// The most anonymous memory that was seen, in bytes.
    anonymous: u64,
}

/// A folder for the captures, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("perfdata-bench-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// Runs the program on a capture.
    fn run(&self, perfdata: &Path, arguments: &[&str], path: &Path) -> Result<Used, Failure> {
        let mut command = Command::new(perfdata);
        command.args(arguments).args([OsStr::new("-i"), path.as_os_str()]).current_dir(&self.0);
        let start = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let status = format!("/proc/{}/status", child.id());
        let mut anonymous = 0;
        let ended = loop {
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            anonymous = anonymous.max(anonymous_of(&status));
            std::thread::sleep(Duration::from_millis(2));
        };
        if !ended.success() {
            return Err(Failure::of(arguments.join(" "), ended));
        }
        Ok(Used { time: start.elapsed(), anonymous })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the anonymous memory of a process, in bytes; 0 for a process that has exited.
fn anonymous_of(status: &str) -> u64 {
    let status = fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Returns the number of free bytes on the file system of a folder.
fn available(folder: &Path) -> Result<u64, Failure> {
    let output = Command::new("df").args(["--output=avail", "-B1"]).arg(folder).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let bytes = text.lines().last().and_then(|line| line.trim().parse().ok());
    bytes.ok_or_else(|| Failure::of("df", "reports no number of free bytes"))
}
