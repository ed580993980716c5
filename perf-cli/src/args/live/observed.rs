//! The options that select what the live verbs observe.

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ObservedArgs {
    /// Observe everything that runs, on all CPUs
    #[arg(short, long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Observe everything that runs on these CPUs, for example 0,2-3; with -p or -t, those tasks while they run there
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// Observe these processes, with all their threads
    #[arg(short, long, value_name = "PIDS", value_delimiter = ',')]
    pub(crate) pid: Vec<u32>,

    /// Observe these threads
    #[arg(short, long, value_name = "TIDS", value_delimiter = ',')]
    pub(crate) tid: Vec<u32>,
}
