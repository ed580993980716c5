//! Whom the live verbs are about, on the command line.

#[derive(Debug, clap::Args)]
pub(crate) struct WhomArgs {
    /// Everything that runs, on all cpus
    #[arg(short, long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Everything that runs on these cpus, as in 0,2-3
    #[arg(short = 'C', long, value_name = "CPUS", conflicts_with_all = ["pid", "tid"])]
    pub(crate) cpu: Option<String>,

    /// These processes, with all their threads
    #[arg(short, long, value_name = "PIDS", value_delimiter = ',')]
    pub(crate) pid: Vec<u32>,

    /// These threads
    #[arg(short, long, value_name = "TIDS", value_delimiter = ',')]
    pub(crate) tid: Vec<u32>,
}
