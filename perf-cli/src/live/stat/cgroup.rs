//! The cgroups of `-G` and `--for-each-cgroup`.

use std::fs::{self, File};
use std::path::PathBuf;

use crate::Failure;

/// A cgroup whose tasks are counted.
#[derive(Debug)]
pub(crate) struct Cgroup {
    /// The name on the command line.
    pub(crate) name: String,
    /// Its directory.
    pub(crate) directory: File,
}

impl Cgroup {
    /// Opens a cgroup: a path below the root of the hierarchy that perf events use.
    pub(crate) fn open(name: &str) -> Result<Self, Failure> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let root = root(&mounts).ok_or("cgroup: no cgroup hierarchy for perf events is mounted")?;
        let path = root.join(name.trim_start_matches('/'));
        let directory =
            File::open(&path).map_err(|error| format!("cgroup {name}: {}: {error}", path.display()))?;
        Ok(Self { name: name.to_owned(), directory })
    }
}

/// Returns the mount point of the `perf_event` controller of version 1, or of version 2.
fn root(mounts: &str) -> Option<PathBuf> {
    let fields = |line: &str| {
        let mut fields = line.split(' ');
        let (_, point, kind, options) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        Some((point.to_owned(), kind.to_owned(), options.split(',').any(|option| option == "perf_event")))
    };
    let mounted: Vec<_> = mounts.lines().filter_map(fields).collect();
    let first = mounted.iter().find(|(_, kind, has_controller)| kind == "cgroup" && *has_controller);
    let second = || mounted.iter().find(|(_, kind, _)| kind == "cgroup2");
    first.or_else(second).map(|(point, ..)| point.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_where_events_look_for_cgroups() {
        let second = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        assert_eq!(root(second), Some("/sys/fs/cgroup".into()));
        let both =
            format!("{second}cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup /cg/perf cgroup rw,perf_event 0 0\n");
        assert_eq!(root(&both), Some("/cg/perf".into()));
        assert_eq!(root("proc /proc proc rw 0 0\n"), None);
    }
}
