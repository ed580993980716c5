//! The arguments of `perfdata diff`.

use std::path::PathBuf;

use super::fold::WeightArg;
use super::itrace::ItraceArgs;
use super::only::OnlyArgs;
use super::profile::NamingArgs;
use super::symbols::SymbolArgs;
use super::{Format, ReadingArgs};

pub(super) const EXAMPLES: &str =
    "Each row is a function: what it takes itself before and after, by how much that changed, and what it takes with the \
functions that it calls. Functions whose own part changed the most come first. Files that have another build id in the \
second capture are listed at the end, because their functions may differ although they have the same name.

With -o, stacks are compared instead, as a flame graph: the widths are those of the second capture, the colours say what \
takes more (red) and what takes less (blue) than before. It is a page or a picture as those of perfdata flamegraph.

With one capture, --before and --after select two parts of it. Both also work with two captures, and may be repeated.

Without a capture, perf.data.old, which perfdata record keeps, is compared with perf.data; with --before or --after, two parts of
perf.data are.

Examples:
  perfdata diff
  perfdata diff old.data new.data
  perfdata diff perf.data --before time=0%-50% --after time=50%-100%
  perfdata diff perf.data --before comm=worker-1 --after comm=worker-2 --normalize time
  perfdata diff old.data new.data --format jsonl | jq 'select(.delta > 1)'
  perfdata diff old.data new.data -o diff.html";

#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// Capture to compare with [default: perf.data.old, which is then compared with perf.data]
    #[arg(value_name = "BEFORE")]
    pub(crate) before_file: Option<PathBuf>,

    /// Capture to compare. Without it, both sides are of the first one
    #[arg(value_name = "AFTER")]
    pub(crate) after_file: Option<PathBuf>,

    /// Only these samples of the first side: comm, pid, tid, cpu, time or event, as the option of that name takes it
    #[arg(long, value_name = "KEY=VALUE", value_parser = selection)]
    pub(crate) before: Vec<Selection>,

    /// Only these samples of the second side
    #[arg(long, value_name = "KEY=VALUE", value_parser = selection)]
    pub(crate) after: Vec<Selection>,

    /// What makes the sides comparable
    #[arg(long, value_enum, default_value_t = NormalizeArg::Share)]
    pub(crate) normalize: NormalizeArg,

    /// What samples count
    #[arg(long, value_enum, default_value_t = WeightArg::Period)]
    pub(crate) weight: WeightArg,

    /// Write a flame graph of the differences instead of the table: a page if the name ends in .html, a picture if it ends
    /// in .svg; - writes a page to standard output
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["format", "min_delta"])]
    pub(crate) output: Option<PathBuf>,

    /// Output format: text for people, jsonl for programs (one JSON object per line)
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Leave out functions whose own part changed by less than this
    #[arg(long, value_name = "N", default_value_t = 0.01)]
    pub(crate) min_delta: f64,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) itrace: ItraceArgs,

    #[command(flatten)]
    pub(crate) naming: NamingArgs,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

/// What makes two sides comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum NormalizeArg {
    /// Percent of each side's total
    Share,
    /// What is counted in a second
    Time,
    /// Nothing: what is counted
    None,
}

/// A selection of the samples of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    key: Key,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Comm,
    Pid(i32),
    Tid(i32),
    Cpu,
    Time,
    Event,
}

fn selection(text: &str) -> Result<Selection, String> {
    let keys = "comm, pid, tid, cpu, time or event, for example time=0%-50%";
    let Some((key, value)) = text.split_once('=') else {
        return Err(format!("needs a key and a value: {keys}"));
    };
    let id = || value.parse().map_err(|_| format!("{value}: not a number"));
    let key = match key {
        "comm" | "comms" => Key::Comm,
        "pid" => Key::Pid(id()?),
        "tid" => Key::Tid(id()?),
        "cpu" => Key::Cpu,
        "time" => Key::Time,
        "event" => Key::Event,
        _ => return Err(format!("{key}: no such key; use {keys}")),
    };
    Ok(Selection { key, value: value.to_owned() })
}

impl Selection {
    /// Returns the text that was given.
    pub(crate) fn text(&self) -> String {
        let key = match self.key {
            Key::Comm => "comm",
            Key::Pid(_) => "pid",
            Key::Tid(_) => "tid",
            Key::Cpu => "cpu",
            Key::Time => "time",
            Key::Event => "event",
        };
        format!("{key}={}", self.value)
    }

    /// Adds this selection to others.
    pub(crate) fn apply(&self, only: &mut OnlyArgs) {
        let value = || self.value.clone();
        match self.key {
            Key::Comm => only.comms.push(value()),
            Key::Pid(pid) => only.pid.push(pid),
            Key::Tid(tid) => only.tid.push(tid),
            Key::Cpu => only.cpu = Some(value()),
            Key::Time => only.time = Some(value()),
            Key::Event => only.event = Some(value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections() {
        let of = |key, value: &str| Ok(Selection { key, value: value.into() });
        assert_eq!(selection("time=0%-50%"), of(Key::Time, "0%-50%"));
        assert_eq!(selection("comm=a=b"), of(Key::Comm, "a=b"));
        assert_eq!(selection("tid=-1"), of(Key::Tid(-1), "-1"));
        for text in ["comm=a", "pid=1", "tid=2", "cpu=0-3", "time=10%/2", "event=cycles"] {
            assert_eq!(selection(text).unwrap().text(), text);
        }
        assert!(selection("tid=x").unwrap_err().contains("not a number"));
        assert!(selection("dso=x").unwrap_err().contains("no such key"));
        assert!(selection("comm").unwrap_err().contains("a key and a value"));
    }
}
