//! The way in which a file was found.

use core::fmt;

/// The way in which the file that has a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileOrigin {
    /// At the recorded path.
    Path,
    /// By its build id, in perf's cache or in a folder of debug packages.
    BuildId,
    /// By the name and the checksum in `.gnu_debuglink`.
    DebugLink,
    /// In a process that has mapped it and still runs.
    Process,
    /// From elsewhere, such as a debuginfod server: by [`Files::fetch`](crate::Files::fetch).
    Fetched,
    /// Of the running machine: its kernel's symbols or its vDSO.
    Running,
    /// Given in [`SymbolOptions`](crate::SymbolOptions), as vmlinux or kallsyms.
    Given,
    /// Stored in the capture: the copy of `/proc/kallsyms` that simpleperf's captures may have.
    Capture,
}

impl FileOrigin {
    /// Returns the origin in a word, such as `build-id`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::BuildId => "build-id",
            Self::DebugLink => "debug-link",
            Self::Process => "process",
            Self::Fetched => "fetched",
            Self::Running => "running",
            Self::Given => "given",
            Self::Capture => "capture",
        }
    }
}

impl fmt::Display for FileOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
