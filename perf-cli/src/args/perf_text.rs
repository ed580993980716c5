//! What the verbs have in common that print the text of a version of perf: of `perf sched`, `perf lock` and `perf c2c`.

use std::ffi::OsString;

use perf_profile::sched::PerfVersion;

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PrintFormat {
    /// Text for people
    Text,
    /// One JSON document. Times are nanoseconds
    Json,
}

/// The version of perf whose text is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PerfVersionArg {
    /// Linux 6.1
    #[value(name = "6.1")]
    V6_1,
    /// Linux 7.2
    #[value(name = "7.2")]
    V7_2,
}

impl From<PerfVersionArg> for PerfVersion {
    fn from(version: PerfVersionArg) -> Self {
        match version {
            PerfVersionArg::V6_1 => Self::V6_1,
            PerfVersionArg::V7_2 => Self::V7_2,
        }
    }
}

/// The options of the verbs that print perf's text.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct PerfTextArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = PrintFormat::Text)]
    pub(crate) format: PrintFormat,

    /// Version of perf whose text is printed
    #[arg(long, value_enum, value_name = "VERSION", default_value = "7.2")]
    pub(crate) perf_version: PerfVersionArg,
}

/// A verb of perf that is not here.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct RefusedVerb {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}
