//! The verbs that ask the running kernel: Linux alone.

use clap::Subcommand;

mod list;
mod stat;

pub(crate) use list::ListArgs;
pub(crate) use stat::StatArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Counts events while a command runs, of tasks, or on the whole machine
    #[command(after_help = stat::AFTER_HELP)]
    Stat(StatArgs),
    /// The events of this machine
    #[command(after_help = list::AFTER_HELP)]
    List(ListArgs),
}
