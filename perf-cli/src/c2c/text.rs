//! The text of `perf c2c report --stdio`.

use perf_abi::record::CpuMode;
use perf_parse::event::Events;
use perf_profile::c2c::{AccessCounts, C2cAccess, C2cKey, C2cLine, C2cReport, C2cSort, MeanTime};
use perf_profile::report::CallGraphOptions;

use super::columns::{self, Heading, dashed};
use super::totals;
use crate::args::c2c::C2cReportArgs;
use crate::column;
use crate::escape::{OneLine, print};
use crate::perf_text::print::{pad_to, push_decimal_to};

/// Appends the whole text.
pub(super) fn push(
    out: &mut Vec<u8>,
    report: &C2cReport,
    events: &Events,
    args: &C2cReportArgs,
    graph: &CallGraphOptions,
) {
    push_title(out, "            Trace Event Information              ");
    totals::push_counts(out, report.counts());
    out.push(b'\n');
    push_title(out, "    Global Shared Cache Line Event Information   ");
    totals::push_shared(out, report);
    out.push(b'\n');
    push_title(out, "                 c2c details                     ");
    totals::push_details(out, report, events, args);
    if args.stats {
        return;
    }
    out.push(b'\n');
    push_title(out, "           Shared Data Cache Line Table          ");
    let printer = Printer::new(report, args);
    out.extend_from_slice(b"#\n");
    printer.push_lines(out);
    out.push(b'\n');
    push_title(out, "      Shared Cache Line Distribution Pareto      ");
    out.extend_from_slice(b"#\n");
    printer.push_pareto(out, graph);
}

fn push_title(out: &mut Vec<u8>, title: &str) {
    let line = "=".repeat(49);
    print(out, format_args!("{line}\n{title}\n{line}\n"));
}

/// The widths of the columns of rows whose texts differ.
#[derive(Clone, Copy, Debug, Default)]
struct Widths {
    comm: usize,
    symbol: usize,
    dso: usize,
    source: usize,
}

/// The most bytes of the name of a function or of the line of source code, unless all are wanted.
///
/// perf: `SYMBOL_WIDTH`, `tools/perf/builtin-c2c.c`.
const SYMBOL: usize = 30;

/// The number of hexadecimal digits of an address.
const ADDRESS: usize = 16;

/// The texts of a row.
struct RowTexts {
    symbol: Vec<u8>,
    dso: Option<Vec<u8>>,
    source: Vec<u8>,
}

struct Printer<'a> {
    report: &'a C2cReport,
    args: &'a C2cReportArgs,
    /// The width of the column of nodes of rows.
    node: usize,
    shows_address: bool,
    shows_source: bool,
}

impl<'a> Printer<'a> {
    fn new(report: &'a C2cReport, args: &'a C2cReportArgs) -> Self {
        let shown = report.lines().iter().filter(|line| line.is_shown);
        let of_line = |line: &C2cLine| {
            let rows = line.accesses.iter().map(|row| nodes(&row.memory_nodes).len());
            rows.max().unwrap_or(0).max(nodes(&line.memory_nodes).len())
        };
        let node = shown.map(of_line).max().unwrap_or(0).max(4);
        let shows_address = args.coalesce.contains(&C2cKey::Iaddr);
        Self { report, args, node, shows_address, shows_source: shows_address && !args.no_source }
    }

    fn is_peer(&self) -> bool {
        self.report.sort() == C2cSort::Peer
    }

    /// The table of lines.
    ///
    /// perf: `perf_c2c__report`, `tools/perf/builtin-c2c.c`.
    fn push_lines(&self, out: &mut Vec<u8>) {
        let (first, second) = match self.report.sort() {
            C2cSort::Local => ("Lcl", "Hitm"),
            C2cSort::Remote => ("Rmt", "Hitm"),
            C2cSort::Peer => ("Peer", "Snoop"),
            _ => ("Tot", "Hitm"),
        };
        let name = if self.args.double_cl { "Double-Cacheline" } else { "Cacheline" };
        let new = |upper: &str, lower: &str, width| Heading::new(upper, lower, width);
        let of_peers = self.is_peer();
        let headings = [
            new("", "Index", 5),
            Heading::new(dashed(name, 18 + 4 + 6 + 4), "Address", 18).over(2),
            new("", "Node", 4),
            new("", "PA cnt", 6),
            new(first, second, 7),
            new(if of_peers { "------- Load Peer -------" } else { "------- Load Hitm -------" }, "Total", 7)
                .over(2),
            new("", if of_peers { "Local" } else { "LclHitm" }, 7),
            new("", if of_peers { "Remote" } else { "RmtHitm" }, 7),
            new("Total", "records", 7),
            new("Total", "Loads", 7),
            new("Total", "Stores", 7),
            new("--------- Stores --------", "L1Hit", 7).over(2),
            new("", "L1Miss", 7),
            new("", "N/A", 7),
            new("----- Core Load Hit -----", "FB", 7).over(2),
            new("", "L1", 7),
            new("", "L2", 7),
            new("- LLC Load Hit --", "LclHit", 8).over(1),
            new("", "LclHitm", 7),
            new("- RMT Load Hit --", "RmtHit", 8).over(1),
            new("", "RmtHitm", 7),
            new("--- Load Dram ----", "Lcl", 8).over(1),
            new("", "Rmt", 8),
        ];
        columns::push(out, &headings);
        let mut all = AccessCounts::default();
        self.report.lines().iter().for_each(|line| all.add(&line.counts));
        for (number, line) in self.report.lines().iter().filter(|line| line.is_shown).enumerate() {
            let it = &line.counts;
            let sort = self.report.sort();
            print(out, format_args!("  {number:>5}  {:>18}", format!("{:#x}", line.address)));
            print(out, format_args!("  {:>4}  {:>6}", nodes(&line.memory_nodes), line.physical));
            print(out, format_args!("  {:>6.2}%", percent(sort.of(it), sort.of(&all))));
            let costly = if of_peers {
                [it.peer(), it.local_peer, it.remote_peer]
            } else {
                [it.hitm(), it.local_hitm, it.remote_hitm]
            };
            let counts = [
                it.leveled(),
                it.leveled_loads(),
                it.stores,
                it.store_l1_hit,
                it.store_l1_miss,
                it.store_unknown,
                it.load_fill_buffer,
                it.load_l1,
                it.load_l2,
            ];
            for count in costly.into_iter().chain(counts) {
                push_column(out, count, 7);
            }
            let rest = [
                (it.load_l3, 8),
                (it.local_hitm, 7),
                (it.remote_hit, 8),
                (it.remote_hitm, 7),
                (it.local_memory, 8),
                (it.remote_memory, 8),
            ];
            for (count, width) in rest {
                push_column(out, count, width);
            }
            out.push(b'\n');
        }
    }

    /// The rows of each line.
    ///
    /// perf: `print_pareto`, `tools/perf/builtin-c2c.c`.
    fn push_pareto(&self, out: &mut Vec<u8>, graph: &CallGraphOptions) {
        for (number, line) in self.report.lines().iter().filter(|line| line.is_shown).enumerate() {
            let texts: Vec<_> = line.accesses.iter().map(|row| self.texts(row)).collect();
            let widths = self.widths(line, &texts);
            if number == 0 {
                columns::push(out, &self.row_headings(widths));
            } else {
                out.push(b'\n');
            }
            let dashes = format!("  {}\n", "-".repeat(70));
            out.extend_from_slice(dashes.as_bytes());
            let it = &line.counts;
            let costly = if self.is_peer() {
                [it.remote_peer, it.local_peer]
            } else {
                [it.remote_hitm, it.local_hitm]
            };
            push_column(out, number as u64, 5);
            for count in costly.into_iter().chain([it.store_l1_hit, it.store_l1_miss, it.store_unknown]) {
                push_column(out, count, 7);
            }
            print(out, format_args!("  {:>18}\n{dashes}", format!("{:#x}", line.address)));
            let graphs = super::printer(self.report, line, graph);
            for (row, texts) in line.accesses.iter().zip(&texts) {
                // perf shows rows with stores, or with what is sorted by.
                if row.counts.stores > 0 || self.report.sort().of(&row.counts) > 0 {
                    self.push_row(out, line, row, texts, widths);
                    if let Some(tree) = self.report.call_graph(row, graph) {
                        graphs.push(out, &tree, row.period);
                    }
                }
            }
        }
    }

    fn texts(&self, row: &C2cAccess) -> RowTexts {
        let level = match row.mode {
            CpuMode::KERNEL => 'k',
            CpuMode::USER => '.',
            CpuMode::GUEST_KERNEL => 'g',
            CpuMode::GUEST_USER => 'u',
            _ => 'H',
        };
        let mut symbol = Vec::new();
        match self.report.symbol(row) {
            Some(it) => print(&mut symbol, format_args!("[{level}] {}", OneLine(&it.label()))),
            None => print(&mut symbol, format_args!("[{level}] {:#018x}", self.report.code_offset(row))),
        }
        let dso = self.report.dso(row).map(|name| OneLine(name).to_string().into_bytes());
        let source = match self.shows_source {
            true => OneLine(&self.report.source_text(row)).to_string().into_bytes(),
            false => Vec::new(),
        };
        RowTexts { symbol, dso, source }
    }

    /// perf: `hists__calc_col_len`, `tools/perf/util/hist.c`.
    fn widths(&self, line: &C2cLine, texts: &[RowTexts]) -> Widths {
        let mut widths = Widths::default();
        for (row, it) in line.accesses.iter().zip(texts) {
            widths.comm = widths.comm.max(row.comm.len());
            widths.symbol = widths.symbol.max(it.symbol.len());
            if self.report.symbol(row).is_none() {
                widths.dso = widths.dso.max(ADDRESS);
            }
            widths.dso = widths.dso.max(it.dso.as_ref().map_or(0, Vec::len));
            widths.source = widths.source.max(it.source.len()).max("Source:Line".len());
        }
        if !self.args.full_symbols {
            widths.symbol = widths.symbol.min(SYMBOL);
            widths.source = widths.source.min(SYMBOL);
        }
        widths
    }

    fn row_headings(&self, widths: Widths) -> Vec<Heading> {
        let new = |upper: &str, lower: &str, width| Heading::new(upper, lower, width);
        let costly = if self.is_peer() {
            [new("-- Peer Snoop --", "Rmt", 7).over(1), new("", "Lcl", 7)]
        } else {
            [new("----- HITM -----", "RmtHitm", 7).over(1), new("", "LclHitm", 7)]
        };
        let mut all = vec![new("", "Num", 5)];
        all.extend(costly);
        all.extend([
            new("------- Store Refs ------", "L1 Hit", 7).over(2),
            new("", "L1 Miss", 7),
            new("", "N/A", 7),
            Heading::new(dashed("Data address", 18 + self.node + 6 + 4), "Offset", 18).over(2),
            new("", "Node", self.node),
            new("", "PA cnt", 6),
        ]);
        let has = |key| self.args.coalesce.contains(&key);
        if has(C2cKey::Pid) {
            all.push(new("", "Pid", 7));
        }
        if has(C2cKey::Tid) {
            all.push(new("", "Tid", widths.comm + 8));
        }
        if self.shows_address {
            all.push(new("", "Code address", 18));
        }
        let [remote, local] =
            if self.is_peer() { ["rmt peer", "lcl peer"] } else { ["rmt hitm", "lcl hitm"] };
        all.extend([
            new("---------- cycles ----------", remote, 8).over(2),
            new("", local, 8),
            new("", "load", 8),
            new("Total", "records", 7),
            new("cpu", "cnt", 8),
        ]);
        if self.shows_address {
            all.push(new("", "Symbol", widths.symbol));
        }
        if self.shows_address || has(C2cKey::Dso) {
            all.push(new("Shared", "Object", widths.dso));
        }
        if self.shows_source {
            all.push(new("", "Source:Line", widths.source));
        }
        let node = match (self.args.node_info, self.is_peer()) {
            (0, _) => "Node",
            (1, true) => "Node{cpus %peers %stores}",
            (1, false) => "Node{cpus %hitms %stores}",
            _ => "Node{cpu list}",
        };
        all.push(new("", node, 4));
        all
    }

    fn push_row(&self, out: &mut Vec<u8>, line: &C2cLine, row: &C2cAccess, texts: &RowTexts, widths: Widths) {
        let (it, all) = (&row.counts, &line.counts);
        let costly = if self.is_peer() {
            [(it.remote_peer, all.remote_peer), (it.local_peer, all.local_peer)]
        } else {
            [(it.remote_hitm, all.remote_hitm), (it.local_hitm, all.local_hitm)]
        };
        let stores = [
            (it.store_l1_hit, all.store_l1_hit),
            (it.store_l1_miss, all.store_l1_miss),
            (it.store_unknown, all.store_unknown),
        ];
        out.extend_from_slice(b"       ");
        for (count, all) in costly.into_iter().chain(stores) {
            print(out, format_args!("  {:>6.2}%", percent(count, all)));
        }
        let (offset, node) = (format!("{:#x}", row.offset), nodes(&row.memory_nodes));
        print(out, format_args!("  {offset:>18}  {}  {:>6}", column::right(&node, self.node), row.physical));
        let has = |key| self.args.coalesce.contains(&key);
        if has(C2cKey::Pid) {
            print(out, format_args!("  {:>7}", row.pid));
        }
        if has(C2cKey::Tid) {
            print(out, format_args!("  {:>7}:", row.tid));
            push_padded(out, &row.comm, widths.comm);
        }
        if self.shows_address {
            print(out, format_args!("  {:>18}", format!("{:#x}", row.ip)));
        }
        let means = if self.is_peer() {
            [row.remote_peer, row.local_peer, row.other_loads]
        } else {
            [row.remote_hitm, row.local_hitm, row.other_loads]
        };
        for mean in means {
            print(out, format_args!("  {:>8}", mean_text(mean)));
        }
        push_column(out, it.leveled(), 7);
        push_column(out, row.cpus.len() as u64, 8);
        if self.shows_address {
            out.extend_from_slice(b"  ");
            push_padded(out, &texts.symbol, widths.symbol);
        }
        if self.shows_address || has(C2cKey::Dso) {
            out.extend_from_slice(b"  ");
            push_padded(out, texts.dso.as_deref().unwrap_or(b"[unknown]"), widths.dso);
        }
        if self.shows_source {
            out.extend_from_slice(b"  ");
            push_padded(out, &texts.source, widths.source);
        }
        out.extend_from_slice(b"  ");
        self.push_nodes(out, row);
        out.push(b'\n');
    }

    /// perf: `node_entry`, `tools/perf/builtin-c2c.c`.
    fn push_nodes(&self, out: &mut Vec<u8>, row: &C2cAccess) {
        let nodes = self.report.nodes();
        let mut is_first = true;
        for node in 0..nodes.count() {
            let cpus: Vec<_> =
                row.cpus.iter().copied().filter(|&cpu| nodes.of_cpu(cpu) == Some(node)).collect();
            if cpus.is_empty() {
                if self.args.node_info == 1 {
                    print(out, format_args!("{:>21}", ""));
                }
                continue;
            }
            if !is_first {
                out.push(b' ');
            }
            is_first = false;
            match self.args.node_info {
                0 => print(out, format_args!("{node:>2}")),
                1 => {
                    let it = row.by_node.get(&node).copied().unwrap_or_default();
                    let all = &row.counts;
                    let (count, sum) = match self.report.sort() {
                        C2cSort::Local => (it.local_hitm, all.local_hitm),
                        C2cSort::Remote => (it.remote_hitm, all.remote_hitm),
                        C2cSort::Peer => (it.peer, all.peer()),
                        _ => (it.local_hitm.saturating_add(it.remote_hitm), all.hitm()),
                    };
                    print(out, format_args!("{node:>2}{{{:>2} ", cpus.len()));
                    push_part(out, count, sum, ' ');
                    push_part(out, it.stores, all.stores, '}');
                }
                _ => print(out, format_args!("{node:>2}{{{}}}", ranges(cpus.into_iter().map(u64::from)))),
            }
        }
    }
}

fn push_part(out: &mut Vec<u8>, count: u64, sum: u64, end: char) {
    match sum {
        0 => print(out, format_args!("{:>6}{end}", "n/a")),
        _ => print(out, format_args!("{:>5.1}%{end}", percent(count, sum))),
    }
}

fn push_column(out: &mut Vec<u8>, count: u64, width: usize) {
    out.extend_from_slice(b"  ");
    push_decimal_to(out, count, width);
}

/// Appends a text, cut or padded to a width.
fn push_padded(out: &mut Vec<u8>, text: &[u8], width: usize) {
    let start = out.len();
    out.extend_from_slice(text.get(..width).unwrap_or(text));
    pad_to(out, start, width);
}

fn percent(count: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * count as f64 / all as f64 }
}

/// perf: `mean_entry`, `tools/perf/builtin-c2c.c`, which has room for nine digits.
fn mean_text(mean: MeanTime) -> String {
    let mut text = format!("{:>6.0}", mean.mean());
    text.truncate(9);
    text
}

/// Returns the numbers of nodes, as perf has room for them.
///
/// perf: `set_nodestr`, `tools/perf/builtin-c2c.c`.
fn nodes(nodes: &std::collections::BTreeSet<u64>) -> String {
    if nodes.is_empty() {
        return "N/A".to_owned();
    }
    let mut text = ranges(nodes.iter().copied());
    text.truncate(29);
    text
}

/// Returns ascending numbers as a list such as `0-3,8`.
fn ranges(numbers: impl Iterator<Item = u64>) -> String {
    let mut list: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match list.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => list.push((number, number)),
        }
    }
    let texts: Vec<_> = list
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    texts.join(",")
}
