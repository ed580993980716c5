//! The arguments of `perfdata export`.

use core::num::NonZero;
use std::path::PathBuf;

use super::profile::ProfileArgs;

pub(super) const EXAMPLES: &str =
    "Functions are named by the files that the capture was recorded from, as perfdata script --help describes.

Examples:
  perfdata export --to preagg -o app.preagg && perf2bolt -pa -p app.preagg -o app.fdata app
  perfdata export --to pprof -o out.pb.gz && go tool pprof -http : out.pb.gz
  perfdata export --to callgrind -o callgrind.out && kcachegrind callgrind.out
  perfdata export --to dot -o out.dot && dot -T svg out.dot -o out.svg
  perfdata export --to firefox -o out.json
  perfdata export --to speedscope -o out.speedscope.json
  perfdata export --to perfetto -o out.pftrace
  perfdata export --to otlp --send http://localhost:4318
  perfdata export --to parquet *.data -o fleet && duckdb -c \"SELECT event, count(*) FROM 'fleet/samples/**/*.parquet' GROUP BY 1\"";

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: To,

    /// File to write; - for standard output. An existing file is replaced once the new one is complete. For parquet: the
    /// folder of a data set, to which the captures are added [default: a name in this folder that the consumer knows by its ending,
    /// such as perf.pb.gz; for parquet perf.parquet]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,

    /// For brstack, preagg and autofdo: the file whose branches are written, by its path or its file name [default: the one
    /// with the most branches]
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<String>,

    #[command(flatten)]
    pub(crate) sending: SendArgs,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl ExportArgs {
    /// Returns the file to write: the one that is named, or the default of the format.
    pub(crate) fn out(&self) -> PathBuf {
        let default = match self.to {
            To::Folded => "perf.folded",
            To::Brstack => "perf.brstack",
            To::Preagg => "perf.preagg",
            To::Autofdo => "perf.autofdo",
            To::Pprof => "perf.pb.gz",
            To::Otlp => "perf.otlp",
            To::OtlpJson => "perf.otlp.json",
            // The consumers look for files that begin so.
            To::Callgrind => "callgrind.out.perf",
            To::Dot => "perf.dot",
            To::Csv => "perf.csv",
            To::Chrome => "perf.trace.json",
            To::Perfetto => "perf.pftrace",
            To::Firefox => "perf.firefox.json",
            To::Speedscope => "perf.speedscope.json",
            To::Parquet => "perf.parquet",
        };
        self.output.clone().unwrap_or_else(|| default.into())
    }
}

/// Where a profile is sent.
#[derive(Debug, clap::Args)]
pub(crate) struct SendArgs {
    /// For otlp, otlp-json and pprof: send the profile to a server by POST, and write a file only if -o names one. Without a path in
    /// the URL it is /v1development/profiles of OTLP, and /v1/pprof. Redirects are not followed. Only in a perfdata with the
    /// feature send, and https:// only with the feature https
    #[arg(long, value_name = "URL")]
    pub(crate) send: Option<String>,

    /// A header of the request, such as a token; can be given several times
    #[arg(long, value_name = "NAME: VALUE", requires = "send")]
    pub(crate) header: Vec<String>,

    /// Time for the whole request, in seconds
    #[arg(long, value_name = "SECONDS", requires = "send", default_value = "60")]
    pub(crate) send_timeout: NonZero<u32>,
}

/// What the tables of Parquet have.
#[derive(Debug, clap::Args)]
pub(crate) struct ColumnArgs {
    /// For parquet: write each stack into its sample, as a list of structures, instead of into tables of their own
    #[arg(long)]
    pub(crate) flat: bool,

    /// For parquet: fill these columns too
    #[arg(long, value_enum, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) with: Vec<ExtraColumn>,

    /// For parquet: leave these out. paths are those of captures, mapped files, source files and cgroups. With comm or paths,
    /// the fields of tracepoints are left out too, as they may have them
    #[arg(long, value_enum, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) drop: Vec<DroppedPart>,

    /// For parquet: write a hash of each path and SALT instead of the path. The same path has the same hash in all captures
    /// that are exported with the same SALT
    #[arg(long, value_name = "SALT")]
    pub(crate) hash_paths: Option<String>,

    /// For parquet: the machine that the captures are put under, instead of the one that they have
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) host: Option<String>,

    /// For parquet: the day that the captures are put under, instead of the one on which their recording started. perfdata
    /// record writes that, and perf record only with -k
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub(crate) date: Option<String>,
}

/// Checks that a text is a day of the Gregorian calendar.
fn day(text: &str) -> Result<String, String> {
    let number = |range: core::ops::Range<usize>| {
        let digits = text.get(range).filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|it| it.parse::<u32>().ok())
    };
    let dashes = text.bytes().enumerate().filter(|&(_, byte)| byte == b'-').map(|(at, _)| at);
    let parts = number(0..4).zip(number(5..7)).zip(number(8..10));
    let Some(((year, month), day)) = parts.filter(|_| text.len() == 10 && dashes.eq([4, 7])) else {
        return Err("a day is YYYY-MM-DD, for example 2026-11-23".to_owned());
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    if (1..=days).contains(&day) {
        Ok(text.to_owned())
    } else {
        Err("the calendar has no such day".to_owned())
    }
}

impl ColumnArgs {
    /// Returns the first option that is given, which only Parquet has.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            (self.flat, "--flat"),
            (!self.with.is_empty(), "--with"),
            (!self.drop.is_empty(), "--drop"),
            (self.hash_paths.is_some(), "--hash-paths"),
            (self.host.is_some(), "--host"),
            (self.date.is_some(), "--date"),
        ];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }
}

/// Columns that are filled only if they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExtraColumn {
    /// Branches of the samples
    Branches,
    /// Registers of the samples
    Registers,
    /// Fields of tracepoints
    Trace,
}

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DroppedPart {
    /// Names of threads and processes
    Comm,
    /// Command line of the recorder
    Cmdline,
    /// Paths
    Paths,
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
    /// Callgrind's profile: functions, lines and calls, for KCachegrind, QCachegrind and callgrind_annotate
    Callgrind,
    /// Call graph for Graphviz: a box for each function, an arrow for each call
    Dot,
    /// A row for each sample, for spreadsheets and scripts: RFC 4180
    Csv,
    /// Trace Events of Chrome: the functions of each thread over time, for ui.perfetto.dev and chrome://tracing
    Chrome,
    /// Perfetto's own trace, for ui.perfetto.dev and trace processor: samples with stacks, counters, and with sched:sched_switch
    /// the tracks of the scheduler
    Perfetto,
    /// Processed profile of the Firefox Profiler, for profiler.firefox.com
    Firefox,
    /// speedscope's JSON, for speedscope.app
    Speedscope,
    /// Tables for DuckDB, Polars, DataFusion, Spark and others, in a folder. Captures are exported in parallel, and each is
    /// added whole or not at all. SCHEMA.md of perf-export describes the tables. Only in a perfdata with the feature parquet
    Parquet,
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_of_the_calendar() {
        for text in ["2026-11-23", "2024-02-29", "2000-02-29", "1999-12-31"] {
            assert_eq!(day(text).as_deref(), Ok(text));
        }
        for text in ["2026-11-31", "2023-02-29", "1900-02-29", "2026-00-01", "2026-13-01", "2026-01-00"] {
            assert_eq!(day(text), Err("the calendar has no such day".to_owned()), "{text}");
        }
        for text in
            ["", "2026-1-23", "26-11-23", "2026-11-23 ", "2026/11/23", "+026-11-23", "2026-11-\u{661}"]
        {
            assert!(day(text).is_err_and(|why| why.starts_with("a day is")), "{text}");
        }
    }
}
