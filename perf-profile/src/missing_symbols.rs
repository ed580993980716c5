//! Files without names: why, and what would help.

use core::fmt;
use std::sync::Arc;

use perf_session::{BuildId, Dso, DsoKind, Inode};
use perf_symbol::NoSymbols;

use crate::text::OneLine;

/// A file that has no names for some frames.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingSymbols {
    /// The file, or what else is mapped.
    pub dso: Arc<Dso>,
    /// The recorded build id.
    pub build_id: Option<BuildId>,
    /// The number of frames without a name.
    pub frames: u64,
    /// Why the file could not be used; `None` if it could.
    pub why: Option<NoSymbols>,
    /// Whether the file that was used was made by Go's linker.
    pub is_go: bool,
    /// Whether the file was not found, and its file system is still mounted: see
    /// [`SymbolLookup::is_mounted`](perf_symbol::SymbolLookup::is_mounted).
    pub is_mounted: bool,
    /// Whether a file of it was not fetched, because all that may be fetched was reached.
    pub is_beyond_limit: bool,
}

/// Why frames have no names, as far as it decides what would help. Displayed as the reason and a sentence that names the
/// option or the command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingCause {
    /// A package of a distribution, whose symbols are in another one.
    DebugPackage,
    /// A program without symbols there, for which nobody made a package.
    Stripped,
    /// A program of Go whose function table cannot be read.
    StrippedGo,
    /// Another file is at the path by now; its build id.
    Replaced(Option<BuildId>),
    /// There is no file at the path.
    NotFound,
    /// There is no file at the path, and it was on a file system without a device, as those of containers are: the minor
    /// number.
    ContainerGone(u32),
    /// The symbols of the kernel were not found, or are those of another one.
    Kernel(NoSymbols),
    /// The file of a module was not found, or is another one.
    KernelModule(NoSymbols),
    /// The kernel hides its addresses.
    KernelHidden,
    /// Code of this file that the process moved, as to large pages: the file has no names there, or was not found.
    Remapped(Arc<Dso>),
    /// Generated code without a map.
    NoPerfMap,
    /// Generated code that the map does not have.
    OldPerfMap,
    /// The kernel's own code that has no symbol there.
    Nameless,
    /// The limit of what may be fetched was reached before.
    FetchLimit,
    /// The file was found and could not be used.
    Unusable(NoSymbols),
}

impl MissingSymbols {
    /// Returns why the frames have no names.
    #[must_use]
    pub fn cause(&self) -> MissingCause {
        let is_nameless = matches!(self.why, None | Some(NoSymbols::NotInTable | NoSymbols::NotFound));
        if let Some(file) = self.dso.laid_over().filter(|_| is_nameless) {
            return MissingCause::Remapped(Arc::clone(file));
        }
        match (self.dso.kind(), self.why) {
            _ if self.is_beyond_limit => MissingCause::FetchLimit,
            (DsoKind::File, None | Some(NoSymbols::NotInTable)) if self.is_go => MissingCause::StrippedGo,
            (DsoKind::File, None | Some(NoSymbols::NotInTable)) if self.is_packaged() => {
                MissingCause::DebugPackage
            }
            (DsoKind::File, Some(NoSymbols::NotFound)) if self.is_mounted || self.is_temporary() => {
                MissingCause::NotFound
            }
            (kind, why) => MissingCause::of(kind, why, self.dso.inode()),
        }
    }

    /// Returns whether the file was in a folder that machines and containers have in memory.
    fn is_temporary(&self) -> bool {
        let folders: [&[u8]; 4] = [b"/tmp/", b"/dev/shm/", b"/run/", b"/var/run/"];
        folders.iter().any(|folder| self.dso.path().starts_with(folder))
    }

    /// Returns whether a distribution has the file in a package, and so perhaps its symbols in another one.
    fn is_packaged(&self) -> bool {
        let path = self.dso.path();
        let is_below = |folder: &&str| path.starts_with(folder.as_bytes());
        self.build_id.is_some() && FOLDERS.iter().any(is_below) && !path.starts_with(b"/usr/local/")
    }
}

/// Where distributions put programs and libraries.
const FOLDERS: [&str; 4] = ["/usr/", "/lib", "/bin/", "/sbin/"];

impl MissingCause {
    fn of(kind: DsoKind, why: Option<NoSymbols>, inode: Option<Inode>) -> Self {
        let Some(why) = why.filter(|&why| why != NoSymbols::NotInTable) else {
            return match kind {
                DsoKind::File => Self::Stripped,
                DsoKind::Memory => Self::OldPerfMap,
                _ => Self::Nameless,
            };
        };
        let is_missing = matches!(why, NoSymbols::NotFound | NoSymbols::WrongBuildId(_));
        match (kind, why) {
            (_, NoSymbols::Hidden) => Self::KernelHidden,
            (DsoKind::Kernel, why) if is_missing => Self::Kernel(why),
            (DsoKind::Module, why) if is_missing => Self::KernelModule(why),
            (DsoKind::Memory, NoSymbols::NotFound) => Self::NoPerfMap,
            (DsoKind::File, NoSymbols::WrongBuildId(id)) => Self::Replaced(id),
            (DsoKind::File, NoSymbols::NotFound) => match inode {
                Some(inode) if inode.maj == 0 && inode.min != 0 => Self::ContainerGone(inode.min),
                _ => Self::NotFound,
            },
            (_, why) => Self::Unusable(why),
        }
    }
}

impl fmt::Display for MissingCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugPackage => f.write_str(
                "the file has no symbols there. Install its debug symbols, give them with --debug-dir, or fetch them with \
                 --debuginfod",
            ),
            Self::Stripped => f.write_str(
                "the file has no symbols there. Record a build that was not stripped (no -s, no strip), or give its debug \
                 file with --debug-dir",
            ),
            Self::StrippedGo => f.write_str(
                "the Go program has no function table that can be read. Record it as go build wrote it: -ldflags=-s keeps \
                 the table, packers do not",
            ),
            Self::Replaced(id) => {
                f.write_str("another file is at its path by now, ")?;
                match id {
                    Some(id) => write!(f, "with the build id {id}")?,
                    None => f.write_str("without a build id")?,
                }
                f.write_str(
                    ". Give the recorded one with --debug-dir or --symfs, or fetch it with --debuginfod; perf \
                     buildid-cache --add FILE keeps a file for later",
                )
            }
            Self::NotFound => f.write_str(
                "the file was not found. Give the folder that has it with --symfs or --debug-dir; perfdata archive packs \
                 the files on the machine that recorded",
            ),
            Self::ContainerGone(minor) => write!(
                f,
                "the file was not found; it was on a file system without a device (0:{minor}), as those of containers are. \
                 Run perfdata while the container runs, record with --collect, or give a copy of its root with --symfs",
            ),
            Self::Kernel(why) => {
                f.write_str(match why {
                    NoSymbols::NotFound => "the symbols of the kernel were not found",
                    _ => "another kernel runs now",
                })?;
                f.write_str(". Give a copy of /proc/kallsyms of the machine that recorded with --kallsyms, or --vmlinux")
            }
            Self::KernelModule(why) => {
                f.write_str(match why {
                    NoSymbols::NotFound => "the file of the module was not found",
                    _ => "another module is at its path by now",
                })?;
                f.write_str(
                    ". Give a copy of /proc/kallsyms of the machine that recorded with --kallsyms, or its /lib/modules \
                     below --symfs",
                )
            }
            Self::KernelHidden => f.write_str(
                "kernel.kptr_restrict hides the addresses of the kernel. Run as root, or after sysctl \
                 kernel.kptr_restrict=0, or give --kallsyms or --vmlinux of the machine that recorded",
            ),
            Self::Remapped(file) => write!(
                f,
                "the process moved code of {} there, which was not found or has no names for it. Give that file with --symfs \
                 or --debug-dir, or record without large pages for code (node without --use-largepages, ClickHouse with \
                 remap_executable=0)",
                OneLine(file.name())
            ),
            Self::NoPerfMap => f.write_str(
                "the process left no map of its generated code. Have it write one: java -XX:+DumpPerfMapAtExit, node \
                 --perf-basic-prof, python -X perf, DOTNET_PerfMapEnabled=1",
            ),
            Self::OldPerfMap => f.write_str(
                "the map of the process does not have this generated code. Have the map written at the end, or a jitdump \
                 written and perf record -k mono used",
            ),
            Self::FetchLimit => f.write_str(
                "it was not fetched, because all that may be fetched was reached. Run it again, which continues with what is \
                 left, or give more with --debuginfod-time and --debuginfod-size",
            ),
            Self::Nameless => f.write_str("it has no symbols there"),
            Self::Unusable(why) => write!(f, "{why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_names_what_would_help() {
        let inode = |maj, min| Some(Inode { maj, min, ino: 7, ino_generation: 0 });
        let id = BuildId::new(&[0xab; 4]);
        let cases = [
            (DsoKind::File, None, None, "no -s, no strip"),
            (DsoKind::File, Some(NoSymbols::NotInTable), None, "--debug-dir"),
            (
                DsoKind::File,
                Some(NoSymbols::WrongBuildId(Some(id))),
                None,
                "by now, with the build id abababab. Give",
            ),
            (DsoKind::File, Some(NoSymbols::WrongBuildId(None)), None, "by now, without a build id. Give"),
            (DsoKind::File, Some(NoSymbols::NotFound), inode(8, 1), "perfdata archive"),
            (DsoKind::File, Some(NoSymbols::NotFound), inode(0, 0), "perfdata archive"),
            (DsoKind::File, Some(NoSymbols::NotFound), inode(0, 52), "(0:52), as those of containers are"),
            (DsoKind::File, Some(NoSymbols::TooLarge), None, "the file is too large"),
            (
                DsoKind::Kernel,
                Some(NoSymbols::NotFound),
                None,
                "were not found. Give a copy of /proc/kallsyms",
            ),
            (DsoKind::Kernel, Some(NoSymbols::WrongBuildId(None)), None, "another kernel runs now. Give"),
            (DsoKind::Kernel, Some(NoSymbols::Hidden), None, "sysctl kernel.kptr_restrict=0"),
            (DsoKind::Kernel, None, None, "it has no symbols there"),
            (DsoKind::Module, Some(NoSymbols::NotFound), None, "the file of the module was not found. Give"),
            (DsoKind::Module, Some(NoSymbols::WrongBuildId(None)), None, "another module"),
            (DsoKind::Memory, Some(NoSymbols::NotFound), None, "-XX:+DumpPerfMapAtExit"),
            (DsoKind::Memory, Some(NoSymbols::OtherClock), None, "record with -k mono"),
            (DsoKind::Memory, None, None, "does not have this generated code"),
            (DsoKind::Vdso, Some(NoSymbols::NotInTable), None, "it has no symbols there"),
        ];
        for (kind, why, inode, part) in cases {
            let text = MissingCause::of(kind, why, inode).to_string();
            assert!(text.contains(part), "{kind:?} {why:?}: {text}");
            // Nobody made a package of these.
            assert!(!text.contains("Install"), "{text}");
        }
    }
}
