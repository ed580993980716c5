//! `perfdata evlist`: the events of a capture, as `perf evlist` prints them.

use alloc::sync::Arc;

use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_parse::event::Event;
use perf_parse::feature::FeatureData;
use perf_parse::file::Reader;
use perf_parse::tracepoint::{Format, Tracepoints, TracingData};
use perf_profile::event_name;
use perf_profile::tracepoints::tracing_data;

use crate::args::listed::EvlistArgs;
use crate::escape::{print, push_name};
use crate::outcome::{Failure, Outcome};
use crate::output::{Diagnostics, Output};
use crate::perf_text::header::push_attr_after_colon;

/// The line that perf prints if there are tracepoints.
const TIP: &[u8] = b"# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n";

pub(crate) fn run(args: &EvlistArgs) -> Result<Outcome, Failure> {
    crate::input::read(&args.file, |reader, _| {
        let mut records = reader.records();
        if reader.events().is_empty() {
            // Those of a stream are records.
            while records.events().is_empty() && records.next().is_some() {}
        }
        records.check_features();
        let mut output = Output::new();
        push(&mut output.buffer, &records.events().iter().cloned().collect::<Vec<_>>(), &reader, args);
        output.flush()?;
        Diagnostics::new().report_all(records.account());
        Ok(if records.account().is_clean() { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Appends the events.
///
/// perf: `__cmd_evlist`, `tools/perf/builtin-evlist.c`; `evsel__fprintf`, `tools/perf/util/evsel_fprintf.c`.
fn push(out: &mut Vec<u8>, events: &[Arc<Event>], reader: &Reader<'_>, args: &EvlistArgs) {
    let data = TracingData::parse(tracing_data(reader));
    let formats = data.map(|data| Tracepoints::new(&data)).unwrap_or_default();
    let mut rest = events;
    while let Some((event, others)) = rest.split_first() {
        let index = events.len() - rest.len();
        let group = if args.group { group_at(index, reader) } else { None };
        if let Some((name, len)) = group {
            let (members, others) = rest.split_at(len.min(rest.len()));
            push_name(out, &name);
            out.push(b'{');
            for (number, member) in members.iter().enumerate() {
                out.extend_from_slice(if number > 0 { b"," } else { b"" });
                push_name(out, &event_name(member));
            }
            out.extend_from_slice(b"}\n");
            rest = others;
            continue;
        }
        rest = others;
        push_name(out, &event_name(event));
        match event.attr.sample_freq() {
            _ if args.verbose => push_attr_after_colon(out, &event.attr),
            Some(freq) if args.freq => print(out, format_args!(": sample_freq={freq}")),
            None if args.freq => print(out, format_args!(": sample_period={}", event.attr.sample_period)),
            _ => {}
        }
        if args.trace_fields {
            out.extend_from_slice(if args.verbose || args.freq { b", " } else { b": " });
            push_fields(out, event, &formats);
        }
        out.push(b'\n');
    }
    let has_tracepoints = events.iter().any(|event| event.attr.kind == EventType::TRACEPOINT);
    if has_tracepoints && !args.trace_fields {
        out.extend_from_slice(TIP);
    }
}

/// Appends the names of the fields of a tracepoint.
fn push_fields(out: &mut Vec<u8>, event: &Event, formats: &Tracepoints<'_>) {
    if event.attr.kind != EventType::TRACEPOINT {
        return out.extend_from_slice(b"(not a tracepoint)");
    }
    let fields = formats.get(event.attr.config).map(Format::own_fields).unwrap_or_default();
    let mut before: &[u8] = b"trace_fields: ";
    for field in fields {
        out.extend_from_slice(before);
        push_name(out, field.name);
        before = b",";
    }
}

/// Returns the name of the group that begins with an event, without that of groups without a name, and the number of its events;
/// `None` if none does.
fn group_at(index: usize, reader: &Reader<'_>) -> Option<(Vec<u8>, usize)> {
    let FeatureData::GroupDesc(groups) = reader.feature(Feature::GROUP_DESC)?.decode().ok()? else {
        return None;
    };
    let group = groups.iter().find(|group| group.leader_idx as usize == index && group.nr_members > 1)?;
    let name = if group.name == b"{anon_group}" { Vec::new() } else { group.name.to_vec() };
    Some((name, group.nr_members as usize))
}
