//! Memory accesses by line of the cache, as JSON.

use perf_parse::event::Events;
use perf_profile::c2c::{AccessCounts, C2cAccess, C2cLine, C2cReport, C2cSort, MeanTime};
use perf_profile::event_name;
use perf_profile::report::CallGraphOptions;
use serde_json::{Map, Value, json};

use crate::args::c2c::C2cReportArgs;
use crate::escape::{json_text, push_json_value};
use crate::render::account;
use crate::report::graph::CallGraphPrinter;
use crate::report::json::branches;

/// Appends one object.
pub(super) fn push(
    out: &mut Vec<u8>,
    report: &C2cReport,
    events: &Events,
    args: &C2cReportArgs,
    graph: &CallGraphOptions,
) {
    let member = |out: &mut Vec<u8>, name: &str, value: &Value| {
        out.extend_from_slice(if name == "counts" { b"{" } else { b",\n" });
        push_json_value(out, &name.into());
        out.push(b':');
        push_json_value(out, value);
    };
    member(out, "counts", &counts(report.counts()));
    let mut shared = counts(report.shared());
    shared["lines"] = report.shared_lines().into();
    member(out, "shared", &shared);
    member(out, "events", &events.iter().map(|event| json_text(&event_name(event))).collect());
    let sort = match report.sort() {
        C2cSort::Local => "lcl",
        C2cSort::Remote => "rmt",
        C2cSort::Peer => "peer",
        _ => "tot",
    };
    member(out, "display", &sort.into());
    member(out, "coalesce", &args.coalesce.iter().map(|key| key.name()).collect());
    if !args.stats {
        out.extend_from_slice(b",\n\"lines\":[");
        for (number, line) in report.lines().iter().filter(|line| line.is_shown).enumerate() {
            out.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
            push_json_value(out, &line_value(report, line, graph));
        }
        out.push(b']');
    }
    member(out, "dropped", &report.dropped().into());
    member(out, "account", &account::value(report.account()));
    out.extend_from_slice(b"}\n");
}

/// Returns the counts that are not 0.
fn counts(counts: &AccessCounts) -> Value {
    let all: Map<String, Value> = counts
        .named()
        .filter(|&(_, count)| count > 0)
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    Value::Object(all)
}

fn line_value(report: &C2cReport, line: &C2cLine, graph: &CallGraphOptions) -> Value {
    let graphs = super::printer(report, line, graph);
    json!({
        "address": hex(line.address),
        "counts": counts(&line.counts),
        "cpus": line.cpus,
        "memory_nodes": line.memory_nodes,
        "physical_addresses": line.physical,
        "accesses": line.accesses.iter().map(|it| access_value(report, it, &graphs)).collect::<Vec<_>>(),
    })
}

fn access_value(report: &C2cReport, it: &C2cAccess, graphs: &CallGraphPrinter<'_>) -> Value {
    let mean = |mean: MeanTime| if mean.count() > 0 { Value::from(mean.mean()) } else { Value::Null };
    let threads = it.threads.iter().map(|(tid, comm)| json!({"tid": tid, "comm": json_text(comm)}));
    let nodes = it.by_node.iter().map(|(node, counts)| {
        json!({
            "node": node,
            "remote_hitm": counts.remote_hitm,
            "local_hitm": counts.local_hitm,
            "peer": counts.peer,
            "stores": counts.stores,
        })
    });
    let line = report.source_line(it);
    let mut value = json!({
        "offset": it.offset,
        "ip": hex(it.ip),
        "symbol": report.symbol(it).map(|symbol| json_text(&symbol.name)),
        "dso": report.dso(it).map(json_text),
        "file": line.map(|line| json_text(&line.file)),
        "line": line.map(|line| line.line),
        "pid": it.pid,
        "tid": it.tid,
        "comm": json_text(&it.comm),
        "threads": threads.collect::<Vec<_>>(),
        "counts": counts(&it.counts),
        "cpus": it.cpus,
        "nodes": nodes.collect::<Vec<_>>(),
        "memory_nodes": it.memory_nodes,
        "physical_addresses": it.physical,
        "mean_weight": {
            "remote_hitm": mean(it.remote_hitm),
            "local_hitm": mean(it.local_hitm),
            "remote_peer": mean(it.remote_peer),
            "local_peer": mean(it.local_peer),
            "other_loads": mean(it.other_loads),
        },
        "period": it.period,
    });
    if let Some(tree) = report.call_graph(it, graphs.graph) {
        value["callchain"] = branches(graphs, &tree).into();
    }
    value
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}
