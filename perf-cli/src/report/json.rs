//! A report as a JSON document.

use core::num::NonZero;

use perf_parse::file::Reader;
use perf_profile::{NONE, Total, event_name};
use serde_json::{Map, Value, json};

use super::chains::Tree;
use super::graph::Printer;
use super::keys::{Column, Key};
use super::rows::{Place, Row, RowKey, Table};
use super::text::{Colors, percent};
use super::{Percentage, Report, memory, row_graphs, tables, transaction};
use crate::Failure;
use crate::escape::{Lossy, push_json_value};
use crate::output::Output;
use crate::render::{account, mode_name};

fn text(bytes: &[u8]) -> Value {
    Lossy(bytes).to_string().into()
}

/// Writes a report as a JSON document. Returns whether there is still a reader.
pub(super) fn push(
    report: &Report<'_>,
    output: &mut Output,
    reader: &Reader<'_>,
    tables: &[tables::Members],
) -> Result<bool, Failure> {
    let features = reader.features();
    let feature = |value: Option<Result<&[u8], perf_parse::FileError>>| value.and_then(Result::ok).map(text);
    let mut header = Map::new();
    let known = [
        ("hostname", feature(features.hostname())),
        ("os_release", feature(features.os_release())),
        ("arch", feature(features.arch())),
        ("perf_version", feature(features.version())),
    ];
    header.extend(known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    let events: Vec<_> = reader.events().iter().map(|event| text(&event_name(event))).collect();
    header.insert("events".to_owned(), events.into());
    header.insert("lost_samples".to_owned(), report.account.lost_samples.into());
    let out = &mut output.buffer;
    out.extend_from_slice(b"{\"header\":");
    push_json_value(out, &header.into());
    out.extend_from_slice(b",\n\"tables\":[");
    let is_relative = report.args.percentage == Percentage::Relative;
    for (number, members) in tables.iter().enumerate() {
        output.buffer.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        let table = report.source.table(members, is_relative);
        if !push_table(report, output, &table)? {
            return Ok(false);
        }
    }
    let out = &mut output.buffer;
    out.extend_from_slice(b"],\n\"quality\":");
    let mut quality = Map::new();
    let members = crate::quality::members(report.quality, &report.names.looked());
    quality.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
    push_json_value(out, &quality.into());
    out.extend_from_slice(b",\n\"account\":");
    push_json_value(out, &account::value(report.account));
    out.extend_from_slice(b"}\n");
    output.flush()
}

fn push_table(report: &Report<'_>, output: &mut Output, table: &Table<'_>) -> Result<bool, Failure> {
    let columns = report.plan.layout.columns.iter().map(|it| it.name()).collect::<Vec<_>>();
    let total = |it: &Total| json!({"samples": it.samples, "period": it.period});
    let head = json!({
        "events": table.members.events,
        "name": text(&table.members.name),
        "totals": table.totals.iter().map(total).collect::<Vec<_>>(),
        "columns": columns,
    });
    // The rows are the last member of the object.
    push_json_value(&mut output.buffer, &head);
    output.buffer.pop();
    output.buffer.extend_from_slice(b",\"rows\":[");
    let weights = report.weights(table);
    let mut uses = report.uses(table);
    let mut elements = Vec::new();
    let mut is_first = true;
    for &number in &table.order {
        let row = &table.rows[number];
        if report.is_left_out(table, row) {
            continue;
        }
        let mut value = row_value(report, table, row);
        let uses = uses.get_mut(number).map(core::mem::take).unwrap_or_default();
        if let Some(tree) = row_graphs::tree(report.source, &report.plan.graph, &uses, &mut elements) {
            value.insert("callchain".to_owned(), callchain(report, &tree, weights.min).into());
        }
        output.buffer.extend_from_slice(if is_first { b"\n" } else { b",\n" });
        is_first = false;
        push_json_value(&mut output.buffer, &value.into());
        if !output.flush_full()? {
            return Ok(false);
        }
    }
    output.buffer.extend_from_slice(b"]}");
    Ok(true)
}

fn row_value(report: &Report<'_>, table: &Table<'_>, row: &Row) -> Map<String, Value> {
    let weight = |total: Total, all: &Total| json!({"samples": total.samples, "period": total.period, "percent": percent(total.period, all.period)});
    let counts = || row.counts.iter().zip(&table.totals);
    let mut value = Map::new();
    value.insert("self".to_owned(), counts().map(|(it, all)| weight(it.own, all)).collect::<Vec<_>>().into());
    if report.plan.children {
        let children = counts().map(|(it, all)| weight(it.children, all)).collect::<Vec<_>>();
        value.insert("children".to_owned(), children.into());
    }
    let Some(row_key) = table.key(row) else {
        value.insert("beyond_limits".to_owned(), true.into());
        return value;
    };
    for column in &report.plan.layout.columns {
        if let Column::Key(key) = *column {
            for (name, member) in members(report, row, &row_key, key) {
                value.insert(name.to_owned(), member);
            }
        }
    }
    value
}

/// Returns the members of a key in a row.
fn members(report: &Report<'_>, row: &Row, row_key: &RowKey, key: Key) -> Vec<(&'static str, Value)> {
    let source = report.source;
    let (facts, named) = (&source.collected.facts, source.named);
    let Some(of) = facts.list.get(row_key.facts as usize) else { return Vec::new() };
    let last_comm = |tid: i32| facts.last_comms.get(&tid).map_or(&[][..], |&(_, comm)| facts.texts.get(comm));
    let dso = |place: &Place| if place.dso == NONE { Value::Null } else { text(named.short_name(place.dso)) };
    let symbol = |name: &'static str, inlined: &'static str, at: &'static str, place: &Place| match named
        .symbol(place.symbol)
    {
        Some(symbol) => {
            let mut members = vec![(name, text(&symbol.name)), (inlined, symbol.is_inlined.into())];
            if symbol.guess.is_some() {
                members.push(("guessed", true.into()));
            }
            members
        }
        None => vec![(name, Value::Null), (at, place.address.into())],
    };
    let name = Column::Key(key).name();
    let srcline = |place: &Place| text(source.lines.srcline_text(place.srcline));
    let one = |value: Value| vec![(name, value)];
    // 0 means not known.
    let some = |number: u64| if number == 0 { Value::Null } else { number.into() };
    let symbol_of =
        |frame: u32| named.symbol(named.symbol_of(frame)).map_or(Value::Null, |it| text(&it.name));
    let offset = |frame: u32, names: [&'static str; 3]| {
        let address = source.collected.table.frames.place(frame).map_or(0, |it| it.offset);
        let mut members = vec![(names[0], address.into()), (names[1], symbol_of(frame))];
        let symbol = named.symbol(named.symbol_of(frame));
        members.extend(symbol.map(|it| (names[2], address.wrapping_sub(it.start).into())));
        members
    };
    // As the text has it.
    let shown = || {
        let mut out = Vec::new();
        match key {
            Key::Transaction => transaction::push(&mut out, of.transaction),
            key => memory::push_text(&mut out, key, &of.access, ' '),
        }
        text(out.trim_ascii())
    };
    match key {
        Key::Pid | Key::Tid | Key::Tgid => {
            let tid = if key == Key::Tgid { of.tgid } else { of.tid };
            vec![(name, tid.into()), ("thread_name", text(last_comm(tid)))]
        }
        Key::Comm => one(text(facts.texts.get(of.comm))),
        Key::Dso | Key::DsoTo => one(dso(&row_key.place)),
        Key::DsoFrom => one(dso(&row_key.from)),
        Key::Symbol => {
            let mut members = symbol(name, "inlined", "address", &row_key.place);
            members.push(("mode", mode_name(source.collected.table.frames.mode(row.frame)).into()));
            members
        }
        Key::SymbolTo => symbol(name, "inlined_to", "address_to", &row_key.place),
        Key::SymbolFrom => symbol(name, "inlined_from", "address_from", &row_key.from),
        Key::Parent => one(named.symbol(row_key.parent).map_or(Value::Null, |it| text(&it.name))),
        Key::Cpu => one(if of.cpu < 0 { Value::Null } else { of.cpu.into() }),
        Key::Srcline => {
            let mut members = one(srcline(&row_key.place));
            if let Some(line) = named.line(source.lines.only_line(row_key.place.srcline)) {
                members.extend([("file", text(&line.file)), ("line", line.line.into())]);
            }
            members
        }
        Key::Srcfile => one(match named.line(source.lines.line_of_only_file(row_key.place.srcfile)) {
            Some(line) => text(&line.file),
            None if row_key.place.srcfile == NONE => Value::Null,
            None => text(source.lines.srcfile_text(row_key.place.srcfile)),
        }),
        Key::LocalWeight => one(of.weight.into()),
        Key::Weight => one(of.weight.wrapping_mul(row.samples()).into()),
        Key::Trace => one(text(facts.texts.get(of.trace))),
        Key::Cgroup => {
            let path = facts.cgroups.get(&of.cgroup).map_or(&b"unknown"[..], |path| path);
            one(if of.cgroup == 0 { Value::Null } else { text(path) })
        }
        Key::CgroupId => one(json!({"dev": of.cgroup_id.0, "ino": of.cgroup_id.1})),
        Key::Time => one(of.time.into()),
        Key::Mispredict => {
            use perf_abi::branch::BranchFlags;
            let (missed, predicted) =
                (of.branch.contains(BranchFlags::MISPRED), of.branch.contains(BranchFlags::PREDICTED));
            one(if missed || predicted { missed.into() } else { Value::Null })
        }
        Key::InTx => one(of.branch.contains(perf_abi::branch::BranchFlags::IN_TX).into()),
        Key::Abort => one(of.branch.contains(perf_abi::branch::BranchFlags::ABORT).into()),
        Key::Cycles => one(NonZero::new(of.branch.cycles()).map_or(Value::Null, |it| it.get().into())),
        Key::SrclineFrom => one(srcline(&row_key.from)),
        Key::SrclineTo => one(srcline(&row_key.place)),
        Key::AddrFrom => offset(row.from, ["addr_from", "addr_from_symbol", "addr_from_offset"]),
        Key::AddrTo => offset(row.frame, ["addr_to", "addr_to_symbol", "addr_to_offset"]),
        Key::Socket => one(if of.socket < 0 { Value::Null } else { of.socket.into() }),
        Key::Transaction => one(shown()),
        Key::SymbolSize => one(row_key.place.size.map_or(Value::Null, Into::into)),
        Key::DsoSize => one(some(row_key.mapped)),
        Key::CodePageSize => one(some(of.code_page_size)),
        Key::LocalInsLat => one(of.ins_lat.into()),
        Key::InsLat => one(u64::from(of.ins_lat).wrapping_mul(row.samples()).into()),
        Key::LocalPStageCyc => one(of.p_stage_cyc.into()),
        Key::PStageCyc => one(u64::from(of.p_stage_cyc).wrapping_mul(row.samples()).into()),
        Key::Addr => one(row_key.ip.into()),
        Key::DsoDaddr => {
            one(if row_key.data == NONE { Value::Null } else { text(named.short_name(row_key.data)) })
        }
        Key::SymbolDaddr => vec![(name, symbol_of(row.data)), ("daddr", of.access.address.into())],
        Key::SymbolIaddr => vec![(name, symbol_of(row.frame)), ("iaddr", of.access.ip.into())],
        Key::Dcacheline => {
            vec![(name, of.access.line.start.into()), ("dcacheline_symbol", symbol_of(row.data))]
        }
        Key::PhysDaddr => one(of.access.physical.into()),
        Key::DataPageSize => one(some(of.access.page_size)),
        Key::Locked | Key::Tlb | Key::Mem | Key::Snoop | Key::Blocked => one(shown()),
    }
}

/// Returns the branches of a call graph, each after the one that it continues. `depth` counts the branches before it.
fn callchain(report: &Report<'_>, tree: &Tree, min: u64) -> Vec<Value> {
    let graph = &report.plan.graph;
    let printer = Printer {
        source: report.source,
        graph,
        colors: Colors(false),
        separator: None,
        skips_first: false,
        total: 0,
        min,
    };
    let name = |element| {
        let mut name = Vec::new();
        printer.push_name(&mut name, element);
        // Escaped already.
        String::from_utf8_lossy(&name).into_owned()
    };
    let mut values = Vec::new();
    let reversed = |node| tree.branches(node, graph, min).into_iter().rev();
    let mut waiting: Vec<_> = reversed(Tree::ROOT).map(|branch| (0, branch)).collect();
    while let Some((depth, branch)) = waiting.pop() {
        let (own, whole) = (tree.own(branch.last), tree.whole(branch.last));
        values.push(json!({
            "depth": depth,
            "functions": branch.elements.iter().map(|&it| name(it)).collect::<Vec<_>>(),
            "samples": whole.samples,
            "period": whole.period,
            "ending_samples": own.samples,
            "ending_period": own.period,
        }));
        waiting.extend(reversed(branch.last).map(|branch| (depth + 1, branch)));
    }
    values
}
