//! The verbs that ask the running kernel: Linux alone.

use clap::Subcommand;

mod list;
pub(crate) mod record;
mod stat;
mod whom;

pub(crate) use list::ListArgs;
pub(crate) use record::RecordArgs;
pub(crate) use stat::StatArgs;
pub(crate) use whom::WhomArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Samples of a command, of tasks or of the whole machine, as a perf.data
    #[command(after_help = record::AFTER_HELP)]
    Record(RecordArgs),
    /// Counts events while a command runs, of tasks, or on the whole machine
    #[command(after_help = stat::AFTER_HELP)]
    Stat(StatArgs),
    /// The events of this machine
    #[command(after_help = list::AFTER_HELP)]
    List(ListArgs),
}
