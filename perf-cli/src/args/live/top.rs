//! The command line of `perfdata top`.

use core::time::Duration;

use super::Verb as LiveVerb;
use super::sampled::{SampledArgs, plain, seconds};
use crate::args::Verb;
use crate::args::report::ReportArgs;
use crate::args::symbols::SymbolArgs;

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
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) sampled: SampledArgs,

    /// Show the samples of the last SECONDS
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) window: Duration,

    /// Keep the samples of the last SECONDS in memory, for the key s
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

    /// Count samples of CPUs that have no work too, which are in functions of the kernel such as intel_idle
    #[arg(long)]
    idle: bool,

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
}

/// The format of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TopFormat {
    /// Rows as perfdata report prints them
    Text,
    /// A line of JSON for each update
    Jsonl,
}

impl TopArgs {
    /// Returns the arguments of `perfdata top` without options.
    pub(crate) fn plain() -> Option<Box<Self>> {
        match plain(&["perfdata", "top"]) {
            Some(Verb::Live(LiveVerb::Top(args))) => Some(args),
            _ => None,
        }
    }

    /// Returns the report, as `perfdata report` would be asked for it; `None` if it could not.
    pub(crate) fn report(&self) -> Option<ReportArgs> {
        let Some(Verb::Report(args)) = plain(&["perfdata", "report", "-"]) else { return None };
        let mut args = *args;
        args.sort = Some(self.sort.clone());
        (args.show_nr_samples, args.no_children) = (self.show_nr_samples, self.no_children);
        args.percent_limit = self.percent_limit;
        args.only.no_idle = !self.idle;
        args.symbols = self.sampled.naming(&self.symbols);
        Some(args)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::args::Args;

    #[test]
    fn a_report_is_asked_for_the_same() {
        let words = ["perfdata", "top", "-n", "-s", "comm"];
        let Verb::Live(LiveVerb::Top(args)) = Args::read(words.map(OsString::from)).unwrap().verb else {
            panic!("another verb")
        };
        let report = args.report().unwrap();
        assert!(report.only.no_idle);
        assert_eq!((report.sort.as_deref(), report.show_nr_samples), (Some("comm"), true));
        assert_eq!(args.window, Duration::from_secs(10));
    }
}
