//! The verbs that use the running kernel; Linux only.

use clap::Subcommand;

pub(crate) mod attached;
pub(crate) mod control;
mod list;
mod observed;
mod ordered;
pub(crate) mod record;
mod sampled;
mod serve;
pub(crate) mod stat;
mod top;

pub(crate) use list::ListArgs;
pub(crate) use observed::ObservedArgs;
pub(crate) use record::RecordArgs;
pub(crate) use sampled::SampledArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use stat::{StatArgs, StatCommand, StatReportArgs, StatVerb};
pub(crate) use top::{TopArgs, TopFormat};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Record samples of a command, of tasks or of the whole machine to a perf.data
    #[command(after_help = record::AFTER_HELP)]
    Record(Box<RecordArgs>),
    /// Count events of a command, of tasks or of the whole machine
    #[command(after_help = stat::AFTER_HELP)]
    Stat(Box<StatCommand>),
    /// Show where the time goes now, as perf top does
    #[command(after_help = top::AFTER_HELP)]
    Top(Box<TopArgs>),
    /// Serve a page of where the time goes now, which updates itself
    #[command(after_help = serve::AFTER_HELP)]
    Serve(Box<ServeArgs>),
    /// List the events of this machine
    #[command(after_help = list::AFTER_HELP)]
    List(ListArgs),
}
