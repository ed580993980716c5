//! The targets of a recording: the command, threads, or cpus.

use std::fs;

use perf_open::pmu::parse_cpus;

use crate::Error;

/// The targets of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "perf_event_open has no other targets than tasks and cpus")]
pub enum Observed {
    /// A command, which a [`Workload`](perf_open::workload::Workload) starts.
    Command,
    /// These threads.
    Threads(Vec<u32>),
    /// Everything on these cpus.
    Cpus(Vec<u32>),
}

/// Returns the cpus that are online: from sysfs, or from `/proc/stat` if sysfs is not mounted, as in some containers.
///
/// # Errors
///
/// If neither file can be read, or the one in sysfs is not a list of cpus.
pub fn online() -> Result<Vec<u32>, Error> {
    const PATH: &str = "/sys/devices/system/cpu/online";
    const STAT: &str = "/proc/stat";
    if let Ok(text) = fs::read_to_string(PATH) {
        return parse_cpus(&text).map_err(|error| Error::Request(format!("{PATH}: {error}")));
    }
    let text = fs::read_to_string(STAT).map_err(Error::io(STAT))?;
    Ok(text.lines().filter_map(cpu_of_line).collect())
}

/// Returns the cpu of a line of `/proc/stat` such as `cpu3 1132 34 ...`. `None` for the sum of all cpus
/// (`cpu 4705 ...`) and for other lines.
fn cpu_of_line(line: &str) -> Option<u32> {
    line.split_whitespace().next()?.strip_prefix("cpu")?.parse().ok()
}

/// Returns whether a thread exists and has not ended.
#[must_use]
pub fn is_alive(tid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain some.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}
