//! The cgroups whose tasks alone are counted or recorded.

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

/// Returns the number of the cgroup of each event, given the names of the command line and the number of events of each
/// group: the one name for all events, or the name at the place of the event; `None` for an empty name.
///
/// perf: `parse_cgroups`, `tools/perf/util/cgroup.c`.
pub(crate) fn of_events(
    names: &[String],
    groups: impl IntoIterator<Item = usize>,
) -> Result<Vec<Option<usize>>, Failure> {
    let mut numbers = Vec::new();
    for events in groups {
        let own = |place| if names.len() == 1 { 0 } else { place };
        let name = |place| names.get(own(place)).filter(|name| !name.is_empty());
        let places = numbers.len()..numbers.len().saturating_add(events);
        if places.clone().any(|place| name(place) != name(places.start)) {
            return Err(Failure("--cgroup: the events of a group must have the same cgroup".to_owned()));
        }
        let first = places.start;
        numbers.extend(places.map(|_| name(first).map(|_| own(first))));
    }
    let (names, events) = (names.len(), numbers.len());
    if names > 1 && names != events {
        return Err(Failure(format!(
            "--cgroup: {names} cgroups for {events} events; give one for each event, or one for all"
        )));
    }
    Ok(numbers)
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
    fn a_cgroup_for_each_event_or_one_for_all() {
        let of = |names: &str, groups: &[usize]| {
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            of_events(&names, groups.iter().copied()).map_err(|error| error.0)
        };
        assert_eq!(of("a", &[1, 2]), Ok(vec![Some(0), Some(0), Some(0)]));
        assert_eq!(of("a,,b", &[1, 1, 1]), Ok(vec![Some(0), None, Some(2)]));
        assert_eq!(of("a,a,b", &[2, 1]), Ok(vec![Some(0), Some(0), Some(2)]));
        assert!(of("a,b", &[2]).is_err_and(|why| why.contains("events of a group")));
        assert!(of("a,b", &[1, 1, 1]).is_err_and(|why| why.contains("2 cgroups for 3 events")));
        assert_eq!(of_events(&[], [1]).ok(), Some(vec![None]));
    }

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
