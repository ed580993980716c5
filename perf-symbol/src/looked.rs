//! The result of the search for a file.

use std::path::PathBuf;
use std::sync::Arc;

use perf_session::{BuildId, Dso, Segment};

use crate::doubt::Doubt;
use crate::error::Why;

/// A file that a [`Symbolizer`](crate::Symbolizer) looked for.
#[derive(Clone, Debug)]
pub struct Looked {
    /// What was mapped.
    pub dso: Arc<Dso>,
    /// The recorded build id.
    pub build_id: Option<BuildId>,
    /// The file that was used; empty if there is none.
    pub path: PathBuf,
    /// Why it has no names; `None` if it has.
    pub why: Option<Why>,
    /// Why its names may be wrong; `None` if the file is the one that was mapped.
    pub doubt: Option<Doubt>,
    /// The segments of the file that was mapped, for [`address_of`](perf_session::address_of); empty if it was not found.
    pub segments: Vec<Segment>,
}
