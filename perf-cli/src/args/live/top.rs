//! The command line of `perfdata top`.

use core::time::Duration;
use std::ffi::OsString;

use perf_record::CallGraphMode;

use super::Verb as LiveVerb;
use super::observed::ObservedArgs;
use super::record::{EventArgs, Freq, RecordArgs, values};
use crate::args::report::ReportArgs;
use crate::args::symbols::SymbolArgs;
use crate::args::{Args, Verb};

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -u, -a, -C and without a command, observes the whole machine; an ordinary user who may not, all processes of \
the user.

The rows are those of perfdata report, of the samples of the last seconds (--window), each second anew (--delay). On a terminal, \
a browser shows them, with the keys of perfdata report; p pauses, s saves the last minute (--keep) as perf.data, whose old file \
becomes perf.data.old. ? shows the keys. Without a terminal, or with --stdio, each update is printed as text; with --format \
jsonl, as a line of JSON with time (of the wall clock, in seconds), seconds, samples, lost, own_percent (of a CPU that perfdata \
takes) and rows, whose members are those of perfdata report.

Examples:
  perfdata top
  perfdata top -p 1234 -g
  perfdata top -e page-faults -s comm,dso
  perfdata top --format jsonl --updates 10 | jq '.rows[0].symbol'
  perfdata top -F 99 -- ./program";

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf top")]
pub(crate) struct TopArgs {
    #[command(flatten)]
    events: EventArgs,

    /// Sampling frequency, in samples per second, or max for the highest that the kernel allows [default: 4000]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "count", value_parser = values::freq)]
    freq: Option<Freq>,

    /// Sampling period: the number of occurrences between two samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Record call chains, by frame pointers: rows then include the cost of callees, and can be expanded
    #[arg(short = 'g')]
    frame_pointers: bool,

    /// Record call chains by this method: fp, dwarf or lbr
    #[arg(long, value_name = "HOW", value_parser = values::call_graph)]
    call_graph: Option<CallGraphMode>,

    #[command(flatten)]
    pub(crate) observed: ObservedArgs,

    /// Observe the processes of this user, by name or number
    #[arg(short, long, value_name = "USER", conflicts_with_all = ["pid", "tid", "all_cpus"])]
    pub(crate) uid: Option<String>,

    /// Seconds between two updates, at least 0.1
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) delay: Duration,

    /// Seconds of which samples are shown
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) window: Duration,

    /// Seconds of which samples are kept in memory, for the key s
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) keep: Duration,

    /// Group samples by these keys, those of perfdata report
    #[arg(short, long, value_name = "KEYS", default_value = "dso,sym")]
    sort: String,

    /// Print the number of samples
    #[arg(short = 'n', long)]
    show_nr_samples: bool,

    /// Count only samples in the function itself
    #[arg(long)]
    no_children: bool,

    /// Leave out rows below this percentage
    #[arg(long, value_name = "PERCENT")]
    percent_limit: Option<f64>,

    /// Print at most N rows of each update
    #[arg(short = 'E', long, value_name = "N", default_value_t = 20)]
    pub(crate) entries: usize,

    /// Print text on a terminal too, instead of opening the browser
    #[arg(long)]
    pub(crate) stdio: bool,

    /// Format of the updates, if they are printed
    #[arg(long, value_enum, default_value_t = TopFormat::Text)]
    pub(crate) format: TopFormat,

    /// End after N updates
    #[arg(long, value_name = "N")]
    pub(crate) updates: Option<u64>,

    #[command(flatten)]
    symbols: SymbolArgs,

    /// Command to run and to observe, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The format of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TopFormat {
    /// Rows as perfdata report prints them
    Text,
    /// A line of JSON for each update
    Jsonl,
}

/// Returns the arguments of another verb without options.
fn plain(words: &[&str]) -> Option<Verb> {
    Args::read(words.iter().map(OsString::from)).ok().map(|args| args.verb)
}

impl TopArgs {
    /// Returns the recording, as `perfdata record` would be asked for it; `None` if it could not.
    pub(crate) fn record(&self) -> Option<RecordArgs> {
        let Some(Verb::Live(LiveVerb::Record(args))) = plain(&["perfdata", "record", "--quiet"]) else {
            return None;
        };
        let mut args = *args;
        (args.events, args.freq, args.count) = (self.events.clone(), self.freq, self.count);
        (args.frame_pointers, args.call_graph) = (self.frame_pointers, self.call_graph);
        (args.observed, args.uid) = (self.observed.clone(), self.uid.clone());
        args.command.clone_from(&self.command);
        Some(args)
    }

    /// Returns the report, as `perfdata report` would be asked for it; `None` if it could not.
    pub(crate) fn report(&self) -> Option<ReportArgs> {
        let Some(Verb::Report(args)) = plain(&["perfdata", "report", "-"]) else { return None };
        let mut args = *args;
        args.sort = Some(self.sort.clone());
        (args.show_nr_samples, args.no_children) = (self.show_nr_samples, self.no_children);
        args.percent_limit = self.percent_limit;
        args.symbols = self.symbols.clone();
        Some(args)
    }
}

/// Reads a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "must be seconds from 0.1 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_verbs_are_asked_for_the_same() {
        let words = ["perfdata", "top", "-F", "99", "-g", "-e", "cpu-clock", "-p", "7", "-n", "-s", "comm"];
        let Verb::Live(LiveVerb::Top(args)) = Args::read(words.map(OsString::from)).unwrap().verb else {
            panic!("another verb")
        };
        let record = args.record().unwrap();
        assert_eq!(
            (record.freq, record.frame_pointers, &*record.observed.pid),
            (Some(Freq::Hz(99)), true, &[7][..])
        );
        assert!(record.quiet && record.events.asked.len() == 1);
        let report = args.report().unwrap();
        assert_eq!((report.sort.as_deref(), report.show_nr_samples), (Some("comm"), true));
        assert_eq!((args.delay, args.window), (Duration::from_secs(1), Duration::from_secs(10)));
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(seconds("0.1").unwrap(), Duration::from_millis(100));
        assert_eq!(seconds("86400").unwrap(), Duration::from_secs(86_400));
        for text in ["0.09", "86400.1", "-1", "nan", "inf", "x", ""] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
