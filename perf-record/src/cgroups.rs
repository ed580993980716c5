//! The cgroups that exist.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The maximum number of cgroups that are listed. More than any machine has.
const MAX: usize = 1 << 20;

/// A cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cgroup {
    /// Its id, as in samples: the number of the inode.
    pub(crate) id: u64,
    /// Its path from the root of the hierarchy.
    pub(crate) path: Vec<u8>,
}

/// Returns the folder in which the cgroups are that events see: the mount point of the `perf_event` controller of
/// version 1, or of version 2; `None` if neither is mounted. `mounts` is the content of `/proc/self/mounts`.
///
/// Kernel: `perf_event_cgrp_id`; perf: `cgroupfs_find_mountpoint`.
///
/// # Examples
///
/// ```
/// let mounts = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
/// assert_eq!(perf_record::cgroup_root(mounts), Some("/sys/fs/cgroup".into()));
/// assert_eq!(perf_record::cgroup_root(""), None);
/// ```
#[must_use]
pub fn root(mounts: &str) -> Option<PathBuf> {
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

/// Returns all cgroups of the machine below `machine`, each after its parent; empty if there are none. If the
/// number of an inode cannot hold the id of a cgroup, as with 32 bits, samples have another id for it.
pub(crate) fn all(machine: &Path) -> Vec<Cgroup> {
    let mounts = fs::read(machine.join("proc/self/mounts")).unwrap_or_default();
    let Some(root) = root(&String::from_utf8_lossy(&mounts)) else { return Vec::new() };
    let root = machine.join(root.strip_prefix("/").unwrap_or(&root));
    let mut all = Vec::new();
    let mut folders = vec![root.clone()];
    while let (Some(folder), true) = (folders.pop(), all.len() < MAX) {
        // A cgroup may be removed at any moment.
        let Ok(metadata) = fs::symlink_metadata(&folder) else { continue };
        let path = folder.strip_prefix(&root).unwrap_or(&folder).as_os_str().as_bytes();
        all.push(Cgroup { id: metadata.ino(), path: [b"/", path].concat() });
        let mut inner: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().collect();
        inner.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(inner.into_iter().map(|entry| entry.path()));
    }
    all
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

    #[test]
    fn cgroups_by_their_inodes() {
        let machine = tempfile::tempdir().unwrap();
        assert_eq!(all(machine.path()), []);
        fs::create_dir_all(machine.path().join("proc/self")).unwrap();
        fs::write(machine.path().join("proc/self/mounts"), "cgroup2 /cg cgroup2 rw 0 0\n").unwrap();
        fs::create_dir_all(machine.path().join("cg/a/b")).unwrap();
        fs::write(machine.path().join("cg/a/cgroup.procs"), "").unwrap();
        let found = all(machine.path());
        let paths: Vec<_> = found.iter().map(|cgroup| &*cgroup.path).collect();
        assert_eq!(paths, [&b"/"[..], b"/a", b"/a/b"]);
        assert_eq!(found[2].id, fs::metadata(machine.path().join("cg/a/b")).unwrap().ino());
    }
}
