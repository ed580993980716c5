//! The options of the verbs that sample into memory, and show what happens now.

use core::time::Duration;
use std::ffi::OsString;

use perf_record::CallGraphMode;

use super::Verb as LiveVerb;
use super::observed::ObservedArgs;
use super::record::{EventArgs, Freq, RecordArgs, values};
use crate::args::symbols::SymbolArgs;
use crate::args::{Args, Verb};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SampledArgs {
    #[command(flatten)]
    events: EventArgs,

    /// Sampling frequency, in samples per second, or max for the highest that the kernel allows [default: 4000]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "count", value_parser = values::freq)]
    freq: Option<Freq>,

    /// Sampling period: the number of occurrences between two samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Record call chains, by frame pointers
    #[arg(short = 'g')]
    frame_pointers: bool,

    /// Record call chains by this method: fp, dwarf or lbr
    #[arg(long, value_name = "HOW", value_parser = values::call_graph)]
    call_graph: Option<CallGraphMode>,

    #[command(flatten)]
    observed: ObservedArgs,

    /// Observe the processes of this user, by name or number
    #[arg(short, long, value_name = "USER", conflicts_with_all = ["pid", "tid", "all_cpus"])]
    uid: Option<String>,

    /// Seconds between two updates, at least 0.1
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) delay: Duration,

    /// Show inlined functions, too: reading them from the debug information of large programs takes seconds of a CPU, each minute
    /// anew
    #[arg(long)]
    inline: bool,

    /// Command to run and to observe, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Returns the arguments of another verb without options.
pub(super) fn plain(words: &[&str]) -> Option<Verb> {
    Args::read(words.iter().map(OsString::from)).ok().map(|args| args.verb)
}

impl SampledArgs {
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

    /// Returns how functions are named, by the options of the verb.
    pub(crate) fn naming(&self, symbols: &SymbolArgs) -> SymbolArgs {
        SymbolArgs { no_inline: symbols.no_inline || !self.inline, ..symbols.clone() }
    }

    /// Returns whether something was named that is observed.
    pub(crate) fn names_something(&self) -> bool {
        let observed = &self.observed;
        observed.all_cpus
            || observed.cpu.is_some()
            || self.uid.is_some()
            || [observed.pid.len(), observed.tid.len(), self.command.len()].iter().any(|&many| many > 0)
    }
}

/// Reads a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "must be seconds from 0.1 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_asked_for_the_same() {
        let words = ["perfdata", "top", "-F", "99", "-g", "-e", "cpu-clock", "-p", "7"];
        let Verb::Live(LiveVerb::Top(args)) = Args::read(words.map(OsString::from)).unwrap().verb else {
            panic!("another verb")
        };
        assert!(args.sampled.names_something());
        let record = args.sampled.record().unwrap();
        assert_eq!(
            (record.freq, record.frame_pointers, &*record.observed.pid),
            (Some(Freq::Hz(99)), true, &[7][..])
        );
        assert!(record.quiet && record.events.asked.len() == 1);
        assert_eq!(args.sampled.delay, Duration::from_secs(1));
        for (words, no_inline) in
            [(&[][..], true), (&["--inline"], false), (&["--inline", "--no-inline"], true)]
        {
            let words = ["perfdata", "top"].iter().chain(words).map(OsString::from);
            let Verb::Live(LiveVerb::Top(args)) = Args::read(words).unwrap().verb else {
                panic!("another verb")
            };
            assert_eq!(args.report().unwrap().symbols.no_inline, no_inline);
        }
    }

    #[test]
    fn what_is_observed_has_a_name() {
        for (words, names) in [
            (&[][..], false),
            (&["-F", "99"], false),
            (&["-a"], true),
            (&["-C", "0"], true),
            (&["-p", "1"], true),
            (&["-t", "1"], true),
            (&["-u", "root"], true),
            (&["--", "true"], true),
        ] {
            let words = ["perfdata", "top"].iter().chain(words).map(OsString::from);
            let Verb::Live(LiveVerb::Top(args)) = Args::read(words).unwrap().verb else {
                panic!("another verb")
            };
            assert_eq!(args.sampled.names_something(), names);
        }
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
