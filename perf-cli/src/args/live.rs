//! The verbs that ask the running kernel: Linux alone.

use clap::Subcommand;

use super::list::{self, ListArgs};
use super::stat::{self, StatArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum Live {
    /// Counts events while a command runs, on a task or on the whole machine
    #[command(after_help = stat::AFTER_HELP)]
    Stat(StatArgs),
    /// The events of this machine
    #[command(after_help = list::AFTER_HELP)]
    List(ListArgs),
}
