//! `perfdata list`: the events of this machine.

use core::fmt::Display;
use std::io::Write;

use perf_open::event::{Listed, ListedKind, Parser};
use serde_json::{Map, Value};

use crate::args::live::ListArgs;
use crate::escape::{make_lines_safe, push_json_value};
use crate::output::{Output, say};
use crate::{Failure, Outcome};

pub(crate) fn run(args: &ListArgs) -> Result<Outcome, Failure> {
    let parser = Parser::new();
    let list = parser.list();
    for error in &list.errors {
        say!("{error}");
    }
    let chosen: Vec<&Listed> = list.events.iter().filter(|event| is_chosen(event, &args.patterns)).collect();
    if chosen.is_empty() {
        return Err(Failure(format!("no event of this machine matches {}", args.patterns.join(", "))));
    }
    let mut output = Output::new();
    let mut kind = None;
    for event in chosen {
        let out = &mut output.buffer;
        if args.json {
            push_json_value(out, &object(event));
            writeln!(out)?;
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
        if !output.flush_full()? {
            break;
        }
    }
    output.flush()?;
    Ok(Outcome::Clean)
}

/// Returns whether the event's kind, or one of its names or a part of it, matches one of the patterns. Without patterns
/// every event matches.
fn is_chosen(event: &Listed, patterns: &[String]) -> bool {
    let matches = |pattern: &String| {
        let is_glob = pattern.contains(['*', '?']);
        kind_name(event.kind) == pattern
            || event.matches(&if is_glob { pattern.clone() } else { format!("*{pattern}*") })
    };
    patterns.is_empty() || patterns.iter().any(matches)
}

/// The kind of an entry that is not an event, but shows the syntax of events.
const SYNTAX: &str = "syntax";

/// Returns the name of a kind in patterns and in JSON.
fn kind_name(kind: ListedKind) -> &'static str {
    match kind {
        ListedKind::Hardware => "hw",
        ListedKind::Software => "sw",
        ListedKind::Cache => "cache",
        ListedKind::Pmu => "pmu",
        ListedKind::Tracepoint => "tracepoint",
        _ => SYNTAX,
    }
}

fn heading(kind: ListedKind) -> &'static str {
    match kind {
        ListedKind::Hardware => "Hardware events",
        ListedKind::Software => "Software events",
        ListedKind::Cache => "Cache events",
        ListedKind::Pmu => "Events of PMUs",
        ListedKind::Terms => "Terms of PMUs",
        ListedKind::Raw => "Raw events",
        ListedKind::Breakpoint => "Breakpoints",
        ListedKind::Tracepoint => "Tracepoints",
        _ => "Others",
    }
}

fn line(event: &Listed, out: &mut Vec<u8>) -> std::io::Result<()> {
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

/// Prints what an event's name stands for: the type and config that the kernel gets, and the PMU.
fn details(event: &Listed, parser: &Parser, out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut show = |name: &str, value: &dyn Display| writeln!(out, "      {name}: {value}");
    if let Some(terms) = &event.terms {
        show("terms", terms)?;
    }
    if kind_name(event.kind) == SYNTAX {
        return Ok(());
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

fn object(event: &Listed) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("event", event.name.as_str().into());
    put("kind", kind_name(event.kind).into());
    if !event.aliases.is_empty() {
        put("aliases", event.aliases.clone().into());
    }
    let texts = [("pmu", &event.pmu), ("terms", &event.terms), ("unit", &event.unit)];
    for (name, value) in texts {
        if let Some(value) = value {
            put(name, value.as_str().into());
        }
    }
    if let Some(scale) = event.scale {
        put("scale", scale.into());
    }
    Value::Object(object)
}
