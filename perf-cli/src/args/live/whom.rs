//! Whom the live verbs are about, on the command line.

#[derive(Debug, clap::Args)]
pub(crate) struct WhomArgs {
    /// Everything that runs, on all cpus
    #[arg(short, long)]
    pub(crate) all_cpus: bool,

    /// Everything that runs on these cpus, as in 0,2-3
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// These processes, by number
    #[arg(short, long, value_name = "PID", value_delimiter = ',', conflicts_with_all = ["all_cpus"])]
    pub(crate) pid: Vec<u32>,

    /// These threads, by number
    #[arg(short, long, value_name = "TID", value_delimiter = ',', conflicts_with_all = ["all_cpus"])]
    pub(crate) tid: Vec<u32>,
}
