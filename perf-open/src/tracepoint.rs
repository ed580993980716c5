//! Tracepoints: their ids, names and formats, from tracefs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use perf_abi::event::EventType;

use crate::event::{Event, LookupError, closest};
use crate::pmu::{TextError, sysfs};

/// Where tracefs is mounted by custom, the newer place first.
///
/// Kernel: `Documentation/trace/ftrace.rst`.
const CUSTOMARY: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A mounted tracefs, or a folder like it.
///
/// Kernel: `Documentation/trace/events.rst`; `events/SYSTEM/NAME/id`, `events/SYSTEM/NAME/format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracefs {
    root: PathBuf,
}

impl Default for Tracefs {
    fn default() -> Self {
        Self::find()
    }
}

impl Tracefs {
    /// This machine's: where `/proc/self/mounts` says, else where it is by custom.
    ///
    /// Whether it is there and may be read shows when it is read.
    #[must_use]
    pub fn find() -> Self {
        let mounts = sysfs::read(Path::new("/proc/self/mounts")).unwrap_or_default();
        let places = mounted(&mounts).into_iter().chain(CUSTOMARY.map(PathBuf::from));
        let mut places = places.filter(|place| place.join("events").is_dir());
        let [customary, _] = CUSTOMARY;
        Self::at(places.next().unwrap_or_else(|| customary.into()))
    }

    /// That of a folder that looks like `/sys/kernel/tracing`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The subsystems that have tracepoints, sorted.
    ///
    /// # Errors
    ///
    /// [`LookupError::Read`] if tracefs is not mounted or may not be read; it says which.
    pub fn systems(&self) -> Result<Vec<String>, LookupError> {
        let events = self.root.join("events");
        let mut names = sysfs::names(&events).map_err(advised)?;
        names.retain(|name| events.join(name).is_dir());
        Ok(names)
    }

    /// The tracepoints of a subsystem, sorted.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if there is no such subsystem; [`LookupError::Read`] as for [`systems`](Self::systems).
    pub fn names(&self, system: &str) -> Result<Vec<String>, LookupError> {
        let folder = self.root.join("events").join(system);
        if !sysfs::is_file_name(system) || !folder.is_dir() {
            let close = closest(system, self.systems()?.iter().map(String::as_str));
            return Err(LookupError::Unknown { what: "tracepoint system", name: system.to_owned(), close });
        }
        let mut names = sysfs::names(&folder).map_err(advised)?;
        // `enable` and `filter` are files; some tracepoints, as those of ftrace itself, have a folder but no id.
        names.retain(|name| folder.join(name).join("id").is_file());
        Ok(names)
    }

    /// The id of a tracepoint: the `config` of its events.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if there is no such tracepoint, [`LookupError::Text`] if its id is no number;
    /// [`LookupError::Read`] as for [`systems`](Self::systems).
    pub fn id(&self, system: &str, name: &str) -> Result<u64, LookupError> {
        let text = self.file(system, name, "id")?;
        let path = self.root.join("events").join(system).join(name).join("id");
        let fault = |_| sysfs::invalid(&path, TextError { offset: 0, expected: "a number" });
        text.trim_end().parse().map_err(fault)
    }

    /// The format of a tracepoint's raw data, as its file has it: for `perf_parse::tracepoint`.
    ///
    /// # Errors
    ///
    /// As for [`id`](Self::id).
    pub fn format(&self, system: &str, name: &str) -> Result<String, LookupError> {
        self.file(system, name, "format")
    }

    fn file(&self, system: &str, name: &str, file: &str) -> Result<String, LookupError> {
        let path = self.root.join("events").join(system).join(name).join(file);
        let error = match sysfs::read(&path) {
            _ if !sysfs::is_file_name(system) || !sysfs::is_file_name(name) => None,
            Err(LookupError::Read { error, .. }) if error.kind() == ErrorKind::NotFound => None,
            other => Some(other.map_err(advised)),
        };
        if let Some(read) = error {
            return read;
        }
        let close = closest(name, self.names(system)?.iter().map(String::as_str));
        let close = close.iter().map(|name| format!("{system}:{name}")).collect();
        Err(LookupError::Unknown { what: "tracepoint", name: format!("{system}:{name}"), close })
    }
}

/// An error of reading tracefs, with what can be done.
fn advised(error: LookupError) -> LookupError {
    let LookupError::Read { path, error, .. } = error else { return error };
    let advice = match error.kind() {
        ErrorKind::NotFound => "is tracefs mounted? mount -t tracefs nodev /sys/kernel/tracing",
        ErrorKind::PermissionDenied => {
            "tracefs is root's; root may open it to others: mount -o remount,mode=755 /sys/kernel/tracing"
        }
        _ => "",
    };
    LookupError::Read { path, error, advice }
}

/// Where a text like `/proc/self/mounts` says that tracefs is: mounted by itself, then inside debugfs.
///
/// Kernel: `show_vfsmnt`, `fs/proc_namespace.c`: a blank in a path is an octal escape.
fn mounted(mounts: &str) -> Vec<PathBuf> {
    let of_type = |wanted| {
        mounts.lines().filter_map(move |line| {
            let mut fields = line.split(' ');
            let place = fields.nth(1)?;
            (fields.next()? == wanted).then(|| PathBuf::from(unescape(place)))
        })
    };
    of_type("tracefs").chain(of_type("debugfs").map(|place| place.join("tracing"))).collect()
}

/// A path of `/proc/self/mounts` without its escapes, `\040` for a blank.
fn unescape(path: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .into_iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(path.to_owned(), |path, (escape, sign)| path.replace(escape, sign))
}

impl Event {
    /// A tracepoint of this machine: `PERF_TYPE_TRACEPOINT`.
    ///
    /// # Errors
    ///
    /// As [`Tracefs::id`] has them: there is no such tracepoint, tracefs is not mounted, or may not be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::Event;
    ///
    /// match Event::tracepoint("sched", "sched_switch") {
    ///     Ok(event) => assert_eq!(event.name, "sched:sched_switch"),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    pub fn tracepoint(system: &str, name: &str) -> Result<Self, LookupError> {
        Self::tracepoint_of(&Tracefs::find(), system, name)
    }

    /// A tracepoint that `tracefs` tells of.
    ///
    /// # Errors
    ///
    /// As [`Tracefs::id`] has them.
    pub fn tracepoint_of(tracefs: &Tracefs, system: &str, name: &str) -> Result<Self, LookupError> {
        let id = tracefs.id(system, name)?;
        Ok(Self::numeric(format!("{system}:{name}"), EventType::TRACEPOINT, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_before_debugfs_and_escapes_undone() {
        let mounts = "debugfs /sys/kernel/debug debugfs rw 0 0\n\
                      none /mnt/a\\040b tracefs rw 0 0\n\
                      tracefs /not/this ext4 rw 0 0\n\
                      short\n";
        assert_eq!(mounted(mounts), [Path::new("/mnt/a b"), Path::new("/sys/kernel/debug/tracing")]);
        assert!(mounted("").is_empty());
    }
}
