//! The arguments of `perfdata edit`.

use core::num::NonZero;
use std::path::PathBuf;

use perf_abi::attr::AttrVersion;
use perf_abi::sample_type::SampleType;
use perf_parse::rewrite::PerfRelease;
use perf_profile::edit::SecretKind;

use super::ReadingArgs;
use super::capture::Captures;
use super::itrace::{ItraceChoice, letters};
use super::only::OnlyArgs;
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str = "\
Keeps the selected samples, and the records that are not samples, so that the samples have the names and stacks that they \
had. Without an option, every record is copied unchanged. What cannot be decoded is left out and reported, as by repair. Any \
number of options apply in one pass (--jit takes another); their order does not matter. Nothing of the capture itself changes.

Several captures become one, in order of time. They must be of one boot of one machine, on one clock, unless --clock-offset \
states how far their clocks are apart. Events with the same attributes and name are one event. Ids that two captures use for \
different events are replaced. AUX areas are kept if the captures recorded different CPUs or threads.

With --time, the records of processes and mappings before the span become the state at its start, and those after its end are \
left out; all stay in a capture of AUX areas. A file keeps an account of what was left out; perfdata info prints it. Counters that samples read are rebased, so that \
periods stay. A sample of a group of counters stays whole if one of its events is selected. AUX buffers are kept whole.

An index beside the capture, as perfdata index writes it, spares the parts without a sample of the times of --time.

Examples:
  perfdata edit -o minute.data --time 1203,1263
  perfdata edit perf.data -o worker.data --comms worker --cpu 0-3
  perfdata edit perf.data -o small.data --drop user-stack,raw --sample-every 10
  perfdata edit perf.data -o public.data --redact
  perfdata edit perf.data -o chains.data --unwind
  perfdata edit perf.data -o named.data --symbols-inside --build-ids
  perfdata edit perf.data -o node.data --jit
  perfdata edit monday.data tuesday.data -o both.data
  perfdata edit app.data perf.data -o both.data --clock-offset 2=-1.5ms
  perfdata edit perf.data -o old.data --for perf-6.1
  perfdata edit perf.data -o - --to pipe --pid 1234 | perf script -i -";

#[derive(Debug, clap::Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) files: Captures,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// File to write, readable by its owner only. An existing file is replaced once the new one is complete; for a
    /// symbolic link, the target is replaced. With --to pipe, - is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    /// Keep only the first of each N selected samples of an event. Periods stay; the account has the factor
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) sample_every: Option<NonZero<u64>>,

    /// Keep at most N samples, the earliest
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) limit: Option<u64>,

    /// Remove fields from samples and events. user-stack removes the copied stacks and the registers of user space
    #[arg(long, value_enum, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) drop: Vec<SampleFieldArg>,

    /// Unwind the copies of stacks, and write call chains in their place, as far as their frames are no guesses: about a
    /// twentieth of the size. Needs the files that were recorded
    #[arg(long)]
    pub(crate) unwind: bool,

    /// Number of threads that unwind stacks. The output is the same for any number [default: number of processors]
    #[arg(long, value_name = "N", requires = "unwind")]
    pub(crate) threads: Option<NonZero<usize>>,

    /// Add a time to all times of the Nth capture, so that they are on the clock of the first capture: a number with a unit
    /// (ns, us, ms or s), such as 2=-1.5ms. The clocks of that capture and the first are then not compared
    #[arg(long, value_name = "N=TIME", value_parser = clock_offset)]
    pub(crate) clock_offset: Vec<ClockOffset>,

    /// Add the build ids of the files that were mapped, so that perf and perfdata find them by build id later. Only files that are
    /// surely the recorded ones, by device and inode, are read
    #[arg(long)]
    pub(crate) build_ids: bool,

    /// Make samples of AUX data, as perf inject --itrace does: letters as of perfdata script. The AUX data is left out. Without
    /// letters, all kinds of each operation of Arm SPE
    #[arg(long, value_name = "LETTERS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = letters)]
    pub(crate) itrace: Option<ItraceChoice>,

    /// Write the code that programs generated as ELF files into OUT.files, and map them in the capture: for each jitdump at the times
    /// of its loads, and for each perf map. perf and others then find the names. Needs the jitdumps and perf maps; times of jitdumps
    /// need perf record -k mono
    #[arg(long)]
    pub(crate) jit: bool,

    /// Store the names of all frames in the capture, so that it is readable on any machine. perf passes over them. Names that are
    /// guesses, inlined functions and lines are left out
    #[arg(long)]
    pub(crate) symbols_inside: bool,

    /// Write the records in order of time
    #[arg(long)]
    pub(crate) sort: bool,

    /// Compress the records, at a level from 1, the fastest, to 22; the default is 1. Without this option, they are written
    /// uncompressed
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "zstd[:LEVEL]", value_parser = zstd)]
    pub(crate) compress: Option<u8>,

    /// Write the records uncompressed, which is the default
    #[cfg(target_os = "linux")]
    #[arg(long, conflicts_with = "compress")]
    pub(crate) uncompress: bool,

    /// Write an index of the result beside it, as perfdata index does
    #[arg(long)]
    pub(crate) index: bool,

    /// Leave out what this release of perf refuses or misreads: larger attrs, unknown features and types of records, branch
    /// counters, simpleperf's records. What is left out is listed
    #[arg(long = "for", value_enum, value_name = "RELEASE")]
    pub(crate) release: Option<ReleaseArg>,

    /// Container of the result. A pipe is what perf record -o - writes; it has no account, and lacks the features that only
    /// files have
    #[arg(long, value_enum, value_name = "CONTAINER", default_value_t = ContainerArg::File)]
    pub(crate) to: ContainerArg,

    /// Write the events' attrs in this size: 64, 72, 80, 96, 104, 112, 120, 128, 136 or 144 bytes. Refused if an event needs
    /// a larger one [default: the size that they have]
    #[arg(long, value_name = "BYTES", value_parser = attr_version)]
    pub(crate) attr_size: Option<AttrVersion>,

    /// Replace names by pseudonyms, and leave out all else that can hold a secret: thread names, paths with inodes and build ids,
    /// the command line, the host name, data of events, and other texts, such as symbols. Without a list, all of them. Copied
    /// stacks, registers, physical addresses and what perfdata does not know always go. What stays: process ids, times,
    /// addresses, counts, the kernel's events, CPU, memory and versions
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',', num_args = 0..=1, require_equals = true,
        default_missing_value = "comms,paths,cmdline,hostname,raw,strings")]
    pub(crate) redact: Option<Vec<SecretArg>>,

    /// Make the pseudonyms of --redact from this text, so that several captures have the same. Who knows it can try names
    /// [default: random]
    #[arg(long, value_name = "SALT", requires = "redact")]
    pub(crate) hash: Option<String>,

    /// Move the addresses of each mapped file and memory, and of the kernel, by secret distances: by those that SEED gives, or
    /// random ones. Names of files and functions stay, but those of perf maps and jitdumps. What has addresses that are not
    /// moved is left out, such as copied stacks, registers, data of events and AUX areas
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true)]
    pub(crate) aslr: Option<Option<String>>,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

/// The offset of a capture's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockOffset {
    /// Number of the capture, from 1.
    pub(crate) capture: usize,
    pub(crate) nanoseconds: i64,
}

/// Kinds of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SecretArg {
    /// Names of threads
    Comms,
    /// Paths of files and cgroups, with inodes and build ids
    Paths,
    /// The command line of the recording
    Cmdline,
    /// The name of the host
    Hostname,
    /// Data that events define, AUX areas, changed code
    Raw,
    /// All other texts, such as symbols and names of probes
    Strings,
}

impl SecretArg {
    pub(crate) fn kind(self) -> SecretKind {
        match self {
            Self::Comms => SecretKind::Comms,
            Self::Paths => SecretKind::Paths,
            Self::Cmdline => SecretKind::Cmdline,
            Self::Hostname => SecretKind::Hostname,
            Self::Raw => SecretKind::Raw,
            Self::Strings => SecretKind::Strings,
        }
    }
}

/// Fields of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SampleFieldArg {
    /// Copies of stacks, with the registers of user space
    UserStack,
    /// Registers of user space
    RegsUser,
    /// Registers at the interrupt
    RegsIntr,
    /// Data that the event defines, such as the fields of tracepoints
    Raw,
    /// Branch stacks
    Branches,
    /// Call chains
    Callchain,
    /// Physical addresses
    PhysAddr,
}

impl SampleFieldArg {
    pub(crate) fn sample_type(self) -> SampleType {
        match self {
            Self::UserStack => SampleType::STACK_USER | SampleType::REGS_USER,
            Self::RegsUser => SampleType::REGS_USER,
            Self::RegsIntr => SampleType::REGS_INTR,
            Self::Raw => SampleType::RAW,
            Self::Branches => SampleType::BRANCH_STACK,
            Self::Callchain => SampleType::CALLCHAIN,
            Self::PhysAddr => SampleType::PHYS_ADDR,
        }
    }
}

/// Releases of perf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReleaseArg {
    /// perf 6.1, of 2022, such as that of Debian 12
    #[value(name = "perf-6.1")]
    V6_1,
}

impl From<ReleaseArg> for PerfRelease {
    fn from(release: ReleaseArg) -> Self {
        match release {
            ReleaseArg::V6_1 => Self::V6_1,
        }
    }
}

/// Containers of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ContainerArg {
    /// A file
    File,
    /// A stream
    Pipe,
    /// A folder: data, and data.N with the records of each CPU in order of time, as perf record --threads writes them
    #[cfg(target_os = "linux")]
    Folder,
}

/// Parses `zstd` or `zstd:LEVEL`.
#[cfg(target_os = "linux")]
fn zstd(text: &str) -> Result<u8, &'static str> {
    let must = "must be zstd or zstd:LEVEL, with a level from 1 to 22";
    match text.strip_prefix("zstd").ok_or(must)? {
        "" => Ok(1),
        level => {
            let level = level.strip_prefix(':').and_then(|level| level.parse().ok());
            level.filter(|level| (1..=22).contains(level)).ok_or(must)
        }
    }
}

/// Parses the size of an attr.
fn attr_version(text: &str) -> Result<AttrVersion, &'static str> {
    let version = AttrVersion::ALL.iter().find(|version| version.size().to_string() == text);
    version
        .copied()
        .ok_or("must be a size that the kernel had: 64, 72, 80, 96, 104, 112, 120, 128, 136 or 144")
}

/// Parses `N=TIME`.
fn clock_offset(text: &str) -> Result<ClockOffset, &'static str> {
    let must = "must be N=TIME: the number of a capture, and a time of at most 292 years with ns, us, ms or s, such as 2=-1.5ms";
    let parsed = || {
        let (capture, time) = text.split_once('=')?;
        let capture = capture.parse().ok()?;
        let digits = time.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        let places: usize = match time.get(digits.len()..)? {
            "ns" => 0,
            "us" => 3,
            "ms" => 6,
            "s" => 9,
            _ => return None,
        };
        let (is_negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits.strip_prefix('+').unwrap_or(digits)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let zeros = "0".repeat(places.checked_sub(fraction.len())?);
        let nanoseconds: i64 = format!("{whole}{fraction}{zeros}").parse().ok()?;
        Some(ClockOffset { capture, nanoseconds: if is_negative { -nanoseconds } else { nanoseconds } })
    };
    parsed().ok_or(must)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_offsets_have_units() {
        let parse = |text| clock_offset(text).ok().map(|it| (it.capture, it.nanoseconds));
        for (text, expected) in [
            ("2=-1.5ms", (2, -1_500_000)),
            ("1=0s", (1, 0)),
            ("3=+7ns", (3, 7)),
            ("2=1.000000001s", (2, 1_000_000_001)),
            ("2=0.5us", (2, 500)),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in
            ["2", "=1s", "2=1", "2=s", "2=.5s", "2=1.5ns", "2=--1s", "2=1e9s", "2=9999999999s", "x=1s"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
