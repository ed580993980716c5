//! What `perfdata` without arguments prints: the first commands, or those for the perf.data of this folder.

use core::fmt::Write;
use std::path::Path;

use perf_abi::feature::Feature;
use perf_parse::feature::FeatureData;
use perf_parse::file::Reader;
use perf_profile::{event_name, has_stacks};

use crate::args::first_commands;
use crate::escape::OneLine;
use crate::input::Memory;
use crate::local_time::{self, DateText};
use crate::outcome::Outcome;
use crate::quality::grouped;

/// The capture that is read without a name.
const DEFAULT: &str = "perf.data";

/// The most events that are named.
const EVENTS: usize = 4;

/// Returns the text.
pub(crate) fn text() -> String {
    let mut text = String::new();
    let path = Path::new(DEFAULT);
    let described = path.exists()
        && crate::input::read(path, |reader, memory| {
            text = of_capture(&reader, memory);
            Ok(Outcome::Clean)
        })
        .is_ok();
    if described { text } else { first_commands() }
}

/// Returns what a capture is, and the next commands.
fn of_capture(reader: &Reader<'_>, memory: Memory<'_>) -> String {
    let mut text = format!("{DEFAULT}: {} bytes", grouped(memory.size));
    let feature = |feature: Feature| reader.features().get(feature).and_then(|section| section.decode().ok());
    if let Some(FeatureData::Hostname(host)) = feature(Feature::HOSTNAME) {
        let _ = write!(text, ", recorded on {}", OneLine(&host));
    }
    if let Some(FeatureData::ClockData(clock)) = feature(Feature::CLOCK_DATA)
        && let Some(time) = i64::try_from(clock.wall_clock_ns / 1_000_000_000).ok().and_then(local_time::of)
    {
        let _ = write!(text, " at {}", DateText(&time));
    }
    text.push('\n');
    if let Some(FeatureData::CmdLine(words)) = feature(Feature::CMDLINE) {
        let words: Vec<_> = words.iter().map(|word| OneLine(&word).to_string()).collect();
        let _ = writeln!(text, "Recorded by: {}", words.join(" "));
    }
    let events = reader.events();
    let mut names: Vec<_> =
        events.iter().take(EVENTS).map(|event| OneLine(&event_name(event)).to_string()).collect();
    if let Some(more) = events.iter().count().checked_sub(EVENTS).filter(|&more| more > 0) {
        names.push(format!("and {more} more"));
    }
    let stacks = if events.iter().any(|event| has_stacks(event)) { "with stacks" } else { "without stacks" };
    let _ = writeln!(text, "Events, {stacks}: {}", names.join(", "));
    let has_switches = events.iter().any(|event| event_name(event) == b"sched:sched_switch");
    let third = if has_switches {
        "sched waits      show for how long threads wait, and why"
    } else {
        "info             show all that is known of the recording"
    };
    let _ = write!(
        text,
        "
  perfdata report           show where the time went
  perfdata flamegraph       draw it: writes flamegraph.html, for any browser
  perfdata {third}

perfdata --help lists all commands, with an example of each.
"
    );
    text
}
