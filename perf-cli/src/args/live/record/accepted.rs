//! Options of perf that scripts carry, and that ask for what is done anyway.

#[derive(Debug, clap::Args)]
pub(crate) struct AcceptedArgs {
    /// Accepted, as perf has it: the build-ID cache (~/.debug) is never filled
    #[arg(short = 'N', long)]
    pub(crate) no_buildid_cache: bool,

    /// Accepted, as perf has it: samples have times unless an event has the term time=0
    #[arg(short = 'T', long)]
    pub(crate) timestamp: bool,

    /// Accepted, as perf has it: the times of the first and the last sample are always recorded
    #[arg(long)]
    pub(crate) timestamp_boundary: bool,

    /// Accepted, as perf has it: one thread synthesizes all records
    #[arg(long, value_name = "N")]
    pub(crate) num_thread_synthesize: Option<u32>,

    /// Accepted, as perf has it
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}
