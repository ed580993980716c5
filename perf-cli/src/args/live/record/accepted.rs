//! Options of perf that scripts carry: those that ask for what is done anyway.

#[derive(Debug, clap::Args)]
pub(crate) struct AcceptedArgs {
    /// Accepted, as perf has it: samples have times unless an event has the term time=0
    #[arg(short = 'T', long)]
    pub(crate) timestamp: bool,

    /// Accepted, as perf has it: the times of the first and the last sample are always recorded
    #[arg(long)]
    pub(crate) timestamp_boundary: bool,

    /// Accepted, as perf has it: one thread synthesizes all records
    #[arg(long, value_name = "N")]
    pub(crate) num_thread_synthesize: Option<u32>,

    /// Also print what is left out as usual for an ordinary user
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}
