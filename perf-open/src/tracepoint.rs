//! Tracepoints: their ids, names and formats, from tracefs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::lookup::{LookupError, TextError, closest, sysfs};

/// The usual mount points of tracefs, the newer one first.
///
/// Kernel: `Documentation/trace/ftrace.rst`.
const CUSTOMARY: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A mounted tracefs, or a folder with the same layout.
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
    /// Returns the tracefs of this machine: where `/proc/self/mounts` lists it, else at one of the usual mount points.
    ///
    /// It may be missing or unreadable; the methods that read it then return an error.
    #[must_use]
    pub fn find() -> Self {
        let mounts = sysfs::read(Path::new("/proc/self/mounts")).unwrap_or_default();
        let mount_points = mounted(&mounts).into_iter().chain(CUSTOMARY.map(PathBuf::from));
        let mut mount_points = mount_points.filter(|path| path.join("events").is_dir());
        let [customary, _] = CUSTOMARY;
        Self::at(mount_points.next().unwrap_or_else(|| customary.into()))
    }

    /// Uses a folder with the layout of `/sys/kernel/tracing`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the subsystems that have tracepoints, sorted.
    ///
    /// # Errors
    ///
    /// [`LookupError::Read`] if tracefs is not mounted or not readable; the error distinguishes the two.
    pub fn systems(&self) -> Result<Vec<String>, LookupError> {
        let events = self.root.join("events");
        let mut names = sysfs::names(&events).map_err(advised)?;
        names.retain(|name| events.join(name).is_dir());
        Ok(names)
    }

    /// Returns the tracepoints of a subsystem, sorted.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if there is no such subsystem. [`LookupError::Read`] as for [`systems`](Self::systems).
    pub fn names(&self, system: &str) -> Result<Vec<String>, LookupError> {
        let folder = self.root.join("events").join(system);
        if !sysfs::is_file_name(system) || !folder.is_dir() {
            let close = closest(system, self.systems()?.iter().map(String::as_str));
            return Err(LookupError::Unknown { what: "tracepoint system", name: system.to_owned(), close });
        }
        let mut names = sysfs::names(&folder).map_err(advised)?;
        // `enable` and `filter` are files. Some folders have no id, such as the tracepoints of ftrace itself.
        names.retain(|name| folder.join(name).join("id").is_file());
        Ok(names)
    }

    /// Returns the id of a tracepoint: the `config` of its events.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if there is no such tracepoint, [`LookupError::Text`] if its id is not a number,
    /// [`LookupError::Read`] as for [`systems`](Self::systems).
    pub fn id(&self, system: &str, name: &str) -> Result<u64, LookupError> {
        let text = self.file(system, name, "id")?;
        let path = self.root.join("events").join(system).join(name).join("id");
        let fault = |_| sysfs::invalid(&path, TextError { offset: 0, expected: "a number" });
        text.trim_end().parse().map_err(fault)
    }

    /// Returns the text of a tracepoint's `format` file, which `perf_parse::tracepoint` parses.
    ///
    /// # Errors
    ///
    /// The same as [`id`](Self::id).
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

/// Adds advice to an error of reading tracefs.
fn advised(error: LookupError) -> LookupError {
    let LookupError::Read { path, error, .. } = error else { return error };
    let advice = match error.kind() {
        ErrorKind::NotFound => "tracefs may not be mounted: mount -t tracefs nodev /sys/kernel/tracing",
        ErrorKind::PermissionDenied => {
            "only root may read tracefs; root can open it to others: mount -o remount,mode=755 /sys/kernel/tracing"
        }
        _ => "",
    };
    LookupError::Read { path, error, advice }
}

/// Returns the folders at which a text like `/proc/self/mounts` lists tracefs: its own mounts first, then those inside
/// debugfs.
///
/// Kernel: `show_vfsmnt`, `fs/proc_namespace.c`. A space in a path is an octal escape.
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

/// Undoes the escapes in a path of `/proc/self/mounts`, such as `\040` for a space.
fn unescape(path: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .into_iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(path.to_owned(), |path, (escape, sign)| path.replace(escape, sign))
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
