//! The cgroups whose tasks alone are counted or recorded.

use std::fs::{self, File};

use perf_open::abi::event::SwId;
use perf_open::{Builder, EventSpec, Target};

use crate::Failure;
use crate::escape::shown;

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
        let root = perf_record::cgroup_root(&mounts)
            .ok_or("cgroup: no cgroup hierarchy for perf events is mounted")?;
        let path = root.join(name.trim_start_matches('/'));
        let failed = |why: &str| {
            let (path, root) = (shown(&path), shown(&root));
            Failure(format!(
                "cgroup {name}: {path}: {why}; a name is a path below {root}, where events find cgroups"
            ))
        };
        let directory = File::open(&path).map_err(|error| failed(&error.to_string()))?;
        if !is_of_events(&directory) {
            return Err(failed("not a cgroup that events can be bound to"));
        }
        Ok(Self { name: name.to_owned(), directory })
    }
}

/// Returns whether the kernel accepts a directory as a cgroup of events. If it is not known, for lack of privilege, it is one.
fn is_of_events(directory: &File) -> bool {
    let Some(cpu) = perf_record::online().ok().and_then(|cpus| cpus.first().copied()) else { return true };
    let clock = Builder::new(EventSpec::software(SwId::CPU_CLOCK)).disabled(true).exclude_kernel(true);
    let opened = clock.open(&Target::cgroup(directory, cpu));
    !opened.is_err_and(|error| matches!(error.errno_name(), Some("ENOENT" | "EBADF")))
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
}
