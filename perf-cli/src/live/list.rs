//! `perfdata list`: the events of this machine.

use core::fmt::Display;
use std::io::Write;

use perf_open::abi::attr::AttrFlags;
use perf_open::event::{EventList, EventParser, ListedEvent, ListedEventKind, ToolEvent};
use perf_record::stat::has_tool_event;
use serde_json::{Map, Value};

use crate::args::live::ListArgs;
use crate::escape::{make_lines_safe, push_json_value, shown};
use crate::outcome::{Failure, Outcome};
use crate::output::{FileContent, Output, Outputs, say};

pub(crate) fn run(args: &ListArgs) -> Result<Outcome, Failure> {
    let parser = EventParser::new().with_tools();
    let EventList { mut events, errors, .. } = parser.list();
    for (_, error) in errors.iter().filter(|(kind, _)| may_choose(*kind, &args.patterns)) {
        say!("perfdata: {error}");
    }
    events.retain(|event| is_chosen(event, &args.patterns));
    let known = events.first().map(|event| event.name.clone());
    events.retain(|event| is_of_machine(event, &parser));
    if events.is_empty() {
        let patterns = args.patterns.join(", ");
        let reason = match known {
            Some(name) => format!("; {name} is known, but the machine does not count it"),
            None => String::new(),
        };
        return Err(Failure(format!("no event of this machine matches {patterns}{reason}")));
    }
    let mut output = Output::new();
    let file = match &args.output {
        Some(path) => Some((
            Outputs::default().claim("--output", path)?.create(FileContent::Report)?,
            shown(path).to_string(),
        )),
        None => None,
    };
    let (mut kind, mut is_first) = (None, true);
    for event in &events {
        let out = &mut output.buffer;
        if args.raw_dump {
            let start = out.len();
            for name in raw_names(event) {
                write!(out, "{name} ")?;
            }
            make_lines_safe(out, start);
            continue;
        }
        if args.json {
            out.extend_from_slice(if core::mem::replace(&mut is_first, false) { b"[\n" } else { b",\n" });
            push_json_value(out, &object(event));
        } else {
            let start = out.len();
            if kind != Some(event.kind) {
                let gap = if kind.is_some() { "\n" } else { "" };
                writeln!(out, "{gap}{}:", heading(event.kind))?;
                kind = Some(event.kind);
            }
            line(event, out)?;
            if args.details {
                details(event, &parser, out)?;
            }
            make_lines_safe(out, start);
        }
        if file.is_none() && !output.flush_full()? {
            break;
        }
    }
    if args.json {
        output.buffer.extend_from_slice(b"\n]\n");
    }
    if args.raw_dump {
        writeln!(output.buffer)?;
    }
    match file {
        Some(((mut file, unfinished), name)) => {
            file.write_all(&output.buffer).map_err(|error| format!("{name}: {error}"))?;
            unfinished.publish()?;
        }
        None => drop(output.flush()?),
    }
    Ok(Outcome::Clean)
}

/// Returns whether the machine has the event. The kernel has a name for every hardware, software and cache event; only
/// opening it shows whether something counts it. perf: `is_event_supported`, `tools/perf/util/print-events.c`.
fn is_of_machine(event: &ListedEvent, parser: &EventParser) -> bool {
    if event.kind == ListedEventKind::Tool {
        return tool(event).is_some_and(has_tool_event);
    }
    let is_generic =
        matches!(event.kind, ListedEventKind::Hardware | ListedEventKind::Software | ListedEventKind::Cache);
    // On a machine with several kinds of cpus, one of them is enough.
    let opens = |name: &str| {
        let events = parser.parse(name).into_iter().flatten().flat_map(|group| group.events);
        let mut unmodified = events.map(|mut event| {
            event.attr.flags = AttrFlags::NONE;
            event
        });
        unmodified.any(|event| event.is_supported())
    };
    !is_generic || opens(&event.name)
}

/// Returns the names of an event for completion, as `perf list --raw-dump` prints them: without the slashes of a PMU's
/// event, and without syntax.
fn raw_names(event: &ListedEvent) -> Vec<&str> {
    match event.kind {
        kind if kind_name(kind) == SYNTAX => Vec::new(),
        ListedEventKind::Pmu => {
            let name = event.name.split('/').nth(1).unwrap_or(&event.name);
            vec![name]
        }
        _ => core::iter::once(&event.name).chain(&event.aliases).map(String::as_str).collect(),
    }
}

/// Returns whether the event's kind, or one of its names or a part of it, matches one of the patterns. Without patterns
/// every event matches.
fn is_chosen(event: &ListedEvent, patterns: &[String]) -> bool {
    let matches = |pattern: &String| {
        let is_glob = pattern.contains(['*', '?']);
        kind_name(event.kind) == pattern
            || event.matches(&if is_glob { pattern.clone() } else { format!("*{pattern}*") })
    };
    patterns.is_empty() || patterns.iter().any(matches)
}

/// Returns whether the patterns may choose events of a kind: they name it, or they are not the names of other kinds.
fn may_choose(kind: ListedEventKind, patterns: &[String]) -> bool {
    let names_other = |pattern: &String| KINDS.contains(&&**pattern) && kind_name(kind) != pattern;
    patterns.is_empty() || !patterns.iter().all(names_other)
}

/// Returns what the tool itself measures.
fn tool(event: &ListedEvent) -> Option<ToolEvent> {
    ToolEvent::ALL.into_iter().find(|tool| tool.name() == event.name)
}

/// The names of kinds.
const KINDS: [&str; 7] = ["hw", "sw", "tool", "cache", "pmu", "tracepoint", SYNTAX];

/// The kind of an entry that is not an event, but shows the syntax of events.
const SYNTAX: &str = "syntax";

/// Returns the name of a kind in patterns.
fn kind_name(kind: ListedEventKind) -> &'static str {
    match kind {
        ListedEventKind::Hardware => "hw",
        ListedEventKind::Software => "sw",
        ListedEventKind::Tool => "tool",
        ListedEventKind::Cache => "cache",
        ListedEventKind::Pmu => "pmu",
        ListedEventKind::Tracepoint => "tracepoint",
        _ => SYNTAX,
    }
}

fn heading(kind: ListedEventKind) -> &'static str {
    match kind {
        ListedEventKind::Hardware => "Hardware events",
        ListedEventKind::Software => "Software events",
        ListedEventKind::Tool => "Tool events, for perfdata stat",
        ListedEventKind::Cache => "Cache events",
        ListedEventKind::Pmu => "Events of PMUs",
        ListedEventKind::Terms => "Terms of PMUs",
        ListedEventKind::Raw => "Raw events",
        ListedEventKind::Breakpoint => "Breakpoints",
        ListedEventKind::Tracepoint => "Tracepoints",
        _ => "Others",
    }
}

fn line(event: &ListedEvent, out: &mut Vec<u8>) -> std::io::Result<()> {
    let names = [event.name.as_str()].into_iter().chain(event.aliases.iter().map(String::as_str));
    let names = names.collect::<Vec<_>>().join(" OR ");
    let unit = match (event.scale, &event.unit) {
        (Some(scale), Some(unit)) => format!("{scale} {unit}"),
        (None, Some(unit)) => unit.clone(),
        (Some(scale), None) => format!("times {scale}"),
        (None, None) => String::new(),
    };
    writeln!(out, "  {}", format!("{names:<50} {unit}").trim_end())
}

/// Prints the details of an event: its terms, and the type and config that the kernel gets.
fn details(event: &ListedEvent, parser: &EventParser, out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut show = |name: &str, value: &dyn Display| writeln!(out, "      {name}: {value}");
    if let Some(terms) = &event.terms {
        show("terms", terms)?;
    }
    if kind_name(event.kind) == SYNTAX {
        return Ok(());
    }
    if let Some(tool) = tool(event).filter(|_| event.kind == ListedEventKind::Tool) {
        return show("value", &tool.description());
    }
    match parser.parse(&event.name) {
        Ok(groups) => {
            for event in groups.iter().flat_map(|group| &group.events) {
                let attr = &event.attr;
                show("attr", &format_args!("type {}, config {:#x}", attr.kind, attr.config))?;
            }
        }
        Err(error) => show("not usable", &error)?,
    }
    Ok(())
}

/// Returns the object of an event, with the names of `perf list --json`.
///
/// perf: `json_print_event`, `tools/perf/builtin-list.c`.
fn object(event: &ListedEvent) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    if let Some(pmu) = &event.pmu {
        put("Unit", pmu.as_str().into());
    }
    put("EventName", event.name.as_str().into());
    if !event.aliases.is_empty() {
        put("EventAlias", event.aliases.join(" ").into());
    }
    put("EventType", event_type(event.kind).into());
    if let Some(unit) = &event.unit {
        put("ScaleUnit", format!("{}{unit}", event.scale.unwrap_or(1.0)).into());
    }
    if let (Some(pmu), Some(terms)) = (&event.pmu, &event.terms) {
        put("Encoding", format!("{pmu}/{terms}/").into());
    }
    Value::Object(object)
}

/// Returns perf's name of a kind of events.
fn event_type(kind: ListedEventKind) -> &'static str {
    match kind {
        ListedEventKind::Hardware => "Hardware event",
        ListedEventKind::Software => "Software event",
        ListedEventKind::Tool => "Tool event",
        ListedEventKind::Cache => "Hardware cache event",
        ListedEventKind::Pmu => "Kernel PMU event",
        ListedEventKind::Breakpoint => "Hardware breakpoint",
        ListedEventKind::Tracepoint => "Tracepoint event",
        _ => "Raw event descriptor",
    }
}
