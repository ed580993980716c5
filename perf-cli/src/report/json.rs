//! A report as a JSON document.

use perf_parse::file::Reader;
use perf_parse::{ByteStr, FileError};
use perf_profile::report::{GraphTree, ReportCell, ReportColumn, ReportRow, ReportTable, SortKey, percent};
use perf_profile::text::mode_name;
use perf_profile::{SampleTotal, Symbol, event_name};
use serde_json::{Map, Value, json};

use super::graph::CallGraphPrinter;
use super::{ReportView, memory, transaction};
use crate::escape::{json_text, push_json_value};
use crate::outcome::Failure;
use crate::output::Output;
use crate::render::account;

/// Writes a report as a JSON document. Returns whether there is still a reader.
pub(super) fn push(view: &ReportView<'_>, output: &mut Output, reader: &Reader<'_>) -> Result<bool, Failure> {
    let features = reader.features();
    let feature =
        |value: Result<Option<ByteStr<'_>>, FileError>| value.ok().flatten().map(|it| json_text(&it));
    let mut header = Map::new();
    let known = [
        ("hostname", feature(features.hostname())),
        ("os_release", feature(features.os_release())),
        ("arch", feature(features.arch())),
        ("perf_version", feature(features.version())),
    ];
    header.extend(known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    let events: Vec<_> = reader.events().iter().map(|event| json_text(&event_name(event))).collect();
    header.insert("events".to_owned(), events.into());
    header.insert("lost_samples".to_owned(), view.report.account().lost_samples.into());
    let out = &mut output.buffer;
    out.extend_from_slice(b"{\"header\":");
    push_json_value(out, &header.into());
    out.extend_from_slice(b",\n\"tables\":[");
    for (number, events) in view.report.tables().iter().enumerate() {
        output.buffer.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        let table = view.report.table(events, view.args.percentage.into());
        if !push_table(&table, output)? {
            return Ok(false);
        }
    }
    let out = &mut output.buffer;
    out.extend_from_slice(b"],\n\"quality\":");
    let mut quality = Map::new();
    let members = crate::quality::members(view.report.quality(), view.looked);
    quality.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
    push_json_value(out, &quality.into());
    out.extend_from_slice(b",\n\"account\":");
    push_json_value(out, &account::value(view.report.account()));
    out.extend_from_slice(b"}\n");
    output.flush()
}

fn push_table(table: &ReportTable<'_>, output: &mut Output) -> Result<bool, Failure> {
    let plan = table.report().plan();
    let columns = plan.layout.columns.iter().map(|&it| plan.layout.name(it)).collect::<Vec<_>>();
    let total = |it: &SampleTotal| json!({"samples": it.samples, "period": it.period});
    let head = json!({
        "events": table.events().events,
        "name": json_text(&table.events().name),
        "totals": table.totals().iter().map(total).collect::<Vec<_>>(),
        "columns": columns,
    });
    // The rows are the last member of the object.
    push_json_value(&mut output.buffer, &head);
    output.buffer.pop();
    output.buffer.extend_from_slice(b",\"rows\":[");
    let mut stacks = table.row_stacks(&plan.graph, plan.min_percent);
    let mut scratch = Vec::new();
    let mut is_first = true;
    for &number in table.order() {
        let row = &table.rows()[number];
        if table.is_below(row, plan.min_percent) {
            continue;
        }
        let mut value = row_value(table, row);
        let stacks = stacks.get_mut(number).map(core::mem::take).unwrap_or_default();
        if let Some(tree) = table.call_graph(&stacks, &plan.graph, &mut scratch) {
            value.insert("callchain".to_owned(), callchain(table, &tree).into());
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

pub(super) fn row_value(table: &ReportTable<'_>, row: &ReportRow) -> Map<String, Value> {
    let plan = table.report().plan();
    let weight = |total: SampleTotal, all: &SampleTotal| json!({"samples": total.samples, "period": total.period, "percent": percent(total.period, all.period)});
    let counts = || row.counts().iter().zip(table.totals());
    let mut value = Map::new();
    value.insert("self".to_owned(), counts().map(|(it, all)| weight(it.own, all)).collect::<Vec<_>>().into());
    if plan.children {
        let children = counts().map(|(it, all)| weight(it.children, all)).collect::<Vec<_>>();
        value.insert("children".to_owned(), children.into());
    }
    if row.is_beyond() {
        value.insert("beyond_limits".to_owned(), true.into());
        return value;
    }
    for column in &plan.layout.columns {
        if let ReportColumn::Key(key) = *column {
            if let (SortKey::Field(_), ReportCell::Text(it)) = (key, table.cell(row, key)) {
                value.insert(plan.layout.name(*column).to_owned(), json_text(it));
                continue;
            }
            for (name, member) in members(key, &table.cell(row, key)) {
                value.insert(name.to_owned(), member);
            }
        }
    }
    value
}

/// Returns the members of a key in a row.
fn members(key: SortKey, cell: &ReportCell<'_>) -> Vec<(&'static str, Value)> {
    let name = ReportColumn::Key(key).name();
    let some = |bytes: Option<&[u8]>| bytes.map_or(Value::Null, json_text);
    let symbol_name = |symbol: Option<&Symbol>| symbol.map_or(Value::Null, |it| json_text(&it.name));
    // As the text has it.
    let shown = |push: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        push(&mut out);
        json_text(out.trim_ascii())
    };
    let value = match *cell {
        ReportCell::Task { id, comm, .. } => {
            return vec![(name, id.into()), ("thread_name", json_text(comm))];
        }
        ReportCell::Symbol { symbol, address, .. } if key == SortKey::SymbolIaddr => {
            return vec![(name, symbol_name(symbol)), ("iaddr", address.into())];
        }
        ReportCell::Symbol { symbol, address, mode, .. } => {
            let mut members = symbol_members(key, symbol, address);
            if key == SortKey::Symbol {
                members.push(("mode", mode_name(mode).into()));
            }
            return members;
        }
        ReportCell::SourceLine { text: shown, line, .. } => {
            let mut members = vec![(name, json_text(shown))];
            if let Some(line) = line.filter(|_| key == SortKey::Srcline) {
                members.extend([("file", json_text(&line.file)), ("line", line.line.into())]);
            }
            return members;
        }
        ReportCell::BranchEnd { symbol, offset, .. } => {
            let [symbol_of, offset_of] = match key {
                SortKey::AddrFrom => ["addr_from_symbol", "addr_from_offset"],
                _ => ["addr_to_symbol", "addr_to_offset"],
            };
            let mut members = vec![(name, offset.into()), (symbol_of, symbol_name(symbol))];
            members.extend(symbol.map(|it| (offset_of, offset.wrapping_sub(it.start).into())));
            return members;
        }
        ReportCell::Data { symbol, address, .. } => {
            return vec![(name, symbol_name(symbol)), ("daddr", address.into())];
        }
        ReportCell::CacheLine { symbol, start, .. } => {
            return vec![(name, start.into()), ("dcacheline_symbol", symbol_name(symbol))];
        }
        ReportCell::Text(it) => json_text(it),
        ReportCell::Dso(name) => some(name),
        ReportCell::Parent(symbol) => symbol_name(symbol),
        ReportCell::Cpu(number) => number.map_or(Value::Null, Into::into),
        ReportCell::SourceFile { name, path, .. } => some(path.or(name)),
        ReportCell::Number(number) => number.map_or(Value::Null, Into::into),
        ReportCell::Cgroup(path) => some(path),
        ReportCell::CgroupId { device, inode, .. } => json!({"dev": device, "ino": inode}),
        ReportCell::Time(time) => time.into(),
        ReportCell::Flag(flag) => flag.map_or(Value::Null, Into::into),
        ReportCell::Transaction(txn) => shown(&|out| transaction::push(out, txn)),
        ReportCell::Address(address) | ReportCell::PhysicalAddress { address, .. } => address.into(),
        ReportCell::DataSource(source) => shown(&|out| memory::push_source(out, key, source)),
        _ => Value::Null,
    };
    vec![(name, value)]
}

/// Returns the members of a function: its name, or its address if it has none.
fn symbol_members(key: SortKey, symbol: Option<&Symbol>, address: u64) -> Vec<(&'static str, Value)> {
    let name = ReportColumn::Key(key).name();
    let (inlined, at) = match key {
        SortKey::SymbolTo => ("inlined_to", "address_to"),
        SortKey::SymbolFrom => ("inlined_from", "address_from"),
        _ => ("inlined", "address"),
    };
    let Some(symbol) = symbol else { return vec![(name, Value::Null), (at, address.into())] };
    let mut members = vec![(name, json_text(&symbol.name)), (inlined, symbol.is_inlined.into())];
    if symbol.guess.is_some() {
        members.push(("guessed", true.into()));
    }
    members
}

/// Returns the branches of a call graph, each after the one that it continues. `depth` counts the branches before it.
fn callchain(table: &ReportTable<'_>, tree: &GraphTree) -> Vec<Value> {
    let (report, graph) = (table.report(), &table.report().plan().graph);
    let parts = CallGraphPrinter::of_parts(report.frames(), report.function_table(), graph);
    branches(&CallGraphPrinter { min: table.min_weight(graph), ..parts }, tree)
}

/// Returns the branches of a call graph that have the weight of the printer.
pub(crate) fn branches(printer: &CallGraphPrinter<'_>, tree: &GraphTree) -> Vec<Value> {
    let name = |function| {
        let mut name = Vec::new();
        printer.push_name(&mut name, function);
        // Escaped already.
        String::from_utf8_lossy(&name).into_owned()
    };
    let mut values = Vec::new();
    let reversed = |node| tree.branches(node, printer.graph, printer.min).into_iter().rev();
    let mut waiting: Vec<_> = reversed(GraphTree::ROOT).map(|branch| (0, branch)).collect();
    while let Some((depth, branch)) = waiting.pop() {
        let (own, whole) = (tree.own(branch.last), tree.whole(branch.last));
        values.push(json!({
            "depth": depth,
            "functions": branch.functions.iter().map(|&it| name(it)).collect::<Vec<_>>(),
            "samples": whole.samples,
            "period": whole.period,
            "ending_samples": own.samples,
            "ending_period": own.period,
        }));
        waiting.extend(reversed(branch.last).map(|branch| (depth + 1, branch)));
    }
    values
}
