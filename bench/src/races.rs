//! The races, one a goal.

mod build;
mod dispatch;
mod dump;
mod file;
mod growth;
mod live;
mod memory;
mod order;
mod stream;
mod types;

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::table::Table;

/// What every race is given.
#[derive(Debug)]
pub(crate) struct Context {
    /// The captures.
    pub(crate) inputs: Inputs,
    /// How often each contestant runs.
    pub(crate) rounds: usize,
    /// Whether only agreement is checked: what takes long may be left out.
    pub(crate) quick: bool,
}

/// Runs a race.
pub(crate) type Race = fn(&Context) -> Result<Vec<Table>, Failure>;

/// All races by name.
pub(crate) const RACES: [(&str, Race); 10] = [
    ("memory", memory::run),
    ("file", file::run),
    ("stream", stream::run),
    ("dispatch", dispatch::run),
    ("types", types::run),
    ("dump", dump::run),
    ("growth", growth::run),
    ("order", order::run),
    ("live", live::run),
    ("build", build::run),
];
