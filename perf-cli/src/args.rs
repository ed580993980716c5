//! The command line.

pub(crate) mod annotate;
#[cfg(target_os = "linux")]
mod archive;
pub(crate) mod c2c;
mod capture;
pub(crate) mod diff;
pub(crate) mod edit;
mod examples;
pub(crate) mod export;
pub(crate) mod flamegraph;
pub(crate) mod fold;
mod habits;
mod index;
pub(crate) mod itrace;
pub(crate) mod listed;
#[cfg(target_os = "linux")]
pub(crate) mod live;
pub(crate) mod lock;
pub(crate) mod only;
mod optional;
mod perf_options;
pub(crate) mod perf_text;
mod perf_verbs;
pub(crate) mod profile;
pub(crate) mod report;
mod ring;
pub(crate) mod sched;
pub(crate) mod script;
mod shell;
#[cfg(any(target_os = "linux", feature = "debuginfod"))]
mod size;
pub(crate) mod symbols;

use core::num::NonZero;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

#[cfg(target_os = "linux")]
pub(crate) use archive::ArchiveArgs;
use capture::Capture;
pub(crate) use examples::first_commands;
pub(crate) use index::IndexArgs;
pub(crate) use ring::RingArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};

/// Inspect Linux performance captures (perf.data), record by record
///
/// Reads captures from any machine, byte order and kernel. Never guesses: standard error reports everything that cannot
/// be decoded, with its offset, and the exit status is then not 0.
#[derive(Debug, Parser)]
#[command(name = "perfdata", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) verb: Verb,

    /// Print long texts to the terminal itself, and not to a pager ($PERFDATA_PAGER, $PERF_PAGER, $PAGER, or less)
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_pager: bool,
}

impl Args {
    /// The clap command that is parsed and from which the manual pages and the completions are generated.
    pub(crate) fn whole() -> clap::Command {
        // As in perf report; the d of perf script is another option.
        let command = Self::command().mut_subcommand("report", |it| it.mut_arg("dsos", |arg| arg.short('d')));
        examples::of_every_verb(command, EXIT_STATUS)
    }

    /// The command that is parsed: the whole one, with what perf's users are used to.
    fn parser() -> clap::Command {
        habits::with_opposites(perf_options::add_to(Self::whole())).infer_long_args(true)
    }

    /// Parses arguments, the name of the program first. As in clap, `--help` and `--version` are also errors.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let (args, parser) = (optional::with_equals(args), Self::parser());
        perf_verbs::check(&args, &parser)?;
        #[cfg(target_os = "linux")]
        let args = live::attached::with_equals(args, &parser);
        let matches = parser.clone().try_get_matches_from(&args);
        let matches = matches.map_err(|error| habits::explained(error, &args, &parser))?;
        perf_options::check(&matches)?;
        Self::from_arg_matches(&matches)
    }
}

/// Returns the arguments from the verb on. The first one of all is the name of the program, and options before the verb have no values.
fn from_verb(args: &[OsString]) -> &[OsString] {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let before = args.iter().skip(1).take_while(|word| is_option(word)).count();
    args.get(1 + before..).unwrap_or_default()
}

const EXIT_STATUS: &str = "Exit status: 0 if everything was decoded; 1 if nothing could be decoded (usage, no such file, \
not a capture); 3 if records were delivered but some bytes were truncated, skipped or not decodable. record and stat \
return the exit status of the command they run.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the recorder, events, features, record counts and time span of a capture
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Print every record, decoded
    #[command(after_help = DUMP_EXAMPLES)]
    Dump(DumpArgs),
    /// Print samples with their processes and stacks, as perf script does
    #[command(after_help = script::EXAMPLES)]
    Script(script::ScriptArgs),
    /// Show where the time went, as perf report does
    #[command(after_help = report::examples())]
    Report(Box<report::ReportArgs>),
    /// Show the instructions and source lines of functions, as perf annotate does
    #[command(after_help = annotate::EXAMPLES)]
    Annotate(Box<annotate::AnnotateArgs>),
    /// Show when threads run and wait, and why, as perf sched does
    #[command(after_help = sched::EXAMPLES)]
    Sched(sched::SchedArgs),
    /// Show for how long threads wait for locks, and where, as perf lock contention does
    #[command(after_help = lock::EXAMPLES)]
    Lock(lock::LockArgs),
    /// Show which lines of the cache threads share, and what it costs, as perf c2c does
    #[command(after_help = c2c::EXAMPLES)]
    C2c(c2c::C2cArgs),
    /// Print folded stacks, as inferno-collapse-perf makes them of perf script's text
    #[command(after_help = fold::EXAMPLES)]
    Fold(fold::FoldArgs),
    /// Compare what functions take in two captures, or in two parts of one
    #[command(after_help = diff::EXAMPLES)]
    Diff(Box<diff::DiffArgs>),
    /// Write a flame graph: a page for a browser, or a picture in SVG
    #[command(after_help = flamegraph::EXAMPLES)]
    Flamegraph(flamegraph::FlamegraphArgs),
    /// Write samples in the format of another tool
    #[command(after_help = export::EXAMPLES)]
    Export(export::ExportArgs),
    /// Decode the records in dumps of ring buffers (copies of the mapped memory)
    #[command(after_help = ring::EXAMPLES)]
    Ring(RingArgs),
    /// Write a valid perf.data from a damaged, piped, compressed or split capture
    #[command(after_help = REPAIR_EXAMPLES)]
    Repair(RepairArgs),
    /// Write another capture: a part of the samples, fewer fields, another container
    #[command(after_help = edit::EXAMPLES)]
    Edit(Box<edit::EditArgs>),
    /// Write an index that programs use to find a time, CPU or thread in a capture
    #[command(after_help = index::EXAMPLES)]
    Index(IndexArgs),
    /// Pack a capture and the files that its names come from into one archive
    #[cfg(target_os = "linux")]
    #[command(after_help = archive::EXAMPLES)]
    Archive(Box<ArchiveArgs>),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Live(live::Verb),
    /// Print the events of a capture, as perf evlist does
    #[command(hide = true)]
    Evlist(listed::EvlistArgs),
    /// Print the build ids of a capture, as perf buildid-list does
    #[command(hide = true)]
    BuildidList(listed::BuildIdListArgs),
    /// Print a script that completes perfdata's arguments in a shell
    #[command(after_help = shell::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page of perfdata, or write the pages of all verbs to a folder
    #[command(after_help = shell::MAN_EXAMPLES)]
    Man(ManArgs),
}

impl Verb {
    /// Returns whether the text of the verb may go to a pager: not where it comes bit by bit.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_paged(&self) -> bool {
        match self {
            Self::Info(_)
            | Self::Dump(_)
            | Self::Script(_)
            | Self::Report(_)
            | Self::Annotate(_)
            | Self::Sched(_)
            | Self::Lock(_)
            | Self::C2c(_)
            | Self::Fold(_)
            | Self::Diff(_)
            | Self::Evlist(_)
            | Self::BuildidList(_) => true,
            Self::Live(verb) => matches!(verb, live::Verb::List(_)),
            _ => false,
        }
    }

    /// Returns the options for reading a capture; `None` if the verb reads none.
    pub(crate) fn reading(&self) -> Option<&ReadingArgs> {
        match self {
            Self::Info(args) => Some(&args.reading),
            Self::Dump(args) => Some(&args.reading),
            Self::Script(args) => Some(&args.reading),
            Self::Report(args) => Some(&args.reading),
            Self::Annotate(args) => Some(&args.reading),
            Self::Sched(args) => args.verb.reading(),
            Self::Lock(args) => args.verb.reading(),
            Self::C2c(args) => args.verb.reading(),
            Self::Fold(args) => Some(&args.profile.reading),
            Self::Diff(args) => Some(&args.reading),
            Self::Flamegraph(args) => Some(&args.profile.reading),
            Self::Export(args) => Some(&args.profile.reading),
            Self::Ring(args) => Some(&args.reading),
            Self::Repair(args) => Some(&args.reading),
            Self::Edit(args) => Some(&args.reading),
            Self::Index(args) => Some(&args.reading),
            #[cfg(target_os = "linux")]
            Self::Archive(args) => Some(&args.reading),
            #[cfg(target_os = "linux")]
            Self::Live(_) => None,
            Self::Evlist(args) => Some(&args.reading),
            Self::BuildidList(args) => Some(&args.reading),
            Self::Completions(_) | Self::Man(_) => None,
        }
    }
}

/// The options for reading a capture.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadingArgs {
    /// Read the capture into memory instead of mapping it. If another program truncates a mapped file, SIGBUS ends
    /// perfdata
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Decode samples with an ABI that is in review and that no released kernel has: vector registers, R16 to R31 and
    /// SSP. The kernel that will have it may write another layout
    #[arg(long)]
    pub(crate) provisional_abi: bool,
}

const REPAIR_EXAMPLES: &str =
    "Keeps every record and feature that can be decoded, and reports what it could not keep. \
The result is one file with uncompressed records.

Examples:
  perfdata repair
  perfdata repair killed.data -o mended.data
  perfdata repair broken.data -o mended.data --report lost.json && perf report -i mended.data";

#[derive(Debug, clap::Args)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// File to write, readable by its owner only. An existing file is replaced once the new one is complete; for a
    /// symbolic link, the target is replaced [default: the name of the capture with .repaired added]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,

    /// Write what was read, written and left out to this file, as JSON
    #[arg(long, value_name = "R.json")]
    pub(crate) report: Option<PathBuf>,
}

const INFO_EXAMPLES: &str = "Examples:
  perfdata info
  perfdata info perf.data
  perfdata info --format json | jq '.header.features.HOSTNAME'
  xz -dc perf.data.xz | perfdata info";

const DUMP_EXAMPLES: &str = "Examples:
  perfdata dump | less
  perfdata dump perf.data --type MMAP2,COMM
  perfdata dump perf.data --event cycles --time 1203.5,1204 --limit 20
  perfdata dump perf.data --type SAMPLE --fields tid,cpu,time,event,ip
  perfdata dump perf.data --format jsonl | jq 'select(.type == \"SAMPLE\") | .fields.ip'";

#[derive(Debug, clap::Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    /// Only the header, the events and the features: reads no records, however large the capture is
    #[arg(long)]
    pub(crate) header_only: bool,

    /// Only the build ids and paths of the files that the capture lists, one a line, as perf buildid-list prints them. If it
    /// lists none: of the files that the address of a sample is in
    #[arg(long, conflicts_with = "header_only")]
    pub(crate) build_ids: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = InfoFormat::Text, conflicts_with = "build_ids")]
    pub(crate) format: InfoFormat,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    /// Text for people
    Text,
    /// One JSON object, with the members header (as dump --format jsonl has it), records, time and account
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// The options that select the records to print and the output format.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Output format: text for people, jsonl for programs (one JSON object per line)
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Order of the records [default: file; time for rings]
    #[arg(long, value_enum)]
    pub(crate) order: Option<Order>,

    /// Print only records of these types, by name (SAMPLE, MMAP2, ...) or number
    #[arg(long = "type", value_name = "T", value_delimiter = ',')]
    pub(crate) types: Vec<String>,

    /// Print only records of this event: its index in the file, or its name (perfdata info lists both)
    #[arg(long, value_name = "N|NAME")]
    pub(crate) event: Option<String>,

    /// Print only records of these spans: A,B in seconds as printed, either may be omitted, several separated by spaces;
    /// or percents of the time from the first sample to the last: 10%/2 is the second tenth, 10%-20% a part; or
    /// EVENT..EVENT, from each sample of the first event to the next one of the second, where no name is the start or
    /// the end of the capture. Records without a time are left out
    #[arg(long, value_name = "SPANS", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,

    /// Print only these fields, tab-separated, one line per record; - marks a field that the record does not have.
    /// Accepts the fields of the record, of its tracepoint and of its sample_id, and offset, type, misc, size and event
    #[arg(long, value_name = "F", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,

    /// Stop after this many records
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Number of threads, including the one that reads and writes. The output is the same for any number; 1 starts no
    /// thread. Each thread needs memory for a few batches: 128 KiB of records each, and their output [default: number
    /// of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// In the order of the capture
    File,
    /// By time; records with the same time, and records without one, in the order of the capture
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text: one line per record, details indented below it
    Text,
    /// JSON lines: the header, one line per record, then the account
    Jsonl,
}
