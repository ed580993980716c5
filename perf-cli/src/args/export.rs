//! The arguments of `perfdata export`.

use std::path::PathBuf;

use super::profile::ProfileArgs;

pub(super) const EXAMPLES: &str =
    "Functions are named by the files that the capture was recorded from, as perfdata script --help describes.

Examples:
  perfdata export --to preagg -o app.preagg && perf2bolt -pa -p app.preagg -o app.fdata app
  perfdata export --to pprof -o out.pb.gz && go tool pprof -http : out.pb.gz
  perfdata export --to firefox -o out.json
  perfdata export --to speedscope -o out.speedscope.json";

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: To,

    /// File to write; - for standard output. An existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// For brstack, preagg and autofdo: the file whose branches are written, by its path or its file name [default: the one
    /// with the most branches]
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<String>,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum To {
    /// Folded stacks, as perfdata fold prints them
    Folded,
    /// Branch stacks for llvm-profgen --perfscript: the samples one by one
    Brstack,
    /// Branch stacks for perf2bolt -pa: counts
    Preagg,
    /// Branch stacks for create_llvm_prof --profiler=text: counts
    Autofdo,
    /// A profile for go tool pprof, compressed with gzip. Several captures become one profile
    Pprof,
    /// Profiles of OpenTelemetry (OTLP 1.10.0, v1development): protobuf, or JSON if the name of OUT ends in .json
    Otlp,
    /// The same as JSON, whatever the name
    OtlpJson,
    /// Processed profile of the Firefox Profiler, for profiler.firefox.com
    Firefox,
    /// speedscope's JSON, for speedscope.app
    Speedscope,
}
