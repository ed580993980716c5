//! The limit of open files: each event takes a file descriptor on each target.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard limit. Returns the new limit; `None` if it was not raised, because
/// it already was as high, or because the system forbids it.
///
/// Processes that are started later inherit the limit. A [`Workload`](perf_open::workload::Workload) that was prepared
/// before keeps the old one.
///
/// perf: `rlimit__increase_nofile`, `tools/perf/util/rlimit.c`.
#[must_use]
pub fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let (current, most) = (current?, maximum.unwrap_or(u64::MAX));
    if current >= most {
        return None;
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).ok()?;
    Some(most)
}
