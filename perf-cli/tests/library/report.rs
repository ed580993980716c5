//! Reports: the rows and call graphs of the library are those of `perfdata report --format json`.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use perf_parse::Reader;
use perf_profile::report::{GraphTree, Options, Percentage, Report, ReportCell, ReportTable, SortKey};
use perf_profile::{SampleTotal, Samples};
use serde_json::Value;

/// The report of a capture, with so many threads; `None` if it cannot have these options.
fn example(capture: &Path, options: &Options, threads: usize) -> Option<Report> {
    let reader = Reader::open(capture).unwrap();
    let symbols = super::symbols(&reader);
    Samples::of(&reader).threads(threads).report(&symbols, options, &mut ()).ok()
}

/// Runs `perfdata report` without the files of this machine. Returns its document; `None` if it refuses the capture.
fn document(capture: &Path, args: &[&str]) -> Option<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["report", "--format", "json", "--symfs", "/nonexistent"]).args(args).arg(capture);
    let output = command.output().unwrap();
    (output.status.code() != Some(1)).then(|| serde_json::from_slice(&output.stdout).unwrap())
}

/// A name as the document has it: bytes that are not UTF-8 as `\xNN`.
fn text(bytes: &[u8]) -> Value {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| write!(text, "\\x{byte:02x}").unwrap());
    }
    text.into()
}

/// Returns the rows of a table, a line each.
fn rows(table: &ReportTable<'_>) -> String {
    let mut lines = String::new();
    for row in table.shown() {
        let total = |it: SampleTotal| (it.samples, it.period);
        let counts: Vec<_> = row.counts().iter().map(|it| (total(it.own), total(it.children))).collect();
        let cells = [SortKey::Comm, SortKey::Dso, SortKey::Symbol].map(|key| match table.cell(row, key) {
            ReportCell::Text(comm) => text(comm),
            ReportCell::Dso(name) => name.map_or(Value::Null, text),
            ReportCell::Symbol { symbol: Some(symbol), .. } => text(&symbol.name),
            ReportCell::Symbol { address, .. } => address.into(),
            cell => panic!("{cell:?}"),
        });
        writeln!(lines, "{counts:?} {cells:?}").unwrap();
    }
    lines
}

/// Returns the rows of a table of a document.
fn rows_of(table: &Value) -> String {
    let mut lines = String::new();
    for row in table["rows"].as_array().unwrap() {
        let total = |it: &Value| (it["samples"].as_u64().unwrap(), it["period"].as_u64().unwrap());
        let own = row["self"].as_array().unwrap();
        let children = row["children"].as_array().unwrap_or(own);
        let counts: Vec<_> = own.iter().zip(children).map(|(own, it)| (total(own), total(it))).collect();
        let symbol = if row["symbol"].is_null() { &row["address"] } else { &row["symbol"] };
        let cells = [&row["comm"], &row["dso"], symbol].map(Value::clone);
        writeln!(lines, "{counts:?} {cells:?}").unwrap();
    }
    lines
}

#[test]
fn rows_are_those_of_the_program() {
    let mut options = Options::default();
    options.sort = Some("comm,dso,symbol".parse().unwrap());
    options.branches = Some(false);
    let (mut compared, mut all) = (0, 0);
    for capture in super::captures() {
        let args = ["--sort", "comm,dso,symbol", "--no-branch-stack"];
        let Some(document) = document(&capture, &args) else { continue };
        let tables = document["tables"].as_array().unwrap();
        for threads in [1, 4] {
            let report = example(&capture, &options, threads).unwrap();
            assert_eq!(report.tables().len(), tables.len(), "{}", capture.display());
            for (events, expected) in report.tables().iter().zip(tables) {
                assert_eq!(text(&events.name), expected["name"], "{}", capture.display());
                let table = report.table(events, Percentage::Absolute);
                assert_eq!(rows(&table), rows_of(expected), "{} on {threads} threads", capture.display());
                all += table.rows().len();
            }
            let frames = &document["quality"]["frames"]["total"];
            assert_eq!(report.quality().frames(), *frames, "{}", capture.display());
        }
        compared += usize::from(!tables.is_empty());
    }
    assert!(compared > 20 && all > 1000, "{compared} {all}");
}

/// The branches that each call graph begins with.
#[test]
fn call_graphs_are_those_of_the_program() {
    let mut compared = 0;
    for capture in super::captures() {
        let Some(document) = document(&capture, &[]) else { continue };
        let report = example(&capture, &Options::default(), 4).unwrap();
        let graph = &report.plan().graph;
        for (events, expected) in report.tables().iter().zip(document["tables"].as_array().unwrap()) {
            let table = report.table(events, Percentage::Absolute);
            let stacks = table.row_stacks(graph, 0.0);
            let mut scratch = Vec::new();
            for (&row, expected) in table.order().iter().zip(expected["rows"].as_array().unwrap()) {
                let stacks = stacks.get(row).cloned().unwrap_or_default();
                let tree = table.call_graph(&stacks, graph, &mut scratch);
                let of_root =
                    |tree: &GraphTree| tree.branches(GraphTree::ROOT, graph, table.min_weight(graph));
                let branches = tree.iter().flat_map(|tree| {
                    of_root(tree).into_iter().map(|it| (tree.whole(it.last).period, it.functions.len()))
                });
                let expected = expected["callchain"].as_array().into_iter().flatten();
                let expected = expected.filter(|it| it["depth"] == 0);
                let expected: Vec<_> = expected
                    .map(|it| (it["period"].as_u64().unwrap(), it["functions"].as_array().unwrap().len()))
                    .collect();
                assert_eq!(branches.collect::<Vec<_>>(), expected, "{}", capture.display());
                compared += expected.len();
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn options_that_a_capture_cannot_have_are_refused_by_both() {
    let capture = testdata::path("plain.data");
    for (sort, program) in [("parent", "parent"), ("symbol_from", "symbol_from"), ("mem", "mem")] {
        let mut options = Options::default();
        options.sort = Some(sort.parse().unwrap());
        assert!(example(&capture, &options, 1).is_none(), "{sort}");
        assert!(document(&capture, &["--sort", program]).is_none(), "{program}");
    }
}
