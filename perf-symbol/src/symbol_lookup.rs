//! The result of the search for a file.

use std::path::PathBuf;
use std::sync::Arc;

use perf_session::{BuildId, Dso, Segment};

use crate::doubt::Doubt;
use crate::file_origin::FileOrigin;
use crate::no_symbols::NoSymbols;

/// A file that a [`Symbolizer`](crate::Symbolizer) looked for.
#[derive(Clone, Debug)]
pub struct SymbolLookup {
    /// What was mapped.
    pub dso: Arc<Dso>,
    /// The recorded build id.
    pub build_id: Option<BuildId>,
    /// The build id of Go's linker of the file that was used, if it has no other: see
    /// [`ElfImage::go_build_id`](crate::ElfImage). `None` if there is none.
    pub go_build_id: Option<Arc<str>>,
    /// The file that was used; empty if there is none.
    pub path: PathBuf,
    /// How the file at [`path`](Self::path) was found; `None` if there is none. Names may be of another one, such as a debug
    /// file: see [`Function::origin`](crate::Function::origin).
    pub origin: Option<FileOrigin>,
    /// Why it has no names; `None` if it has.
    pub why: Option<NoSymbols>,
    /// Whether the file or its debug file was not fetched, because all that may be fetched was reached: see
    /// [`NoSymbols::FetchLimit`]. It may have names nevertheless.
    pub is_beyond_limit: bool,
    /// Whether it was not found, and the file system that had it is mounted on this machine now, such as one of btrfs or tmpfs: it is
    /// not gone with a container. Only known of file systems without a device.
    pub is_mounted: bool,
    /// Why its names may be wrong; `None` if the file is the one that was mapped.
    pub doubt: Option<Doubt>,
    /// The segments of the file that was mapped, for [`address_of`](perf_session::address_of); empty if it was not found.
    pub segments: Vec<Segment>,
}
