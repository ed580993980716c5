//! Why a file has no names.

use std::fmt;

use perf_session::BuildId;

/// Why a file, or a part of it, could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoSymbols {
    /// No file was found: neither by the build id nor by the path.
    NotFound,
    /// A file is at the path, but with another build id than the recorded one; `None` if it has none.
    WrongBuildId(Option<BuildId>),
    /// A file was found, and has no symbol for the address.
    NotInTable,
    /// A file was found, and could not be read, for example because this user may not.
    Unreadable(std::io::ErrorKind),
    /// A file was found, and is larger than [`SymbolLimits::file`](crate::SymbolLimits::file) or
    /// [`SymbolLimits::decompressed`](crate::SymbolLimits::decompressed).
    TooLarge,
    /// A file was found, and is not an ELF file, or a damaged one. The text names the damaged part.
    Malformed(&'static str),
    /// No file was found, and none could be fetched: see [`Files::fetch`](crate::Files::fetch).
    NotFetched(std::io::ErrorKind),
    /// A file was not fetched, because all that may be fetched was reached: see [`Files::fetch`](crate::Files::fetch).
    FetchLimit,
    /// `/proc/kallsyms` has only zeros as addresses, because this user may not see them.
    Hidden,
    /// The clock of the process's jitdump is not that of the samples, and addresses were used for several functions.
    OtherClock,
    /// A file was found, and was not read: the files of the symbolizer have
    /// [`SymbolLimits::total`](crate::SymbolLimits::total) bytes already.
    NoRoom,
    /// A [`Cancellation`](crate::Cancellation) ended the reading.
    Cancelled,
}

impl fmt::Display for NoSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no file found"),
            Self::WrongBuildId(Some(id)) => write!(f, "the file has the build id {id}"),
            Self::WrongBuildId(None) => f.write_str("the file has no build id"),
            Self::NotInTable => f.write_str("no symbols"),
            Self::Unreadable(kind) => write!(f, "the file cannot be read: {kind}"),
            Self::TooLarge => f.write_str("the file is too large"),
            Self::Malformed(part) => write!(f, "not a valid file: {part}"),
            Self::NotFetched(kind) => write!(f, "no file found, and it could not be fetched: {kind}"),
            Self::FetchLimit => f.write_str("it was not fetched: the limit of what may be fetched was reached"),
            Self::OtherClock => f.write_str(
                "the clock of its jitdump is not that of the samples, and addresses were reused; record with -k mono, \
                 which is most jitdumps' clock",
            ),
            Self::NoRoom => f.write_str("the files that are kept are as large as they may be together"),
            Self::Cancelled => f.write_str("reading was cancelled"),
            Self::Hidden => f.write_str("the addresses in /proc/kallsyms are hidden (kernel.kptr_restrict)"),
        }
    }
}

impl std::error::Error for NoSymbols {}
