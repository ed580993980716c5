//! The options that select samples, of the verbs that work with samples.

/// The options that select samples.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct OnlyArgs {
    /// Only samples of threads with these names
    #[arg(short, long, value_name = "COMM", value_delimiter = ',', alias = "comm")]
    pub(crate) comms: Vec<String>,

    /// Only samples of these processes
    #[arg(long, value_name = "PID", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) pid: Vec<i32>,

    /// Only samples of these threads
    #[arg(long, value_name = "TID", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) tid: Vec<i32>,

    /// Only samples of these CPUs: numbers and ranges such as 0,2-3
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// Only samples of these spans: A,B in seconds, either may be omitted, several separated by spaces; or
    /// percents of the capture: 10%/2 is the second tenth, 10%-20% a part; or EVENT..EVENT, from each sample of
    /// the first event to the next one of the second, where no name is the start or the end of the capture
    #[arg(long, value_name = "SPANS", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,

    /// Only samples of this event: its name, or its index in the file (perfdata info lists both)
    #[arg(long, value_name = "N|NAME")]
    pub(crate) event: Option<String>,

    /// Only samples whose address is in these files, by path or by file name
    #[arg(long, value_name = "DSO", value_delimiter = ',', alias = "dso")]
    pub(crate) dsos: Vec<String>,

    /// Only samples whose address is in these functions
    #[arg(short = 'S', long = "symbols", value_name = "SYMBOL", value_delimiter = ',', alias = "symbol")]
    pub(crate) functions: Vec<String>,

    /// Whether samples of CPUs without work are left out; only `perfdata top` does.
    #[arg(skip)]
    pub(crate) no_idle: bool,
}
