//! The command line.

mod capture;
mod examples;
#[cfg(target_os = "linux")]
pub(crate) mod live;
mod ring;
mod shell;

use core::num::NonZero;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use capture::Capture;
pub(crate) use ring::RingArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};

/// Shows what is in a Linux performance capture (perf.data), record by record.
///
/// Reads captures of any machine, byte order and kernel. Never guesses: what cannot be decoded is said on standard
/// error, with its offset, and the exit status tells.
#[derive(Debug, Parser)]
#[command(name = "perfdata", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Args {
    /// The command line as clap knows it: what is parsed, and what the manual and the completions are made from.
    pub(crate) fn whole() -> clap::Command {
        examples::of_every_verb(Self::command(), EXIT_STATUS)
    }

    /// Parses arguments, the name of the program first. `--help` and `--version` are errors too, as in clap.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::whole().try_get_matches_from(args)?)
    }
}

const EXIT_STATUS: &str = "Exit status: 0 if everything was decoded; 1 if nothing could be (usage, no such file, not a \
capture); 3 if records were delivered but some bytes were truncated, skipped or not decodable. record and stat pass on \
that of the command they run.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// What the capture is: who recorded it, its events, features, record counts, time span
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Every record, decoded
    #[command(after_help = DUMP_EXAMPLES)]
    Dump(DumpArgs),
    /// Every record of recorded rings, decoded: dumps of what perf_event_open's mmap shows
    #[command(after_help = ring::EXAMPLES)]
    Ring(RingArgs),
    /// A well-formed perf.data from a damaged, piped, compressed or split one
    #[command(after_help = REPAIR_EXAMPLES)]
    Repair(RepairArgs),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Live(live::Verb),
    /// A script that completes perfdata's arguments in a shell
    #[command(after_help = shell::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// The manual pages: of perfdata, or of every verb into a folder
    #[command(after_help = shell::MAN_EXAMPLES)]
    Man(ManArgs),
}

impl Verb {
    /// Whether the capture is to be read without mapping it.
    pub(crate) fn no_mmap(&self) -> bool {
        match self {
            Self::Info(args) => args.reading.no_mmap,
            Self::Dump(args) => args.reading.no_mmap,
            Self::Ring(args) => args.reading.no_mmap,
            Self::Repair(args) => args.reading.no_mmap,
            #[cfg(target_os = "linux")]
            Self::Live(_) => false,
            Self::Completions(_) | Self::Man(_) => false,
        }
    }
}

/// How a capture is read.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadingArgs {
    /// Reads the capture into memory instead of mapping it: for a file that another program may cut short meanwhile,
    /// which would end perfdata by SIGBUS
    #[arg(long)]
    pub(crate) no_mmap: bool,
}

const REPAIR_EXAMPLES: &str =
    "Keeps every record and feature that can be decoded and says what it could not keep. \
The result is one file, its records not compressed.

Examples:
  perfdata repair killed.data -o mended.data
  perfdata repair broken.data -o mended.data --report lost.json && perf report -i mended.data";

#[derive(Debug, clap::Args)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// The file to write, for its owner alone to read. A file that is there is replaced when the new one is whole; of a
    /// symbolic link the target is
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// Writes what was read, written and left out to this file, as JSON
    #[arg(long, value_name = "R.json")]
    pub(crate) report: Option<PathBuf>,
}

const INFO_EXAMPLES: &str = "Examples:
  perfdata info
  perfdata info perf.data
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

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
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

/// Which records to print, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// How to print: text for eyes, jsonl for programs (one JSON object a line)
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// As they stand, or by time [default: file; by time for rings]
    #[arg(long, value_enum)]
    pub(crate) order: Option<Order>,

    /// Only records of these types, by name (SAMPLE, MMAP2, ...) or number
    #[arg(long = "type", value_name = "T", value_delimiter = ',')]
    pub(crate) types: Vec<String>,

    /// Only records of this event: its index in the file, or its name (perfdata info lists both)
    #[arg(long, value_name = "N|NAME")]
    pub(crate) event: Option<String>,

    /// Only records from A to B, in seconds as they are printed; either may be left out. Records without a time are
    /// left out too
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,

    /// Only these fields, one line a record, tab-separated; - stands for a field the record does not have. Besides
    /// the fields of the record, of its tracepoint and its sample_id: offset, type, misc, size, event
    #[arg(long, value_name = "F", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,

    /// Stop after this many records
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Format on so many threads, the one that reads and writes among them; the output is the same on any number, and 1
    /// starts none. Each takes memory for a few batches of 128 KiB of records and what they print as [default: as many
    /// as there are processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// As they stand in the capture
    File,
    /// By time; records of equal time, and records without one, as they stand in the capture
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned, a record a line, details indented below it
    Text,
    /// The header, then a record a line, then the account
    Jsonl,
}
