//! Samples as rows of text, for spreadsheets and scripts: comma-separated values by RFC 4180, with a header.
//!
//! | column | value |
//! |---|---|
//! | `time` | seconds of the capture's clock; empty without times |
//! | `cpu` | the CPU; empty if it was not recorded |
//! | `pid`, `tid` | ids of the process and the thread |
//! | `comm` | name of the thread at that time |
//! | `event` | name of the event |
//! | `period` | what the event counted |
//! | `dso` | the mapped file of the innermost frame; empty where nothing is mapped |
//! | `symbol` | the innermost function; without a name, its file in brackets |
//! | `file`, `line` | where that is in the source; empty if it is not known |
//! | `stack` | the functions from the outermost one on, separated by semicolons; a semicolon of a name is a colon |
//!
//! Names that are guesses end in [`Guess::MARK`](perf_symbol::Guess::MARK). Texts are in quotes, unsafe characters in them escaped.
//! A spreadsheet may take a text that begins with `=` for a formula: import the columns as text.

use std::fmt::Write as _;
use std::io::{self, Write};

use perf_abi::sample_type::SampleType;
use perf_profile::{Profile, calls_of, event_name, text::OneLine};

use crate::call_name::call_name;

/// Options of rows: none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {}

/// The header.
const HEADER: &str = "time,cpu,pid,tid,comm,event,period,dso,symbol,file,line,stack\r\n";

/// Writes a row for each sample of the captures, one capture after the other, in the order of their samples. Samples that the
/// profile counts together are one row with the sum of their periods.
///
/// Costs memory for each frame, besides the profiles. Writes the functions of the stack of each sample.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], _: &Options, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    profiles.iter().try_for_each(|profile| write_rows(profile, out))
}

fn write_rows(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let events: Vec<(String, bool)> = profile
        .events()
        .iter()
        .map(|it| (field(&event_name(&it.event)), it.event.attr.sample_type.contains(SampleType::TIME)))
        .collect();
    let comms: Vec<String> = profile.threads().iter().map(|it| field(&it.comm)).collect();
    let frames: Vec<FrameFields> =
        (0..profile.frames().locations().len() as u32).map(|frame| FrameFields::of(profile, frame)).collect();
    // The fields of the last stack: samples that follow each other often have the same.
    let mut last: Option<(u32, String)> = None;
    let mut row = String::new();
    for sample in profile.samples() {
        let (Some((event, has_time)), Some(comm), Some(thread)) = (
            events.get(sample.event as usize),
            comms.get(sample.thread as usize),
            profile.threads().get(sample.thread as usize),
        ) else {
            continue;
        };
        row.clear();
        if *has_time {
            let _ = write!(row, "{}.{:09}", sample.time / 1_000_000_000, sample.time % 1_000_000_000);
        }
        row.push(',');
        if let Some(cpu) = sample.cpu {
            let _ = write!(row, "{cpu}");
        }
        let _ = write!(row, ",{},{},{comm},{event},{},", thread.pid, thread.tid, sample.total.period);
        if last.as_ref().is_none_or(|(stack, _)| *stack != sample.stack) {
            last = Some((sample.stack, stack_fields(profile, &frames, sample.stack)));
        }
        row.push_str(last.as_ref().map_or("", |(_, fields)| fields));
        row.push_str("\r\n");
        out.write_all(row.as_bytes())?;
    }
    Ok(())
}

/// What a frame is in a row.
struct FrameFields {
    /// The columns `dso`, `symbol`, `file` and `line`.
    innermost: String,
    /// Its functions for the column `stack`, the outermost one first, separated by semicolons.
    functions: String,
}

impl FrameFields {
    fn of(profile: &Profile, frame: u32) -> Self {
        let calls = calls_of(profile, frame);
        let names: Vec<String> = calls.iter().map(|call| call_name(profile, frame, call)).collect();
        let dso = profile.frames().dso_of(frame).map(|dso| field(dso.name())).unwrap_or_default();
        let symbol = names.last().map(|name| quoted(name)).unwrap_or_default();
        let line = calls.last().and_then(|call| call.line.filter(|_| call.symbol.is_some()));
        let (file, line) = line.map(|it| (field(&it.file), it.line.to_string())).unwrap_or_default();
        let functions: Vec<String> = names.iter().map(|name| name.replace(';', ":")).collect();
        Self { innermost: format!("{dso},{symbol},{file},{line}"), functions: functions.join(";") }
    }
}

/// Returns the columns `dso` to `stack`.
fn stack_fields(profile: &Profile, frames: &[FrameFields], stack: u32) -> String {
    let of_stack: Vec<&FrameFields> =
        profile.stacks().frames(stack).filter_map(|frame| frames.get(frame as usize)).collect();
    let innermost = of_stack.first().map_or(",,,", |frame| &frame.innermost);
    let functions: Vec<&str> = of_stack.iter().rev().map(|frame| &*frame.functions).collect();
    format!("{innermost},{}", quoted(&functions.join(";")))
}

/// Returns bytes as a field.
fn field(bytes: &[u8]) -> String {
    quoted(&OneLine(bytes).to_string())
}

/// Returns a text as a field: in quotes, those inside it doubled; nothing if it is empty.
fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::{field, quoted};

    #[test]
    fn a_field_ends_where_it_should() {
        assert_eq!(quoted(""), "");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(field(b"say \"x\"\r\n"), "\"say \"\"x\"\"\\r\\n\"");
    }
}
