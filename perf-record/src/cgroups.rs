//! The cgroups that exist, and those whose tasks alone are counted or recorded.

use alloc::sync::Arc;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use perf_open::abi::event::SwId;
use perf_open::{Builder, EventSpec, Target};

use crate::online;

/// The maximum number of cgroups that are listed. More than any machine has.
const MAX: usize = 1 << 20;

/// A cgroup of the machine, for its CGROUP record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CgroupPath {
    /// Its id, as in samples: the number of the inode.
    pub(crate) id: u64,
    /// Its path from the root of the hierarchy.
    pub(crate) path: Vec<u8>,
}

/// A cgroup whose tasks are counted or recorded: an open directory below the root of the hierarchy that perf events use.
///
/// # Examples
///
/// ```no_run
/// use perf_record::CgroupDirectory;
///
/// let cgroup = CgroupDirectory::open("system.slice")?;
/// assert_eq!(cgroup.name(), "system.slice");
/// # Ok::<(), perf_record::CgroupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CgroupDirectory {
    name: String,
    file: Arc<File>,
}

/// An error of counting or recording cgroups.
#[derive(Debug)]
#[non_exhaustive]
pub enum CgroupError {
    /// No hierarchy of cgroups that perf events use is mounted.
    NoHierarchy,
    /// The directory of a cgroup cannot be opened.
    Open {
        /// The cgroup's name.
        name: String,
        /// The directory.
        path: PathBuf,
        /// The root of the hierarchy.
        root: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The kernel does not accept a directory as a cgroup of events.
    NoEvents {
        /// The cgroup's name.
        name: String,
        /// The directory.
        path: PathBuf,
        /// The root of the hierarchy.
        root: PathBuf,
    },
    /// The events of a group have different cgroups.
    MixedGroup,
    /// There are several cgroups, but not one for each event.
    CountMismatch {
        /// The number of cgroups.
        cgroups: usize,
        /// The number of events.
        events: usize,
    },
}

impl core::fmt::Display for CgroupError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let refused = |f: &mut core::fmt::Formatter<'_>, name: &str, path: &Path, root: &Path, why: &str| {
            let (path, root) = (path.display(), root.display());
            write!(
                f,
                "cgroup {name}: {path}: {why}; a name is a path below {root}, where events find cgroups"
            )
        };
        match self {
            Self::NoHierarchy => f.write_str("cgroup: no cgroup hierarchy for perf events is mounted"),
            Self::Open { name, path, root, error } => refused(f, name, path, root, &error.to_string()),
            Self::NoEvents { name, path, root } => {
                refused(f, name, path, root, "not a cgroup that events can be bound to")
            }
            Self::MixedGroup => f.write_str("the events of a group must have the same cgroup"),
            Self::CountMismatch { cgroups, events } => {
                write!(f, "{cgroups} cgroups for {events} events; give one for each event, or one for all")
            }
        }
    }
}

impl core::error::Error for CgroupError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Open { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl CgroupDirectory {
    /// Opens a cgroup: a path below the root of the hierarchy that perf events use, version 1 or 2.
    ///
    /// # Errors
    ///
    /// If no such hierarchy is mounted, or there is no such cgroup, or the directory is not one of a cgroup.
    pub fn open(name: &str) -> Result<Self, CgroupError> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let root = root(&mounts).ok_or(CgroupError::NoHierarchy)?;
        let path = root.join(name.trim_start_matches('/'));
        let owned = name.to_owned();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) => return Err(CgroupError::Open { name: owned, path, root, error }),
        };
        if !accepts_events(&file) {
            return Err(CgroupError::NoEvents { name: owned, path, root });
        }
        Ok(Self { name: owned, file: Arc::new(file) })
    }

    /// Opens the cgroup of each event, given the paths of cgroups and the number of events of each group: the one path for all
    /// events, or the path at the index of the event. An empty path is no cgroup. Returns the directories with the indices of
    /// their events, as [`RecordOptions::in_cgroups`](crate::RecordOptions::in_cgroups) takes them.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open); if the events of a group have different cgroups, or there are several cgroups but not
    /// one for each event.
    pub fn open_for_events(
        names: &[String],
        groups: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<(usize, Arc<File>)>, CgroupError> {
        let numbers = assign(names, groups)?;
        let open = |name: &String| (!name.is_empty()).then(|| Self::open(name)).transpose();
        let directories = names.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let file = |number: usize| Some(directories.get(number)?.as_ref()?.file.clone());
        Ok(numbers.into_iter().enumerate().filter_map(|(event, it)| Some((event, file(it?)?))).collect())
    }

    /// Returns the path below the root of the hierarchy, as it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the open directory, for [`Target::cgroup`].
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Returns whether the kernel accepts a directory as a cgroup of events. If it is not known, for lack of privilege, it does.
fn accepts_events(directory: &File) -> bool {
    let Some(cpu) = online().ok().and_then(|cpus| cpus.first().copied()) else { return true };
    let clock = Builder::new(EventSpec::software(SwId::CPU_CLOCK)).disabled(true).exclude_kernel(true);
    let opened = clock.open(&Target::cgroup(directory, cpu));
    !opened.is_err_and(|error| matches!(error.errno_name(), Some("ENOENT" | "EBADF")))
}

/// Returns the index of the cgroup of each event, given the names and the number of events of each group: the one name for
/// all events, or the name at the index of the event; `None` for an empty name.
///
/// perf: `parse_cgroups`, `tools/perf/util/cgroup.c`.
pub(crate) fn assign(
    names: &[String],
    groups: impl IntoIterator<Item = usize>,
) -> Result<Vec<Option<usize>>, CgroupError> {
    let mut numbers = Vec::new();
    for events in groups {
        let own = |event| if names.len() == 1 { 0 } else { event };
        let name = |event| names.get(own(event)).filter(|name| !name.is_empty());
        let members = numbers.len()..numbers.len().saturating_add(events);
        if members.clone().any(|event| name(event) != name(members.start)) {
            return Err(CgroupError::MixedGroup);
        }
        let first = members.start;
        numbers.extend(members.map(|_| name(first).map(|_| own(first))));
    }
    let (cgroups, events) = (names.len(), numbers.len());
    if cgroups > 1 && cgroups != events {
        return Err(CgroupError::CountMismatch { cgroups, events });
    }
    Ok(numbers)
}

/// Returns the folder of the cgroups that events see: the mount point of the `perf_event` controller of version 1, or
/// of version 2; `None` if neither is mounted. `mounts` is the content of `/proc/self/mounts`.
///
/// Kernel: `perf_event_cgrp_id`; perf: `cgroupfs_find_mountpoint`.
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

/// Returns all cgroups of the machine below `machine`, each after its parent; empty if there are none. If the
/// number of an inode cannot hold the id of a cgroup, as with 32 bits, samples have another id for it.
pub(crate) fn all(machine: &Path) -> Vec<CgroupPath> {
    let mounts = fs::read(machine.join("proc/self/mounts")).unwrap_or_default();
    let Some(root) = root(&String::from_utf8_lossy(&mounts)) else { return Vec::new() };
    let root = machine.join(root.strip_prefix("/").unwrap_or(&root));
    let mut all = Vec::new();
    let mut folders = vec![root.clone()];
    while let (Some(folder), true) = (folders.pop(), all.len() < MAX) {
        // A cgroup may be removed at any moment.
        let Ok(metadata) = fs::symlink_metadata(&folder) else { continue };
        let path = folder.strip_prefix(&root).unwrap_or(&folder).as_os_str().as_bytes();
        all.push(CgroupPath { id: metadata.ino(), path: [b"/", path].concat() });
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

    #[test]
    fn a_cgroup_for_each_event_or_one_for_all() {
        let of = |names: &str, groups: &[usize]| {
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            assign(&names, groups.iter().copied()).map_err(|error| error.to_string())
        };
        assert_eq!(of("a", &[1, 2]), Ok(vec![Some(0), Some(0), Some(0)]));
        assert_eq!(of("a,,b", &[1, 1, 1]), Ok(vec![Some(0), None, Some(2)]));
        assert_eq!(of("a,a,b", &[2, 1]), Ok(vec![Some(0), Some(0), Some(2)]));
        assert!(of("a,b", &[2]).is_err_and(|why| why.contains("events of a group")));
        assert!(of("a,b", &[1, 1, 1]).is_err_and(|why| why.contains("2 cgroups for 3 events")));
        assert_eq!(assign(&[], [1]).ok(), Some(vec![None]));
        assert!(CgroupDirectory::open_for_events(&[String::new()], [1]).is_ok_and(|open| open.is_empty()));
    }
}
