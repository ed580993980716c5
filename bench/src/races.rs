//! The races, one for each goal.

mod build;
mod dispatch;
mod dump;
mod edit;
mod file;
mod growth;
mod live;
mod memory;
mod order;
mod rss;
mod scale;
mod script;
mod session;
mod size;
mod start;
mod stream;
mod symbols;
mod types;

use std::path::PathBuf;

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::table::Table;

/// The input of every race.
#[derive(Debug)]
pub(crate) struct Context {
    /// The captures.
    pub(crate) inputs: Inputs,
    /// Number of rounds.
    pub(crate) rounds: usize,
    /// Bytes of the larger capture of the races `size`, `edit` and `start`; `None` for the default.
    pub(crate) size: Option<u64>,
    /// The file of the race `symbols`; `None` for this program.
    pub(crate) binary: Option<PathBuf>,
    /// Number of its addresses; `None` for the default.
    pub(crate) addresses: Option<usize>,
    /// Whether to check only that the contestants agree. A race may then leave out slow parts.
    pub(crate) quick: bool,
}

/// The function that runs a race.
pub(crate) type Race = fn(&Context) -> Result<Vec<Table>, Failure>;

/// All races by name.
pub(crate) const RACES: [(&str, Race); 17] = [
    ("memory", memory::run),
    ("file", file::run),
    ("stream", stream::run),
    ("dispatch", dispatch::run),
    ("types", types::run),
    ("dump", dump::run),
    ("script", script::run),
    ("growth", growth::run),
    ("order", order::run),
    ("live", live::run),
    ("session", session::run),
    ("scale", scale::run),
    ("symbols", symbols::run),
    ("size", size::run),
    ("edit", edit::run),
    ("start", start::run),
    ("build", build::run),
];
