//! The order of the rows of a table.

use core::cmp::Ordering;

use super::call_graph::{CallGraphStyle, StackOrder};
use super::facts::KeyFacts;
use super::ranks::Ranks;
use super::row::ReportRow;
use super::row_key::{RowAddress, RowKey};
use super::sort_key::{ReportColumn, SortKey};
use super::table::ReportTable;
use super::{Report, memory_access, trace_field};
use crate::table::frames::NONE;

/// The number of numbers from which on no further one is added: they take memory for each row, and few rows are equal in as
/// many.
const NUMBERS: usize = 5;

impl ReportTable<'_> {
    /// Compares two rows in the order of the report: the one that comes first is less. Rows that are equal in all columns are
    /// in the order of their addresses.
    ///
    /// perf: `hist_entry__sort` and `hist_entry__cmp`, `tools/perf/util/hist.c`.
    #[must_use]
    pub fn compare(&self, one: &ReportRow, other: &ReportRow) -> Ordering {
        for &column in &self.report.plan.layout.order {
            let ordering = self.compare_by(column, one, other);
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        let mut keys = self.report.plan.layout.keys();
        let compared = keys.find_map(|key| {
            Some(self.compare_keys(key, one, other, false)).filter(|it| *it != Ordering::Equal)
        });
        compared.unwrap_or(Ordering::Equal)
    }

    /// Returns the indices of the rows in the order of [`compare`](Self::compare).
    pub(super) fn sorted(&self) -> Vec<usize> {
        let rows = &self.rows;
        let mut order: Vec<_> = (0..rows.len()).collect();
        // The numbers that the first columns are compared by, next to each other: the rows and what they lead to are far
        // apart in memory.
        let mut numbers = Vec::new();
        rows.iter().for_each(|row| self.push_numbers(row, &mut numbers));
        let width = numbers.len().checked_div(rows.len()).unwrap_or(0);
        let of = |row: usize| numbers.get(row * width..(row + 1) * width).unwrap_or_default();
        order.sort_by(|&one, &other| {
            of(one).cmp(of(other)).then_with(|| match (rows.get(one), rows.get(other)) {
                (Some(one), Some(other)) => self.compare(one, other),
                _ => Ordering::Equal,
            })
        });
        order
    }

    /// Appends the numbers of the first columns by which a row is compared, as many for each row.
    fn push_numbers(&self, row: &ReportRow, numbers: &mut Vec<u64>) {
        let key_of_row = self.key(row);
        let most = numbers.len() + NUMBERS;
        for &column in &self.report.plan.layout.order {
            match column {
                _ if numbers.len() >= most => return,
                ReportColumn::Children if self.report.plan.children => {
                    numbers.push(u64::MAX - row.counts.first().map_or(0, |it| it.children.period));
                    if self.is_by_depth() {
                        let depth = u64::from(row.depth);
                        let is_caller_first = self.report.plan.order == StackOrder::Caller;
                        numbers.push(if is_caller_first { u64::MAX - depth } else { depth });
                    }
                }
                ReportColumn::Children => {}
                ReportColumn::Key(key) if self.push_number(key_of_row, key, true, numbers) => {}
                ReportColumn::Key(_) => return,
                column => numbers.extend(row.counts.iter().map(|it| u64::MAX - it.number(column))),
            }
        }
        let mut keys = self.report.plan.layout.keys();
        while numbers.len() < most
            && keys.next().is_some_and(|key| self.push_number(key_of_row, key, false, numbers))
        {}
    }

    /// Appends the number of what [`compare_keys`](Self::compare_keys) compares, the largest one for a row without a key. Returns
    /// whether a number tells.
    fn push_number(&self, row: Option<RowKey>, key: SortKey, by_name: bool, numbers: &mut Vec<u64>) -> bool {
        let report = self.report;
        let Report { named, ranks, samples, .. } = report;
        let of = row.and_then(|of| Some((of, samples.facts.get(of.facts)?)));
        let rank = |ranks: &Ranks, number: fn(&RowKey, &KeyFacts) -> u32| {
            of.map_or(u64::MAX, |(of, facts)| ranks.rank(number(&of, facts)).into())
        };
        match key {
            SortKey::Comm => numbers.push(rank(ranks.texts(&samples.facts.texts), |_, facts| facts.comm)),
            SortKey::Dso => numbers.push(rank(report.dso_ranks(), |of, _| of.address.dso)),
            SortKey::Symbol if by_name => numbers.push(rank(ranks.names(named), |of, _| of.address.symbol)),
            SortKey::Symbol => {
                numbers.push(rank(ranks.symbols(named), |of, _| of.address.symbol));
                // That of a row without a symbol, with its sign.
                numbers.push(of.map_or(u64::MAX, |(of, _)| of.address.offset ^ 1 << 63));
            }
            _ => return false,
        }
        true
    }

    /// Returns whether callers come before what they call, if both count the same. In perf, only with call graphs.
    fn is_by_depth(&self) -> bool {
        self.report.plan.graph.style != CallGraphStyle::None
    }

    /// Compares two rows by a column: the one that comes first is less. Numbers are in descending order.
    #[must_use]
    pub fn compare_by(&self, column: ReportColumn, one: &ReportRow, other: &ReportRow) -> Ordering {
        match column {
            ReportColumn::Key(key) => self.compare_keys(key, one, other, SortKey::Symbol == key),
            ReportColumn::Children => self.compare_children(one, other),
            column => {
                let (one, other) = (one.counts.iter(), other.counts.iter());
                other.map(|it| it.number(column)).cmp(one.map(|it| it.number(column)))
            }
        }
    }

    /// perf: `__hpp__sort_acc`, `tools/perf/ui/hist.c`.
    fn compare_children(&self, one: &ReportRow, other: &ReportRow) -> Ordering {
        if !self.report.plan.children {
            return Ordering::Equal;
        }
        let period = |row: &ReportRow| row.counts.first().map_or(0, |it| it.children.period);
        // The caller comes before what it calls. perf compares so only within a thread, which is no order of all rows: of
        // three rows, each can come before the next one, and the last before the first.
        period(other).cmp(&period(one)).then_with(|| match self.report.plan.order {
            _ if !self.is_by_depth() => Ordering::Equal,
            StackOrder::Caller => other.depth.cmp(&one.depth),
            StackOrder::Callee => one.depth.cmp(&other.depth),
        })
    }

    /// `by_name` compares symbols by their names instead of their addresses.
    fn compare_keys(&self, key: SortKey, one: &ReportRow, other: &ReportRow, by_name: bool) -> Ordering {
        let (Some(a), Some(b)) = (&self.key(one), &self.key(other)) else {
            return one.is_beyond().cmp(&other.is_beyond());
        };
        let report = self.report;
        let Report { named, ranks, lines, samples, .. } = report;
        let facts = &samples.facts;
        let (Some(x), Some(y)) = (facts.get(a.facts), facts.get(b.facts)) else {
            return Ordering::Equal;
        };
        let srclines = |one: u32, other: u32| lines.srcline_text(one).cmp(lines.srcline_text(other));
        // What is unknown comes last.
        let texts = |one: u32, other: u32| ranks.texts(&facts.texts).compare(one, other);
        let dsos = |one: u32, other: u32| report.dso_ranks().compare(one, other);
        let names = |one: u32, other: u32| ranks.names(named).compare(one, other);
        let branch = |it: &KeyFacts| it.branch;
        match key {
            SortKey::Pid | SortKey::Tid => x.tid.cmp(&y.tid),
            SortKey::Tgid => x.tgid.cmp(&y.tgid),
            SortKey::Comm => texts(x.comm, y.comm),
            SortKey::Dso => dsos(a.address.dso, b.address.dso),
            SortKey::Symbol if by_name => names(a.address.symbol, b.address.symbol),
            SortKey::Symbol => report.compare_symbols(&a.address, &b.address),
            SortKey::Parent => names(a.parent, b.parent),
            SortKey::Cpu => x.cpu.cmp(&y.cpu),
            SortKey::Srcline | SortKey::SrclineTo => srclines(a.address.srcline, b.address.srcline),
            SortKey::SrclineFrom => srclines(a.from.srcline, b.from.srcline),
            SortKey::Srcfile => {
                lines.srcfile_text(a.address.srcfile).cmp(lines.srcfile_text(b.address.srcfile))
            }
            SortKey::LocalWeight | SortKey::Weight => y.weight.cmp(&x.weight),
            SortKey::Trace => texts(x.trace, y.trace),
            SortKey::Field(field) => {
                let of = |it: &KeyFacts| facts.trace_field(it, field);
                // As in perf, in descending order.
                trace_field::compare(of(y), of(x))
            }
            SortKey::Cgroup => x.cgroup.cmp(&y.cgroup),
            SortKey::CgroupId => y.cgroup_id.cmp(&x.cgroup_id),
            SortKey::Time => x.time.cmp(&y.time),
            // As in perf, these are in descending order.
            SortKey::DsoFrom => dsos(b.from.dso, a.from.dso),
            SortKey::DsoTo => dsos(b.address.dso, a.address.dso),
            SortKey::SymbolFrom => report.compare_symbols(&a.from, &b.from),
            SortKey::SymbolTo => report.compare_symbols(&a.address, &b.address),
            SortKey::Mispredict | SortKey::InTx | SortKey::Abort => branch(y).0.cmp(&branch(x).0),
            SortKey::Cycles => branch(y).cycles().cmp(&branch(x).cycles()),
            SortKey::AddrFrom => report.compare_addresses(&a.from, &b.from),
            SortKey::AddrTo => report.compare_addresses(&a.address, &b.address),
            SortKey::Socket => x.socket.cmp(&y.socket),
            SortKey::Transaction => y.transaction.0.cast_signed().cmp(&x.transaction.0.cast_signed()),
            SortKey::SymbolSize => a.address.size.cmp(&b.address.size),
            SortKey::DsoSize => a.mapped.cmp(&b.mapped),
            SortKey::CodePageSize => x.code_page_size.cmp(&y.code_page_size),
            SortKey::LocalInsLat | SortKey::InsLat => y.ins_lat.cmp(&x.ins_lat),
            SortKey::LocalPStageCyc | SortKey::PStageCyc => y.p_stage_cyc.cmp(&x.p_stage_cyc),
            SortKey::Addr => a.ip.cast_signed().cmp(&b.ip.cast_signed()),
            SortKey::DsoDaddr => dsos(b.data, a.data),
            SortKey::SymbolDaddr
            | SortKey::SymbolIaddr
            | SortKey::Locked
            | SortKey::Tlb
            | SortKey::Mem
            | SortKey::Snoop
            | SortKey::Dcacheline
            | SortKey::PhysDaddr
            | SortKey::DataPageSize
            | SortKey::Blocked => memory_access::compare(key, &x.access, &y.access),
        }
    }
}

impl Report {
    /// Returns the ranks of the names of DSOs.
    fn dso_ranks(&self) -> &Ranks {
        self.ranks.short_names(&self.named, self.samples.table.frames.dsos().len())
    }

    fn compare_symbols(&self, one: &RowAddress, other: &RowAddress) -> Ordering {
        if (one.symbol, other.symbol) == (NONE, NONE) {
            // The kernel's addresses are below those of programs.
            return one.offset.cast_signed().cmp(&other.offset.cast_signed());
        }
        self.ranks.symbols(&self.named).compare(one.symbol, other.symbol)
    }

    /// perf: `sort__addr_from_cmp`. perf compares addresses in memory. One address in a file can have several.
    fn compare_addresses(&self, one: &RowAddress, other: &RowAddress) -> Ordering {
        let place = |it: &RowAddress| {
            let place = self.samples.table.frames.location(it.frame);
            place.map(|it| (self.named.short_name(self.named.short_name_of(it.dso)), it.offset.cast_signed()))
        };
        match (place(one), place(other)) {
            (Some((a, one)), Some((b, other))) => b.cmp(a).then(one.cmp(&other)),
            (one, other) => other.is_none().cmp(&one.is_none()),
        }
    }
}
